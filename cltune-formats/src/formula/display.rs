//! Canonical text: one text per formula, in Rust syntax with the fewest parentheses that keep the
//! tree. Parsing it gives the same formula again.

use super::ast::{Expr, IfElse, Node};
use super::scope::Scope;
use std::fmt::{self, Display, Formatter};

/// The precedence of unary operators, above every binary one.
const UNARY: u8 = 10;
/// The precedence of what a method may be called on without parentheses.
const RECEIVER: u8 = 11;

/// Shows an expression with the names of a scope.
pub(super) struct Canonical<'a> {
    pub(super) expr: &'a Expr,
    pub(super) scope: &'a Scope<'a>,
}

/// A name as Rust writes it: a keyword, which C may well take, is `r#type`.
fn name(f: &mut Formatter<'_>, name: &str) -> fmt::Result {
    let is_keyword = syn::parse_str::<syn::Ident>(name).is_err();
    write!(f, "{}{name}", if is_keyword { "r#" } else { "" })
}

impl Display for Canonical<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match &self.expr.node {
            Node::Int(value) => write!(f, "{value}"),
            Node::Bool(value) => write!(f, "{value}"),
            Node::Fraction(value) => write!(f, "{value}"),
            Node::Name(name) => write!(f, "{name:?}"),
            Node::Param(index) => name(f, &self.scope.parameters[usize::from(*index)].name),
            Node::Dim(index) => name(f, &self.scope.dimensions[usize::from(*index)]),
            Node::Device(field) => write!(f, "device.{}", field.name()),
            Node::Neg(operand) => write!(f, "-{}", self.operand(operand, UNARY)),
            Node::Not(operand) => write!(f, "!{}", self.operand(operand, UNARY)),
            Node::Binary(op, a, b) => {
                // Left-associative: the right operand needs parentheses at equal precedence, and
                // both do where the operator does not chain.
                let at_left = op.precedence() + u8::from(op.is_comparison());
                let a = self.operand(a, at_left);
                let b = self.operand(b, op.precedence() + 1);
                write!(f, "{a} {} {b}", op.symbol())
            }
            Node::Call(function, operands) => {
                let Some((receiver, arguments)) = operands.split_first() else {
                    return Ok(());
                };
                write!(
                    f,
                    "{}.{}(",
                    self.operand(receiver, RECEIVER),
                    function.name()
                )?;
                for (position, argument) in arguments.iter().enumerate() {
                    let separator = if position == 0 { "" } else { ", " };
                    write!(f, "{separator}{}", self.with(argument))?;
                }
                f.write_str(")")
            }
            Node::If(parts) => {
                let IfElse {
                    condition,
                    then,
                    otherwise,
                } = &**parts;
                let condition = self.operand(condition, 1);
                write!(f, "if {condition} {{ {} }} else ", self.with(then))?;
                match otherwise.node {
                    Node::If(_) => write!(f, "{}", self.with(otherwise)),
                    _ => write!(f, "{{ {} }}", self.with(otherwise)),
                }
            }
            Node::Reported => f.write_str("_"),
        }
    }
}

impl<'a> Canonical<'a> {
    fn with(&self, expr: &'a Expr) -> Self {
        Self {
            expr,
            scope: self.scope,
        }
    }

    fn operand(&self, expr: &'a Expr, at_least: u8) -> Operand<'a> {
        Operand {
            shown: self.with(expr),
            parenthesised: precedence(&expr.node) < at_least,
        }
    }
}

struct Operand<'a> {
    shown: Canonical<'a>,
    parenthesised: bool,
}

impl Display for Operand<'_> {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        if self.parenthesised {
            write!(f, "({})", self.shown)
        } else {
            write!(f, "{}", self.shown)
        }
    }
}

fn precedence(node: &Node) -> u8 {
    match node {
        Node::If(_) => 0,
        Node::Binary(op, ..) => op.precedence(),
        Node::Neg(_) | Node::Not(_) => UNARY,
        // The sign of a negative number is an operator to the parser: `-1.abs()` is `-(1.abs())`.
        Node::Int(value) if *value < 0 => UNARY,
        Node::Fraction(value) if value.get() < 0.0 => UNARY,
        Node::Int(_)
        | Node::Bool(_)
        | Node::Fraction(_)
        | Node::Name(_)
        | Node::Param(_)
        | Node::Dim(_)
        | Node::Device(_)
        | Node::Call(..)
        | Node::Reported => RECEIVER,
    }
}
