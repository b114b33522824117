//! A kernel's arguments on the device: guarded buffers, draws of inputs, scalars.

mod further;

pub(super) use further::Results;

use super::fill::{self, elements};
use super::guarded::Guarded;
use super::near::Nears;
use super::outcome::{WrongKind, WrongResult};
use super::poison::pattern;
use super::prepare_error::PrepareError;
use super::verify::{Expected, is_same};
use super::watch::Watch;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::opencl::{RawBuffer, RawKernel};
use crate::queue::Queue;
use cltune_core::declaration::{Declaration, Fill, Tolerance};
use cltune_core::device::DeviceLimits;
use cltune_core::expr::Env;
use cltune_core::model::{Access, ArgumentKind, ScalarType};
use rand::SeedableRng;
use rand_pcg::Pcg64Mcg;
use std::cell::{OnceCell, RefCell};
use std::path::Path;

/// The arguments of one kernel for one problem.
#[derive(Debug)]
pub(super) struct Arguments {
    buffers: Vec<BufferArgument>,
    scalars: Vec<ScalarArgument>,
    /// The number of draws.
    pub(super) draws: usize,
    /// Whether the device compares large buffers.
    compare_on_device: bool,
    /// Built when it is first needed; `None` where the device does not build it.
    watch: OnceCell<Option<Watch>>,
    nears: Nears,
    /// Where results are read to.
    scratch: RefCell<Vec<u8>>,
}

#[derive(Debug)]
struct BufferArgument {
    position: usize,
    name: String,
    element: ScalarType,
    access: Access,
    memory: Guarded,
    draws: Vec<BufferDraw>,
}

/// One draw of a buffer's contents.
#[derive(Debug)]
struct BufferDraw {
    /// What the kernel finds, on the host; empty for outputs, which are poisoned.
    host: Vec<u8>,
    /// The same on the device, for copying without the host; `None` for outputs and empty buffers.
    device: Option<RawBuffer>,
    /// What the reference makes of it, for buffers that are written.
    expected: Option<Expected>,
    /// The same on the device, where results are compared there.
    expected_on_device: Option<RawBuffer>,
}

#[derive(Debug)]
struct ScalarArgument {
    position: usize,
    scalar: ScalarType,
    /// The bytes of each draw.
    draws: Vec<Vec<u8>>,
}

/// Smaller buffers are read back at once, bytes.
const WATCHED: usize = 1 << 20;

/// What arguments are made for.
pub(super) struct Setting<'a> {
    pub(super) context: &'a Context,
    pub(super) queue: &'a Queue,
    pub(super) declaration: &'a Declaration,
    pub(super) codes: &'a [i64],
    pub(super) dims: &'a [i64],
    pub(super) folder: &'a Path,
    pub(super) draws: usize,
    pub(super) seed: u64,
    pub(super) guards: bool,
    pub(super) compare_on_device: bool,
}

impl Arguments {
    /// Allocates and fills. Each draw has a random sequence of its own for every argument.
    pub(super) fn new(setting: &Setting<'_>) -> Result<Self, PrepareError> {
        let model = &setting.declaration.model;
        let limits: &DeviceLimits = &setting.context.device().info().limits;
        let env = Env {
            params: setting.codes,
            dims: setting.dims,
            device: limits,
        };
        let mut arguments = Self {
            buffers: Vec::new(),
            scalars: Vec::new(),
            draws: setting.draws,
            compare_on_device: setting.compare_on_device,
            watch: OnceCell::new(),
            nears: Nears::default(),
            scratch: RefCell::default(),
        };
        for (position, argument) in model.arguments.iter().enumerate() {
            let fill = setting
                .declaration
                .fills
                .get(position)
                .unwrap_or(&Fill::None);
            let name = argument.name.to_string();
            match &argument.kind {
                ArgumentKind::Local { .. } => {}
                ArgumentKind::Scalar { scalar, dimension } => {
                    let draws = (0..setting.draws).map(|draw| {
                        if let Some(index) = dimension {
                            let size = setting.dims.get(usize::from(*index)).copied().unwrap_or(0);
                            return Ok(fill::integer(*scalar, size));
                        }
                        let mut random = sequence(setting.seed, position, draw);
                        elements(fill, *scalar, 1, &name, setting.folder, &mut random)
                    });
                    let draws = draws.collect::<Result<_, _>>()?;
                    arguments.scalars.push(ScalarArgument {
                        position,
                        scalar: *scalar,
                        draws,
                    });
                }
                ArgumentKind::Buffer {
                    element,
                    access,
                    len,
                    ..
                } => {
                    let len = len.as_ref().ok_or_else(|| PrepareError::NoLength {
                        argument: name.clone(),
                    })?;
                    let elements = len.eval(&env).map_err(|reason| PrepareError::Length {
                        argument: name.clone(),
                        text: len.text.to_string(),
                        reason,
                    })?;
                    let len =
                        usize::try_from(elements).map_err(|_| PrepareError::NegativeLength {
                            argument: name.clone(),
                            text: len.text.to_string(),
                            value: elements,
                        })?;
                    let buffer =
                        BufferArgument::new(setting, position, name, *element, *access, fill, len)?;
                    arguments.buffers.push(buffer);
                }
            }
        }
        Ok(arguments)
    }

    /// Passes everything but local memory. `position` translates a declared position into the
    /// kernel's.
    pub(super) fn set(
        &self,
        kernel: &RawKernel,
        draw: usize,
        position: impl Fn(usize) -> u32,
    ) -> Result<()> {
        for scalar in &self.scalars {
            kernel
                .set_scalar(position(scalar.position), &scalar.draws[draw])
                .map_err(Error::call(format!("clSetKernelArg {}", scalar.position)))?;
        }
        for buffer in &self.buffers {
            kernel
                .set_buffer(position(buffer.position), buffer.memory.region())
                .map_err(Error::call(format!("clSetKernelArg `{}`", buffer.name)))?;
        }
        Ok(())
    }

    /// Puts a draw's inputs and fresh poison in place.
    pub(super) fn restore(&self, queue: &Queue, draw: usize) -> Result<()> {
        self.buffers
            .iter()
            .try_for_each(|buffer| buffer.restore(queue, draw))
    }

    /// Puts a draw's inputs in place, and leaves outputs as they are.
    pub(super) fn restore_inputs(&self, queue: &Queue, draw: usize) -> Result<()> {
        self.restore_some(queue, draw, |access| access != Access::Write)
    }

    /// Puts the contents of those buffers in place that a launch changes and reads.
    pub(super) fn restore_read_write(&self, queue: &Queue, draw: usize) -> Result<()> {
        self.restore_some(queue, draw, |access| access == Access::ReadWrite)
    }

    /// Poisons what a launch only writes.
    pub(super) fn empty_outputs(&self, queue: &Queue, draw: usize) -> Result<()> {
        self.restore_some(queue, draw, |access| access == Access::Write)
    }

    /// Puts the reference's results into what a launch only writes.
    pub(super) fn fill_outputs(&self, queue: &Queue, draw: usize) -> Result<()> {
        self.outputs().try_for_each(|buffer| {
            let draw = &buffer.draws[draw];
            match (&draw.expected_on_device, &draw.expected) {
                (Some(expected), _) => buffer.memory.copy_from(queue, expected),
                (None, Some(expected)) => queue
                    .raw()
                    .write(buffer.memory.region(), 0, expected.bytes())
                    .map(drop)
                    .map_err(Error::call("clEnqueueWriteBuffer")),
                (None, None) => Ok(()),
            }
        })
    }

    /// Whether a launch only writes any memory.
    pub(super) fn has_outputs(&self) -> bool {
        self.outputs().next().is_some()
    }

    fn outputs(&self) -> impl Iterator<Item = &BufferArgument> {
        let outputs = self.buffers.iter();
        outputs.filter(|buffer| buffer.access == Access::Write && buffer.memory.bytes() > 0)
    }

    fn restore_some(
        &self,
        queue: &Queue,
        draw: usize,
        is_meant: impl Fn(Access) -> bool,
    ) -> Result<()> {
        let buffers = self.buffers.iter();
        buffers
            .filter(|buffer| is_meant(buffer.access))
            .try_for_each(|buffer| buffer.restore(queue, draw))
    }

    /// Repairs what was written out of bounds.
    pub(super) fn restore_guards(&self, queue: &Queue) -> Result<()> {
        let mut buffers = self.buffers.iter();
        buffers.try_for_each(|buffer| buffer.memory.restore_guards(queue))
    }

    /// Keeps what is in the written buffers as the reference's results of a draw, which must be
    /// results that others can be compared with.
    pub(super) fn keep_expected(
        &mut self,
        queue: &Queue,
        draw: usize,
        tolerance: &Tolerance,
        accumulates: Option<u64>,
    ) -> Result<(), PrepareError> {
        // No results are expected yet, so that this finds only what is wrong by itself: writes out
        // of bounds and into read-only buffers.
        if let Some(wrong) = self.verify(queue, draw)? {
            return Err(PrepareError::ReferenceWrong(wrong));
        }
        for buffer in &mut self.buffers {
            if buffer.access == Access::Read {
                continue;
            }
            let bytes = buffer.memory.read(queue)?;
            let expected =
                Expected::new(buffer.element, bytes, tolerance, accumulates).map_err(|index| {
                    PrepareError::ReferenceNan {
                        argument: buffer.name.clone(),
                        index,
                        draw,
                    }
                })?;
            if buffer.access == Access::Write && expected.is_unwritten(buffer.element) {
                return Err(PrepareError::ReferenceWritesNothing {
                    argument: buffer.name.clone(),
                });
            }
            buffer.keep_expected(queue, draw, expected, self.compare_on_device);
        }
        Ok(())
    }

    /// Whether the device itself says that a buffer is as it should be. Where it does not, or cannot, the
    /// host finds out what is wrong.
    fn is_right_on_device(
        &self,
        queue: &Queue,
        buffer: &BufferArgument,
        draw: usize,
    ) -> Result<bool> {
        let draw = &buffer.draws[draw];
        let expected = if buffer.access == Access::Read {
            draw.device.as_ref()
        } else {
            draw.expected_on_device.as_ref()
        };
        let is_compared = self.compare_on_device && buffer.is_large();
        let Some(expected) = expected.filter(|_| is_compared) else {
            return Ok(false);
        };
        if buffer.memory.damage(queue)?.is_some() {
            return Ok(false);
        }
        let near = self.nears.of(queue.context(), buffer.element);
        if let Some((reference, near)) = draw.expected.as_ref().zip(near) {
            return near.is_right(queue, &buffer.memory, expected, reference);
        }
        let watch = self.watch.get_or_init(|| Watch::new(queue.context()));
        watch.as_ref().map_or(Ok(false), |watch| {
            watch.is_same(queue, &buffer.memory, expected)
        })
    }

    /// What is wrong with what a launch left, if anything. Repairs damaged guard zones.
    pub(super) fn verify(&self, queue: &Queue, draw: usize) -> Result<Option<WrongResult>> {
        let mut scratch = self.scratch.borrow_mut();
        for buffer in &self.buffers {
            if self.is_right_on_device(queue, buffer, draw)? {
                continue;
            }
            if let Some(kind) = buffer.verify(queue, draw, &mut scratch)? {
                self.restore_guards(queue)?;
                return Ok(Some(WrongResult::new(&*buffer.name, kind)));
            }
        }
        Ok(None)
    }
}

impl BufferDraw {
    /// What the kernel finds, on the host and on the device; nothing for outputs, and for empty buffers.
    fn new(setting: &Setting<'_>, host: Vec<u8>) -> Result<Self, Error> {
        let bytes = host.len();
        let device = if bytes == 0 {
            None
        } else {
            let copy = RawBuffer::new(setting.context.raw(), bytes)
                .map_err(Error::call(format!("clCreateBuffer of {bytes} bytes")))?;
            setting
                .queue
                .raw()
                .write(&copy, 0, &host)
                .map_err(Error::call("clEnqueueWriteBuffer"))?;
            Some(copy)
        };
        Ok(Self {
            host,
            device,
            expected: None,
            expected_on_device: None,
        })
    }
}

impl BufferArgument {
    fn new(
        setting: &Setting<'_>,
        position: usize,
        name: String,
        element: ScalarType,
        access: Access,
        fill: &Fill,
        len: usize,
    ) -> Result<Self, PrepareError> {
        let bytes = len
            .checked_mul(element.size())
            .filter(|bytes| isize::try_from(*bytes).is_ok())
            .ok_or(Error::TooLarge {
                len,
                size: element.size(),
            })?;
        let memory = Guarded::new(setting.context, setting.queue, bytes, setting.guards)?;
        let mut draws = Vec::with_capacity(setting.draws);
        for draw in 0..setting.draws {
            let mut host = Vec::new();
            if access != Access::Write {
                let mut random = sequence(setting.seed, position, draw);
                host = elements(fill, element, len, &name, setting.folder, &mut random)?;
            }
            draws.push(BufferDraw::new(setting, host)?);
        }
        Ok(Self {
            position,
            name,
            element,
            access,
            memory,
            draws,
        })
    }

    /// Keeps what is in it as the reference's results of a draw.
    fn keep_expected(&mut self, queue: &Queue, draw: usize, expected: Expected, on_device: bool) {
        let is_large = self.is_large();
        let draw = &mut self.draws[draw];
        draw.expected = Some(expected);
        if on_device && is_large {
            draw.expected_on_device = self.memory.duplicate(queue);
        }
    }

    /// Whether reading it back would take longer than asking the device.
    fn is_large(&self) -> bool {
        self.memory.bytes() >= WATCHED
    }

    fn restore(&self, queue: &Queue, draw: usize) -> Result<()> {
        match &self.draws[draw].device {
            Some(source) => self.memory.copy_from(queue, source),
            None => self.memory.fill(queue, pattern(self.element)),
        }
    }

    fn verify(
        &self,
        queue: &Queue,
        draw: usize,
        scratch: &mut Vec<u8>,
    ) -> Result<Option<WrongKind>> {
        if let Some(offset) = self.memory.damage(queue)? {
            return Ok(Some(WrongKind::OutOfBounds { offset }));
        }
        if self.memory.bytes() == 0 {
            return Ok(None);
        }
        let found = self.memory.read_into(queue, scratch)?;
        let draw = &self.draws[draw];
        if self.access == Access::Read {
            if is_same(&draw.host, found) {
                return Ok(None);
            }
            let changed = found
                .iter()
                .zip(&draw.host)
                .position(|(found, host)| found != host);
            return Ok(changed.map(|byte| WrongKind::ReadOnlyWritten {
                index: byte / self.element.size(),
            }));
        }
        Ok(draw.expected.as_ref().and_then(|expected| {
            expected.compare(self.element, found, self.access == Access::Write)
        }))
    }
}

/// The random sequence of an argument and a draw.
fn sequence(seed: u64, position: usize, draw: usize) -> Pcg64Mcg {
    // Odd multipliers spread the small numbers over the seed's bits.
    let mixed = seed
        ^ (position as u64 + 1).wrapping_mul(0x9E37_79B9_7F4A_7C15)
        ^ (draw as u64 + 1).wrapping_mul(0xD1B5_4A32_D192_ED03);
    Pcg64Mcg::seed_from_u64(mixed)
}
