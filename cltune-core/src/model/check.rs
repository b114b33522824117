//! The validity of one configuration on a device for a problem.
//!
//! The conditions are those of [`Model::derived_constraints`]: a configuration is a member of the
//! space exactly when it passes this check.

use super::geometry::{at_least, evaluated};
use super::{
    ArgumentKind, BufferRef, Model, Quantity, Rejection, ScalarType, Scratch, Stage, StageArgument,
    Step,
};
use crate::device::{DeviceField, DeviceLimits};
use crate::expr::{Env, EvalError, Formula};

impl Model {
    /// Whether a configuration is valid: its values are declared ones, the user's constraints hold,
    /// its sizes are possible on the device, and all its formulas have values. Does not allocate
    /// when it is.
    ///
    /// # Errors
    /// The first reason against it.
    pub fn check(
        &self,
        codes: &[i64],
        dims: &[i64],
        device: &DeviceLimits,
    ) -> Result<(), Rejection> {
        self.check_shape(codes, dims)?;
        for (parameter, &code) in self.parameters.iter().zip(codes) {
            if !parameter.domain.contains_on(code, device) {
                return Err(Rejection::not_a_value(parameter, code));
            }
        }
        let env = Env {
            params: codes,
            dims,
            device,
        };
        for constraint in self.constraints.iter() {
            if evaluated(constraint, || Quantity::Constraint, &env)? == 0 {
                return Err(Rejection::Constraint {
                    text: constraint.text.clone(),
                });
            }
        }
        let runs = self.check_steps(&self.steps, &env)?;
        if !runs {
            return Err(Rejection::NothingRuns);
        }
        for define in self.defines.iter() {
            evaluated(
                &define.value,
                || Quantity::Define(define.name.clone()),
                &env,
            )?;
        }
        for option in self.options.iter() {
            option.is_given(&env)?;
        }
        for argument in self.arguments.iter() {
            if let ArgumentKind::Buffer { len: Some(len), .. } = &argument.kind {
                evaluated(
                    len,
                    || Quantity::ArgumentLength(argument.name.clone()),
                    &env,
                )?;
            }
        }
        self.check_memory(&env)
    }

    pub(super) fn check_shape(&self, codes: &[i64], dims: &[i64]) -> Result<(), Rejection> {
        let (expected, found) = (self.parameters.len(), codes.len());
        if expected != found {
            return Err(Rejection::ValueCount { expected, found });
        }
        let (expected, found) = (self.dimensions.len(), dims.len());
        if expected != found {
            return Err(Rejection::DimensionCount { expected, found });
        }
        Ok(())
    }

    /// Checks what is done whatever the round, and says whether any stage may run.
    fn check_steps(&self, steps: &[Step], env: &Env<'_>) -> Result<bool, Rejection> {
        let mut runs = false;
        for step in steps {
            if let Some(when) = step.when()
                && self.is_same_in_all_rounds(when)
                && evaluated(when, || Quantity::Condition, env)? == 0
            {
                continue;
            }
            match step {
                Step::Launch(stage) => {
                    let of_stage = |reason| self.in_stage(stage, reason);
                    stage.geometry(env).map_err(of_stage)?;
                    stage.check_local_memory(env).map_err(of_stage)?;
                    self.check_values(stage, env).map_err(of_stage)?;
                    self.check_counts(stage, env).map_err(of_stage)?;
                    runs = true;
                }
                Step::Repeat { count, steps, .. } => {
                    let is_known = self.is_same_in_all_rounds(count);
                    if is_known && at_least(count, 0, || Quantity::Rounds, env)? == 0 {
                        continue;
                    }
                    runs |= self.check_steps(steps, env)?;
                }
                Step::Copy { from, to, .. } => self.check_same_length(*from, *to, env)?,
                Step::Swap { buffers: [a, b] } => self.check_same_length(*a, *b, env)?,
                Step::Clear { .. } => {}
            }
            for buffer in step.buffers() {
                self.check_scratch(buffer, env)?;
            }
        }
        Ok(runs)
    }

    /// A reason that a stage gives, with the stage's name where there are several.
    pub(super) fn in_stage(&self, stage: &Stage, reason: Rejection) -> Rejection {
        if self.single_stage().is_some() {
            return reason;
        }
        Rejection::Stage {
            kernel: stage.kernel.clone(),
            reason: Box::new(reason),
        }
    }

    /// That the values that do not change from round to round fit their types.
    fn check_values(&self, stage: &Stage, env: &Env<'_>) -> Result<(), Rejection> {
        for argument in stage.arguments.iter() {
            if let StageArgument::Value { scalar, value } = argument
                && self.is_same_in_all_rounds(value)
            {
                scalar_value(*scalar, value, env)?;
            }
        }
        Ok(())
    }

    fn check_scratch(&self, buffer: BufferRef, env: &Env<'_>) -> Result<(), Rejection> {
        if let BufferRef::Scratch(position) = buffer
            && let Some(scratch) = self.scratch.get(usize::from(position))
        {
            scratch.bytes(env)?;
        }
        Ok(())
    }

    fn check_same_length(
        &self,
        a: BufferRef,
        b: BufferRef,
        env: &Env<'_>,
    ) -> Result<(), Rejection> {
        let length = |buffer| {
            let (name, _, len) = self.buffer(buffer)?;
            let len = len?;
            let quantity = || Quantity::ArgumentLength(name.clone());
            Some(evaluated(len, quantity, env).map(|value| (name.clone(), value)))
        };
        let (Some(a), Some(b)) = (length(a), length(b)) else {
            return Ok(());
        };
        let ((first, first_len), (second, second_len)) = (a?, b?);
        if first_len == second_len {
            return Ok(());
        }
        Err(Rejection::DifferentLengths {
            first,
            first_len,
            second,
            second_len,
        })
    }
}

/// The value of a scalar that a stage computes, as its type has it.
pub(super) fn scalar_value(
    scalar: ScalarType,
    formula: &Formula,
    env: &Env<'_>,
) -> Result<[u8; 8], Rejection> {
    let value = evaluated(formula, || Quantity::Value, env)?;
    scalar.bytes_of(value).ok_or_else(|| Rejection::BeyondType {
        text: formula.text.clone(),
        value,
        scalar,
    })
}

impl Scratch {
    /// The size in bytes.
    ///
    /// # Errors
    /// A length that has no value, is not positive, or is more than the device can allocate.
    pub(super) fn bytes(&self, env: &Env<'_>) -> Result<usize, Rejection> {
        let quantity = || Quantity::ScratchLength(self.name.clone());
        let len = at_least(&self.len, 1, quantity, env)?;
        let bytes =
            len.checked_mul(self.element.size() as i64)
                .ok_or_else(|| Rejection::NoValue {
                    quantity: quantity(),
                    text: self.len.text.clone(),
                    reason: EvalError::Overflow,
                })?;
        let limit = DeviceField::MaxMemAllocSize;
        let maximum = env.device.get(limit);
        if bytes > maximum {
            let quantity = Quantity::ScratchBytes(self.name.clone());
            return Err(Rejection::BeyondLimit {
                quantity,
                value: bytes,
                limit,
                maximum,
            });
        }
        usize::try_from(bytes).map_err(|_| Rejection::NoValue {
            quantity: quantity(),
            text: self.len.text.clone(),
            reason: EvalError::Overflow,
        })
    }
}

impl Stage {
    fn check_local_memory(&self, env: &Env<'_>) -> Result<(), Rejection> {
        let mut used = false;
        let mut bytes: i64 = 0;
        if let Some(own) = &self.local_memory {
            bytes = at_least(own, 0, || Quantity::LocalMemory, env)?;
            used = true;
        }
        for (name, element, len) in self.local_arguments() {
            let name = || Quantity::ArgumentLength(name.clone());
            let elements = at_least(len, 0, name, env)?;
            bytes = elements
                .checked_mul(element.size() as i64)
                .and_then(|size| bytes.checked_add(size))
                .ok_or_else(|| Rejection::NoValue {
                    quantity: Quantity::LocalMemory,
                    text: len.text.clone(),
                    reason: EvalError::Overflow,
                })?;
            used = true;
        }
        let limit = DeviceField::LocalMemSize;
        let maximum = env.device.get(limit);
        if used && bytes > maximum {
            let quantity = Quantity::LocalMemory;
            return Err(Rejection::BeyondLimit {
                quantity,
                value: bytes,
                limit,
                maximum,
            });
        }
        Ok(())
    }
}
