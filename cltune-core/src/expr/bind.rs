//! Binding a formula to a problem and a device, which leaves parameters only.

use super::assemble::{Fragment, rebuild};
use super::{Op, Program};
use crate::device::{DeviceField, DeviceLimits};

impl Program {
    /// The program for one problem and one device: dimensions and device limits are replaced by
    /// their values and constants are folded, so that only parameters are left.
    ///
    /// It has the same value as the whole program for every configuration, and fails for the same
    /// ones. A dimension that `dims` lacks stays, and fails when it is evaluated.
    #[must_use]
    pub fn bind(&self, dims: &[i64], device: &DeviceLimits) -> Self {
        self.bind_known(dims, &|field| Some(device.get(field)))
    }

    /// As [`bind`](Self::bind) where only some limits of the device are known; the others stay in
    /// the program.
    #[must_use]
    pub fn bind_known(&self, dims: &[i64], limit: &dyn Fn(DeviceField) -> Option<i64>) -> Self {
        let leaf = |op| {
            Fragment::leaf(match op {
                Op::Dim(index) => dims
                    .get(usize::from(index))
                    .map_or(op, |size| Op::Const(*size)),
                Op::Device(field) => limit(field).map_or(op, Op::Const),
                _ => op,
            })
        };
        // A damaged program is left as it is and fails when it is evaluated.
        rebuild(self, &leaf).map_or_else(|| self.clone(), Fragment::finish)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expr::{Env, EvalError};

    fn bind(ops: &[Op], dims: &[i64]) -> Vec<Op> {
        let device = DeviceLimits {
            max_work_group_size: 256,
            ..DeviceLimits::default()
        };
        Program {
            ops: ops.to_vec().into(),
        }
        .bind(dims, &device)
        .ops
        .into_owned()
    }

    #[test]
    fn only_parameters_remain() {
        use Op::{Add, Const, Device, Dim, Le, Mul, Param};
        let field = Device(DeviceField::MaxWorkGroupSize);
        let ops = [Param(0), Dim(0), Const(2), Mul, Add, field, Le];
        assert_eq!(bind(&ops, &[5]), [Param(0), Const(10), Add, Const(256), Le]);
        assert_eq!(bind(&[Dim(0), field, Le], &[5]), [Const(1)]);
    }

    #[test]
    fn decided_conditions_disappear_with_what_they_guard() {
        use Op::{AndThen, Const, Dim, Div, Eq, Jump, JumpIfFalse, OrElse, Param};
        // n == 0 || 8 / n == P0
        let ops = [
            Dim(0),
            Const(0),
            Eq,
            OrElse(9),
            Const(8),
            Dim(0),
            Div,
            Param(0),
            Eq,
        ];
        assert_eq!(bind(&ops, &[0]), [Const(1)]);
        assert_eq!(bind(&ops, &[4]), [Const(2), Param(0), Eq]);
        // P0 && (if n == 0 { P0 } else { P1 })
        let ops = [
            Param(0),
            AndThen(9),
            Dim(0),
            Const(0),
            Eq,
            JumpIfFalse(8),
            Param(0),
            Jump(9),
            Param(1),
        ];
        assert_eq!(bind(&ops, &[0]), [Param(0), AndThen(3), Param(0)]);
        assert_eq!(bind(&ops, &[1]), [Param(0), AndThen(3), Param(1)]);
    }

    #[test]
    fn jumps_follow_what_moves() {
        use Op::{Add, Const, Dim, Jump, JumpIfFalse, Param};
        // (n + 1) + (if P0 { P1 } else { P2 })
        let ops = [
            Dim(0),
            Const(1),
            Add,
            Param(0),
            JumpIfFalse(7),
            Param(1),
            Jump(8),
            Param(2),
            Add,
        ];
        let bound = [
            Const(4),
            Param(0),
            JumpIfFalse(5),
            Param(1),
            Jump(6),
            Param(2),
            Add,
        ];
        assert_eq!(bind(&ops, &[3]), bound);
    }

    #[test]
    fn what_fails_still_fails() {
        use Op::{Const, Dim, Div};
        let bound = bind(&[Const(1), Dim(0), Div], &[0]);
        assert_eq!(bound, [Const(1), Const(0), Div]);
        let env = Env {
            params: &[],
            dims: &[],
            device: &DeviceLimits::default(),
        };
        let program = Program { ops: bound.into() };
        assert_eq!(program.eval(&env), Err(EvalError::DivisionByZero));
    }

    #[test]
    fn damaged_programs_stay_as_they_are() {
        use Op::{AndThen, Const, Jump, JumpIfFalse, Param};
        for ops in [
            &[][..],
            &[Op::Add],
            &[Const(1), Const(2)],
            &[Jump(1)],
            &[Param(0), JumpIfFalse(1)],
            &[Param(0), JumpIfFalse(3), Const(1), Const(2)],
            &[Param(0), AndThen(9), Param(0)],
        ] {
            assert_eq!(bind(ops, &[]), ops);
        }
    }
}
