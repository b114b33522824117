//! The configuration when nothing is known.

use crate::device::DeviceLimits;
use crate::expr::{Env, EvalError, Program};
use crate::model::Model;

/// How many partial configurations are tried before the search gives up. Constraints cut whole
/// branches off, so real spaces need a few hundred; this many take well under a second.
const MAX_TRIED: u64 = 4_000_000;

/// The configuration of a model where nothing is known of a device and a problem: the declared
/// default where it is valid, else the [first valid](first_valid) one; its codes.
pub fn default_codes(model: &Model, dims: &[i64], device: &DeviceLimits) -> Option<Vec<i64>> {
    let declared = model.default.as_deref();
    declared
        .filter(|codes| model.check(codes, dims, device).is_ok())
        .map(<[i64]>::to_vec)
        .or_else(|| first_valid(model, dims, device))
}

/// The first valid configuration of a model on a device for a problem, where the last parameter
/// varies fastest and values come in declaration order; its codes.
///
/// `None` when there is none, or when none is among the first 4 million partial configurations: a
/// launch must not hang in a space made to be hard.
pub fn first_valid(model: &Model, dims: &[i64], device: &DeviceLimits) -> Option<Vec<i64>> {
    if dims.len() != model.dimensions.len() {
        return None;
    }
    let spec = model.space_spec(dims, device);
    let mut depending: Vec<Vec<Program>> = vec![Vec::new(); spec.parameters.len()];
    for constraint in spec.constraints {
        let parameters = constraint.program.parameters();
        // Constraints that always hold are not in the specification.
        if parameters.is_empty() {
            return None;
        }
        for parameter in parameters {
            depending
                .get_mut(usize::from(parameter))?
                .push(constraint.program.clone());
        }
    }
    let domains = spec
        .parameters
        .into_iter()
        .map(|parameter| parameter.codes)
        .collect();
    let search = FirstValid {
        domains,
        depending,
        dims,
        device,
    };
    search
        .run()
        .filter(|codes| model.check(codes, dims, device).is_ok())
}

struct FirstValid<'a> {
    domains: Vec<Vec<i64>>,
    /// By parameter: the constraints that depend on it.
    depending: Vec<Vec<Program>>,
    dims: &'a [i64],
    device: &'a DeviceLimits,
}

impl FirstValid<'_> {
    /// Depth-first, with the positions of the values as the stack.
    fn run(&self) -> Option<Vec<i64>> {
        let mut codes = Vec::with_capacity(self.domains.len());
        let mut positions = vec![0_usize];
        let mut tried = 0;
        while codes.len() < self.domains.len() {
            tried += 1;
            if tried > MAX_TRIED {
                return None;
            }
            let position = positions.last_mut()?;
            let Some(code) = self.domains[codes.len()].get(*position) else {
                // This parameter has no value left: back to the one before.
                positions.pop();
                codes.pop()?;
                continue;
            };
            *position += 1;
            codes.push(*code);
            if self.is_possible(&codes) {
                positions.push(0);
            } else {
                codes.pop();
            }
        }
        Some(codes)
    }

    /// Whether no constraint on the last value refuses these values, whatever follows. A constraint
    /// on later parameters may already fail: `A < B && C == D` by `A` and `B`.
    fn is_possible(&self, codes: &[i64]) -> bool {
        let env = Env {
            params: codes,
            dims: self.dims,
            device: self.device,
        };
        let last = codes.len().saturating_sub(1);
        let Some(depending) = self.depending.get(last) else {
            return true;
        };
        depending.iter().all(|program| match program.eval(&env) {
            Ok(value) => value != 0,
            // It depends on a parameter without a value yet; it is evaluated again there.
            Err(EvalError::Unbound) => true,
            // A constraint without a value does not hold.
            Err(_) => false,
        })
    }
}
