//! Bounds of a value before all parameters are known: the range it lies in, and whether its
//! evaluation may or must fail.

use cltune_core::expr::{Op, arithmetic};

/// Whether an evaluation fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) enum Failure {
    Never,
    Maybe,
    Always,
}

/// A range that holds every value an expression can have. Narrower operands never give a wider
/// result: what is decided for some parameters stays decided when more of them are known.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Bounds {
    pub(super) low: i64,
    pub(super) high: i64,
    pub(super) failure: Failure,
}

/// What a truth value is known to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Truth {
    False,
    True,
    Unknown,
}

impl Bounds {
    pub(super) const FAILS: Self = Self {
        low: i64::MIN,
        high: i64::MAX,
        failure: Failure::Always,
    };
    const BOOLEAN: Self = Self::between(0, 1);
    const ANY: Self = Self::between(i64::MIN, i64::MAX);

    pub(super) const fn between(low: i64, high: i64) -> Self {
        Self {
            low,
            high,
            failure: Failure::Never,
        }
    }

    /// The bounds of a domain; without codes, of one with the code 0.
    pub(super) fn of(codes: &[i64]) -> Self {
        let low = codes.iter().copied().min().unwrap_or(0);
        Self::between(low, codes.iter().copied().max().unwrap_or(low))
    }

    pub(super) const fn exactly(value: i64) -> Self {
        Self::between(value, value)
    }

    /// Whether the value, if there is one, is zero.
    pub(super) fn truth(self) -> Truth {
        match (self.low, self.high) {
            (0, 0) => Truth::False,
            (low, high) if low > 0 || high < 0 => Truth::True,
            _ => Truth::Unknown,
        }
    }

    /// The range of values of either.
    pub(super) fn or(self, other: Self) -> Self {
        match (self.failure, other.failure) {
            (Failure::Always, Failure::Always) => Self::FAILS,
            (Failure::Always, _) => other.failing(Failure::Maybe),
            (_, Failure::Always) => self.failing(Failure::Maybe),
            (a, b) => Self {
                low: self.low.min(other.low),
                high: self.high.max(other.high),
                failure: a.max(b),
            },
        }
    }

    /// The same range, failing at least like this.
    pub(super) fn failing(self, failure: Failure) -> Self {
        Self {
            failure: self.failure.max(failure),
            ..self
        }
    }

    /// Without a zero at an end of the range.
    pub(super) fn without_zero(self) -> Self {
        Self {
            low: if self.low == 0 {
                self.high.min(1)
            } else {
                self.low
            },
            high: if self.high == 0 {
                self.low.max(-1)
            } else {
                self.high
            },
            ..self
        }
    }

    /// The largest distance from zero.
    pub(super) fn magnitude(self) -> u128 {
        u128::from(self.low.unsigned_abs().max(self.high.unsigned_abs()))
    }

    fn point(self) -> Option<i64> {
        (self.low == self.high).then_some(self.low)
    }

    pub(super) fn unary(op: Op, a: Self) -> Self {
        let result = match (a.point(), op) {
            (Some(value), _) => evaluated(arithmetic::unary(op, value)),
            (None, Op::Neg) => clip(-i128::from(a.high), -i128::from(a.low)),
            (None, Op::Abs) => {
                let low = if a.low <= 0 && a.high >= 0 {
                    0
                } else {
                    i128::from(a.low).abs().min(i128::from(a.high).abs())
                };
                clip(low, a.magnitude() as i128)
            }
            (None, Op::Not) => match a.truth() {
                Truth::True => Self::exactly(0),
                _ => Self::BOOLEAN,
            },
            (None, Op::IsPowerOfTwo) if a.high <= 0 => Self::exactly(0),
            (None, _) => Self::BOOLEAN,
        };
        result.failing(a.failure)
    }

    pub(super) fn binary(op: Op, a: Self, b: Self) -> Self {
        let result = match (a.point(), b.point()) {
            (Some(a), Some(b)) => evaluated(arithmetic::binary(op, a, b)),
            _ => ranges(op, a, b),
        };
        result.failing(a.failure.max(b.failure))
    }
}

fn evaluated(result: Option<Result<i64, cltune_core::expr::EvalError>>) -> Bounds {
    match result {
        Some(Ok(value)) => Bounds::exactly(value),
        _ => Bounds::FAILS,
    }
}

/// The part of a range that is a value; the rest is an overflow.
fn clip(low: i128, high: i128) -> Bounds {
    const LEAST: i128 = i64::MIN as i128;
    const MOST: i128 = i64::MAX as i128;
    if low > MOST || high < LEAST {
        return Bounds::FAILS;
    }
    let bounds = Bounds::between(low.max(LEAST) as i64, high.min(MOST) as i64);
    if low < LEAST || high > MOST {
        bounds.failing(Failure::Maybe)
    } else {
        bounds
    }
}

/// The range of a function that has its extremes at the corners of its operands' ranges.
fn corners(a: (i128, i128), b: (i128, i128), f: impl Fn(i128, i128) -> i128) -> (i128, i128) {
    let values = [f(a.0, b.0), f(a.0, b.1), f(a.1, b.0), f(a.1, b.1)];
    let least = values.iter().copied().fold(i128::MAX, i128::min);
    (least, values.iter().copied().fold(i128::MIN, i128::max))
}

fn ranges(op: Op, a: Bounds, b: Bounds) -> Bounds {
    let wide = |bounds: Bounds| (i128::from(bounds.low), i128::from(bounds.high));
    let decided = |always: bool, never: bool| {
        if always {
            Bounds::exactly(1)
        } else if never {
            Bounds::exactly(0)
        } else {
            Bounds::BOOLEAN
        }
    };
    let apart = a.high < b.low || b.high < a.low;
    let natural = a.low >= 0 && b.low >= 0;
    match op {
        Op::Add => clip(
            i128::from(a.low) + i128::from(b.low),
            i128::from(a.high) + i128::from(b.high),
        ),
        Op::Sub => clip(
            i128::from(a.low) - i128::from(b.high),
            i128::from(a.high) - i128::from(b.low),
        ),
        Op::Mul => {
            let (low, high) = corners(wide(a), wide(b), |a, b| a * b);
            clip(low, high)
        }
        Op::Div => quotient(a, b, |a, b| a / b),
        Op::DivCeil => quotient(a, b, |a, b| {
            let up = a % b != 0 && (a > 0) == (b > 0);
            a / b + i128::from(up)
        }),
        Op::Rem => residual(a, b),
        Op::Shl | Op::Shr => shifted(op, a, b),
        Op::Eq => decided(false, apart),
        Op::Ne => decided(apart, false),
        Op::Lt => decided(a.high < b.low, a.low >= b.high),
        Op::Le => decided(a.high <= b.low, a.low > b.high),
        Op::Gt => decided(a.low > b.high, a.high <= b.low),
        Op::Ge => decided(a.low >= b.high, a.high < b.low),
        Op::Min => Bounds::between(a.low.min(b.low), a.high.min(b.high)),
        Op::Max => Bounds::between(a.low.max(b.low), a.high.max(b.high)),
        Op::BitAnd if natural => Bounds::between(0, a.high.min(b.high)),
        Op::BitAnd if a.low >= 0 => Bounds::between(0, a.high),
        Op::BitAnd if b.low >= 0 => Bounds::between(0, b.high),
        Op::BitOr | Op::BitXor if natural => {
            // All bits up to the highest one of either.
            let zeros = (a.high | b.high).leading_zeros();
            Bounds::between(0, (u64::MAX.checked_shr(zeros).unwrap_or(0)) as i64)
        }
        Op::Pow => power(a, b),
        Op::NextMultipleOf => {
            if b.high <= 0 {
                return Bounds::FAILS;
            }
            let result = clip(
                i128::from(a.low),
                i128::from(a.high) + i128::from(b.high) - 1,
            );
            if b.low <= 0 {
                result.failing(Failure::Maybe)
            } else {
                result
            }
        }
        _ => Bounds::ANY,
    }
}

/// A division that is monotonic in the dividend, and in the divisor on each side of zero.
fn quotient(a: Bounds, b: Bounds, divide: impl Fn(i128, i128) -> i128) -> Bounds {
    let dividend = (i128::from(a.low), i128::from(a.high));
    let mut result: Option<(i128, i128)> = None;
    for (low, high) in [(b.low, b.high.min(-1)), (b.low.max(1), b.high)] {
        if low <= high {
            let divisor = (i128::from(low), i128::from(high));
            let (low, high) = corners(dividend, divisor, &divide);
            result = Some(result.map_or((low, high), |(l, h)| (l.min(low), h.max(high))));
        }
    }
    let Some((low, high)) = result else {
        return Bounds::FAILS;
    };
    let result = clip(low, high);
    if b.low <= 0 && b.high >= 0 {
        result.failing(Failure::Maybe)
    } else {
        result
    }
}

fn residual(a: Bounds, b: Bounds) -> Bounds {
    if (b.low, b.high) == (0, 0) {
        return Bounds::FAILS;
    }
    let most = (b.magnitude() - 1) as i128;
    let (low, high) = (i128::from(a.low), i128::from(a.high));
    let mut result = clip(low.max(-most).min(0), high.min(most).max(0));
    if let Some(divisor) = b.point().map(i128::from)
        && low / divisor == high / divisor
        && (low >= 0 || high <= 0)
    {
        // One quotient throughout, so the residual grows with the dividend.
        result = clip(low % divisor, high % divisor);
    } else if low >= 0 && b.low > 0 && a.high < b.low {
        result = clip(low, high);
    }
    let zero = b.low <= 0 && b.high >= 0;
    let overflow = a.low == i64::MIN && b.low <= -1 && b.high >= -1;
    if zero || overflow {
        result.failing(Failure::Maybe)
    } else {
        result
    }
}

fn shifted(op: Op, a: Bounds, b: Bounds) -> Bounds {
    let (low, high) = (b.low.max(0), b.high.min(63));
    if low > high {
        return Bounds::FAILS;
    }
    let value = (i128::from(a.low), i128::from(a.high));
    let amount = (i128::from(low), i128::from(high));
    let (least, most) = match op {
        Op::Shl => corners(value, amount, |a, b| a << b),
        _ => corners(value, amount, |a, b| a >> b),
    };
    let result = clip(least, most);
    if b.low < 0 || b.high > 63 {
        result.failing(Failure::Maybe)
    } else {
        result
    }
}

fn power(base: Bounds, exponent: Bounds) -> Bounds {
    if exponent.high < 0 {
        return Bounds::FAILS;
    }
    if base.low < 0 || exponent.low < 0 {
        return Bounds::ANY.failing(Failure::Maybe);
    }
    let raise = |base: i64, exponent: i64| {
        let exponent = u32::try_from(exponent).unwrap_or(u32::MAX);
        match base {
            0 | 1 => i128::from(base),
            _ => i128::from(base).checked_pow(exponent).unwrap_or(i128::MAX),
        }
    };
    // 0 to the power of 0 is 1 and the only decrease.
    let low = if base.low == 0 {
        0
    } else {
        raise(base.low, exponent.low)
    };
    clip(low, raise(base.high.max(1), exponent.high))
}

#[cfg(test)]
mod tests {
    use super::*;

    const BINARY: [Op; 20] = [
        Op::Add,
        Op::Sub,
        Op::Mul,
        Op::Div,
        Op::Rem,
        Op::Shl,
        Op::Shr,
        Op::BitAnd,
        Op::BitOr,
        Op::BitXor,
        Op::Eq,
        Op::Ne,
        Op::Lt,
        Op::Le,
        Op::Gt,
        Op::Ge,
        Op::Min,
        Op::Max,
        Op::Pow,
        Op::DivCeil,
    ];

    fn within(narrow: Bounds, wide: Bounds) -> bool {
        let failure = match (narrow.failure, wide.failure) {
            (Failure::Always, wide) => wide != Failure::Never,
            (narrow, wide) => wide >= narrow && wide != Failure::Always,
        };
        failure
            && (narrow.failure == Failure::Always
                || (narrow.low >= wide.low && narrow.high <= wide.high))
    }

    #[test]
    fn every_value_lies_within_its_bounds() {
        let edges = [
            i64::MIN,
            i64::MIN + 1,
            -65,
            -8,
            -3,
            -1,
            0,
            1,
            2,
            7,
            63,
            64,
            i64::MAX,
        ];
        let mut ops = BINARY.to_vec();
        ops.push(Op::NextMultipleOf);
        let ranges: Vec<Bounds> = edges
            .iter()
            .enumerate()
            .flat_map(|(at, low)| edges[at..].iter().map(|high| Bounds::between(*low, *high)))
            .collect();
        let points = |range: &Bounds| {
            let range = *range;
            edges
                .into_iter()
                .filter(move |edge| (range.low..=range.high).contains(edge))
        };
        for &op in &ops {
            for a in &ranges {
                for b in &ranges {
                    let wide = Bounds::binary(op, *a, *b);
                    for x in points(a) {
                        for y in points(b) {
                            let (x, y) = (Bounds::exactly(x), Bounds::exactly(y));
                            let narrow = Bounds::binary(op, x, y);
                            assert!(
                                within(narrow, wide),
                                "{op:?} {a:?} {b:?}: {wide:?} {narrow:?}"
                            );
                        }
                    }
                }
            }
        }
        for op in [Op::Neg, Op::Not, Op::Abs, Op::IsPowerOfTwo] {
            for a in &ranges {
                let wide = Bounds::unary(op, *a);
                for x in points(a) {
                    let narrow = Bounds::unary(op, Bounds::exactly(x));
                    assert!(within(narrow, wide), "{op:?} {a:?}: {wide:?} {narrow:?}");
                }
            }
        }
    }
}
