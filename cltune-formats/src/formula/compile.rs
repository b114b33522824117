//! From a checked tree to a program.

use super::ast::{BinaryOp, Expr, Node};
use super::scope::{ParseError, Scope};
use cltune_core::expr::Fragment;
use cltune_core::expr::{Op, Program};
use cltune_core::parameter::Value;
use cltune_core::{Text, parameter::Parameter};

/// The program of a tree that [`super::check`] passed.
pub(super) fn compile(tree: &Expr, scope: &Scope<'_>) -> Result<Program, ParseError> {
    let fragment = fragment(tree, scope)?;
    if fragment.stack() > Program::MAX_FORMULA_STACK {
        let message = format!(
            "this formula is nested too deeply: it needs {} intermediate values at once, at most \
             {} are possible",
            fragment.stack(),
            Program::MAX_FORMULA_STACK
        );
        return Err(ParseError::new(tree.span, message));
    }
    if fragment.operations() > Program::MAX_OPS {
        let message = format!(
            "this formula is too long: {} operations, at most {} are possible",
            fragment.operations(),
            Program::MAX_OPS
        );
        return Err(ParseError::new(tree.span, message));
    }
    Ok(fragment.finish())
}

fn fragment(expr: &Expr, scope: &Scope<'_>) -> Result<Fragment, ParseError> {
    Ok(match &expr.node {
        Node::Int(value) => Fragment::constant(*value),
        Node::Bool(value) => Fragment::constant(i64::from(*value)),
        Node::Fraction(value) => Fragment::constant(value.code()),
        Node::Param(index) => Fragment::leaf(Op::Param(*index)),
        Node::Dim(index) => Fragment::leaf(Op::Dim(*index)),
        Node::Device(field) => Fragment::leaf(Op::Device(*field)),
        Node::Neg(operand) => Fragment::unary(Op::Neg, fragment(operand, scope)?),
        Node::Not(operand) => Fragment::unary(Op::Not, fragment(operand, scope)?),
        Node::Binary(op, a, b) => binary(*op, a, b, scope)?,
        Node::Call(function, operands) => match &**operands {
            [a] => Fragment::unary(function.op(), fragment(a, scope)?),
            [a, b] => Fragment::binary(function.op(), fragment(a, scope)?, fragment(b, scope)?),
            _ => return Err(unchecked(expr)),
        },
        Node::If(parts) => Fragment::if_else(
            fragment(&parts.condition, scope)?,
            fragment(&parts.then, scope)?,
            fragment(&parts.otherwise, scope)?,
        ),
        Node::Name(_) | Node::Reported => return Err(unchecked(expr)),
    })
}

fn binary(op: BinaryOp, a: &Expr, b: &Expr, scope: &Scope<'_>) -> Result<Fragment, ParseError> {
    let named = |parameter: &Expr, name: &Expr| match (&parameter.node, &name.node) {
        (Node::Param(index), Node::Name(text)) => {
            let code = code(&scope.parameters[usize::from(*index)], text);
            Some(code.map(Fragment::constant).ok_or_else(|| unchecked(name)))
        }
        _ => None,
    };
    let (a, b) = if let Some(code) = named(a, b) {
        (fragment(a, scope)?, code?)
    } else if let Some(code) = named(b, a) {
        (code?, fragment(b, scope)?)
    } else {
        (fragment(a, scope)?, fragment(b, scope)?)
    };
    Ok(match (op, op.op()) {
        (_, Some(op)) => Fragment::binary(op, a, b),
        (BinaryOp::Or, None) => Fragment::or(a, b),
        (_, None) => Fragment::and(a, b),
    })
}

fn code(parameter: &Parameter, name: &str) -> Option<i64> {
    parameter
        .domain
        .code(&Value::Name(Text::Owned(name.to_owned())))
}

/// The error for a tree that was not checked; the callers in this crate check first.
fn unchecked(expr: &Expr) -> ParseError {
    ParseError::new(expr.span, "this formula has a type error")
}
