//! Growing expression trees from programs, simplified for the values that parameters can take.

use super::bounds::Bounds;
use super::tree::Tree;
use cltune_core::expr::{Op, Program, arithmetic};

/// Builds trees for parameters whose values lie within these bounds.
pub(super) struct Planter<'a> {
    pub(super) domains: &'a [Bounds],
}

impl Planter<'_> {
    /// The tree of a whole program.
    pub(super) fn tree(&self, program: &Program) -> Tree {
        self.block(&program.ops, 0, program.ops.len())
            .unwrap_or(Tree::Fails)
    }

    /// The same tree for domains that may have become smaller.
    pub(super) fn again(&self, tree: &Tree) -> Tree {
        match tree {
            Tree::Const(_) | Tree::Fails | Tree::Word(..) => tree.clone(),
            Tree::Param(parameter) => self.parameter(*parameter),
            Tree::Unary(op, a) => unary(*op, self.again(a)),
            Tree::Binary(op, a, b) => self.binary(*op, self.again(a), self.again(b)),
            Tree::Chain(op, operands) => operands
                .iter()
                .map(|operand| self.again(operand))
                .reduce(|a, b| self.binary(*op, a, b))
                .unwrap_or(Tree::Fails),
            Tree::And(a, b) => and(self.again(a), self.again(b)),
            Tree::Or(a, b) => or(self.again(a), self.again(b)),
            Tree::If(branches) => {
                let [condition, then, otherwise] = branches.each_ref().map(|b| self.again(b));
                choice(condition, then, otherwise)
            }
        }
    }

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
        let magnitudes = terms.map(|term| term.bounds(self.domains, &[]).magnitude());
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
        Ok(Tree::chain(op, terms))
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
