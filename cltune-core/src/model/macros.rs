//! The compile options and the preprocessor macros that carry a configuration into the kernel.

use super::geometry::evaluated;
use super::{CompileOption, Model, Quantity, Rejection};
use crate::device::DeviceLimits;
use crate::expr::Env;
use crate::parameter::Value;

impl Model {
    /// The declared compile options that a configuration gets, separated by spaces.
    ///
    /// # Errors
    /// A condition without a value.
    pub fn compile_options(
        &self,
        codes: &[i64],
        dims: &[i64],
        device: &DeviceLimits,
    ) -> Result<String, Rejection> {
        let env = Env {
            params: codes,
            dims,
            device,
        };
        let mut given = Vec::with_capacity(self.options.len());
        for option in self.options.iter() {
            if option.is_given(&env)? {
                given.push(&*option.text);
            }
        }
        Ok(given.join(" "))
    }

    /// The names and values of the `-D` options of a configuration: one for each parameter and each
    /// extra macro, in declaration order.
    ///
    /// A boolean is 0 or 1. A named value is pasted as it is; the preprocessor cannot compare it,
    /// so there is also a macro `PARAMETER_value` that is 1. A number with a fraction has the
    /// fewest digits that mean exactly it, and is of type `double` in OpenCL C.
    ///
    /// # Errors
    /// A value that is none of its parameter's, or an extra macro without a value.
    pub fn macros(
        &self,
        codes: &[i64],
        dims: &[i64],
        device: &DeviceLimits,
    ) -> Result<Vec<(String, String)>, Rejection> {
        self.check_shape(codes, dims)?;
        let mut macros = Vec::with_capacity(self.parameters.len() + self.defines.len());
        for (parameter, &code) in self.parameters.iter().zip(codes) {
            let name = parameter.name.to_string();
            match parameter.domain.value(code) {
                Some(value @ (Value::Int(_) | Value::Fraction(_))) => {
                    macros.push((name, value.to_string()));
                }
                Some(Value::Bool(value)) => macros.push((name, u8::from(value).to_string())),
                Some(Value::Name(value)) => {
                    let chosen = format!("{name}_{value}");
                    macros.push((name, value.into_owned()));
                    macros.push((chosen, "1".into()));
                }
                None => return Err(Rejection::not_a_value(parameter, code)),
            }
        }
        let env = Env {
            params: codes,
            dims,
            device,
        };
        for define in self.defines.iter() {
            let quantity = || Quantity::Define(define.name.clone());
            let value = evaluated(&define.value, quantity, &env)?;
            macros.push((define.name.to_string(), value.to_string()));
        }
        Ok(macros)
    }
}

impl CompileOption {
    /// Whether a configuration gets it.
    pub(super) fn is_given(&self, env: &Env<'_>) -> Result<bool, Rejection> {
        let Some(condition) = &self.condition else {
            return Ok(true);
        };
        let quantity = || Quantity::CompileOption(self.text.clone());
        Ok(evaluated(condition, quantity, env)? != 0)
    }
}
