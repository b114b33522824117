//! A launch with everything decided: program built, sizes computed, local memory set.

use super::arg::{Arg, Passed, set_local_memory};
use super::fit::{Misfit, check_fit};
use super::program_builder::ProgramBuilder;
use super::tunable::Tunable;
use crate::error::{Error, Result};
use crate::event::Event;
use crate::opencl::{KernelAccess, RawKernel, RawQueue, WaitList};
use crate::queue::Queue;
use cltune_core::expr::Env;
use cltune_core::model::{Access, ArgumentKind, Geometry, Model};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// A launch of one configuration on one problem in one context.
#[derive(Debug)]
pub(crate) struct Prepared {
    geometry: Geometry,
    /// The arguments of the call, in its order.
    slots: Vec<Slot>,
    /// One kernel object: OpenCL forbids setting its arguments from two threads at once, and the
    /// arguments must not change between setting and enqueueing.
    kernel: Mutex<RawKernel>,
    /// The time that building the program takes.
    build_time: Duration,
}

/// An argument of the call.
#[derive(Clone, Copy, Debug)]
struct Slot {
    /// Its position in the kernel's signature.
    position: u32,
    expects: Expects,
}

#[derive(Clone, Copy, Debug)]
enum Expects {
    /// A scalar of so many bytes.
    Scalar { size: usize },
    /// A buffer of at least so many elements.
    Buffer { needed: usize, access: Access },
}

impl Prepared {
    /// Builds the program where that has not been done yet, computes sizes and sets local memory.
    /// The configuration must have passed [`Model::check`].
    pub(crate) fn build(
        builder: &ProgramBuilder,
        tunable: &'static Tunable,
        codes: &[i64],
        dims: &[i64],
    ) -> Result<Self> {
        let model = tunable.model();
        let built = builder.program(tunable, codes, dims)?;
        let device = builder.device();
        let limits = &device.info().limits;
        let geometry =
            model
                .geometry(codes, dims, limits)
                .map_err(|reason| Error::InvalidConfiguration {
                    kernel: model.name.to_string(),
                    configuration: tunable.model().describe(codes),
                    reason,
                })?;
        let kernel = RawKernel::new(&built.program, &model.kernel)
            .map_err(Error::call(format!("clCreateKernel `{}`", model.kernel)))?;
        check_signature(model, &kernel)?;
        let env = Env {
            params: codes,
            dims,
            device: limits,
        };
        // `check` has computed the lengths already, so they have values.
        let length = |formula: &cltune_core::expr::Formula| {
            usize::try_from(formula.eval(&env).unwrap_or(0)).unwrap_or(0)
        };
        set_local_memory(&kernel, model, &env)?;
        check_fit(&kernel, device, &geometry).map_err(|lacks| misfit(model, codes, lacks))?;
        let mut slots = Vec::new();
        for (position, argument) in (0_u32..).zip(model.arguments.iter()) {
            let expects = match &argument.kind {
                ArgumentKind::Local { .. } => continue,
                ArgumentKind::Buffer { len, access, .. } => Expects::Buffer {
                    needed: len.as_ref().map_or(0, length),
                    access: *access,
                },
                ArgumentKind::Scalar { scalar, .. } => Expects::Scalar {
                    size: scalar.size(),
                },
            };
            slots.push(Slot { position, expects });
        }
        Ok(Self {
            geometry,
            slots,
            kernel: Mutex::new(kernel),
            build_time: built.build_time,
        })
    }

    /// The time that building the program takes: now, or from source in an earlier run.
    #[cfg_attr(
        not(feature = "tuning"),
        expect(dead_code, reason = "only tuning with calls asks")
    )]
    pub(crate) fn build_time(&self) -> Duration {
        self.build_time
    }

    /// Sets the arguments and enqueues the launch. Does not allocate unless it fails.
    pub(crate) fn launch(&self, model: &Model, queue: &Queue, args: &[Arg<'_>]) -> Result<Event> {
        let after = queue.wait_list()?;
        let event = self.launch_on(queue.raw(), model, queue, args, after.as_ref())?;
        queue.follow(event.raw())?;
        Ok(event)
    }

    /// Launches on any queue of the context of `queue`, after these events alone.
    pub(crate) fn launch_on(
        &self,
        raw: &RawQueue,
        model: &Model,
        queue: &Queue,
        args: &[Arg<'_>],
        after: Option<&WaitList>,
    ) -> Result<Event> {
        if args.len() != self.slots.len() {
            return Err(Error::Arguments {
                kernel: model.name.to_string(),
                expected: self.slots.len(),
                found: args.len(),
            });
        }
        // A panic cannot leave a half-set kernel behind: every argument is set anew by every
        // launch, so a poisoned lock is as good as any.
        let kernel = self.kernel.lock().unwrap_or_else(PoisonError::into_inner);
        for (slot, arg) in self.slots.iter().zip(args) {
            slot.set(&kernel, model, queue, arg)?;
        }
        let event = raw
            .launch_after(&kernel, &self.geometry, after)
            .map_err(|status| Error::OpenCl {
                call: format!(
                    "clEnqueueNDRangeKernel of `{}` ({})",
                    model.name, self.geometry
                ),
                status,
            })?;
        Ok(Event::new(event))
    }
}

impl Slot {
    fn set(&self, kernel: &RawKernel, model: &Model, queue: &Queue, arg: &Arg<'_>) -> Result<()> {
        let set = match (self.expects, &arg.0) {
            (Expects::Scalar { size }, Passed::Scalar(bytes)) if size == bytes.len() => {
                kernel.set_scalar(self.position, bytes)
            }
            (Expects::Buffer { needed, access }, Passed::Buffer { raw, context, len }) => {
                if !queue.context().shares_objects_with(context) {
                    return Err(Error::OtherContext {
                        what: format!("buffer `{}` of kernel `{}`", self.name(model), model.name),
                    });
                }
                if *len < needed {
                    return Err(Error::BufferTooShort {
                        kernel: model.name.to_string(),
                        argument: self.name(model),
                        needed,
                        found: *len,
                    });
                }
                if let Some(flag) = forbidding_flag(raw.access(), access) {
                    return Err(Error::BufferAccess {
                        kernel: model.name.to_string(),
                        argument: self.name(model),
                        flag,
                    });
                }
                kernel.set_buffer(self.position, raw)
            }
            _ => {
                return Err(Error::ArgumentKind {
                    kernel: model.name.to_string(),
                    argument: self.name(model),
                });
            }
        };
        set.map_err(|status| Error::OpenCl {
            call: format!("clSetKernelArg `{}` of `{}`", self.name(model), model.name),
            status,
        })
    }

    fn name(&self, model: &Model) -> String {
        let argument = model.arguments.get(self.position as usize);
        argument.map_or_else(String::new, |argument| argument.name.to_string())
    }
}

/// The flag of a buffer with which a kernel must not use it so.
#[inline]
fn forbidding_flag(allowed: KernelAccess, used: Access) -> Option<&'static str> {
    match (allowed, used) {
        (KernelAccess::ReadWrite, _)
        | (KernelAccess::ReadOnly, Access::Read)
        | (KernelAccess::WriteOnly, Access::Write) => None,
        (KernelAccess::ReadOnly, _) => Some("CL_MEM_READ_ONLY"),
        (KernelAccess::WriteOnly, _) => Some("CL_MEM_WRITE_ONLY"),
    }
}

/// A kernel that has other arguments than were declared is refused here, where both sides can be
/// named, instead of by a launch whose arguments are not set. Types are compared by the tuner.
fn check_signature(model: &Model, kernel: &RawKernel) -> Result<()> {
    let expected = model.arguments.len();
    let found = kernel.arg_count().map_err(Error::call("clGetKernelInfo"))? as usize;
    if expected == found {
        return Ok(());
    }
    Err(Error::Signature {
        kernel: model.name.to_string(),
        function: model.kernel.to_string(),
        expected,
        found,
    })
}

/// The error of a configuration for which the device lacks something.
fn misfit(model: &Model, codes: &[i64], misfit: Misfit) -> Error {
    let kernel = model.name.to_string();
    let configuration = model.describe(codes);
    match misfit {
        Misfit::LocalMemory { needed, available } => Error::LocalMemoryTooLarge {
            kernel,
            configuration,
            needed,
            available,
        },
        Misfit::WorkGroup { work_items, limit } => Error::WorkGroupTooLarge {
            kernel,
            configuration,
            work_items,
            limit,
        },
        Misfit::PrivateMemory { needed, available } => Error::PrivateMemoryTooLarge {
            kernel,
            configuration,
            needed,
            available,
        },
    }
}
