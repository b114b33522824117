//! The compiled form of a formula: a postfix program on `i64`, static in generated code.

use crate::List;
use crate::device::{DeviceField, DeviceLimits};

/// What a formula is evaluated against.
#[derive(Clone, Copy, Debug)]
pub struct Env<'a> {
    /// Codes of the parameters, in declaration order.
    pub params: &'a [i64],
    /// Problem dimensions, in declaration order.
    pub dims: &'a [i64],
    /// The device's limits.
    pub device: &'a DeviceLimits,
}

/// Why a formula has no value for a configuration; such a configuration is invalid.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub enum EvalError {
    /// A result does not fit into 64 bits.
    #[error("arithmetic overflow")]
    Overflow,
    /// `/`, `%`, `div_ceil` or `next_multiple_of` by zero.
    #[error("division by zero")]
    DivisionByZero,
    /// `pow` with a negative exponent, or a shift by a negative amount or 64 and more.
    #[error("exponent or shift amount out of range")]
    OutOfRange,
    /// A program that names a parameter or dimension which the environment lacks.
    #[error("a parameter or dimension is missing")]
    Unbound,
}

/// One operation. Operands are popped from the stack, the result is pushed; booleans are 0 and 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Op {
    /// Pushes a constant.
    Const(i64),
    /// Pushes a parameter's code.
    Param(u16),
    /// Pushes a problem dimension.
    Dim(u16),
    /// Pushes a device limit.
    Device(DeviceField),
    /// `-a`.
    Neg,
    /// `!a` on booleans.
    Not,
    /// `a.abs()`.
    Abs,
    /// `a.is_power_of_two()`: false for zero and below.
    IsPowerOfTwo,
    /// `a + b`.
    Add,
    /// `a - b`.
    Sub,
    /// `a * b`.
    Mul,
    /// `a / b`, rounded towards zero.
    Div,
    /// `a % b`, with the sign of `a`.
    Rem,
    /// `a << b`.
    Shl,
    /// `a >> b`.
    Shr,
    /// `a & b` on integers.
    BitAnd,
    /// `a | b` on integers.
    BitOr,
    /// `a ^ b` on integers.
    BitXor,
    /// `a == b`.
    Eq,
    /// `a != b`.
    Ne,
    /// `a < b`.
    Lt,
    /// `a <= b`.
    Le,
    /// `a > b`.
    Gt,
    /// `a >= b`.
    Ge,
    /// `a.min(b)`.
    Min,
    /// `a.max(b)`.
    Max,
    /// `a.pow(b)`.
    Pow,
    /// `a.div_ceil(b)`: the quotient rounded towards positive infinity.
    DivCeil,
    /// `a.next_multiple_of(b)`: the smallest multiple of `b` that is at least `a`, for `b > 0`.
    NextMultipleOf,
    /// Continues at the operation with this index.
    Jump(u16),
    /// Pops; continues at the index when the popped value is 0.
    JumpIfFalse(u16),
    /// Continues at the index and keeps the value when it is 0, else pops it (`&&`).
    AndThen(u16),
    /// Continues at the index and keeps the value when it is not 0, else pops it (`||`).
    OrElse(u16),
}

/// A compiled formula.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    /// The operations, in order.
    pub ops: List<Op>,
}

impl Program {
    /// The most values a program may hold on its stack; deeper formulas are refused when compiled.
    pub const MAX_STACK: usize = 32;

    /// The value for an environment; booleans are 0 and 1. Does not allocate.
    ///
    /// # Errors
    /// See [`EvalError`].
    pub fn eval(&self, env: &Env<'_>) -> Result<i64, EvalError> {
        let _ = env;
        Err(EvalError::Unbound)
    }
}
