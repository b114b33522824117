//! Type checking: `i64`, `bool`, numbers with a fraction that can only be compared, and names that
//! can only be compared with their parameter.

use super::ast::{BinaryOp, Expr, Function, Node};
use super::scope::{ParseError, Scope, Type};
use super::syntax::quoted;
use cltune_core::expr::nearest;
use cltune_core::parameter::{Domain, Parameter};

/// What formulas do with numbers that have a fraction.
const ONLY_COMPARED: &str =
    "numbers with a fraction can only be compared, with others of their kind";

/// Checks that the tree has the expected type; mistakes are added to `errors`.
pub(super) fn check(tree: &Expr, scope: &Scope<'_>, expected: Type, errors: &mut Vec<ParseError>) {
    Checker { scope, errors }.expect(tree, expected, "here");
}

/// What an expression was found to be.
#[derive(Clone, Copy)]
enum Found<'a> {
    Int,
    Bool,
    /// A number with a fraction.
    Fraction,
    /// A parameter whose values are names.
    Named(&'a Parameter),
    /// A string literal.
    Literal(&'a str),
    /// Not known, because of a mistake that was reported.
    Reported,
}

impl Found<'_> {
    fn describe(self) -> String {
        match self {
            Self::Int => "an integer".into(),
            Self::Bool => "a boolean".into(),
            Self::Fraction => "a number with a fraction".into(),
            Self::Named(parameter) => {
                format!("`{}`, whose values are names", parameter.name)
            }
            Self::Literal(name) => format!("the name {name:?}"),
            Self::Reported => "unknown".into(),
        }
    }
}

struct Checker<'a> {
    scope: &'a Scope<'a>,
    errors: &'a mut Vec<ParseError>,
}

impl<'a> Checker<'a> {
    fn error(&mut self, at: &Expr, message: String) {
        self.errors.push(ParseError::new(at.span, message));
    }

    fn expect(&mut self, expr: &'a Expr, expected: Type, place: &str) {
        let found = self.infer(expr);
        self.expect_found(expr, found, expected, place);
    }

    fn expect_found(&mut self, expr: &Expr, found: Found<'a>, expected: Type, place: &str) {
        match (expected, found) {
            (_, Found::Reported) | (Type::Int, Found::Int) | (Type::Bool, Found::Bool) => {}
            _ => {
                let hint = match (expected, found, &expr.node) {
                    (Type::Int, Found::Bool, _) => {
                        "; as a number it is `if … { 1 } else { 0 }`".to_owned()
                    }
                    (Type::Bool, Found::Int, Node::Binary(BinaryOp::Rem, ..)) => {
                        "; compare it: `… % … == 0`".into()
                    }
                    (Type::Bool, Found::Int, _) => "; compare it: `… != 0`".into(),
                    (_, Found::Fraction, _) => format!("; {ONLY_COMPARED}"),
                    (_, Found::Named(parameter), _) => {
                        format!("; compare it with one of {}", members(parameter))
                    }
                    _ => String::new(),
                };
                let found = found.describe();
                self.error(
                    expr,
                    format!("expected {expected} {place}, found {found}{hint}"),
                );
            }
        }
    }

    fn expect_all<'e>(
        &mut self,
        operands: impl IntoIterator<Item = &'a Expr>,
        expected: Type,
        symbol: &'e str,
    ) {
        let place = format!("as operand of `{symbol}`");
        for operand in operands {
            self.expect(operand, expected, &place);
        }
    }

    fn infer(&mut self, expr: &'a Expr) -> Found<'a> {
        match &expr.node {
            Node::Int(_) | Node::Dim(_) | Node::Device(_) => Found::Int,
            Node::Bool(_) => Found::Bool,
            Node::Fraction(_) => Found::Fraction,
            Node::Name(name) => Found::Literal(name),
            Node::Reported => Found::Reported,
            Node::Param(index) => {
                let parameter = &self.scope.parameters[usize::from(*index)];
                match parameter.domain {
                    Domain::Integers(_)
                    | Domain::Range { .. }
                    | Domain::PowersOfTwo { .. }
                    | Domain::PerDevice(_) => Found::Int,
                    Domain::Booleans(_) => Found::Bool,
                    Domain::Fractions(_) | Domain::Reals(_) => Found::Fraction,
                    Domain::Names(_) => Found::Named(parameter),
                }
            }
            Node::Neg(operand) => {
                self.expect_all([&**operand], Type::Int, "-");
                Found::Int
            }
            Node::Not(operand) => {
                self.expect_all([&**operand], Type::Bool, "!");
                Found::Bool
            }
            Node::Binary(op @ (BinaryOp::And | BinaryOp::Or), a, b) => {
                self.expect_all([&**a, &**b], Type::Bool, op.symbol());
                Found::Bool
            }
            Node::Binary(op @ (BinaryOp::Eq | BinaryOp::Ne), a, b) => {
                self.equality(*op, a, b, expr);
                Found::Bool
            }
            Node::Binary(op, a, b) if op.is_comparison() => {
                self.order(*op, a, b);
                Found::Bool
            }
            Node::Binary(op, a, b) => {
                self.expect_all([&**a, &**b], Type::Int, op.symbol());
                Found::Int
            }
            Node::Call(function, operands) => {
                self.expect_all(operands, Type::Int, function.name());
                if *function == Function::IsPowerOfTwo {
                    Found::Bool
                } else {
                    Found::Int
                }
            }
            Node::If(parts) => {
                self.expect(&parts.condition, Type::Bool, "as condition of `if`");
                let then = self.infer(&parts.then);
                let otherwise = self.infer(&parts.otherwise);
                self.branches(then, otherwise, expr)
            }
        }
    }

    fn branches(&mut self, then: Found<'a>, otherwise: Found<'a>, expr: &Expr) -> Found<'a> {
        match (then, otherwise) {
            (Found::Reported, _) | (_, Found::Reported) => Found::Reported,
            (Found::Int, Found::Int) => Found::Int,
            (Found::Bool, Found::Bool) => Found::Bool,
            _ => {
                let message = format!(
                    "both branches of `if` must be integers or both booleans: one is {}, the \
                     other {}",
                    then.describe(),
                    otherwise.describe()
                );
                self.error(expr, message);
                Found::Reported
            }
        }
    }

    /// The operands of `<` and the like: two integers, or two numbers with a fraction.
    fn order(&mut self, op: BinaryOp, a: &'a Expr, b: &'a Expr) {
        let (found_a, found_b) = (self.infer(a), self.infer(b));
        match (found_a, found_b) {
            (Found::Fraction, Found::Fraction | Found::Reported)
            | (Found::Reported, Found::Fraction) => {}
            (Found::Fraction, Found::Int) => self.mixed(op, b, a),
            (Found::Int, Found::Fraction) => self.mixed(op, a, b),
            _ => {
                let place = format!("as operand of `{}`", op.symbol());
                self.expect_found(a, found_a, Type::Int, &place);
                self.expect_found(b, found_b, Type::Int, &place);
            }
        }
    }

    /// An integer that is compared with a number with a fraction.
    fn mixed(&mut self, op: BinaryOp, integer: &Expr, fraction: &Expr) {
        let place = format!("as operand of `{}`", op.symbol());
        if let Node::Int(value) = integer.node {
            let message = format!("expected a number with a fraction {place}: write `{value}.0`");
            self.error(integer, message);
        } else {
            self.expect_found(fraction, Found::Fraction, Type::Int, &place);
        }
    }

    fn equality(&mut self, op: BinaryOp, a: &'a Expr, b: &'a Expr, whole: &Expr) {
        let (found_a, found_b) = (self.infer(a), self.infer(b));
        match (found_a, found_b) {
            (Found::Reported, _)
            | (_, Found::Reported)
            | (Found::Int, Found::Int)
            | (Found::Bool, Found::Bool)
            | (Found::Fraction, Found::Fraction) => {}
            (Found::Fraction, Found::Int) => self.mixed(op, b, a),
            (Found::Int, Found::Fraction) => self.mixed(op, a, b),
            (Found::Named(parameter), Found::Literal(name)) => self.member(parameter, name, b),
            (Found::Literal(name), Found::Named(parameter)) => self.member(parameter, name, a),
            _ => {
                let symbol = op.symbol();
                let (a, b) = (found_a.describe(), found_b.describe());
                let message = format!(
                    "`{symbol}` compares two integers, two booleans, or a parameter with a name; \
                     here it has {a} and {b}"
                );
                self.error(whole, message);
            }
        }
    }

    fn member(&mut self, parameter: &Parameter, name: &str, at: &Expr) {
        let Domain::Names(names) = &parameter.domain else {
            return;
        };
        if names.iter().any(|known| known == name) {
            return;
        }
        let near = nearest(name, names.iter().map(|name| &**name))
            .map(|near| format!("did you mean {near:?}? "))
            .unwrap_or_default();
        let message = format!(
            "`{}` has no value {name:?}; {near}its values are {}",
            parameter.name,
            members(parameter)
        );
        self.error(at, message);
    }
}

fn members(parameter: &Parameter) -> String {
    let Domain::Names(names) = &parameter.domain else {
        return String::new();
    };
    let names: Vec<&str> = names.iter().map(|name| &**name).collect();
    quoted(&names)
}
