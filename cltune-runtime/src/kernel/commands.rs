//! The commands of a call for one configuration, ready to be enqueued: kernel objects with what
//! does not change set on them.

use super::command_error::CommandError;
use super::fit::check_fit;
use crate::device::Device;
#[cfg(feature = "tuning")]
use crate::enqueued::no_command;
use crate::enqueued::{Chain, Enqueued, Events};
use crate::error::{Error, Result};
#[cfg(feature = "tuning")]
use crate::opencl::RawDevice;
use crate::opencl::{
    RawBuffer, RawEvent, RawImage, RawKernel, RawProgram, RawQueue, Status, WaitList,
};
use cltune_core::Text;
use cltune_core::model::{
    BufferRef, Command, Commands, Geometry, Given, ImageShape, Launch, ScratchMemory,
};
use std::collections::HashSet;

/// The commands of a call.
#[derive(Debug)]
pub(crate) struct PreparedCommands {
    /// Each kernel once. OpenCL forbids setting arguments of one object from two threads at once.
    kernels: Vec<Kernel>,
    commands: Vec<PreparedCommand>,
    /// Each scratch buffer; `None` for one that is not used.
    scratch: Vec<Option<ScratchMemory>>,
    /// The arguments of the call that kernels get as images, by their positions.
    images: Vec<(usize, ImageShape)>,
}

/// What decides whether a launch fits the device: its kernel's position, work-group and local
/// memory.
type Fit = (usize, Option<[usize; 3]>, Vec<usize>);

#[derive(Debug)]
struct Kernel {
    name: Text,
    raw: RawKernel,
}

#[derive(Debug)]
enum PreparedCommand {
    Launch {
        /// The position of its kernel.
        kernel: usize,
        geometry: Geometry,
        /// The arguments that are set for each launch, with their positions.
        arguments: Box<[(u32, Given)]>,
    },
    Clear {
        buffer: BufferRef,
        bytes: usize,
    },
    Copy {
        from: BufferRef,
        to: BufferRef,
        bytes: usize,
    },
}

/// What is passed for an argument of the call, or a scratch buffer.
#[derive(Clone, Copy)]
pub(crate) enum Operand<'a> {
    Scalar(&'a [u8]),
    Buffer(&'a RawBuffer),
    /// For kernels an image, and for other commands the buffer that it was made of.
    Image {
        image: &'a RawImage,
        buffer: Option<&'a RawBuffer>,
    },
}

impl<'a> Operand<'a> {
    /// The buffer that it is for commands without a kernel.
    fn buffer(self) -> Option<&'a RawBuffer> {
        match self {
            Operand::Buffer(buffer) => Some(buffer),
            Operand::Image { buffer, .. } => buffer,
            Operand::Scalar(_) => None,
        }
    }
}

impl PreparedCommands {
    /// Makes the kernels, sets what is the same in all launches of one, and compares their needs
    /// with the device.
    pub(crate) fn new(
        program: &RawProgram,
        commands: Commands,
        device: &Device,
    ) -> Result<Self, CommandError> {
        let mut prepared = Self {
            kernels: Vec::new(),
            commands: Vec::new(),
            scratch: commands.scratch,
            images: commands.images,
        };
        let launches: Vec<&Launch> = commands
            .list
            .iter()
            .filter_map(|command| match command {
                Command::Launch(launch) => Some(launch),
                _ => None,
            })
            .collect();
        let constant = prepared.make_kernels(program, &launches)?;
        let mut fits = HashSet::new();
        for command in &commands.list {
            prepared.commands.push(match command {
                Command::Launch(launch) => {
                    let kernel = prepared.kernel(&launch.kernel);
                    prepared.check_fit(kernel, launch, device, &mut fits)?;
                    let arguments = (0_u32..).zip(&launch.arguments);
                    let changing =
                        arguments.filter(|(position, _)| !constant.contains(&(kernel, *position)));
                    PreparedCommand::Launch {
                        kernel,
                        geometry: launch.geometry,
                        arguments: changing.map(|(at, given)| (at, *given)).collect(),
                    }
                }
                Command::Clear { buffer, bytes } => PreparedCommand::Clear {
                    buffer: *buffer,
                    bytes: *bytes,
                },
                Command::Copy { from, to, bytes } => PreparedCommand::Copy {
                    from: *from,
                    to: *to,
                    bytes: *bytes,
                },
            });
        }
        Ok(prepared)
    }

    /// Makes the kernels and sets the values and the local memory that all launches of a kernel
    /// agree on; tells which, by kernel and position.
    fn make_kernels(
        &mut self,
        program: &RawProgram,
        launches: &[&Launch],
    ) -> Result<HashSet<(usize, u32)>, CommandError> {
        let mut constant = HashSet::new();
        for launch in launches {
            if self
                .kernels
                .iter()
                .any(|kernel| kernel.name == launch.kernel)
            {
                continue;
            }
            let name = launch.kernel.clone();
            let raw = RawKernel::new(program, &name).map_err(|status| CommandError::NoKernel {
                name: name.clone(),
                status,
            })?;
            let count = raw.arg_count().map_err(Error::call("clGetKernelInfo"));
            let found = count.map_err(CommandError::Failed)? as usize;
            let others = || launches.iter().filter(|other| other.kernel == name);
            if let Some(other) = others().find(|other| other.arguments.len() != found) {
                return Err(CommandError::Signature {
                    expected: other.arguments.len(),
                    name,
                    found,
                });
            }
            for (position, given) in (0_u32..).zip(&launch.arguments) {
                let is_passed = matches!(given, Given::Passed(_) | Given::Scratch(_));
                let is_same =
                    |other: &&&Launch| other.arguments.get(position as usize) == Some(given);
                if !is_passed && others().all(|other| is_same(&other)) {
                    set_constant(&raw, &name, position, given)?;
                    constant.insert((self.kernels.len(), position));
                }
            }
            self.kernels.push(Kernel { name, raw });
        }
        Ok(constant)
    }

    fn kernel(&self, name: &str) -> usize {
        let mut kernels = self.kernels.iter();
        // Each launch's kernel was made.
        kernels.position(|kernel| kernel.name == name).unwrap_or(0)
    }

    /// Whether a launch fits the device, each kind of launch once.
    fn check_fit(
        &self,
        kernel: usize,
        launch: &Launch,
        device: &Device,
        fits: &mut HashSet<Fit>,
    ) -> Result<(), CommandError> {
        let local = launch.arguments.iter().filter_map(|given| match given {
            Given::Local { bytes } => Some(*bytes),
            _ => None,
        });
        if !fits.insert((kernel, launch.geometry.local, local.collect())) {
            return Ok(());
        }
        let Kernel { name, raw } = &self.kernels[kernel];
        for (position, given) in (0_u32..).zip(&launch.arguments) {
            if let Given::Local { .. } = given {
                set_constant(raw, name, position, given)?;
            }
        }
        check_fit(raw, device, &launch.geometry).map_err(CommandError::Misfit)
    }

    /// Each scratch buffer; `None` for one that is not used.
    pub(crate) fn scratch(&self) -> &[Option<ScratchMemory>] {
        &self.scratch
    }

    /// The arguments of the call that kernels get as images, by their positions.
    pub(crate) fn images(&self) -> &[(usize, ImageShape)] {
        &self.images
    }

    /// The index space of the only launch of a call that is nothing else.
    #[cfg(feature = "tuning")]
    pub(crate) fn single(&self) -> Option<&Geometry> {
        match &*self.commands {
            [PreparedCommand::Launch { geometry, .. }] => Some(geometry),
            _ => None,
        }
    }

    /// The most local memory of a launch, bytes.
    #[cfg(feature = "tuning")]
    pub(crate) fn local_mem(&self, device: RawDevice) -> u64 {
        let kernels = self.kernels.iter();
        let needs = kernels.map(|kernel| kernel.raw.needs(device).local_mem);
        needs.max().unwrap_or(0)
    }

    /// The most work-items of a work-group; 1 where the driver chooses it.
    #[cfg(feature = "tuning")]
    pub(crate) fn work_items(&self) -> usize {
        let launches = self.commands.iter().filter_map(|command| match command {
            PreparedCommand::Launch { geometry, .. } => geometry.local,
            _ => None,
        });
        let work_items = launches.map(|local| local.iter().product());
        work_items.max().unwrap_or(1)
    }

    /// The name of a command for people: its kernel's, or what it does.
    #[cfg(feature = "tuning")]
    fn name(&self, command: &PreparedCommand) -> Text {
        match command {
            PreparedCommand::Launch { kernel, .. } => self.kernels[*kernel].name.clone(),
            PreparedCommand::Clear { .. } => "clear".into(),
            PreparedCommand::Copy { .. } => "copy".into(),
        }
    }

    /// Enqueues all commands after `after`, each after the one before it: where the queue does not
    /// keep the order, it is `out_of_order`, and all have events. `operand` tells what is passed for
    /// an argument of the call or a scratch buffer. Does not allocate unless it fails. `None` where
    /// no command got an event.
    pub(crate) fn enqueue<'a>(
        &self,
        queue: &RawQueue,
        out_of_order: bool,
        events: &Events,
        after: Option<&WaitList>,
        operand: impl Fn(BufferRef) -> Operand<'a>,
    ) -> Result<Option<Enqueued>> {
        let mut chain = Chain::default();
        self.each(queue, out_of_order, events, after, operand, |_, event| {
            chain.push(event);
            Ok(())
        })?;
        Ok(chain.end())
    }

    /// The same with an event for each of several commands.
    #[cfg(feature = "tuning")]
    pub(crate) fn enqueue_parts<'a>(
        &self,
        queue: &RawQueue,
        operand: impl Fn(BufferRef) -> Operand<'a>,
    ) -> Result<Enqueued> {
        let (mut chain, mut parts) = (Chain::default(), Vec::new());
        let is_group = self.commands.len() > 1;
        self.each(
            queue,
            false,
            &Events::All,
            None,
            operand,
            |command, event| {
                if is_group {
                    let shared = event.share().map_err(Error::call("clRetainEvent"))?;
                    parts.push((self.name(command), shared));
                }
                chain.push(event);
                Ok(())
            },
        )?;
        let enqueued = chain.end().ok_or_else(no_command)?;
        Ok(Enqueued { parts, ..enqueued })
    }

    /// Enqueues all commands after `after`, and hands over the event of each that gets one.
    fn each<'a>(
        &self,
        queue: &RawQueue,
        out_of_order: bool,
        events: &Events,
        after: Option<&WaitList>,
        operand: impl Fn(BufferRef) -> Operand<'a>,
        mut push: impl FnMut(&PreparedCommand, RawEvent) -> Result<()>,
    ) -> Result<()> {
        let mut before = None;
        for (position, command) in self.commands.iter().enumerate() {
            // Later commands wait for the first one, since the queue keeps the order.
            let after = if position == 0 {
                after
            } else {
                before.as_ref()
            };
            let has_event = match events {
                Events::All => true,
                Events::Last => position + 1 == self.commands.len(),
                Events::None(_) => false,
            };
            let event = match command {
                PreparedCommand::Launch {
                    kernel,
                    geometry,
                    arguments,
                } => self
                    .with_arguments(*kernel, arguments, &operand)
                    .and_then(|kernel| kernel.launch(queue, has_event, after, geometry)),
                PreparedCommand::Clear { buffer, bytes } => wait_for(queue, after)
                    .and_then(|()| clear(queue, operand(*buffer), *bytes))
                    .map(Some),
                PreparedCommand::Copy { from, to, bytes } => wait_for(queue, after)
                    .and_then(|()| copy(queue, operand(*from), operand(*to), *bytes))
                    .map(Some),
            };
            let event = event.map_err(|reason| match position {
                0 => reason,
                begun => Error::PartlyLaunched {
                    begun,
                    reason: Box::new(reason),
                },
            })?;
            let Some(event) = event.filter(|_| has_event) else {
                continue;
            };
            if out_of_order {
                let shared = event.share().map_err(Error::call("clRetainEvent"))?;
                before = Some(WaitList::of(shared));
            }
            push(command, event)?;
        }
        Ok(())
    }

    /// The same with another index space for the only launch.
    #[cfg(feature = "tuning")]
    pub(crate) fn enqueue_part<'a>(
        &self,
        queue: &RawQueue,
        geometry: &Geometry,
        operand: impl Fn(BufferRef) -> Operand<'a>,
    ) -> Result<Enqueued> {
        let enqueued = match &*self.commands {
            [
                PreparedCommand::Launch {
                    kernel, arguments, ..
                },
            ] => {
                let kernel = self.with_arguments(*kernel, arguments, &operand)?;
                kernel
                    .launch(queue, true, None, geometry)?
                    .map(Enqueued::single)
            }
            _ => self.enqueue(queue, false, &Events::All, None, operand)?,
        };
        enqueued.ok_or_else(no_command)
    }

    /// A kernel with the arguments of a launch set.
    fn with_arguments<'a>(
        &self,
        kernel: usize,
        arguments: &[(u32, Given)],
        operand: &impl Fn(BufferRef) -> Operand<'a>,
    ) -> Result<&Kernel> {
        let kernel = &self.kernels[kernel];
        let Kernel { name, raw } = kernel;
        for (position, given) in arguments {
            let set = match given {
                Given::Passed(at) => set_operand(raw, *position, operand(BufferRef::Passed(*at))),
                Given::Scratch(at) => set_operand(raw, *position, operand(BufferRef::Scratch(*at))),
                constant => set(raw, *position, constant),
            };
            set.map_err(|status| not_set(name, *position, status))?;
        }
        Ok(kernel)
    }
}

impl Kernel {
    /// Enqueues a launch with the arguments that are set; `None` where it gets no event.
    fn launch(
        &self,
        queue: &RawQueue,
        has_event: bool,
        after: Option<&WaitList>,
        geometry: &Geometry,
    ) -> Result<Option<RawEvent>> {
        let Self { name, raw } = self;
        let event = if has_event {
            queue.launch_after(raw, geometry, after).map(Some)
        } else {
            let launched = queue.launch_without_event(raw, geometry, after);
            launched.map(|()| None)
        };
        event.map_err(|status| Error::OpenCl {
            call: format!("clEnqueueNDRangeKernel of `{name}` ({geometry})"),
            status,
        })
    }
}

/// Sets a value or local memory.
fn set(kernel: &RawKernel, position: u32, given: &Given) -> Result<(), Status> {
    match given {
        Given::Value { bytes, size } => {
            kernel.set_scalar(position, bytes.get(..*size).unwrap_or(bytes))
        }
        // OpenCL has no empty local memory; a byte stands in for none.
        Given::Local { bytes } => kernel.set_local(position, (*bytes).max(1)),
        Given::Passed(_) | Given::Scratch(_) => Ok(()),
    }
}

fn set_operand(kernel: &RawKernel, position: u32, operand: Operand<'_>) -> Result<(), Status> {
    match operand {
        Operand::Scalar(bytes) => kernel.set_scalar(position, bytes),
        Operand::Buffer(buffer) => kernel.set_buffer(position, buffer),
        Operand::Image { image, .. } => kernel.set_image(position, image),
    }
}

fn set_constant(
    kernel: &RawKernel,
    name: &str,
    position: u32,
    given: &Given,
) -> Result<(), CommandError> {
    set(kernel, position, given)
        .map_err(|status| CommandError::Failed(not_set(name, position, status)))
}

#[cold]
fn not_set(kernel: &str, position: u32, status: Status) -> Error {
    Error::OpenCl {
        call: format!("clSetKernelArg {position} of `{kernel}`"),
        status,
    }
}

fn wait_for(queue: &RawQueue, events: Option<&WaitList>) -> Result<()> {
    events.map_or(Ok(()), |events| {
        queue
            .wait_for_all(events)
            .map_err(Error::call("clEnqueueBarrierWithWaitList"))
    })
}

fn clear(queue: &RawQueue, buffer: Operand<'_>, bytes: usize) -> Result<RawEvent> {
    // Drivers are faster with longer patterns.
    let zeros = [0_u8; 16];
    let pattern = [16, 8, 4, 2, 1]
        .into_iter()
        .find(|size| bytes.is_multiple_of(*size));
    let pattern = &zeros[..pattern.unwrap_or(1)];
    match buffer.buffer() {
        Some(buffer) if bytes > 0 => queue
            .fill(buffer, pattern, 0, bytes)
            .map_err(Error::call("clEnqueueFillBuffer")),
        // Nothing to clear; the order of events has to have one.
        _ => queue.marker().map_err(Error::call("clEnqueueMarker")),
    }
}

fn copy(queue: &RawQueue, from: Operand<'_>, to: Operand<'_>, bytes: usize) -> Result<RawEvent> {
    match (from.buffer(), to.buffer()) {
        (Some(from), Some(to)) if bytes > 0 => queue
            .copy(from, 0, to, 0, bytes)
            .map_err(Error::call("clEnqueueCopyBuffer")),
        _ => queue.marker().map_err(Error::call("clEnqueueMarker")),
    }
}
