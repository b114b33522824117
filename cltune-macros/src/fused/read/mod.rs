//! From syntax to the program. Every mistake is reported at its token.
//!
//! | file | reads |
//! |---|---|
//! | `arguments` | arguments, as operands |
//! | `expressions` | names, operators, conversions, calls |
//! | `matrices` | what is special about matrices |
//! | `library` | products that go to a library |
//! | `norms` | norms, whose squares might overflow |
//! | `usage` | what is read and written in the end |

mod arguments;
mod expressions;
mod library;
mod matrices;
mod norms;
mod usage;

use super::item::FusedItem;
use super::library::Gemm;
use super::literals;
use super::nesting;
use super::operations::{VECTOR_AND_MATRIX, described};
use super::program::{Action, Layout, Operand, Place, Program, Statement, Storage};
use super::tokens::{attribute, names, tidy};
use super::value::{At, Kind, Shape, Type, Value};
use crate::errors::fail;
use crate::errors::{Errors, did_you_mean};
use crate::parse;
use cltune_core::model::ScalarType;
use library::Product;
use proc_macro2::Ident;
use quote::ToTokens;
use std::collections::HashMap;
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{BinOp, Expr, ExprTuple, Pat, Stmt};

/// Reads the function.
pub(super) fn program(item: &FusedItem, errors: &mut Errors) -> Program {
    let mut reader = Reader {
        program: Program {
            operands: Vec::new(),
            lengths: Vec::new(),
            statements: Vec::new(),
            calls: Vec::new(),
            named: Vec::new(),
            unused: Vec::new(),
            overwritten: Vec::new(),
            while_tuning: Vec::new(),
        },
        vectors: HashMap::new(),
        written: Vec::new(),
        unknown: Vec::new(),
        bound: Vec::new(),
        assigned: Vec::new(),
        text: String::new(),
        mentioned: Vec::new(),
        gemms: item.gemms.list.clone(),
        products: Vec::new(),
    };
    for error in item.matrices.errors.iter().chain(&item.gemms.errors) {
        errors.push(error.clone());
    }
    if !item.gemms.errors.is_empty() {
        // What they would say of products is not known.
        return reader.program;
    }
    let arguments = parse::arguments(&item.signature, errors);
    for argument in &arguments.list {
        reader.argument(argument, &item.matrices, errors);
    }
    reader.program.while_tuning = arguments::while_tuning(&reader.program, &arguments.list);
    let statements = item.body.as_ref().map_or(&[][..], |body| &body.stmts);
    reader.mentioned = names(item.body.to_token_stream());
    for statement in statements {
        let read = reader.statement(statement);
        if read.is_err() {
            reader.take_for_right(statement);
        }
        errors.take(read.and_then(|()| reader.check_calls(statement)));
    }
    if errors.is_empty() && reader.program.statements.is_empty() {
        errors.add(
            item.signature.ident.span(),
            "this computes nothing: a fused function has statements as its body, for example \
             `{ y = a * x + y; }`",
        );
    }
    if errors.is_empty() {
        reader.check_use(&arguments.list, errors);
        reader.check_gemms(item.signature.ident.span(), errors);
    }
    let named = reader.bound.iter().map(|(name, _)| name.clone());
    reader.program.named = named.collect();
    let unused = reader.bound.into_iter().filter(|(_, is_used)| !is_used);
    reader.program.unused = unused.map(|(name, _)| name).collect();
    let assigned = std::mem::take(&mut reader.assigned).into_iter();
    let program = reader.program;
    let overwritten = assigned.filter(|(statement, _)| usage::is_overwritten(&program, *statement));
    let overwritten = overwritten.map(|(_, name)| name).collect();
    Program {
        overwritten,
        ..program
    }
}

struct Reader {
    program: Program,
    /// Vectors that have a name by `let`, with how often each of their operands was written then.
    vectors: HashMap<String, (Value, Vec<(usize, usize)>)>,
    /// How often each operand was written.
    written: Vec<usize>,
    /// Arguments with a mistake that was reported, which statements may name all the same.
    unknown: Vec<String>,
    /// The names of `let`, and whether each is used.
    bound: Vec<(Ident, bool)>,
    /// The positions of assignments, with the name of what is assigned.
    assigned: Vec<(usize, Ident)>,
    /// The statement that is read.
    text: String,
    /// The names in all statements.
    mentioned: Vec<Ident>,
    /// What multiplies matrices instead of a kernel that is made.
    gemms: Vec<Gemm>,
    /// The products in the statement that is read which go there.
    products: Vec<Product>,
}

impl Reader {
    fn statement(&mut self, statement: &Stmt) -> syn::Result<()> {
        self.text = tidy(statement.to_token_stream());
        self.products.clear();
        if let Some(attribute) = attribute(statement.to_token_stream()) {
            let message = "statements have no attributes, which would be ignored: leave it out";
            return Err(syn::Error::new_spanned(attribute, message));
        }
        match statement {
            Stmt::Expr(Expr::Assign(assign), Some(_)) => {
                if let (Expr::Tuple(targets), Expr::Tuple(values)) = (&*assign.left, &*assign.right)
                {
                    return self.assign_together(targets, values);
                }
                let target = target_name(&assign.left)?;
                self.assign(target, &assign.right, None)
            }
            Stmt::Expr(Expr::Binary(binary), Some(_)) if compound(&binary.op).is_some() => {
                let target = target_name(&binary.left)?;
                self.assign(target, &binary.right, compound(&binary.op))
            }
            Stmt::Local(local) => {
                let Some(name) = plain(&local.pat) else {
                    let message = "`let` gives a value one name, without a type: `let name = …;`";
                    return fail(local.pat.span(), message);
                };
                let Some(init) = &local.init else {
                    return fail(local.span(), "`let` needs a value, `let name = …;`");
                };
                if let Some((word, _)) = &init.diverge {
                    let message = "a value always has a name: leave `else` out";
                    return fail(word.span(), message);
                }
                self.bind(name, &init.expr)
            }
            Stmt::Expr(Expr::Assign(_) | Expr::Binary(_), None) => {
                fail(statement.span(), "a statement ends with `;`")
            }
            _ => fail(
                statement.span(),
                "a statement is `y = …;`, `y += …;` (also `-=`, `*=`, `/=`) or `let name = …;`",
            ),
        }
    }

    /// What a statement whose mistake is reported would have made is there for later statements, so
    /// that these are not reported for the same mistake.
    fn take_for_right(&mut self, statement: &Stmt) {
        let targets = match statement {
            Stmt::Local(local) => {
                let bound = names(local.pat.to_token_stream()).into_iter();
                let bound = bound.map(|name| name.unraw().to_string());
                self.unknown.extend(bound);
                return;
            }
            Stmt::Expr(Expr::Assign(assign), _) => &assign.left,
            Stmt::Expr(Expr::Binary(binary), _) if compound(&binary.op).is_some() => &binary.left,
            _ => return,
        };
        for name in names(targets.to_token_stream()) {
            if let Some(target) = self.program.operand(&name.unraw()) {
                self.written[target] += 1;
            }
        }
    }

    /// `target = value`, or with an operator between the target and the value.
    fn assign(
        &mut self,
        name: &Ident,
        value: &Expr,
        operator: Option<&'static str>,
    ) -> syn::Result<()> {
        let first = self.program.statements.len();
        if let Some((target, value)) = self.assigned(name, value, operator)? {
            if self.products.is_empty() {
                self.store(target, value);
            } else {
                self.call_library(first, target, &value)?;
            }
            let position = self.program.statements.len() - 1;
            self.assigned.push((position, name.clone()));
        }
        Ok(())
    }

    /// `(x, y) = (a, b)`: all values are computed before one is stored.
    fn assign_together(&mut self, targets: &ExprTuple, values: &ExprTuple) -> syn::Result<()> {
        if targets.elems.len() != values.elems.len() {
            let message = format!(
                "{} names are given {} values",
                targets.elems.len(),
                values.elems.len()
            );
            return fail(values.span(), message);
        }
        let mut stored: Vec<(usize, Value)> = Vec::new();
        for (target, value) in targets.elems.iter().zip(&values.elems) {
            let name = target_name(target)?;
            let Some((target, value)) = self.assigned(name, value, None)? else {
                return Ok(());
            };
            let Operand { shape, .. } = self.program.operands[target];
            let first = stored.first().map(|(first, _)| *first);
            let first = first.map_or(shape, |first| self.program.operands[first].shape);
            if !matches!(shape, Shape::Vector(_)) || shape != first {
                let message = "vectors of one length are assigned together";
                return fail(name.span(), message);
            }
            if stored.iter().any(|(other, _)| *other == target) {
                return fail(name.span(), format!("`{name}` is assigned twice here"));
            }
            stored.push((target, value));
        }
        let mut copies = Vec::new();
        for (target, value) in stored {
            let Operand { scalar, shape, .. } = self.program.operands[target];
            let name = format!("new_{}", self.program.operands[target].name);
            self.push(Operand {
                name: self.free_name(&name),
                scalar,
                shape,
                place: Place::Register,
                layout: Layout::default(),
                matrix: None,
            });
            let register = self.program.operands.len() - 1;
            let of_register = Value {
                kind: Kind::Operand(register),
                ty: Type::Number(scalar),
                shape,
            };
            copies.push((register, value));
            copies.push((target, of_register));
        }
        // First the values, then what they are stored to.
        copies.sort_by_key(|(target, _)| self.program.operands[*target].place != Place::Register);
        for (position, (target, value)) in copies.into_iter().enumerate() {
            self.store(target, value);
            if let Some(statement) = self.program.statements.last_mut() {
                statement.with_previous = position > 0;
            }
        }
        Ok(())
    }

    /// What an assignment writes, and the value; `None` where the target's mistake was reported.
    fn assigned(
        &mut self,
        name: &Ident,
        value: &Expr,
        operator: Option<&'static str>,
    ) -> syn::Result<Option<(usize, Value)>> {
        let Some(target) = self.program.operand(&name.unraw()) else {
            if self.unknown.iter().any(|unknown| name.unraw() == *unknown) {
                return Ok(None);
            }
            let near = did_you_mean(&name.to_string(), self.arguments());
            let message = format!("there is no argument `{name}` to write to{near}");
            return fail(name.span(), message);
        };
        match self.program.operands[target].place {
            Place::Buffer { mutable: true, .. } => {}
            Place::Buffer { .. } => {
                let message = format!("`{name}` is written here: declare it as `&mut Buffer<…>`");
                return fail(name.span(), message);
            }
            place => {
                let what = match place {
                    Place::Scratch => "what `let` gave a name",
                    _ => "a number of the call",
                };
                let message =
                    format!("`{name}` is {what}: only buffers (`&mut Buffer<…>`) are written to");
                return fail(name.span(), message);
            }
        }
        let mut value_read = self.value(value)?;
        let Operand { scalar, shape, .. } = self.program.operands[target];
        if let Some(operator) = operator {
            let current = self.operand_value(target, name)?;
            value_read = self
                .program
                .binary(current, operator, value_read, value.span())?;
        }
        value_read.settle(scalar);
        if value_read.ty != Type::Number(scalar) {
            let message = format!(
                "`{name}` has elements of `{}`, and this is {}{}",
                scalar.rust_name(),
                described(value_read.ty),
                conversion(value_read.ty, scalar)
            );
            return fail(value.span(), message);
        }
        match (shape, value_read.shape) {
            (Shape::Number, Shape::Vector(_) | Shape::Matrix { .. }) => {
                let message = format!(
                    "`{name}` is one number, and this has one for each position: reduce it, for \
                     example with `sum(…)`"
                );
                return fail(value.span(), message);
            }
            (Shape::Vector(of), Shape::Vector(other)) if of != other => {
                return fail(value.span(), self.program.different(of, other));
            }
            (Shape::Vector(_), Shape::Matrix { .. }) => {
                let message = format!(
                    "`{name}` is a vector, and this is a matrix: reduce its rows or columns, for \
                     example with `row_sum(…)`"
                );
                return fail(value.span(), message);
            }
            (Shape::Matrix { .. }, Shape::Vector(_)) => {
                return fail(value.span(), VECTOR_AND_MATRIX);
            }
            (shape, other) => {
                self.program.common_shape(shape, other, value.span())?;
            }
        }
        self.check_overwritten(target, &value_read, name)?;
        literals::check(&value_read)?;
        nesting::check(&value_read, value.span())?;
        Ok(Some((target, value_read)))
    }

    fn store(&mut self, target: usize, value: Value) {
        self.written[target] += 1;
        let Operand { shape, .. } = self.program.operands[target];
        let length = match shape {
            Shape::Vector(length) => Some(length),
            Shape::Number => None,
            Shape::Matrix { .. } => return self.store_matrix(target, value),
        };
        self.program.statements.push(Statement {
            target,
            value,
            action: Action::Store,
            with_previous: false,
            length,
            grid: None,
            at: At::Cell,
            text: self.text.clone(),
        });
    }

    /// `let name = value`.
    fn bind(&mut self, name: &Ident, value: &Expr) -> syn::Result<()> {
        let text = name.unraw().to_string();
        let taken =
            self.program.operand(&name.unraw()).is_some() || self.vectors.contains_key(&text);
        if taken {
            let message = format!("the name `{name}` is taken; choose another");
            return fail(name.span(), message);
        }
        let span = value.span();
        let mut value = self.value(value)?;
        if matches!(value.ty, Type::Truth(_)) {
            let message = "a condition has no name: use it in `if … { … } else { … }`";
            return fail(name.span(), message);
        }
        let scalar = value.scalar();
        value.settle(scalar);
        literals::check(&value)?;
        nesting::check(&value, span)?;
        self.bound.push((name.clone(), false));
        if value.shape != Shape::Number {
            let operands = value.operands();
            let versions = operands.iter().map(|at| (*at, self.written[*at])).collect();
            self.vectors.insert(text, (value, versions));
            return Ok(());
        }
        let target = self.scratch(text, scalar, Shape::Number);
        self.store(target, value);
        Ok(())
    }

    /// The names of arguments.
    fn arguments(&self) -> impl Iterator<Item = &str> {
        let is_made = |place| matches!(place, Place::Scratch | Place::Register);
        let operands = self.program.operands.iter();
        let arguments = operands.filter(move |operand| !is_made(operand.place));
        arguments.map(|operand| operand.name.as_str())
    }

    /// A name for what statements make and do not name.
    fn free_name(&self, wanted: &str) -> String {
        let mut name = self.program.free_name(wanted);
        while self.mentioned.iter().any(|other| other.unraw() == name) {
            name = self.program.free_name(&format!("{name}_"));
        }
        name
    }

    /// A number or vector that belongs to the tunable.
    fn scratch(&mut self, name: String, scalar: ScalarType, shape: Shape) -> usize {
        self.push(Operand {
            name,
            scalar,
            shape,
            place: Place::Scratch,
            layout: Layout::default(),
            matrix: matches!(shape, Shape::Matrix { .. }).then_some(Storage {
                at: At::Cell,
                leading: None,
            }),
        });
        self.program.operands.len() - 1
    }
}

/// The name that a pattern is, if it is nothing else.
fn plain(pattern: &Pat) -> Option<&Ident> {
    match pattern {
        Pat::Ident(pattern)
            if pattern.by_ref.is_none()
                && pattern.mutability.is_none()
                && pattern.subpat.is_none() =>
        {
            Some(&pattern.ident)
        }
        _ => None,
    }
}

/// The target of an assignment.
fn target_name(expr: &Expr) -> syn::Result<&Ident> {
    match expr {
        // An expression that is passed to another macro.
        Expr::Group(inner) => return target_name(&inner.expr),
        Expr::Path(path) => path.path.get_ident(),
        _ => None,
    }
    .ok_or_else(|| {
        syn::Error::new(
            expr.span(),
            "the name of a `&mut Buffer<…>` is expected here",
        )
    })
}

fn conversion(from: Type, to: ScalarType) -> String {
    match from {
        Type::Number(_) => format!(": convert it, `(…) as {}`", to.rust_name()),
        _ => String::new(),
    }
}

/// The operator of `y += x`.
fn compound(operator: &BinOp) -> Option<&'static str> {
    Some(match operator {
        BinOp::AddAssign(_) => "+",
        BinOp::SubAssign(_) => "-",
        BinOp::MulAssign(_) => "*",
        BinOp::DivAssign(_) => "/",
        _ => return None,
    })
}
