//! Constraints as expression trees, grown from programs and simplified for the values that
//! parameters can take.

use super::bounds::{Bounds, Failure, Truth};
use super::interned::FastMap;
use cltune_core::expr::{Op, Program, arithmetic};

/// An expression over the parameters of a space.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Tree {
    Const(i64),
    /// Has no value.
    Fails,
    /// The parameter with this position: in the declaration, or in a group's order.
    Param(usize),
    /// What earlier parameters determine: the position of its value among the words that are kept
    /// of them, and its bounds. If these say that it may fail, the next word says whether it did.
    Word(usize, Bounds),
    Unary(Op, Box<Self>),
    Binary(Op, Box<Self>, Box<Self>),
    /// Two or more operands of a commutative and associative operator, no order of which can
    /// overflow: so that whichever are known first can be combined.
    Chain(Op, Vec<Self>),
    And(Box<Self>, Box<Self>),
    Or(Box<Self>, Box<Self>),
    If(Box<[Self; 3]>),
}

impl Tree {
    /// A chain, or its only operand.
    pub(super) fn chain(op: Op, mut operands: Vec<Self>) -> Self {
        if operands.len() == 1 {
            operands.remove(0)
        } else {
            Self::Chain(op, operands)
        }
    }

    /// Adds the expressions that must all be true for it to be true.
    pub(super) fn split(self, parts: &mut Vec<Self>) {
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

    /// The expressions it is made of.
    pub(super) fn operands(&self) -> Vec<&Self> {
        match self {
            Self::Const(_) | Self::Fails | Self::Param(_) | Self::Word(..) => Vec::new(),
            Self::Unary(_, a) => vec![a],
            Self::Binary(_, a, b) | Self::And(a, b) | Self::Or(a, b) => vec![a, b],
            Self::Chain(_, operands) => operands.iter().collect(),
            Self::If(branches) => branches.iter().collect(),
        }
    }

    /// The same expression with each of those it is made of replaced.
    pub(super) fn map(&self, mut change: impl FnMut(&Self) -> Self) -> Self {
        match self {
            Self::Const(_) | Self::Fails | Self::Param(_) | Self::Word(..) => self.clone(),
            Self::Unary(op, a) => Self::Unary(*op, change(a).into()),
            Self::Binary(op, a, b) => Self::Binary(*op, change(a).into(), change(b).into()),
            Self::Chain(op, operands) => Self::Chain(*op, operands.iter().map(change).collect()),
            Self::And(a, b) => Self::And(change(a).into(), change(b).into()),
            Self::Or(a, b) => Self::Or(change(a).into(), change(b).into()),
            Self::If(branches) => Self::If(Box::new(branches.each_ref().map(change))),
        }
    }

    /// The same expression with other positions of the parameters; one without a position fails.
    pub(super) fn renumbered(&self, positions: &FastMap<usize, usize>) -> Self {
        match self {
            Self::Param(parameter) => {
                let position = positions.get(parameter).copied();
                position.map_or(Self::Fails, Self::Param)
            }
            other => other.map(|operand| operand.renumbered(positions)),
        }
    }

    /// The parameters it names, ascending.
    pub(super) fn parameters(&self) -> Vec<usize> {
        let mut found = Vec::new();
        self.visit(&mut |tree| {
            if let Self::Param(parameter) = tree {
                found.push(*parameter);
            }
        });
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Of how many parts it is made.
    pub(super) fn size(&self) -> usize {
        let mut size = 0;
        self.visit(&mut |_| size += 1);
        size
    }

    /// Calls `see` for each part, larger ones first.
    fn visit(&self, see: &mut impl FnMut(&Self)) {
        see(self);
        for operand in self.operands() {
            operand.visit(see);
        }
    }

    /// Whether every parameter it names is this one; without one, whether it names none.
    pub(super) fn names_only(&self, parameter: Option<usize>) -> bool {
        let mut only = true;
        self.visit(&mut |tree| {
            if let Self::Param(named) = tree {
                only &= Some(*named) == parameter;
            }
        });
        only
    }

    /// Its value, if it has one, for these words and a code of the one parameter it names.
    pub(super) fn value(&self, words: &[i64], code: i64) -> Option<i64> {
        match self {
            Self::Const(value) => Some(*value),
            Self::Fails => None,
            Self::Param(_) => Some(code),
            Self::Word(at, bounds) => {
                let fails = bounds.failure != Failure::Never && words[at + 1] != 0;
                (!fails).then(|| words[*at])
            }
            Self::Unary(op, a) => arithmetic::unary(*op, a.value(words, code)?)?.ok(),
            Self::Binary(op, a, b) => {
                arithmetic::binary(*op, a.value(words, code)?, b.value(words, code)?)?.ok()
            }
            Self::Chain(op, operands) => {
                let (first, rest) = operands.split_first()?;
                rest.iter()
                    .try_fold(first.value(words, code)?, |value, operand| {
                        arithmetic::binary(*op, value, operand.value(words, code)?)?.ok()
                    })
            }
            Self::And(a, b) => match a.value(words, code)? {
                0 => Some(0),
                _ => b.value(words, code),
            },
            Self::Or(a, b) => match a.value(words, code)? {
                0 => b.value(words, code),
                value => Some(value),
            },
            Self::If(branches) => {
                let [condition, then, otherwise] = &**branches;
                match condition.value(words, code)? {
                    0 => otherwise.value(words, code),
                    _ => then.value(words, code),
                }
            }
        }
    }

    /// The bounds of its value over these domains of the parameters and, if there are any, for
    /// these words.
    pub(super) fn bounds(&self, domains: &[Bounds], words: &[i64]) -> Bounds {
        let of = |operand: &Self| operand.bounds(domains, words);
        match self {
            Self::Const(value) => Bounds::exactly(*value),
            Self::Fails => Bounds::FAILS,
            Self::Param(parameter) => domains[*parameter],
            Self::Word(_, bounds) if words.is_empty() => *bounds,
            Self::Word(..) => self.value(words, 0).map_or(Bounds::FAILS, Bounds::exactly),
            Self::Unary(op, a) => Bounds::unary(*op, of(a)),
            Self::Binary(op, a, b) => Bounds::binary(*op, of(a), of(b)),
            Self::Chain(op, operands) => chain_bounds(*op, operands.iter().map(of)),
            Self::And(a, b) => and_bounds(of(a), || of(b)),
            Self::Or(a, b) => or_bounds(of(a), || of(b)),
            Self::If(branches) => {
                let [condition, then, otherwise] = &**branches;
                if_bounds(of(condition), || of(then), || of(otherwise))
            }
        }
    }
}

/// The bounds of a chain of operands.
fn chain_bounds(op: Op, mut operands: impl Iterator<Item = Bounds>) -> Bounds {
    let first = operands.next().unwrap_or(Bounds::FAILS);
    operands.fold(first, |a, b| Bounds::binary(op, a, b))
}

/// The bounds of `a && b`, which is `a` where `a` is 0.
fn and_bounds(a: Bounds, b: impl FnOnce() -> Bounds) -> Bounds {
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
fn or_bounds(a: Bounds, b: impl FnOnce() -> Bounds) -> Bounds {
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
fn if_bounds(
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

/// Builds trees for parameters whose values lie within these bounds.
pub(super) struct TreeBuilder<'a> {
    pub(super) domains: &'a [Bounds],
}

impl TreeBuilder<'_> {
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
