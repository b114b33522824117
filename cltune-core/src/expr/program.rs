//! The compiled form of a formula: a postfix program on `i64`, static in generated code.
//!
//! Jumps only go forwards, so every program ends.

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
#[non_exhaustive]
pub enum EvalError {
    /// A result does not fit into 64 bits.
    #[error("arithmetic overflow")]
    Overflow,
    /// `/`, `%`, `div_ceil` or `next_multiple_of` by zero.
    #[error("division by zero")]
    DivisionByZero,
    /// `pow` with a negative exponent, a shift by a negative amount or 64 and more, or
    /// `next_multiple_of` a negative number.
    #[error("exponent, shift amount or multiple out of range")]
    OutOfRange,
    /// A program that names a parameter or dimension which the environment lacks.
    #[error("a parameter or dimension is missing")]
    Unbound,
    /// A program that no compiler of this version wrote: it jumps backwards, or takes more from
    /// the stack than is there.
    #[error("the compiled formula is damaged")]
    Malformed,
}

/// One operation. Operands are popped from the stack, the result is pushed; booleans are 0 and 1.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
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
    /// `a << b`: `a` times 2 to the power of `b`; bits lost on the left are an overflow.
    Shl,
    /// `a >> b`, rounded towards negative infinity.
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
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Program {
    /// The operations, in order.
    pub ops: List<Op>,
}

impl Program {
    /// The most values a program may hold on its stack.
    pub const MAX_STACK: usize = 32;

    /// The most values a formula may hold on the stack; deeper ones are refused when compiled. What
    /// is left to [`Program::MAX_STACK`] serves programs that are composed of formulas.
    pub const MAX_FORMULA_STACK: usize = Self::MAX_STACK - 4;

    /// The most operations of one formula; longer ones are refused when compiled, which also keeps
    /// jumps within 16 bits in programs that are composed of formulas.
    pub const MAX_OPS: usize = 512;

    /// The value, if the program is a constant, as bound programs often are.
    pub fn constant(&self) -> Option<i64> {
        match *self.ops {
            [Op::Const(value)] => Some(value),
            _ => None,
        }
    }

    /// The limits of the device that it names, sorted, each once.
    pub fn limits(&self) -> Vec<DeviceField> {
        let mut used: Vec<DeviceField> = self
            .ops
            .iter()
            .filter_map(|op| match *op {
                Op::Device(field) => Some(field),
                _ => None,
            })
            .collect();
        used.sort_unstable();
        used.dedup();
        used
    }

    /// The positions of the parameters it names, sorted, each once.
    pub fn parameters(&self) -> Vec<u16> {
        let mut used: Vec<u16> = self
            .ops
            .iter()
            .filter_map(|op| match *op {
                Op::Param(parameter) => Some(parameter),
                _ => None,
            })
            .collect();
        used.sort_unstable();
        used.dedup();
        used
    }
}
