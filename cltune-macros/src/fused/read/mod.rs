//! From syntax to the program. Every mistake is reported at its token.

mod expressions;

use super::item::FusedItem;
use super::operations::{described, fail};
use super::program::{Action, Length, Operand, Place, Program, Statement};
use super::tokens::tidy;
use super::value::{Shape, Type, Value};
use crate::errors::{Errors, did_you_mean};
use crate::parse::{self, Argument, ArgumentType};
use cltune_core::model::{ElementType, ScalarType};
use proc_macro2::Ident;
use quote::ToTokens;
use std::collections::HashMap;
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{BinOp, Expr, Pat, Stmt};

/// Reads the function.
pub(super) fn program(item: &FusedItem, errors: &mut Errors) -> Program {
    let mut reader = Reader {
        program: Program {
            operands: Vec::new(),
            lengths: Vec::new(),
            statements: Vec::new(),
            unused: Vec::new(),
        },
        vectors: HashMap::new(),
        written: Vec::new(),
        unknown: Vec::new(),
        bound: Vec::new(),
        text: String::new(),
    };
    let arguments = parse::arguments(&item.signature, errors);
    for argument in &arguments.list {
        reader.argument(argument, errors);
    }
    let statements = item.body.as_ref().map_or(&[][..], |body| &body.stmts);
    for statement in statements {
        let read = reader.statement(statement);
        errors.take(read);
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
    }
    let unused = reader.bound.into_iter().filter(|(_, is_used)| !is_used);
    reader.program.unused = unused.map(|(name, _)| name).collect();
    reader.program
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
    /// The statement that is read.
    text: String,
}

impl Reader {
    fn argument(&mut self, argument: &Argument, errors: &mut Errors) {
        let name = argument.name.unraw().to_string();
        match self.operand_of(argument) {
            Ok(Some(operand)) => self.push(operand),
            Ok(None) => self.unknown.push(name),
            Err(error) => {
                self.unknown.push(name);
                errors.push(error);
            }
        }
    }

    fn operand_of(&mut self, argument: &Argument) -> syn::Result<Option<Operand>> {
        let name = argument.name.unraw().to_string();
        let scalar = |element: ElementType| {
            element.as_scalar().ok_or_else(|| {
                let message = "statements compute with scalars: the tuner chooses vectors, and each \
                               field of a struct is a buffer of its own here";
                syn::Error::new(argument.name.span(), message)
            })
        };
        let (scalar, shape, place) = match argument.kind {
            None => return Ok(None),
            Some(ArgumentType::Image(_)) => {
                let message = format!("statements are about buffers, and `{name}` is an image");
                return fail(argument.name.span(), message);
            }
            Some(ArgumentType::Scalar(element)) => (scalar(element)?, Shape::Number, Place::Value),
            Some(ArgumentType::Buffer { element, mutable }) => {
                let Some((len, _)) = &argument.options.len else {
                    let message = format!(
                        "statements need the length of `{name}`: write `#[arg(len = …)]` before it"
                    );
                    return fail(argument.name.span(), message);
                };
                let out = argument.options.out.is_some();
                let place = Place::Buffer { mutable, out };
                (scalar(element)?, self.shape(len), place)
            }
        };
        Ok(Some(Operand {
            name,
            scalar,
            shape,
            place,
        }))
    }

    /// The shape of a buffer with this length.
    fn shape(&mut self, len: &Expr) -> Shape {
        let text = tidy(len.to_token_stream());
        if text == "1" {
            return Shape::Number;
        }
        let lengths = &mut self.program.lengths;
        let known = lengths.iter().position(|length| length.text == text);
        Shape::Vector(known.unwrap_or_else(|| {
            lengths.push(Length {
                text,
                formula: len.clone(),
            });
            lengths.len() - 1
        }))
    }

    fn push(&mut self, operand: Operand) {
        self.program.operands.push(operand);
        self.written.push(0);
    }

    fn statement(&mut self, statement: &Stmt) -> syn::Result<()> {
        self.text = tidy(statement.to_token_stream());
        match statement {
            Stmt::Expr(Expr::Assign(assign), Some(_)) => {
                let target = target_name(&assign.left)?;
                self.assign(target, &assign.right, None)
            }
            Stmt::Expr(Expr::Binary(binary), Some(_)) if compound(&binary.op).is_some() => {
                let target = target_name(&binary.left)?;
                self.assign(target, &binary.right, compound(&binary.op))
            }
            Stmt::Local(local) => {
                let Pat::Ident(pattern) = &local.pat else {
                    return fail(
                        local.pat.span(),
                        "`let` gives a value one name, without a type",
                    );
                };
                let Some(init) = &local.init else {
                    return fail(local.span(), "`let` needs a value, `let name = …;`");
                };
                self.bind(&pattern.ident, &init.expr)
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

    /// `target = value`, or with an operator between the target and the value.
    fn assign(
        &mut self,
        name: &Ident,
        value: &Expr,
        operator: Option<&'static str>,
    ) -> syn::Result<()> {
        let Some(target) = self.program.operand(&name.unraw()) else {
            if self.unknown.iter().any(|unknown| name.unraw() == *unknown) {
                return Ok(());
            }
            let operands = self.program.operands.iter();
            let names = operands.map(|operand| operand.name.as_str());
            let near = did_you_mean(&name.to_string(), names);
            let message = format!("there is no argument `{name}` to write to{near}");
            return fail(name.span(), message);
        };
        match self.program.operands[target].place {
            Place::Buffer { mutable: true, .. } => {}
            Place::Buffer { .. } => {
                let message = format!("`{name}` is written here: declare it as `&mut Buffer<…>`");
                return fail(name.span(), message);
            }
            Place::Value | Place::Scratch => {
                let message = format!(
                    "`{name}` is a number of the call: only buffers (`&mut Buffer<…>`) are written to"
                );
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
            (Shape::Number, Shape::Vector(_)) => {
                let message = format!(
                    "`{name}` is one number, and this has one for each position: reduce it, for \
                     example with `sum(…)`"
                );
                return fail(value.span(), message);
            }
            (Shape::Vector(of), Shape::Vector(other)) if of != other => {
                return fail(value.span(), self.program.different(of, other));
            }
            _ => {}
        }
        self.store(target, value_read);
        Ok(())
    }

    fn store(&mut self, target: usize, value: Value) {
        let length = match self.program.operands[target].shape {
            Shape::Vector(length) => Some(length),
            Shape::Number => None,
        };
        self.written[target] += 1;
        self.program.statements.push(Statement {
            target,
            value,
            action: Action::Store,
            length,
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
        let read = self.value(value);
        let mut value = match read {
            Ok(value) => value,
            Err(error) => {
                self.unknown.push(text);
                return Err(error);
            }
        };
        if matches!(value.ty, Type::Truth(_)) {
            let message = "a condition has no name: use it in `if … { … } else { … }`";
            return fail(name.span(), message);
        }
        let scalar = value.scalar();
        value.settle(scalar);
        self.bound.push((name.clone(), false));
        if let Shape::Vector(_) = value.shape {
            let operands = value.operands();
            let versions = operands.iter().map(|at| (*at, self.written[*at])).collect();
            self.vectors.insert(text, (value, versions));
            return Ok(());
        }
        let target = self.scratch(text, scalar);
        self.store(target, value);
        Ok(())
    }

    /// A number that belongs to the tunable.
    fn scratch(&mut self, name: String, scalar: ScalarType) -> usize {
        self.push(Operand {
            name,
            scalar,
            shape: Shape::Number,
            place: Place::Scratch,
        });
        self.program.operands.len() - 1
    }

    /// Whether every buffer is used, and what may be written is.
    fn check_use(&self, arguments: &[Argument], errors: &mut Errors) {
        for argument in arguments {
            let Some(position) = self.program.operand(&argument.name.unraw()) else {
                continue;
            };
            let mut statements = self.program.statements.iter();
            let is_written = self.written[position] > 0;
            let is_read =
                statements.any(|statement| statement.value.operands().contains(&position));
            let name = &argument.name;
            let message = match self.program.operands[position].place {
                Place::Buffer { mutable: true, .. } if !is_written => {
                    format!("no statement writes `{name}`: declare it as `&Buffer<…>`")
                }
                Place::Buffer { .. } if !is_written && !is_read => {
                    format!("no statement uses `{name}`")
                }
                _ => continue,
            };
            errors.add(name.span(), message);
        }
    }
}

/// The target of an assignment.
fn target_name(expr: &Expr) -> syn::Result<&Ident> {
    match expr {
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
