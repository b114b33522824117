//! A formula as a tree: what the grammar can say, with every name resolved.

use cltune_core::device::DeviceField;
use cltune_core::expr::Op;
use cltune_core::parameter::Fraction;
use proc_macro2::Span;

/// An expression and where it was written.
#[derive(Clone, Debug)]
pub(super) struct Expr {
    pub(super) node: Node,
    pub(super) span: Span,
}

#[derive(Clone, Debug)]
pub(super) enum Node {
    Int(i64),
    Bool(bool),
    Fraction(Fraction),
    /// A string literal: the name of a parameter's value.
    Name(String),
    Param(u16),
    Dim(u16),
    Device(DeviceField),
    Neg(Box<Expr>),
    Not(Box<Expr>),
    Binary(BinaryOp, Box<Expr>, Box<Expr>),
    Call(Function, Vec<Expr>),
    If(Box<IfElse>),
    /// Something that an error was reported for already.
    Reported,
}

#[derive(Clone, Debug)]
pub(super) struct IfElse {
    pub(super) condition: Expr,
    pub(super) then: Expr,
    pub(super) otherwise: Expr,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum BinaryOp {
    Or,
    And,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    BitOr,
    BitXor,
    BitAnd,
    Shl,
    Shr,
    Add,
    Sub,
    Mul,
    Div,
    Rem,
}

impl BinaryOp {
    pub(super) const fn symbol(self) -> &'static str {
        match self {
            Self::Or => "||",
            Self::And => "&&",
            Self::Eq => "==",
            Self::Ne => "!=",
            Self::Lt => "<",
            Self::Le => "<=",
            Self::Gt => ">",
            Self::Ge => ">=",
            Self::BitOr => "|",
            Self::BitXor => "^",
            Self::BitAnd => "&",
            Self::Shl => "<<",
            Self::Shr => ">>",
            Self::Add => "+",
            Self::Sub => "-",
            Self::Mul => "*",
            Self::Div => "/",
            Self::Rem => "%",
        }
    }

    /// The precedence in Rust's grammar; a larger number binds tighter.
    /// <https://doc.rust-lang.org/reference/expressions.html#expression-precedence>
    pub(super) const fn precedence(self) -> u8 {
        match self {
            Self::Or => 1,
            Self::And => 2,
            Self::Eq | Self::Ne | Self::Lt | Self::Le | Self::Gt | Self::Ge => 3,
            Self::BitOr => 4,
            Self::BitXor => 5,
            Self::BitAnd => 6,
            Self::Shl | Self::Shr => 7,
            Self::Add | Self::Sub => 8,
            Self::Mul | Self::Div | Self::Rem => 9,
        }
    }

    /// Whether it compares, which does not chain in Rust: `a < b < c` is an error.
    pub(super) const fn is_comparison(self) -> bool {
        self.precedence() == Self::Eq.precedence()
    }

    /// The operation; `None` for the short-circuit operators, which are jumps.
    pub(super) const fn op(self) -> Option<Op> {
        Some(match self {
            Self::Or | Self::And => return None,
            Self::Eq => Op::Eq,
            Self::Ne => Op::Ne,
            Self::Lt => Op::Lt,
            Self::Le => Op::Le,
            Self::Gt => Op::Gt,
            Self::Ge => Op::Ge,
            Self::BitOr => Op::BitOr,
            Self::BitXor => Op::BitXor,
            Self::BitAnd => Op::BitAnd,
            Self::Shl => Op::Shl,
            Self::Shr => Op::Shr,
            Self::Add => Op::Add,
            Self::Sub => Op::Sub,
            Self::Mul => Op::Mul,
            Self::Div => Op::Div,
            Self::Rem => Op::Rem,
        })
    }
}

/// A function, written `a.min(b)` or `min(a, b)`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Function {
    Min,
    Max,
    Abs,
    Pow,
    IsPowerOfTwo,
    DivCeil,
    NextMultipleOf,
}

impl Function {
    pub(super) const ALL: [Self; 7] = [
        Self::Min,
        Self::Max,
        Self::Abs,
        Self::Pow,
        Self::IsPowerOfTwo,
        Self::DivCeil,
        Self::NextMultipleOf,
    ];

    pub(super) const fn name(self) -> &'static str {
        match self {
            Self::Min => "min",
            Self::Max => "max",
            Self::Abs => "abs",
            Self::Pow => "pow",
            Self::IsPowerOfTwo => "is_power_of_two",
            Self::DivCeil => "div_ceil",
            Self::NextMultipleOf => "next_multiple_of",
        }
    }

    pub(super) fn from_name(name: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|function| function.name() == name)
    }

    /// The number of operands, a method's receiver included.
    pub(super) const fn operands(self) -> usize {
        match self {
            Self::Abs | Self::IsPowerOfTwo => 1,
            Self::Min | Self::Max | Self::Pow | Self::DivCeil | Self::NextMultipleOf => 2,
        }
    }

    pub(super) const fn op(self) -> Op {
        match self {
            Self::Min => Op::Min,
            Self::Max => Op::Max,
            Self::Abs => Op::Abs,
            Self::Pow => Op::Pow,
            Self::IsPowerOfTwo => Op::IsPowerOfTwo,
            Self::DivCeil => Op::DivCeil,
            Self::NextMultipleOf => Op::NextMultipleOf,
        }
    }
}
