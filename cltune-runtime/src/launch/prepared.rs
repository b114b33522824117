//! A launch with everything decided: program built, sizes computed, local memory set.

use super::arg::{Arg, Passed};
use super::tunable::Tunable;
use crate::error::{Error, Result};
use crate::event::Event;
use crate::opencl::{BuildFailure, NdRange, RawKernel, RawProgram, Status};
use crate::queue::Queue;
use cltune_core::expr::Env;
use cltune_core::model::{ArgumentKind, Model};
use std::sync::{Mutex, PoisonError};

/// A launch of one configuration on one problem in one context.
#[derive(Debug)]
pub(crate) struct Prepared {
    range: NdRange,
    /// The least length of each argument of the call, elements; `None` where none is declared and
    /// for scalars.
    needed: Vec<Option<i64>>,
    /// The kernel's position of each argument of the call.
    positions: Vec<u32>,
    /// One kernel object: OpenCL forbids setting its arguments from two threads at once, and the
    /// arguments must not change between setting and enqueueing.
    kernel: Mutex<RawKernel>,
}

impl Prepared {
    /// Computes sizes and sets local memory. The configuration must have passed
    /// [`Model::check`].
    pub(crate) fn new(
        tunable: &Tunable,
        queue: &Queue,
        codes: &[i64],
        dims: &[i64],
        program: &RawProgram,
    ) -> Result<Self> {
        let model = tunable.model();
        let limits = &queue.device().info().limits;
        let invalid = |reason| Error::InvalidConfiguration {
            kernel: model.name.to_string(),
            configuration: tunable.describe(codes),
            reason,
        };
        let geometry = model.geometry(codes, dims, limits).map_err(invalid)?;
        let range = NdRange {
            work_dim: geometry.work_dim,
            global: geometry.global,
            local: geometry.local,
            offset: geometry.offset,
        };
        let kernel = RawKernel::new(program, &model.kernel)
            .map_err(Error::call(format!("clCreateKernel `{}`", model.kernel)))?;
        let env = Env {
            params: codes,
            dims,
            device: limits,
        };
        let mut needed = Vec::new();
        let mut positions = Vec::new();
        for (position, argument) in model.arguments.iter().enumerate() {
            let position = position as u32;
            match &argument.kind {
                ArgumentKind::Local { element, len } => {
                    // `check` has computed it already, so it has a value.
                    let len = len.eval(&env).unwrap_or(0).max(0) as usize;
                    kernel
                        .set_local(position, (len * element.size()).max(1))
                        .map_err(Error::call(format!("clSetKernelArg `{}`", argument.name)))?;
                    continue;
                }
                ArgumentKind::Buffer { len, .. } => {
                    needed.push(len.as_ref().and_then(|len| len.eval(&env).ok()));
                }
                ArgumentKind::Scalar { .. } => needed.push(None),
            }
            positions.push(position);
        }
        Ok(Self {
            range,
            needed,
            positions,
            kernel: Mutex::new(kernel),
        })
    }

    /// Sets the arguments and enqueues the launch. Does not allocate unless it fails.
    pub(crate) fn launch(&self, model: &Model, queue: &Queue, args: &[Arg<'_>]) -> Result<Event> {
        // A panic between setting and enqueueing is impossible to get here with, and every
        // argument is set anew, so a poisoned lock is as good as any.
        let kernel = self.kernel.lock().unwrap_or_else(PoisonError::into_inner);
        for (index, arg) in args.iter().enumerate() {
            let Some(position) = self.positions.get(index) else {
                break;
            };
            let set = match &arg.0 {
                Passed::Scalar(bytes) => kernel.set_scalar(*position, bytes),
                Passed::Buffer { raw, context, len } => {
                    if *context != queue.context() {
                        return Err(Error::OtherContext {
                            what: self.name(model, index),
                        });
                    }
                    if let Some(needed) = self.needed[index]
                        && i64::try_from(*len).is_ok_and(|len| len < needed)
                    {
                        return Err(Error::BufferTooShort {
                            kernel: model.name.to_string(),
                            argument: self.name(model, index),
                            needed,
                            found: *len,
                        });
                    }
                    kernel.set_buffer(*position, raw)
                }
            };
            set.map_err(|status| self.failed("clSetKernelArg", model, index, status))?;
        }
        let event = queue
            .raw()
            .launch(&kernel, &self.range)
            .map_err(|status| Error::OpenCl {
                call: format!(
                    "clEnqueueNDRangeKernel of `{}` ({:?})",
                    model.kernel, self.range
                ),
                status,
            })?;
        Ok(Event::new(event))
    }

    fn name(&self, model: &Model, index: usize) -> String {
        let position = self.positions[index] as usize;
        model.arguments[position].name.to_string()
    }

    fn failed(&self, call: &str, model: &Model, index: usize, status: Status) -> Error {
        let call = format!("{call} `{}` of `{}`", self.name(model, index), model.kernel);
        Error::OpenCl { call, status }
    }
}

/// The error of a program that does not build.
pub(super) fn build_error(model: &Model, options: &str, failure: BuildFailure) -> Error {
    Error::Build {
        kernel: model.name.to_string(),
        options: options.to_string(),
        status: failure.status,
        log: failure.log,
    }
}
