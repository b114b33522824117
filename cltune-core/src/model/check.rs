//! The validity of one configuration on a device for a problem.
//!
//! The conditions are those of [`Model::derived_constraints`]: a configuration is a member of the
//! space exactly when it passes this check.

use super::geometry::{at_least, evaluated};
use super::{ArgumentKind, Model, Quantity, Rejection};
use crate::device::{DeviceField, DeviceLimits};
use crate::expr::{Env, EvalError};

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
        self.geometry_in(&env)?;
        self.check_local_memory(&env)?;
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
        Ok(())
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

    fn check_local_memory(&self, env: &Env<'_>) -> Result<(), Rejection> {
        let mut used = false;
        let mut bytes: i64 = 0;
        if let Some(own) = &self.local_memory {
            bytes = at_least(own, 0, || Quantity::LocalMemory, env)?;
            used = true;
        }
        for argument in self.arguments.iter() {
            let ArgumentKind::Local { element, len } = &argument.kind else {
                continue;
            };
            let name = || Quantity::ArgumentLength(argument.name.clone());
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
