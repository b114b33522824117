//! The values that an expression may have for a condition to hold, and how that carries over to
//! what is left of the expression once a part of it is known.

use cltune_core::expr::Op;

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
