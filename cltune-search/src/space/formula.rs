//! Conditions as formulas over atoms: expressions whose value must lie in an interval, and how that
//! carries over to what is left of an expression once a part of it is known.

use super::tree::Tree;
use cltune_core::expr::Op;
use std::ops::Range;

/// The values from the first to the last; the least and the greatest integer stand for no limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Interval {
    pub(super) first: i64,
    pub(super) last: i64,
}

/// How a known part of an expression acts on the rest `x`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Action {
    /// `x + known`.
    Add,
    /// `x * known`.
    Multiply,
    /// `x / known`, where that is positive.
    Divide,
    /// `min(x, known)`.
    Min,
    /// `max(x, known)`.
    Max,
    /// `x op known` for a comparison, of which only the truth counts. `Ne` is excluded.
    Compare(Op),
}

impl Interval {
    pub(super) const ALL: Self = Self::new(i64::MIN, i64::MAX);
    pub(super) const NONE: Self = Self::new(1, 0);

    pub(super) const fn new(first: i64, last: i64) -> Self {
        Self { first, last }
    }

    pub(super) const fn is_empty(self) -> bool {
        self.first > self.last
    }

    pub(super) const fn contains(self, value: i64) -> bool {
        self.first <= value && value <= self.last
    }

    pub(super) fn and(self, other: Self) -> Self {
        Self::new(self.first.max(other.first), self.last.min(other.last))
    }

    /// The values of `x` for which the whole expression lies in this interval.
    pub(super) fn before(self, action: Action, known: i64) -> Self {
        let result = match action {
            Action::Add => self.shifted(known),
            Action::Multiply => self.divided(known),
            Action::Divide => self.multiplied(known),
            // `known` is the result where `x` is on its other side.
            Action::Min if known < self.first => Self::NONE,
            Action::Min if known <= self.last => Self::new(self.first, i64::MAX),
            Action::Max if known > self.last => Self::NONE,
            Action::Max if known >= self.first => Self::new(i64::MIN, self.last),
            Action::Min | Action::Max => self,
            Action::Compare(op) => compared(op, known),
        };
        if result.is_empty() {
            Self::NONE
        } else {
            result
        }
    }

    /// Saturating is exact: where a sum's terms cannot overflow, `x` does not reach the ends.
    fn shifted(self, by: i64) -> Self {
        Self::new(
            match self.first {
                i64::MIN => i64::MIN,
                first => first.saturating_sub(by),
            },
            match self.last {
                i64::MAX => i64::MAX,
                last => last.saturating_sub(by),
            },
        )
    }

    fn divided(self, by: i64) -> Self {
        if by == 0 {
            return if self.contains(0) {
                Self::ALL
            } else {
                Self::NONE
            };
        }
        let by = i128::from(by);
        let (first, last) = self.wide();
        if by > 0 {
            narrow(
                first.map(|first| ceil(first, by)),
                last.map(|last| floor(last, by)),
            )
        } else {
            narrow(
                last.map(|last| ceil(last, by)),
                first.map(|first| floor(first, by)),
            )
        }
    }

    fn multiplied(self, by: i64) -> Self {
        let by = i128::from(by);
        let (first, last) = self.wide();
        // Division rounds towards zero, so 0 is the quotient of both sides.
        let first = first.map(|first| {
            if first > 0 {
                first * by
            } else {
                (first - 1) * by + 1
            }
        });
        let last = last.map(|last| {
            if last >= 0 {
                (last + 1) * by - 1
            } else {
                last * by
            }
        });
        narrow(first, last)
    }

    /// The limits there are.
    fn wide(self) -> (Option<i128>, Option<i128>) {
        (
            (self.first != i64::MIN).then_some(i128::from(self.first)),
            (self.last != i64::MAX).then_some(i128::from(self.last)),
        )
    }
}

/// The quotient rounded down.
fn floor(a: i128, b: i128) -> i128 {
    a / b - i128::from(a % b != 0 && (a < 0) != (b < 0))
}

/// The quotient rounded up.
fn ceil(a: i128, b: i128) -> i128 {
    a / b + i128::from(a % b != 0 && (a < 0) == (b < 0))
}

fn narrow(first: Option<i128>, last: Option<i128>) -> Interval {
    let (least, most) = (i128::from(i64::MIN), i128::from(i64::MAX));
    let (first, last) = (first.unwrap_or(least), last.unwrap_or(most));
    if first > most || last < least {
        return Interval::NONE;
    }
    Interval::new(first.max(least) as i64, last.min(most) as i64)
}

/// The values `x` with `x op known`.
fn compared(op: Op, known: i64) -> Interval {
    match op {
        Op::Lt => known
            .checked_sub(1)
            .map_or(Interval::NONE, |last| Interval::new(i64::MIN, last)),
        Op::Le => Interval::new(i64::MIN, known),
        Op::Gt => known
            .checked_add(1)
            .map_or(Interval::NONE, |first| Interval::new(first, i64::MAX)),
        Op::Ge => Interval::new(known, i64::MAX),
        _ => Interval::new(known, known),
    }
}

/// What an atom is about; its interval is kept apart, so that atoms which differ in it only are
/// equal.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct Atom {
    pub(super) tree: Tree,
    /// Whether the value must lie outside the interval.
    pub(super) outside: bool,
    /// Whether the tree is a comparison that must be true: the interval is from 1 to 1.
    pub(super) comparison: bool,
    /// Whether the tree may have no value.
    pub(super) may_fail: bool,
}

/// What is known of a condition.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Decision {
    True,
    False,
    /// It has no value.
    Fails,
    Open,
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) enum Formula {
    Known(Decision),
    Atom(Atom),
    /// The second counts only where the first is true.
    And(Box<Self>, Box<Self>),
    /// The second counts only where the first is false.
    Or(Box<Self>, Box<Self>),
    /// The condition, and what counts where it is true and where it is false.
    If(Box<[Self; 3]>),
}

impl Atom {
    /// Whether it holds for its words and a code of the one parameter it names.
    pub(super) fn decide(&self, words: &[i64], code: i64) -> Decision {
        match self.tree.value(words, code) {
            None => Decision::Fails,
            Some(value) => {
                let interval = Interval::new(words[0], words[1]);
                Decision::of(interval.contains(value) != self.outside)
            }
        }
    }
}

impl Decision {
    pub(super) const fn of(holds: bool) -> Self {
        if holds { Self::True } else { Self::False }
    }
}

impl Formula {
    /// The formula that says that a tree is true, or that it is false; the intervals of its atoms
    /// are added to `intervals`.
    pub(super) fn new(tree: Tree, negated: bool, intervals: &mut Vec<Interval>) -> Self {
        match tree {
            Tree::Const(value) => Self::Known(Decision::of((value == 0) == negated)),
            Tree::Fails => Self::Known(Decision::Fails),
            Tree::And(a, b) => {
                let a = Self::new(*a, negated, intervals).into();
                let b = Self::new(*b, negated, intervals).into();
                if negated {
                    Self::Or(a, b)
                } else {
                    Self::And(a, b)
                }
            }
            Tree::Or(a, b) => {
                let a = Self::new(*a, negated, intervals).into();
                let b = Self::new(*b, negated, intervals).into();
                if negated {
                    Self::And(a, b)
                } else {
                    Self::Or(a, b)
                }
            }
            Tree::If(branches) => {
                let [condition, then, otherwise] = *branches;
                Self::If(Box::new([
                    Self::new(condition, false, intervals),
                    Self::new(then, negated, intervals),
                    Self::new(otherwise, negated, intervals),
                ]))
            }
            Tree::Unary(Op::Not, a) => Self::new(*a, !negated, intervals),
            Tree::Binary(Op::Eq | Op::Ne | Op::Lt | Op::Le | Op::Gt | Op::Ge, ..) => {
                intervals.push(Interval::new(1, 1));
                Self::Atom(Atom {
                    tree,
                    outside: negated,
                    comparison: true,
                    may_fail: true,
                })
            }
            tree => {
                intervals.push(Interval::new(0, 0));
                Self::Atom(Atom {
                    tree,
                    outside: !negated,
                    comparison: false,
                    may_fail: true,
                })
            }
        }
    }

    /// Its atoms, from left to right.
    pub(super) fn atoms(&self) -> Vec<&Atom> {
        match self {
            Self::Known(_) => Vec::new(),
            Self::Atom(atom) => vec![atom],
            Self::And(a, b) | Self::Or(a, b) => [a.atoms(), b.atoms()].concat(),
            Self::If(branches) => branches.iter().flat_map(Self::atoms).collect(),
        }
    }

    /// Its atoms and the places of their words.
    pub(super) fn atoms_with<'a>(
        &'a self,
        places: &'a [Range<usize>],
    ) -> impl Iterator<Item = (&'a Atom, &'a Range<usize>)> {
        self.atoms().into_iter().zip(places)
    }

    /// Whether it holds, given what `decide` says of each of its atoms, which it is asked from left
    /// to right.
    pub(super) fn decide(&self, decide: &mut impl FnMut(&Atom) -> Decision) -> Decision {
        match self {
            Self::Known(decision) => *decision,
            Self::Atom(atom) => decide(atom),
            Self::And(a, b) => {
                let (a, b) = (a.decide(decide), b.decide(decide));
                if a == Decision::True { b } else { a }
            }
            Self::Or(a, b) => {
                let (a, b) = (a.decide(decide), b.decide(decide));
                if a == Decision::False { b } else { a }
            }
            Self::If(branches) => {
                let [a, b, c] = branches.each_ref().map(|branch| branch.decide(decide));
                match a {
                    Decision::True => b,
                    Decision::False => c,
                    other => other,
                }
            }
        }
    }

    /// What is left of it once some atoms are decided and the others are what `next` says (from
    /// left to right), with the positions of the atoms that are left.
    pub(super) fn simplified(
        &self,
        next: &mut impl Iterator<Item = (usize, Result<Atom, Decision>)>,
    ) -> (Self, Vec<usize>) {
        match self {
            Self::Known(decision) => (Self::Known(*decision), Vec::new()),
            Self::Atom(_) => match next.next() {
                Some((at, Ok(atom))) => (Self::Atom(atom), vec![at]),
                Some((_, Err(decision))) => (Self::Known(decision), Vec::new()),
                None => (Self::Known(Decision::Fails), Vec::new()),
            },
            Self::And(a, b) => {
                let (a, b) = (a.simplified(next), b.simplified(next));
                joined(a, b, Decision::True, Self::And)
            }
            Self::Or(a, b) => {
                let (a, b) = (a.simplified(next), b.simplified(next));
                joined(a, b, Decision::False, Self::Or)
            }
            Self::If(branches) => {
                let [a, b, c] = branches.each_ref().map(|branch| branch.simplified(next));
                match a.0 {
                    Self::Known(Decision::True) => b,
                    Self::Known(Decision::False) => c,
                    Self::Known(_) => a,
                    _ => (
                        Self::If(Box::new([a.0, b.0, c.0])),
                        [a.1, b.1, c.1].concat(),
                    ),
                }
            }
        }
    }

    /// Whether it may have no value.
    fn may_fail(&self) -> bool {
        match self {
            Self::Known(decision) => *decision == Decision::Fails,
            Self::Atom(atom) => atom.may_fail,
            Self::And(a, b) | Self::Or(a, b) => a.may_fail() || b.may_fail(),
            Self::If(branches) => branches.iter().any(Self::may_fail),
        }
    }

    /// Whether it can be true at all.
    pub(super) fn is_possible(&self) -> bool {
        match self {
            Self::Known(decision) => *decision == Decision::True,
            Self::Atom(_) => true,
            Self::And(a, b) => a.is_possible() && b.is_possible(),
            Self::Or(a, b) => a.is_possible() || b.is_possible(),
            Self::If(branches) => branches[1].is_possible() || branches[2].is_possible(),
        }
    }
}

/// `a` and `b` joined by an operator that leaves it to `b` where `a` is `neutral`.
fn joined(
    (a, mut atoms): (Formula, Vec<usize>),
    (b, more): (Formula, Vec<usize>),
    neutral: Decision,
    join: impl FnOnce(Box<Formula>, Box<Formula>) -> Formula,
) -> (Formula, Vec<usize>) {
    match (&a, &b) {
        (Formula::Known(decision), _) if *decision == neutral => (b, more),
        (Formula::Known(_), _) => (a, atoms),
        (_, Formula::Known(decision)) if *decision == neutral => (a, atoms),
        // What is left of `a` decides nothing unless it fails.
        (_, Formula::Known(Decision::True | Decision::False)) if !a.may_fail() => (b, more),
        _ => {
            atoms.extend(more);
            (join(a.into(), b.into()), atoms)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cltune_core::expr::arithmetic;

    #[test]
    fn what_is_left_says_the_same() {
        let ends = [i64::MIN, -9, -4, -1, 0, 1, 2, 5, 8, i64::MAX];
        let ops = [Op::Lt, Op::Le, Op::Gt, Op::Ge, Op::Eq];
        let actions = [
            (Action::Add, Op::Add),
            (Action::Multiply, Op::Mul),
            (Action::Divide, Op::Div),
            (Action::Min, Op::Min),
            (Action::Max, Op::Max),
        ];
        let compared = ops.map(|op| (Action::Compare(op), op));
        for (action, op) in actions.into_iter().chain(compared) {
            for (first, last) in ends.iter().flat_map(|a| ends.iter().map(move |b| (*a, *b))) {
                let interval = match action {
                    Action::Compare(_) => Interval::new(1, 1),
                    _ => Interval::new(first, last),
                };
                for known in -12..=12 {
                    if action == Action::Divide && known <= 0 {
                        continue;
                    }
                    let before = interval.before(action, known);
                    for x in -40..=40 {
                        let whole = arithmetic::binary(op, x, known).unwrap().unwrap();
                        assert_eq!(
                            before.contains(x),
                            interval.contains(whole),
                            "{x} {op:?} {known} in {interval:?}: {before:?}"
                        );
                    }
                }
            }
        }
    }
}
