//! Expressions: names, operators, conditions, conversions and calls.

use super::Reader;
use crate::errors::fail;
use crate::errors::{did_you_mean, quoted};
use crate::fused::functions::{
    ABS, Each, FUNCTIONS, Fold, MAX, REDUCTIONS, Reduction, names, of_opencl,
};
use crate::fused::literals::{self, computable};
use crate::fused::nesting;
use crate::fused::operations::described;
use crate::fused::program::{Action, Operand, Place, Statement};
use crate::fused::value::{At, Kind, Shape, Type, Value};
use crate::parse;
use cltune_core::model::ScalarType;
use proc_macro2::Ident;
use syn::ext::IdentExt;
use syn::spanned::Spanned;
use syn::{BinOp, Expr, ExprCall, ExprIf, Lit, Stmt, UnOp};

impl Reader {
    pub(super) fn value(&mut self, expr: &Expr) -> syn::Result<Value> {
        match expr {
            Expr::Paren(inner) => self.value(&inner.expr),
            Expr::Group(inner) => self.value(&inner.expr),
            Expr::Path(path) => match path.path.get_ident() {
                Some(name) => self.named(name),
                None => fail(
                    path.span(),
                    "a name of an argument or of a `let` is expected here",
                ),
            },
            Expr::Lit(literal) => number(&literal.lit),
            Expr::Unary(unary) => self.unary(&unary.op, &unary.expr),
            Expr::Binary(binary) => {
                let Some(operator) = operator(&binary.op) else {
                    let message = "there is no such operation on elements; there are `+ - * / %`, \
                                   `== != < <= > >=`, `&& || !`, and of integers `& | ^ << >>`";
                    return fail(binary.op.span(), message);
                };
                let left = self.value(&binary.left)?;
                let right = self.value(&binary.right)?;
                if operator == "*"
                    && let Shape::Matrix { .. } = left.shape
                    && let Shape::Vector(_) | Shape::Matrix { .. } = right.shape
                {
                    return self.product(left, right, binary.op.span());
                }
                self.program.binary(left, operator, right, binary.op.span())
            }
            Expr::Cast(cast) => {
                let element = parse::element_type(&cast.ty)?;
                let Some(scalar) = element.as_scalar() else {
                    return fail(cast.ty.span(), "a value is converted to a scalar type");
                };
                let scalar = computable(scalar, cast.ty.span())?;
                let mut value = self.value(&cast.expr)?;
                if value.ty == Type::Literal {
                    value.settle(scalar);
                    return Ok(value);
                }
                if matches!(value.ty, Type::Truth(_)) {
                    let message = "a condition is no number: write `if … { 1 } else { 0 }`";
                    return fail(cast.span(), message);
                }
                Ok(converted(value, scalar))
            }
            Expr::If(condition) => self.select(condition),
            Expr::Call(call) => self.call(call),
            Expr::MethodCall(call) => self.method(call),
            Expr::Index(index) => fail(
                index.span(),
                "statements are about all elements; there is no indexing",
            ),
            _ => fail(
                expr.span(),
                "this is no expression over elements: there are names, numbers, operators, `if` \
                 with `else`, `as`, and calls of functions",
            ),
        }
    }

    fn named(&mut self, name: &Ident) -> syn::Result<Value> {
        let text = name.unraw().to_string();
        for (bound, is_used) in &mut self.bound {
            *is_used |= bound.unraw() == name.unraw();
        }
        if let Some(position) = self.program.operand(&name.unraw()) {
            return self.operand_value(position, name);
        }
        if let Some((value, versions)) = self.vectors.get(&text) {
            let changed = versions
                .iter()
                .find(|(at, then)| self.written[*at] != *then);
            if let Some((operand, _)) = changed {
                let operand = &self.program.operands[*operand].name;
                let message = format!(
                    "`{name}` was computed from `{operand}`, which has been written since: use it \
                     before, or keep it in a buffer"
                );
                return fail(name.span(), message);
            }
            return Ok(value.clone());
        }
        if self.unknown.contains(&text) {
            // Was reported: whatever fits.
            return Ok(Value {
                kind: Kind::Literal("0".into(), name.span()),
                ty: Type::Literal,
                shape: Shape::Number,
            });
        }
        let bound = self.bound.iter().map(|(name, _)| name.unraw().to_string());
        let names: Vec<String> = self.arguments().map(str::to_owned).chain(bound).collect();
        let near = did_you_mean(&text, names.iter().map(String::as_str));
        let message = format!("there is no argument and no `let` of the name `{name}`{near}");
        fail(name.span(), message)
    }

    pub(super) fn operand_value(&self, position: usize, name: &Ident) -> syn::Result<Value> {
        let Operand {
            scalar,
            shape,
            place,
            ref matrix,
            ..
        } = self.program.operands[position];
        let is_unread = matches!(place, Place::Buffer { out: true, .. });
        if is_unread && self.written[position] == 0 {
            let message = format!(
                "`{name}` is declared as `out`, so it holds nothing before it is written: leave \
                 `out` away, or write it first"
            );
            return fail(name.span(), message);
        }
        Ok(Value {
            kind: match matrix {
                None => Kind::Operand(position),
                Some(storage) => Kind::Element(position, storage.at),
            },
            ty: Type::Number(scalar),
            shape,
        })
    }

    fn unary(&mut self, operator: &UnOp, operand: &Expr) -> syn::Result<Value> {
        let value = self.value(operand)?;
        let (text, fits) = match operator {
            UnOp::Neg(_) => ("-", !matches!(value.ty, Type::Truth(_))),
            UnOp::Not(_) => ("!", matches!(value.ty, Type::Truth(_))),
            _ => return fail(operator.span(), "there are no references to elements"),
        };
        if !fits || text == "-" && is_unsigned(value.ty) {
            let message = format!("`{text}` is not for {}", described(value.ty));
            return fail(operator.span(), message);
        }
        Ok(Value {
            ty: value.ty,
            shape: value.shape,
            kind: Kind::Unary(text, Box::new(value)),
        })
    }

    fn select(&mut self, expr: &ExprIf) -> syn::Result<Value> {
        let condition = self.value(&expr.cond)?;
        if !matches!(condition.ty, Type::Truth(_)) {
            return fail(
                expr.cond.span(),
                "a condition is expected, such as `x > 0.0`",
            );
        }
        let Some((_, otherwise)) = &expr.else_branch else {
            return fail(expr.span(), "`if` needs `else`: each position gets a value");
        };
        let yes = self.block(&expr.then_branch)?;
        let no = match &**otherwise {
            Expr::Block(block) => self.block(&block.block)?,
            other => self.value(other)?,
        };
        let spans = [expr.cond.span(), otherwise.span()];
        self.program.select(condition, yes, no, spans)
    }

    fn block(&mut self, block: &syn::Block) -> syn::Result<Value> {
        match &*block.stmts {
            [Stmt::Expr(expr, None)] => self.value(expr),
            _ => fail(block.span(), "one expression is expected here, without `;`"),
        }
    }

    fn call(&mut self, call: &ExprCall) -> syn::Result<Value> {
        let name = match &*call.func {
            Expr::Path(path) => path.path.get_ident(),
            _ => None,
        };
        let Some(name) = name else {
            return fail(call.func.span(), "the name of a function is expected here");
        };
        let text = name.to_string();
        let count = call.args.len();
        let function = FUNCTIONS
            .iter()
            .find(|function| function.name == text && function.arguments == count);
        let reduction = REDUCTIONS
            .iter()
            .find(|reduction| reduction.name == text && reduction.arguments == count);
        let read: syn::Result<Vec<Value>> = call.args.iter().map(|arg| self.value(arg)).collect();
        let arguments = read?;
        if let Some(value) = self.of_matrices(name, &arguments)? {
            return Ok(value);
        }
        if let Some(reduction) = reduction {
            return self.reduction(reduction, arguments, name);
        }
        let Some(function) = function else {
            if names().contains(&text.as_str()) {
                let takes = FUNCTIONS.iter().map(|known| (known.name, known.arguments));
                let reductions = REDUCTIONS.iter().map(|known| (known.name, known.arguments));
                let counts = takes.chain(reductions).filter(|(known, _)| *known == text);
                let counts: Vec<String> = counts.map(|(_, count)| count.to_string()).collect();
                let message = format!(
                    "`{name}` takes {} argument(s), and here are {count}",
                    counts.join(" or ")
                );
                return fail(name.span(), message);
            }
            let near = match of_opencl(&text) {
                Some(known) => format!("; `{text}` of OpenCL C is `{known}` here"),
                None => did_you_mean(&text, names()),
            };
            let message = format!(
                "there is no function `{name}`{near}; the functions are {}",
                quoted(names())
            );
            return fail(name.span(), message);
        };
        self.program.elementwise(function, arguments, name)
    }

    /// A reduction is a statement before the one that it stands in.
    fn reduction(
        &mut self,
        reduction: &Reduction,
        arguments: Vec<Value>,
        name: &Ident,
    ) -> syn::Result<Value> {
        let span = name.span();
        let (mut value, scalar) = self.each(reduction, arguments, name)?;
        if let Shape::Matrix { .. } = value.shape {
            value = self.line_by_line(reduction.fold, value, name)?;
        }
        let Shape::Vector(length) = value.shape else {
            let message =
                format!("`{name}` reduces a vector to a number, and this is one number already");
            return fail(span, message);
        };
        let of_result = match reduction.fold {
            Fold::IndexOfMax => ScalarType::U64,
            _ => value.scalar(),
        };
        let target = self.reduced(reduction.name, of_result, Shape::Number);
        self.program.statements.push(Statement {
            target,
            value,
            action: Action::Fold(reduction.fold),
            with_previous: false,
            length: Some(length),
            grid: None,
            at: At::Cell,
            text: self.text.clone(),
        });
        let result = Value {
            kind: Kind::Operand(target),
            ty: Type::Number(of_result),
            shape: Shape::Number,
        };
        let result = match reduction.fold {
            Fold::IndexOfMax => result,
            _ => in_type(result, scalar),
        };
        self.no_less_than_nothing(reduction, result, name)
    }

    /// The largest magnitude of no elements is 0, where the largest of no elements is the least
    /// number of the type, or minus infinity.
    pub(super) fn no_less_than_nothing(
        &self,
        reduction: &Reduction,
        result: Value,
        name: &Ident,
    ) -> syn::Result<Value> {
        let is_magnitude = matches!(reduction.each, Each::Absolute) && reduction.fold == Fold::Max;
        if !is_magnitude || is_unsigned(result.ty) {
            return Ok(result);
        }
        let zero = Value {
            kind: Kind::Literal("0".into(), name.span()),
            ty: Type::Literal,
            shape: Shape::Number,
        };
        self.program.elementwise(&MAX, vec![result, zero], name)
    }

    /// The scratch buffer of what is reduced.
    pub(super) fn reduced(&mut self, what: &str, scalar: ScalarType, shape: Shape) -> usize {
        let count = self.program.operands.len();
        let name = self.free_name(&format!("{what}_{count}"));
        let target = self.scratch(name, scalar, shape);
        self.written[target] += 1;
        target
    }

    /// What a reduction folds, with the type of its result.
    pub(super) fn each(
        &self,
        reduction: &Reduction,
        arguments: Vec<Value>,
        name: &Ident,
    ) -> syn::Result<(Value, ScalarType)> {
        let span = name.span();
        let mut arguments = arguments.into_iter();
        let Some(first) = arguments.next() else {
            return fail(span, "a reduction takes a vector");
        };
        let value = match (reduction.each, arguments.next()) {
            (Each::Product, Some(second)) => self.program.binary(first, "*", second, span)?,
            (Each::Absolute, _) => {
                if is_unsigned(first.ty) {
                    first
                } else {
                    self.program.elementwise(&ABS, vec![first], name)?
                }
            }
            (_, _) => first,
        };
        let Type::Number(scalar) = value.ty else {
            let message = format!(
                "`{name}` reduces numbers, and this is {}",
                described(value.ty)
            );
            return fail(span, message);
        };
        if reduction.fold == Fold::Norm2 && scalar.is_integer() {
            let message = format!("`{name}` is for floating-point numbers");
            return fail(span, message);
        }
        literals::check(&value)?;
        nesting::check(&value, span)?;
        Ok(match reduction.fold {
            Fold::Sum | Fold::Norm2 => (summed(value), scalar),
            Fold::Min | Fold::Max | Fold::IndexOfMax => (value, scalar),
        })
    }
}

/// What a sum adds up. Sums of half precision are computed in single: squares would have hardly any
/// range, and a sum of ones would not grow beyond 2048. So are the products of two factors.
pub(super) fn summed(value: Value) -> Value {
    if value.ty != Type::Number(ScalarType::F16) {
        return value;
    }
    match value.kind {
        Kind::Binary("*", left, right) => Value {
            kind: Kind::Binary("*", Box::new(summed(*left)), Box::new(summed(*right))),
            ty: Type::Number(ScalarType::F32),
            shape: value.shape,
        },
        _ => converted(value, ScalarType::F32),
    }
}

fn is_unsigned(ty: Type) -> bool {
    matches!(ty, Type::Number(scalar) if scalar.is_integer() && scalar.integers().0 == 0)
}

/// A value in a type.
pub(super) fn in_type(value: Value, scalar: ScalarType) -> Value {
    if value.ty == Type::Number(scalar) {
        return value;
    }
    converted(value, scalar)
}

/// A value in another type.
pub(super) fn converted(value: Value, scalar: ScalarType) -> Value {
    Value {
        shape: value.shape,
        kind: Kind::Convert(Box::new(value)),
        ty: Type::Number(scalar),
    }
}

fn number(literal: &Lit) -> syn::Result<Value> {
    let (digits, suffix) = match literal {
        Lit::Int(number) => (number.base10_digits(), number.suffix()),
        Lit::Float(number) => (number.base10_digits(), number.suffix()),
        _ => return fail(literal.span(), "a number is expected here"),
    };
    let mut value = Value {
        kind: Kind::Literal(digits.to_owned(), literal.span()),
        ty: Type::Literal,
        shape: Shape::Number,
    };
    if !suffix.is_empty() {
        let Some(scalar) = ScalarType::from_rust_name(suffix) else {
            return fail(
                literal.span(),
                format!("there are no elements of type `{suffix}`"),
            );
        };
        value.settle(computable(scalar, literal.span())?);
    }
    Ok(value)
}

fn operator(operator: &BinOp) -> Option<&'static str> {
    Some(match operator {
        BinOp::Add(_) => "+",
        BinOp::Sub(_) => "-",
        BinOp::Mul(_) => "*",
        BinOp::Div(_) => "/",
        BinOp::Rem(_) => "%",
        BinOp::And(_) => "&&",
        BinOp::Or(_) => "||",
        BinOp::BitXor(_) => "^",
        BinOp::BitAnd(_) => "&",
        BinOp::BitOr(_) => "|",
        BinOp::Shl(_) => "<<",
        BinOp::Shr(_) => ">>",
        BinOp::Eq(_) => "==",
        BinOp::Lt(_) => "<",
        BinOp::Le(_) => "<=",
        BinOp::Ne(_) => "!=",
        BinOp::Ge(_) => ">=",
        BinOp::Gt(_) => ">",
        _ => return None,
    })
}
