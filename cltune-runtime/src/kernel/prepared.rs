//! A call with everything decided: program built, sizes computed, what does not change set.

use super::arg::{Arg, Passed};
use super::commands::{Operand, PreparedCommands};
use super::program_builder::ProgramBuilder;
use super::tunable::Tunable;
use crate::enqueued::{Events, no_command};
use crate::error::{Error, Result};
use crate::event::Event;
use crate::image::{check_formats, described};
use crate::kept_images::{Converted, KeptImages};
use crate::opencl::{KernelAccess, RawQueue, WaitList};
use crate::queue::Queue;
use cltune_core::expr::{Env, Formula};
#[cfg(feature = "tuning")]
use cltune_core::model::ElementType;
use cltune_core::model::{Access, ArgumentKind, BufferRef, ImageShape, Memory, Model};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

/// A call of one configuration on one problem in one context.
#[derive(Debug)]
pub(crate) struct Prepared {
    /// What the arguments of the call have to be, in its order.
    expects: Vec<Expects>,
    /// One at a time: the arguments of a kernel must not change between setting and enqueueing.
    ready: Mutex<Ready>,
    /// The time that building the program takes.
    build_time: Duration,
}

/// The commands, and what is needed while they are enqueued.
#[derive(Debug)]
struct Ready {
    commands: PreparedCommands,
    /// The images that buffers of the call are converted to, by the positions of arguments. Kept
    /// for its memory alone.
    converted: Vec<Option<Converted>>,
}

#[derive(Clone, Copy, Debug)]
enum Expects {
    /// A scalar of so many bytes.
    Scalar { size: usize },
    /// A buffer of at least so many elements.
    Buffer { needed: usize, access: Access },
    /// An image of this shape.
    Image { shape: ImageShape, access: Access },
}

impl Prepared {
    /// Builds the program where that has not been done yet and prepares the commands. The
    /// configuration must have passed [`Model::check`].
    pub(crate) fn build(
        builder: &ProgramBuilder,
        tunable: &'static Tunable,
        codes: &[i64],
        dims: &[i64],
    ) -> Result<Self> {
        let model = tunable.model();
        let device = builder.device();
        let limits = &device.info().limits;
        let commands = model.commands(codes, dims, limits);
        let commands = commands.map_err(|reason| Error::InvalidConfiguration {
            kernel: model.name.to_string(),
            configuration: model.describe(codes),
            reason,
        })?;
        check_formats(builder.context(), device, model, &commands.images)?;
        let images = commands.images.clone();
        let built = builder.program(tunable, codes, dims)?;
        let commands = PreparedCommands::new(&built.program, commands, device)
            .map_err(|error| error.of_launch(model, codes))?;
        let env = Env {
            params: codes,
            dims,
            device: limits,
        };
        // `check` has computed the lengths already, so they have values.
        let length =
            |formula: &Formula| usize::try_from(formula.eval(&env).unwrap_or(0)).unwrap_or(0);
        let image_at = |at| images.iter().find(|(position, _)| *position == at);
        let arguments = model.arguments.iter().enumerate();
        let expects = arguments.map(|(at, argument)| match &argument.kind {
            ArgumentKind::Buffer {
                memory: Memory::Image(_),
                access,
                ..
            } if let Some((_, shape)) = image_at(at) => Expects::Image {
                shape: *shape,
                access: *access,
            },
            ArgumentKind::Buffer { len, access, .. } => Expects::Buffer {
                needed: len.as_ref().map_or(0, length),
                access: *access,
            },
            ArgumentKind::Scalar { scalar, .. } => Expects::Scalar {
                size: scalar.size(),
            },
        });
        Ok(Self {
            expects: expects.collect(),
            ready: Mutex::new(Ready {
                commands,
                converted: Vec::new(),
            }),
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

    /// Sets the arguments and enqueues the launches. Does not allocate unless it fails, or needs
    /// more scratch memory than any call of the queue before.
    pub(crate) fn launch(&self, model: &Model, queue: &Queue, args: &[Arg<'_>]) -> Result<Event> {
        let after = queue.wait_list()?;
        let event = self.launch_on(queue.raw(), model, queue, args, after.as_ref())?;
        queue.follow(&event)?;
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
        self.check(model, queue, args)?;
        // A panic cannot leave half-set kernels behind: what changes is set anew by every launch,
        // so a poisoned lock is as good as any.
        let mut ready = self.ready.lock().unwrap_or_else(PoisonError::into_inner);
        let Ready {
            commands,
            converted,
        } = &mut *ready;
        let is_own = std::ptr::eq(raw, queue.raw());
        let out_of_order = queue.is_out_of_order() && is_own;
        let events = if is_own { queue.events() } else { &Events::All };
        let in_order = !out_of_order && after.is_none();
        let images = Images {
            queue,
            raw,
            after,
            in_order,
        };
        images.convert(commands, args, converted)?;
        let scratch = match commands.scratch() {
            [] => None,
            buffers => {
                let scratch = raw.scratch().get(queue.context().raw(), buffers);
                Some(scratch.map_err(Error::call("clCreateBuffer of scratch memory"))?)
            }
        };
        let operand = |buffer| match buffer {
            BufferRef::Passed(position) => match args.get(usize::from(position)).map(|arg| arg.0) {
                Some(Passed::Scalar(bytes)) => Operand::Scalar(bytes),
                Some(Passed::Buffer { raw, .. }) => {
                    match converted
                        .get(usize::from(position))
                        .and_then(Option::as_ref)
                    {
                        Some(Converted { image, .. }) => Operand::Image {
                            image,
                            buffer: Some(raw),
                        },
                        None => Operand::Buffer(raw),
                    }
                }
                Some(Passed::Image { raw, .. }) => Operand::Image {
                    image: raw,
                    buffer: None,
                },
                None => Operand::Scalar(&[]),
            },
            BufferRef::Scratch(position) => {
                let buffer = scratch
                    .as_ref()
                    .and_then(|scratch| scratch.buffer(position));
                buffer.map_or(Operand::Scalar(&[]), Operand::Buffer)
            }
        };
        let enqueued = commands.enqueue(raw, out_of_order, events, after, operand);
        let conversions = converted.drain(..).flatten();
        let conversions = conversions.filter_map(|converted| converted.conversion);
        let conversions = conversions.collect();
        let event = match (enqueued?, events) {
            (Some(enqueued), _) => Event::of(enqueued),
            (None, Events::None(queue)) => Event::of_queue(Arc::clone(queue)),
            (None, _) => return Err(no_command()),
        };
        Ok(event.after_conversions(conversions))
    }

    /// Fills the scratch memory that the next launch on a queue gets with what no kernel has
    /// written: a kernel may read what an earlier launch has left there.
    #[cfg(feature = "tuning")]
    pub(crate) fn poison_scratch(
        &self,
        raw: &RawQueue,
        queue: &Queue,
        pattern: impl Fn(ElementType) -> &'static [u8],
    ) -> Result<()> {
        let ready = self.ready.lock().unwrap_or_else(PoisonError::into_inner);
        let buffers = ready.commands.scratch();
        let scratch = raw.scratch().get(queue.context().raw(), buffers);
        let scratch = scratch.map_err(Error::call("clCreateBuffer of scratch memory"))?;
        for (position, memory) in (0_u16..).zip(buffers) {
            if let (Some(memory), Some(buffer)) = (memory, scratch.buffer(position))
                && !memory.zeros
            {
                raw.fill(buffer, pattern(memory.element), 0, memory.bytes)
                    .map_err(Error::call("clEnqueueFillBuffer"))?;
            }
        }
        Ok(())
    }

    /// Whether the arguments are those of the declaration.
    pub(crate) fn check(&self, model: &Model, queue: &Queue, args: &[Arg<'_>]) -> Result<()> {
        if args.len() != self.expects.len() {
            return Err(Error::Arguments {
                kernel: model.name.to_string(),
                expected: self.expects.len(),
                found: args.len(),
            });
        }
        for (position, (expects, arg)) in self.expects.iter().zip(args).enumerate() {
            match (*expects, &arg.0) {
                (Expects::Scalar { size }, Passed::Scalar(bytes)) if size == bytes.len() => {}
                (Expects::Image { shape, access }, Passed::Image { raw, context }) => {
                    if !queue.context().shares_objects_with(context) {
                        let name = name(model, position);
                        return Err(Error::OtherContext {
                            what: format!("image `{name}` of kernel `{}`", model.name),
                        });
                    }
                    if raw.shape() != shape {
                        return Err(Error::ImageSize {
                            kernel: model.name.to_string(),
                            argument: name(model, position),
                            needed: described(shape.size),
                            found: described(raw.shape().size),
                        });
                    }
                    if let Some(flag) = forbidding_flag(raw.access(), access) {
                        return Err(Error::BufferAccess {
                            kernel: model.name.to_string(),
                            argument: name(model, position),
                            flag,
                        });
                    }
                }
                (
                    Expects::Buffer { needed, access },
                    Passed::Buffer {
                        raw,
                        context,
                        len,
                        offset,
                        stride,
                        ..
                    },
                ) => {
                    if !queue.context().shares_objects_with(context) {
                        let name = name(model, position);
                        return Err(Error::OtherContext {
                            what: format!("buffer `{name}` of kernel `{}`", model.name),
                        });
                    }
                    if *stride == 0 && access != Access::Read && needed > 1 {
                        return Err(Error::ZeroStride {
                            kernel: model.name.to_string(),
                            argument: name(model, position),
                        });
                    }
                    let needed = reach(needed, *offset, *stride);
                    if *len < needed {
                        return Err(Error::BufferTooShort {
                            kernel: model.name.to_string(),
                            argument: name(model, position),
                            needed,
                            found: *len,
                        });
                    }
                    if let Some(flag) = forbidding_flag(raw.access(), access) {
                        return Err(Error::BufferAccess {
                            kernel: model.name.to_string(),
                            argument: name(model, position),
                            flag,
                        });
                    }
                }
                _ => {
                    return Err(Error::ArgumentKind {
                        kernel: model.name.to_string(),
                        argument: name(model, position),
                    });
                }
            }
        }
        Ok(())
    }
}

/// What images of buffers are made with.
struct Images<'a> {
    queue: &'a Queue,
    raw: &'a RawQueue,
    after: Option<&'a WaitList>,
    /// Whether the commands of the call run after those that the queue was given before.
    in_order: bool,
}

impl Images<'_> {
    /// Converts the buffers of a call that kernels get as images, where that has not been done
    /// since their data changed.
    fn convert(
        &self,
        commands: &PreparedCommands,
        args: &[Arg<'_>],
        converted: &mut Vec<Option<Converted>>,
    ) -> Result<()> {
        // A panic may have left some.
        converted.clear();
        for (position, shape) in commands.images() {
            let Some(Passed::Buffer { raw, images, .. }) = args.get(*position).map(|arg| arg.0)
            else {
                continue;
            };
            let unkept = KeptImages::of_shared_memory();
            let image = images.unwrap_or(&unkept).get(
                raw,
                *shape,
                self.queue.context(),
                self.raw,
                self.after,
                self.in_order,
            )?;
            converted.resize_with(args.len(), || None);
            converted[*position] = Some(image);
        }
        Ok(())
    }
}

fn name(model: &Model, position: usize) -> String {
    let argument = model.arguments.get(position);
    argument.map_or_else(String::new, |argument| argument.name.to_string())
}

/// The least length of a buffer with so many elements that begin at `offset` and lie `stride`
/// apart.
#[inline]
fn reach(count: usize, offset: u64, stride: i64) -> usize {
    if count == 0 || (offset, stride) == (0, 1) {
        return count;
    }
    // 64 bits by 64 bits, and two more summands.
    let last = (count as u128 - 1) * u128::from(stride.unsigned_abs());
    usize::try_from(last + u128::from(offset) + 1).unwrap_or(usize::MAX)
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
