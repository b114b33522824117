//! Evaluation of compiled formulas.

use super::{Env, EvalError, Op, Program, arithmetic};

impl Program {
    /// The value for an environment; booleans are 0 and 1. Does not allocate.
    ///
    /// # Errors
    /// See [`EvalError`].
    pub fn eval(&self, env: &Env<'_>) -> Result<i64, EvalError> {
        let ops: &[Op] = &self.ops;
        let mut stack = Stack::new();
        let mut next = 0;
        while let Some(&op) = ops.get(next) {
            next += 1;
            match op {
                Op::Const(value) => stack.push(value)?,
                Op::Param(index) => stack.push(lookup(env.params, index)?)?,
                Op::Dim(index) => stack.push(lookup(env.dims, index)?)?,
                Op::Device(field) => stack.push(env.device.get(field))?,
                Op::Jump(target) => next = forwards(next, target)?,
                Op::JumpIfFalse(target) => {
                    if stack.pop()? == 0 {
                        next = forwards(next, target)?;
                    }
                }
                Op::AndThen(target) => {
                    if stack.top()? == 0 {
                        next = forwards(next, target)?;
                    } else {
                        stack.pop()?;
                    }
                }
                Op::OrElse(target) => {
                    if stack.top()? == 0 {
                        stack.pop()?;
                    } else {
                        next = forwards(next, target)?;
                    }
                }
                Op::Neg | Op::Not | Op::Abs | Op::IsPowerOfTwo => {
                    let a = stack.pop()?;
                    stack.push(arithmetic::unary(op, a).ok_or(EvalError::Malformed)??)?;
                }
                _ => {
                    let b = stack.pop()?;
                    let a = stack.pop()?;
                    stack.push(arithmetic::binary(op, a, b).ok_or(EvalError::Malformed)??)?;
                }
            }
        }
        stack.pop()
    }
}

fn lookup(values: &[i64], index: u16) -> Result<i64, EvalError> {
    values
        .get(usize::from(index))
        .copied()
        .ok_or(EvalError::Unbound)
}

/// The position of a jump's target, which must not lie before the operation after the jump.
fn forwards(next: usize, target: u16) -> Result<usize, EvalError> {
    let target = usize::from(target);
    if target >= next {
        Ok(target)
    } else {
        Err(EvalError::Malformed)
    }
}

/// A stack of fixed size, so that evaluation does not allocate.
struct Stack {
    values: [i64; Program::MAX_STACK],
    len: usize,
}

impl Stack {
    fn new() -> Self {
        Self {
            values: [0; Program::MAX_STACK],
            len: 0,
        }
    }

    fn push(&mut self, value: i64) -> Result<(), EvalError> {
        *self.values.get_mut(self.len).ok_or(EvalError::Malformed)? = value;
        self.len += 1;
        Ok(())
    }

    fn top(&self) -> Result<i64, EvalError> {
        let last = self.len.checked_sub(1).ok_or(EvalError::Malformed)?;
        Ok(self.values[last])
    }

    fn pop(&mut self) -> Result<i64, EvalError> {
        let value = self.top()?;
        self.len -= 1;
        Ok(value)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::{DeviceField, DeviceLimits};

    fn eval(ops: &[Op], params: &[i64], dims: &[i64]) -> Result<i64, EvalError> {
        let device = DeviceLimits {
            local_mem_size: 1024,
            ..DeviceLimits::default()
        };
        Program {
            ops: ops.to_vec().into(),
        }
        .eval(&Env {
            params,
            dims,
            device: &device,
        })
    }

    #[test]
    fn leaves_come_from_the_environment() {
        use Op::{Add, Const, Device, Dim, Param};
        let field = DeviceField::LocalMemSize;
        let ops = [Const(1), Param(0), Add, Dim(1), Add, Device(field), Add];
        assert_eq!(eval(&ops, &[10], &[0, 100]), Ok(1135));
        assert_eq!(eval(&ops, &[], &[0, 100]), Err(EvalError::Unbound));
        assert_eq!(eval(&ops, &[10], &[0]), Err(EvalError::Unbound));
    }

    #[test]
    fn conditions_skip_what_would_fail() {
        use Op::{AndThen, Const, Div, Jump, JumpIfFalse, OrElse, Param};
        let and = [Param(0), AndThen(5), Const(1), Param(0), Div];
        assert_eq!(eval(&and, &[0], &[]), Ok(0));
        let or = [Param(0), OrElse(5), Const(1), Param(0), Div];
        assert_eq!(eval(&or, &[7], &[]), Ok(7));
        assert_eq!(eval(&or, &[0], &[]), Err(EvalError::DivisionByZero));
        let choice = [
            Param(0),
            JumpIfFalse(6),
            Const(1),
            Param(0),
            Div,
            Jump(7),
            Const(9),
        ];
        assert_eq!(eval(&choice, &[0], &[]), Ok(9));
        assert_eq!(eval(&choice, &[1], &[]), Ok(1));
    }

    #[test]
    fn damaged_programs_are_errors() {
        let overfull = [Op::Const(1); Program::MAX_STACK + 1];
        let loops = [Op::Const(1), Op::Jump(0)];
        for ops in [
            &[][..],
            &[Op::Add],
            &[Op::Const(1), Op::Mul],
            &overfull,
            &loops,
        ] {
            assert_eq!(eval(ops, &[], &[]), Err(EvalError::Malformed), "{ops:?}");
        }
    }
}
