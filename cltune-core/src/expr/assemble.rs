//! Building programs from parts, with constants folded on the way.
//!
//! The parser's compiler, the binding of dimensions and limits, and the constraints that follow
//! from a device's limits all put programs together here, so that there is one place that knows how
//! short-circuit operators are laid out and when a constant may replace an operation.

use super::{Op, Program, arithmetic};

/// A piece of a program that leaves exactly one value on the stack.
#[derive(Clone, Debug)]
pub struct Fragment {
    ops: Vec<Op>,
    /// The most values it holds on the stack.
    stack: usize,
}

impl Fragment {
    /// A constant, a parameter, a dimension or a device limit.
    pub fn leaf(op: Op) -> Self {
        Self {
            ops: vec![op],
            stack: 1,
        }
    }

    /// A constant.
    pub fn constant(value: i64) -> Self {
        Self::leaf(Op::Const(value))
    }

    fn as_constant(&self) -> Option<i64> {
        match *self.ops {
            [Op::Const(value)] => Some(value),
            _ => None,
        }
    }

    /// An operation on one operand; on a constant it is its value, where it has one.
    pub fn unary(op: Op, mut a: Self) -> Self {
        if let Some(value) = a.as_constant()
            && let Some(Ok(value)) = arithmetic::unary(op, value)
        {
            return Self::constant(value);
        }
        a.ops.push(op);
        a
    }

    /// An operation on two operands. One on constants that has no value is kept, and fails when it
    /// is evaluated: it may stand behind a condition.
    pub fn binary(op: Op, mut a: Self, b: Self) -> Self {
        if let (Some(x), Some(y)) = (a.as_constant(), b.as_constant())
            && let Some(Ok(value)) = arithmetic::binary(op, x, y)
        {
            return Self::constant(value);
        }
        a.stack = a.stack.max(1 + b.stack);
        a.append(b);
        a.ops.push(op);
        a
    }

    /// `a && b` on booleans.
    pub fn and(a: Self, b: Self) -> Self {
        match (a.as_constant(), b.as_constant()) {
            (Some(0), _) | (None, Some(1)) => a,
            (Some(_), _) => b,
            (None, _) => a.short_circuit(Op::AndThen, b),
        }
    }

    /// `a || b` on booleans.
    pub fn or(a: Self, b: Self) -> Self {
        match (a.as_constant(), b.as_constant()) {
            (Some(0), _) => b,
            (Some(_), _) | (None, Some(0)) => a,
            (None, _) => a.short_circuit(Op::OrElse, b),
        }
    }

    /// `if condition { then } else { otherwise }`.
    pub fn if_else(mut condition: Self, then: Self, otherwise: Self) -> Self {
        match condition.as_constant() {
            Some(0) => return otherwise,
            Some(_) => return then,
            None => {}
        }
        condition.stack = condition.stack.max(then.stack).max(otherwise.stack);
        let else_at = condition.ops.len() + then.ops.len() + 2;
        condition.ops.push(Op::JumpIfFalse(target(else_at)));
        condition.append(then);
        condition
            .ops
            .push(Op::Jump(target(else_at + otherwise.ops.len())));
        condition.append(otherwise);
        condition
    }

    /// How many operations it has.
    pub fn operations(&self) -> usize {
        self.ops.len()
    }

    /// The most values it holds on the stack.
    pub fn stack(&self) -> usize {
        self.stack
    }

    /// The program.
    pub fn finish(self) -> Program {
        Program {
            ops: self.ops.into(),
        }
    }

    fn short_circuit(mut self, jump: fn(u16) -> Op, b: Self) -> Self {
        self.stack = self.stack.max(b.stack);
        self.ops
            .push(jump(target(self.ops.len() + 1 + b.ops.len())));
        self.append(b);
        self
    }

    /// Appends operations whose jumps count from their own start.
    fn append(&mut self, other: Self) {
        let start = self.ops.len();
        let moved = |position: u16| target(start + usize::from(position));
        self.ops.extend(other.ops.into_iter().map(|op| match op {
            Op::Jump(position) => Op::Jump(moved(position)),
            Op::JumpIfFalse(position) => Op::JumpIfFalse(moved(position)),
            Op::AndThen(position) => Op::AndThen(moved(position)),
            Op::OrElse(position) => Op::OrElse(moved(position)),
            other => other,
        }));
    }
}

/// A jump's target. [`Program::MAX_OPS`] keeps formulas far below the 16 bits; a composition that
/// exceeds them all the same jumps to its start, which evaluation refuses as damaged instead of
/// computing a wrong value.
fn target(position: usize) -> u16 {
    u16::try_from(position).unwrap_or(0)
}

/// Rebuilds a program with every leaf replaced, folding constants. `None` when the program is not
/// laid out as [`Fragment`] lays out programs.
pub(crate) fn rebuild(program: &Program, leaf: &dyn Fn(Op) -> Fragment) -> Option<Fragment> {
    rebuild_range(&program.ops, 0, program.ops.len(), leaf)
}

fn rebuild_range(
    ops: &[Op],
    mut at: usize,
    end: usize,
    leaf: &dyn Fn(Op) -> Fragment,
) -> Option<Fragment> {
    let mut stack: Vec<Fragment> = Vec::new();
    // The range of a jump's body, refused when it does not lie within the range being rebuilt.
    let within =
        |from: usize, to: u16| Some(usize::from(to)).filter(|to| (from..=end).contains(to));
    while at < end {
        let op = *ops.get(at)?;
        at += 1;
        let result = match op {
            Op::Const(_) | Op::Param(_) | Op::Dim(_) | Op::Device(_) => leaf(op),
            Op::AndThen(to) | Op::OrElse(to) => {
                let to = within(at, to)?;
                let a = stack.pop()?;
                let b = rebuild_range(ops, at, to, leaf)?;
                at = to;
                if matches!(op, Op::AndThen(_)) {
                    Fragment::and(a, b)
                } else {
                    Fragment::or(a, b)
                }
            }
            Op::JumpIfFalse(to) => {
                let else_at = within(at + 1, to)?;
                let Op::Jump(to) = ops[else_at - 1] else {
                    return None;
                };
                let to = within(else_at, to)?;
                let condition = stack.pop()?;
                let then = rebuild_range(ops, at, else_at - 1, leaf)?;
                let otherwise = rebuild_range(ops, else_at, to, leaf)?;
                at = to;
                Fragment::if_else(condition, then, otherwise)
            }
            Op::Jump(_) => return None,
            Op::Neg | Op::Not | Op::Abs | Op::IsPowerOfTwo => Fragment::unary(op, stack.pop()?),
            _ => {
                let b = stack.pop()?;
                let a = stack.pop()?;
                Fragment::binary(op, a, b)
            }
        };
        stack.push(result);
    }
    let result = stack.pop()?;
    stack.is_empty().then_some(result)
}
