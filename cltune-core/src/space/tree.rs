//! Constraints as expression trees, simplified for the values their parameters can take.

use super::bounds::{Bounds, Failure, Truth};
use crate::expr::{Op, Program, arithmetic};

/// An expression over the parameters of a space.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Tree {
    Const(i64),
    /// Has no value.
    Fails,
    /// The parameter with this position in the declaration.
    Param(usize),
    Unary(Op, Box<Self>),
    Binary(Op, Box<Self>, Box<Self>),
    /// Two or more operands of a commutative and associative operator, no order of which can
    /// overflow: so that whichever are known first can be combined.
    Chain(Op, Vec<Self>),
    And(Box<Self>, Box<Self>),
    Or(Box<Self>, Box<Self>),
    If(Box<[Self; 3]>),
}

/// Builds trees for parameters whose values lie within these bounds.
pub(super) struct Planter<'a> {
    pub(super) domains: &'a [Bounds],
}

impl Tree {
    /// The expressions that must all be true for a constraint to hold. A program that no compiler
    /// of this version wrote has no value.
    pub(super) fn conjuncts(program: &Program, domains: &[Bounds]) -> Vec<Self> {
        let tree = Planter { domains }.block(&program.ops, 0, program.ops.len());
        let mut parts = Vec::new();
        tree.unwrap_or(Self::Fails).split(&mut parts);
        parts
    }

    fn split(self, parts: &mut Vec<Self>) {
        match self {
            // If the left one is false the right one need not have a value, but then neither
            // does it matter.
            Self::And(a, b) => {
                a.split(parts);
                b.split(parts);
            }
            Self::If(branches) if matches!(branches[2], Self::Const(0)) => {
                let [condition, then, _] = *branches;
                condition.split(parts);
                then.split(parts);
            }
            other => parts.push(other),
        }
    }

    /// The bounds of its value.
    pub(super) fn bounds(&self, domains: &[Bounds]) -> Bounds {
        match self {
            Self::Const(value) => Bounds::exactly(*value),
            Self::Fails => Bounds::FAILS,
            Self::Param(parameter) => domains[*parameter],
            Self::Unary(op, a) => Bounds::unary(*op, a.bounds(domains)),
            Self::Binary(op, a, b) => Bounds::binary(*op, a.bounds(domains), b.bounds(domains)),
            Self::Chain(op, operands) => {
                chain_bounds(*op, operands.iter().map(|o| o.bounds(domains)))
            }
            Self::And(a, b) => and_bounds(a.bounds(domains), || b.bounds(domains)),
            Self::Or(a, b) => or_bounds(a.bounds(domains), || b.bounds(domains)),
            Self::If(branches) => {
                let [condition, then, otherwise] = &**branches;
                if_bounds(
                    condition.bounds(domains),
                    || then.bounds(domains),
                    || otherwise.bounds(domains),
                )
            }
        }
    }
}

/// The bounds of a chain of operands.
pub(super) fn chain_bounds(op: Op, mut operands: impl Iterator<Item = Bounds>) -> Bounds {
    let first = operands.next().unwrap_or(Bounds::FAILS);
    operands.fold(first, |a, b| Bounds::binary(op, a, b))
}

/// The bounds of `a && b`, which is `a` where `a` is 0.
pub(super) fn and_bounds(a: Bounds, b: impl FnOnce() -> Bounds) -> Bounds {
    if a.failure == Failure::Always {
        return Bounds::FAILS;
    }
    let result = match a.truth() {
        Truth::False => Bounds::exactly(0),
        Truth::True => b(),
        Truth::Unknown => Bounds::exactly(0).or(b()),
    };
    result.failing(a.failure)
}

/// The bounds of `a || b`, which is `a` where `a` is not 0.
pub(super) fn or_bounds(a: Bounds, b: impl FnOnce() -> Bounds) -> Bounds {
    if a.failure == Failure::Always {
        return Bounds::FAILS;
    }
    let result = match a.truth() {
        Truth::True => a,
        Truth::False => b(),
        Truth::Unknown => a.without_zero().or(b()),
    };
    result.failing(a.failure)
}

/// The bounds of a choice.
pub(super) fn if_bounds(
    condition: Bounds,
    then: impl FnOnce() -> Bounds,
    otherwise: impl FnOnce() -> Bounds,
) -> Bounds {
    if condition.failure == Failure::Always {
        return Bounds::FAILS;
    }
    let result = match condition.truth() {
        Truth::True => then(),
        Truth::False => otherwise(),
        Truth::Unknown => then().or(otherwise()),
    };
    result.failing(condition.failure)
}

impl Planter<'_> {
    /// The tree of a part of a program; `None` when the part does not leave exactly one value.
    fn block(&self, ops: &[Op], mut at: usize, end: usize) -> Option<Tree> {
        let mut stack: Vec<Tree> = Vec::new();
        while at < end {
            let op = ops[at];
            at += 1;
            // The end of a jump's body, which must lie in this part.
            let within =
                |from: usize, to: u16| Some(usize::from(to)).filter(|to| (from..=end).contains(to));
            let tree = match op {
                Op::Const(value) => Tree::Const(value),
                Op::Param(parameter) => self.parameter(usize::from(parameter)),
                // A bound constraint has no others.
                Op::Dim(_) | Op::Device(_) => Tree::Fails,
                Op::AndThen(to) | Op::OrElse(to) => {
                    let to = within(at, to)?;
                    let a = stack.pop()?;
                    let b = self.block(ops, at, to)?;
                    at = to;
                    if matches!(op, Op::AndThen(_)) {
                        and(a, b)
                    } else {
                        or(a, b)
                    }
                }
                Op::JumpIfFalse(to) => {
                    let otherwise = within(at + 1, to)?;
                    let Op::Jump(to) = ops[otherwise - 1] else {
                        return None;
                    };
                    let to = within(otherwise, to)?;
                    let condition = stack.pop()?;
                    let then = self.block(ops, at, otherwise - 1)?;
                    let otherwise = self.block(ops, otherwise, to)?;
                    at = to;
                    choice(condition, then, otherwise)
                }
                Op::Jump(_) => return None,
                Op::Neg | Op::Not | Op::Abs | Op::IsPowerOfTwo => unary(op, stack.pop()?),
                _ => {
                    let b = stack.pop()?;
                    let a = stack.pop()?;
                    self.binary(op, a, b)
                }
            };
            stack.push(tree);
        }
        let tree = stack.pop()?;
        stack.is_empty().then_some(tree)
    }

    fn parameter(&self, parameter: usize) -> Tree {
        match self.domains.get(parameter) {
            None => Tree::Fails,
            Some(bounds) if bounds.low == bounds.high => Tree::Const(bounds.low),
            Some(_) => Tree::Param(parameter),
        }
    }

    fn binary(&self, op: Op, a: Tree, b: Tree) -> Tree {
        match (op, a, b) {
            (_, Tree::Fails, _) | (_, _, Tree::Fails) => Tree::Fails,
            (op, Tree::Const(a), Tree::Const(b)) => match arithmetic::binary(op, a, b) {
                Some(Ok(value)) => Tree::Const(value),
                _ => Tree::Fails,
            },
            // The least integer cannot be negated, so what does not chain stays as it was.
            (Op::Sub, a, b) => self
                .chain(Op::Add, [a.clone(), unary(Op::Neg, b.clone())])
                .unwrap_or_else(|_| Tree::Binary(Op::Sub, Box::new(a), Box::new(b))),
            // One sum to compare with 0 has one value while its terms become known, where two
            // sides have a pair of values.
            (Op::Eq | Op::Ne | Op::Lt | Op::Le | Op::Gt | Op::Ge, a, b)
                if is_sum(&a) && !matches!(b, Tree::Const(_))
                    || is_sum(&b) && !matches!(a, Tree::Const(_)) =>
            {
                match self.chain(Op::Add, [a.clone(), unary(Op::Neg, b.clone())]) {
                    Ok(sum) => Tree::Binary(op, Box::new(sum), Box::new(Tree::Const(0))),
                    Err(_) => Tree::Binary(op, Box::new(a), Box::new(b)),
                }
            }
            (op, a, b) => self
                .chain(op, [a, b])
                .unwrap_or_else(|[a, b]| Tree::Binary(op, Box::new(a), Box::new(b))),
        }
    }

    /// A chain, or the operands back when `op` does not chain or could overflow in some order.
    fn chain(&self, op: Op, operands: [Tree; 2]) -> Result<Tree, [Tree; 2]> {
        let chains = matches!(
            op,
            Op::Add | Op::Mul | Op::Min | Op::Max | Op::BitAnd | Op::BitOr | Op::BitXor
        );
        if !chains {
            return Err(operands);
        }
        let terms = operands.iter().flat_map(|operand| match operand {
            Tree::Chain(other, terms) if *other == op => terms.iter().collect(),
            _ => vec![operand],
        });
        let magnitudes = terms.map(|term| term.bounds(self.domains).magnitude());
        let total = match op {
            Op::Add => magnitudes.fold(0, u128::saturating_add),
            Op::Mul => magnitudes.fold(1, |product: u128, m| product.saturating_mul(m.max(1))),
            _ => 0,
        };
        if total > i64::MAX as u128 {
            return Err(operands);
        }
        let mut constant: Option<i64> = None;
        let mut terms = Vec::new();
        for operand in operands {
            let operands = match operand {
                Tree::Chain(other, terms) if other == op => terms,
                operand => vec![operand],
            };
            for operand in operands {
                match (operand, constant) {
                    (Tree::Const(value), None) => constant = Some(value),
                    (Tree::Const(value), Some(before)) => {
                        constant = arithmetic::binary(op, before, value).and_then(Result::ok);
                    }
                    (operand, _) => terms.push(operand),
                }
            }
        }
        // An operand that changes nothing.
        let neutral = match op {
            Op::Add => constant == Some(0),
            Op::Mul => constant == Some(1),
            _ => false,
        };
        if let Some(value) = constant.filter(|_| !neutral) {
            terms.push(Tree::Const(value));
        }
        Ok(if terms.len() == 1 {
            terms.remove(0)
        } else {
            Tree::Chain(op, terms)
        })
    }
}

fn is_sum(tree: &Tree) -> bool {
    matches!(tree, Tree::Chain(Op::Add, _))
}

fn unary(op: Op, a: Tree) -> Tree {
    match a {
        Tree::Fails => Tree::Fails,
        Tree::Const(value) => match arithmetic::unary(op, value) {
            Some(Ok(value)) => Tree::Const(value),
            _ => Tree::Fails,
        },
        a => Tree::Unary(op, Box::new(a)),
    }
}

fn and(a: Tree, b: Tree) -> Tree {
    match a {
        Tree::Fails => Tree::Fails,
        Tree::Const(0) => Tree::Const(0),
        Tree::Const(_) => b,
        a => Tree::And(Box::new(a), Box::new(b)),
    }
}

fn or(a: Tree, b: Tree) -> Tree {
    match a {
        Tree::Fails => Tree::Fails,
        Tree::Const(0) => b,
        Tree::Const(value) => Tree::Const(value),
        a => Tree::Or(Box::new(a), Box::new(b)),
    }
}

fn choice(condition: Tree, then: Tree, otherwise: Tree) -> Tree {
    match condition {
        Tree::Fails => Tree::Fails,
        Tree::Const(0) => otherwise,
        Tree::Const(_) => then,
        condition => Tree::If(Box::new([condition, then, otherwise])),
    }
}
