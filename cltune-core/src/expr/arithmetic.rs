//! The meaning of each operator on numbers: checked, total, the same at compile time and at run
//! time.
//!
//! Inlined, because spaces are built in another crate and spend much of their time here.

use super::{EvalError, Op};

/// The result of an operator with one operand; `None` when `op` is not one.
#[inline]
pub fn unary(op: Op, a: i64) -> Option<Result<i64, EvalError>> {
    Some(match op {
        Op::Neg => a.checked_neg().ok_or(EvalError::Overflow),
        Op::Not => Ok(i64::from(a == 0)),
        Op::Abs => a.checked_abs().ok_or(EvalError::Overflow),
        Op::IsPowerOfTwo => Ok(i64::from(a > 0 && a.count_ones() == 1)),
        _ => return None,
    })
}

/// The result of an operator with two operands; `None` when `op` is not one.
#[inline]
pub fn binary(op: Op, a: i64, b: i64) -> Option<Result<i64, EvalError>> {
    let overflow = EvalError::Overflow;
    Some(match op {
        Op::Add => a.checked_add(b).ok_or(overflow),
        Op::Sub => a.checked_sub(b).ok_or(overflow),
        Op::Mul => a.checked_mul(b).ok_or(overflow),
        Op::Div => nonzero(b).and_then(|b| a.checked_div(b).ok_or(overflow)),
        Op::Rem => nonzero(b).and_then(|b| a.checked_rem(b).ok_or(overflow)),
        Op::Shl => shift_amount(b).and_then(|b| shift_left(a, b)),
        Op::Shr => shift_amount(b).map(|b| a >> b),
        Op::BitAnd => Ok(a & b),
        Op::BitOr => Ok(a | b),
        Op::BitXor => Ok(a ^ b),
        Op::Eq => Ok(i64::from(a == b)),
        Op::Ne => Ok(i64::from(a != b)),
        Op::Lt => Ok(i64::from(a < b)),
        Op::Le => Ok(i64::from(a <= b)),
        Op::Gt => Ok(i64::from(a > b)),
        Op::Ge => Ok(i64::from(a >= b)),
        Op::Min => Ok(a.min(b)),
        Op::Max => Ok(a.max(b)),
        Op::Pow => power(a, b),
        Op::DivCeil => nonzero(b).and_then(|b| div_ceil(a, b)),
        Op::NextMultipleOf => nonzero(b).and_then(|b| next_multiple_of(a, b)),
        _ => return None,
    })
}

fn nonzero(b: i64) -> Result<i64, EvalError> {
    if b == 0 {
        Err(EvalError::DivisionByZero)
    } else {
        Ok(b)
    }
}

fn shift_amount(b: i64) -> Result<u32, EvalError> {
    u32::try_from(b)
        .ok()
        .filter(|b| *b < i64::BITS)
        .ok_or(EvalError::OutOfRange)
}

fn shift_left(a: i64, b: u32) -> Result<i64, EvalError> {
    let shifted = a << b;
    if shifted >> b == a {
        Ok(shifted)
    } else {
        Err(EvalError::Overflow)
    }
}

fn power(base: i64, exponent: i64) -> Result<i64, EvalError> {
    if exponent < 0 {
        return Err(EvalError::OutOfRange);
    }
    match base {
        // These have a value for every exponent, also one beyond 32 bits.
        0 | 1 if exponent > 0 => Ok(base),
        -1 => Ok(if exponent % 2 == 0 { 1 } else { -1 }),
        _ => u32::try_from(exponent)
            .ok()
            .and_then(|exponent| base.checked_pow(exponent))
            .ok_or(EvalError::Overflow),
    }
}

fn div_ceil(a: i64, b: i64) -> Result<i64, EvalError> {
    let quotient = a.checked_div(b).ok_or(EvalError::Overflow)?;
    let remainder = a % b;
    // Division rounds towards zero, which is upwards already when the signs differ.
    let round_up = remainder != 0 && (remainder > 0) == (b > 0);
    Ok(quotient + i64::from(round_up))
}

fn next_multiple_of(a: i64, b: i64) -> Result<i64, EvalError> {
    if b < 0 {
        return Err(EvalError::OutOfRange);
    }
    match a.rem_euclid(b) {
        0 => Ok(a),
        past => a.checked_add(b - past).ok_or(EvalError::Overflow),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn value(op: Op, a: i64, b: i64) -> Result<i64, EvalError> {
        binary(op, a, b).expect("a binary operator")
    }

    #[test]
    fn rounding_of_division() {
        for (a, b, toward_zero, up) in [
            (7, 2, 3, 4),
            (-7, 2, -3, -3),
            (7, -2, -3, -3),
            (-7, -2, 3, 4),
            (6, 3, 2, 2),
        ] {
            assert_eq!(value(Op::Div, a, b), Ok(toward_zero));
            assert_eq!(value(Op::DivCeil, a, b), Ok(up));
        }
    }

    #[test]
    fn division_has_no_value_for_zero_and_the_one_overflow() {
        for op in [Op::Div, Op::Rem, Op::DivCeil, Op::NextMultipleOf] {
            assert_eq!(value(op, 1, 0), Err(EvalError::DivisionByZero), "{op:?}");
        }
        for op in [Op::Div, Op::Rem, Op::DivCeil] {
            assert_eq!(value(op, i64::MIN, -1), Err(EvalError::Overflow), "{op:?}");
        }
    }

    #[test]
    fn multiples() {
        for (a, b, multiple) in [(0, 8, 0), (1, 8, 8), (8, 8, 8), (-1, 8, 0), (-9, 8, -8)] {
            assert_eq!(value(Op::NextMultipleOf, a, b), Ok(multiple));
        }
        assert_eq!(
            value(Op::NextMultipleOf, i64::MAX, 2),
            Err(EvalError::Overflow)
        );
        assert_eq!(value(Op::NextMultipleOf, 1, -2), Err(EvalError::OutOfRange));
    }

    #[test]
    fn shifts_lose_no_bit_silently() {
        assert_eq!(value(Op::Shl, 1, 62), Ok(1 << 62));
        assert_eq!(value(Op::Shl, 1, 63), Err(EvalError::Overflow));
        assert_eq!(value(Op::Shl, -1, 63), Ok(i64::MIN));
        assert_eq!(value(Op::Shl, 3, 62), Err(EvalError::Overflow));
        assert_eq!(value(Op::Shr, -5, 1), Ok(-3));
        for amount in [-1, 64, i64::MAX] {
            assert_eq!(value(Op::Shl, 1, amount), Err(EvalError::OutOfRange));
            assert_eq!(value(Op::Shr, 1, amount), Err(EvalError::OutOfRange));
        }
    }

    #[test]
    fn powers() {
        let huge = i64::from(u32::MAX) + 2;
        assert_eq!(value(Op::Pow, 2, 62), Ok(1 << 62));
        assert_eq!(value(Op::Pow, 2, 63), Err(EvalError::Overflow));
        assert_eq!(value(Op::Pow, 0, 0), Ok(1));
        assert_eq!(value(Op::Pow, 0, huge), Ok(0));
        assert_eq!(value(Op::Pow, -1, huge), Ok(-1));
        assert_eq!(value(Op::Pow, 2, huge), Err(EvalError::Overflow));
        assert_eq!(value(Op::Pow, 2, -1), Err(EvalError::OutOfRange));
    }

    #[test]
    fn powers_of_two_are_positive() {
        let holds = |a| unary(Op::IsPowerOfTwo, a) == Some(Ok(1));
        assert!(holds(1) && holds(1 << 62));
        assert!(!holds(0) && !holds(-2) && !holds(i64::MIN) && !holds(6));
    }
}
