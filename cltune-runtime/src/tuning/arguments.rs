//! A kernel's arguments on the device: buffers, draws of inputs, scalars.

mod further;
mod results;

pub(super) use further::{FurtherDraw, FurtherDraws, Results};

use super::buffers::{BufferArgument, Declared, Round, Shown};
use super::draws::Making;
use super::fill::{self, elements};
use super::guarded::Surroundings;
use super::images::Images;
use super::kept::Keeping;
use super::near::Nears;
use super::options::Step;
use super::outcome::{KeptFor, WrongResult};
use super::prepare_error::PrepareError;
use super::scratch::ScratchBuffer;
use super::watch::Watch;
use crate::context::Context;
use crate::enqueued::Enqueued;
use crate::error::Result;
use crate::kernel::{Operand, PreparedCommands};
use crate::queue::Queue;
use cltune_core::device::DeviceType;
use cltune_core::expr::{Env, Formula};
use cltune_core::model::{Access, ArgumentKind, BufferRef, ElementType, Geometry, ScalarType};
use cltune_formats::declaration::{Compared, Declaration, Fill};
use rand::SeedableRng;
use rand_pcg::Pcg64Mcg;
use std::cell::{Cell, RefCell};
use std::ops::Range;
use std::path::Path;

/// The arguments of one kernel for one problem.
///
/// A round is a draw of inputs, and where buffers lie: even rounds are at the end of what is
/// between forbidden pages, odd ones at its begin.
#[derive(Debug)]
pub(super) struct Arguments {
    buffers: Vec<BufferArgument>,
    scalars: Vec<ScalarArgument>,
    /// The number of draws.
    pub(super) draws: usize,
    surroundings: Surroundings,
    keeping: Keeping,
    /// The checksums on the device; `None` where the host keeps and compares contents.
    watch: Option<Watch>,
    nears: Nears,
    /// The scratch buffers of what ran last.
    scratch: RefCell<Vec<Option<ScratchBuffer>>>,
    /// Where each argument of a call is.
    passed: Vec<PassedAt>,
    /// The images of arguments that kernels get as such.
    images: RefCell<Images>,
    /// Where results are read to.
    read_to: RefCell<Vec<u8>>,
    /// Whether the host's memory showed what the reference wrote.
    shown: Shown,
    /// The round whose contents are in place.
    placed: Cell<Round>,
}

/// Where an argument of a call is: its position among the scalars or the buffers.
#[derive(Clone, Copy, Debug)]
enum PassedAt {
    Scalar(usize),
    Buffer(usize),
}

#[derive(Debug)]
struct ScalarArgument {
    position: usize,
    element: ElementType,
    /// The bytes of each draw.
    draws: Vec<Vec<u8>>,
}

/// So much can be looked at after every configuration, bytes: 0.1 ms of a device that reads 3 TB/s.
const IN_SIGHT: usize = 256 << 20;

/// The kernel, problem and options that arguments are made for.
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
    /// Whether buffers may lie between forbidden pages.
    pub(super) protect: bool,
    pub(super) on_step: fn(Step),
    /// `None`: unless it is a CPU.
    pub(super) compare_on_device: Option<bool>,
}

impl Setting<'_> {
    /// What an argument is filled with.
    fn fill(&self, position: usize) -> &Fill {
        let fill = self.declaration.fills.get(position);
        fill.unwrap_or(&Fill::None)
    }

    /// The bytes of a scalar in each draw.
    fn scalar(
        &self,
        position: usize,
        name: &str,
        element: ElementType,
        dimension: Option<u16>,
    ) -> Result<Vec<Vec<u8>>, PrepareError> {
        let draws = (0..self.draws).map(|draw| {
            if let Some(index) = dimension {
                let size = self.dims.get(usize::from(index)).copied().unwrap_or(0);
                let scalar = element.as_scalar().unwrap_or(ScalarType::I64);
                return Ok(fill::integer(scalar, size));
            }
            let random = sequence(self.seed, position, draw);
            elements(self.fill(position), element, 1, name, self.folder, &random)
        });
        Ok(draws.collect::<Result<_, _>>()?)
    }

    /// The number of elements of a buffer.
    fn len(name: &str, len: Option<&Formula>, env: &Env<'_>) -> Result<usize, PrepareError> {
        let argument = || name.to_owned();
        let len = len.ok_or_else(|| PrepareError::NoLength {
            argument: argument(),
        })?;
        let elements = len.eval(env).map_err(|reason| PrepareError::Length {
            argument: argument(),
            text: len.text.to_string(),
            reason,
        })?;
        usize::try_from(elements).map_err(|_| PrepareError::NegativeLength {
            argument: argument(),
            text: len.text.to_string(),
            value: elements,
        })
    }

    /// The elements of a buffer that are compared with the reference's; `None` where none are.
    fn compared(
        &self,
        position: usize,
        name: &str,
        len: usize,
        env: &Env<'_>,
    ) -> Result<Option<Range<usize>>, PrepareError> {
        let compared = self.declaration.compared(position);
        let range = compared.range(len, env);
        let range = range.map_err(|reason| PrepareError::Compared {
            argument: name.to_owned(),
            reason,
        })?;
        Ok((*compared != Compared::None).then_some(range))
    }
}

/// Memory that was found changed, and that no configuration may touch.
#[derive(Debug)]
pub(super) enum Damage {
    /// Beside a buffer; it is repaired.
    Beside(WrongResult),
    /// In kept memory, so that nothing can be judged any more.
    Kept(WrongResult),
}

impl Arguments {
    /// Allocates and fills. Each draw has a random sequence of its own for every argument.
    pub(super) fn new(setting: &Setting<'_>) -> Result<Self, PrepareError> {
        let info = setting.context.device().info();
        let is_cpu = info.device_type == DeviceType::Cpu;
        let watch = if setting.compare_on_device.unwrap_or(!is_cpu) {
            Watch::new(setting.context, setting.queue)
        } else {
            None
        };
        let (surroundings, keeping) = match &watch {
            _ if !setting.guards => (Surroundings::Nothing, Keeping::OutOfReach),
            Some(_) => (Surroundings::LargeZones, Keeping::OutOfReach),
            None if setting.protect && is_cpu => (Surroundings::Pages, Keeping::Sealed),
            None => (Surroundings::Zones, Keeping::Summed),
        };
        let mut arguments = Self {
            buffers: Vec::new(),
            scalars: Vec::new(),
            draws: setting.draws,
            surroundings,
            keeping,
            watch,
            nears: Nears::default(),
            scratch: RefCell::default(),
            passed: Vec::new(),
            images: RefCell::new(Images::new(&setting.declaration.model)),
            read_to: RefCell::default(),
            shown: Shown::Nothing,
            placed: Cell::default(),
        };
        let env = Env {
            params: setting.codes,
            dims: setting.dims,
            device: &info.limits,
        };
        for (position, argument) in setting.declaration.model.arguments.iter().enumerate() {
            match &argument.kind {
                ArgumentKind::Scalar { scalar, dimension } => {
                    let at = PassedAt::Scalar(arguments.scalars.len());
                    arguments.passed.push(at);
                    arguments.scalars.push(ScalarArgument {
                        position,
                        element: *scalar,
                        draws: setting.scalar(position, &argument.name, *scalar, *dimension)?,
                    });
                }
                ArgumentKind::Buffer {
                    element,
                    access,
                    len,
                    memory,
                } => {
                    let len = Setting::len(&argument.name, len.as_ref(), &env)?;
                    let declared = Declared {
                        position,
                        name: argument.name.to_string(),
                        element: *element,
                        access: *access,
                        normalized: memory.is_normalized(),
                        fill: setting.fill(position),
                        folder: setting.folder,
                        compared: setting.compared(position, &argument.name, len, &env)?,
                        len,
                    };
                    let sequence = |draw| sequence(setting.seed, position, draw);
                    let draws = (0..setting.draws).map(sequence);
                    let making = Making {
                        context: setting.context,
                        queue: setting.queue,
                        surroundings: arguments.surroundings,
                        keeping,
                        on_step: setting.on_step,
                        watch: arguments.watch.as_ref(),
                    };
                    let buffer = BufferArgument::new(&making, declared, draws)?;
                    let at = PassedAt::Buffer(arguments.buffers.len());
                    arguments.passed.push(at);
                    arguments.buffers.push(buffer);
                }
            }
        }
        Ok(arguments)
    }

    /// The rounds of random draws, one after the other, over and over.
    pub(super) fn round(&self, index: usize) -> Round {
        Round {
            draw: index % self.draws,
            place: index,
        }
    }

    /// As many rounds as it takes to have every random draw, and every place that buffers lie in.
    pub(super) fn rounds(&self) -> impl Iterator<Item = Round> {
        let places = self.buffers.iter().map(BufferArgument::places);
        let count = places.fold(self.draws, usize::max);
        let rounds: Vec<_> = (0..count).map(|index| self.round(index)).collect();
        rounds.into_iter()
    }

    /// Enqueues a configuration's commands, whose scratch memory was [made](Self::make_scratch);
    /// with `part`, another index space for a single launch.
    pub(super) fn enqueue(
        &self,
        queue: &Queue,
        commands: &PreparedCommands,
        round: Round,
        part: Option<&Geometry>,
    ) -> Result<Enqueued> {
        self.place_images(queue, commands, round)?;
        let (scratch, images) = (self.scratch.borrow(), self.images.borrow());
        let operand = |declared| match declared {
            BufferRef::Passed(position) => match self.passed[usize::from(position)] {
                PassedAt::Scalar(at) => Operand::Scalar(&self.scalars[at].draws[round.draw]),
                PassedAt::Buffer(at) => {
                    let buffer = self.buffers[at].place(round).region();
                    match images.of(commands, usize::from(position)) {
                        Some(image) => Operand::Image {
                            image,
                            buffer: Some(buffer),
                        },
                        None => Operand::Buffer(buffer),
                    }
                }
            },
            BufferRef::Scratch(position) => {
                let buffer = scratch[usize::from(position)].as_ref();
                buffer.map_or(Operand::Scalar(&[]), |buffer| {
                    Operand::Buffer(buffer.place(round).region())
                })
            }
        };
        match part {
            Some(part) => commands.enqueue_part(queue.raw(), part, operand),
            None => commands.enqueue_parts(queue.raw(), operand),
        }
    }

    /// Puts a round's elements into the images that commands need.
    pub(super) fn place_images(
        &self,
        queue: &Queue,
        commands: &PreparedCommands,
        round: Round,
    ) -> Result<()> {
        let mut images = self.images.borrow_mut();
        images.place(queue, commands, round, &|at| self.buffer_at(at))
    }

    /// Takes what commands have written to images back, for all that looks at results.
    pub(super) fn fetch_images(
        &self,
        queue: &Queue,
        commands: &PreparedCommands,
        round: Round,
    ) -> Result<()> {
        let images = self.images.borrow();
        images.fetch(queue, commands, round, &|at| self.buffer_at(at))
    }

    /// The time that converting buffers to the images of commands took, microseconds.
    pub(super) fn conversion_us(&self, commands: &PreparedCommands) -> Option<f64> {
        self.images.borrow().conversion_us(commands)
    }

    fn buffer_at(&self, position: usize) -> Option<&BufferArgument> {
        match self.passed.get(position)? {
            PassedAt::Scalar(_) => None,
            PassedAt::Buffer(at) => self.buffers.get(*at),
        }
    }

    /// Makes the scratch buffers of a configuration, poisoned, where those that ran last are
    /// others: each has its guard zones right beside it.
    pub(super) fn make_scratch(&self, queue: &Queue, commands: &PreparedCommands) -> Result<()> {
        let mut scratch = self.scratch.borrow_mut();
        let count = commands.scratch().len().max(scratch.len());
        scratch.resize_with(count, || None);
        for (position, memory) in commands.scratch().iter().enumerate() {
            let there = scratch[position].as_ref().map(ScratchBuffer::memory);
            if there == memory.as_ref() {
                continue;
            }
            // First, so that both need not fit.
            scratch[position] = None;
            let Some(memory) = memory else { continue };
            let buffer = ScratchBuffer::new(queue, memory, self.surroundings)?;
            buffer.begin(queue, self.placed.get())?;
            scratch[position] = Some(buffer);
        }
        Ok(())
    }

    /// Puts a round's inputs and fresh poison in place.
    pub(super) fn restore(&self, queue: &Queue, round: Round) -> Result<()> {
        self.placed.set(round);
        self.poison_scratch(queue, round)?;
        self.buffers
            .iter()
            .try_for_each(|buffer| buffer.restore(queue, round))
    }

    /// Puts the contents of those buffers in place that a launch changes and reads; of all buffers,
    /// where another round's are there.
    pub(super) fn restore_read_write(&self, queue: &Queue, round: Round) -> Result<()> {
        if self.placed.get() != round {
            return self.restore(queue, round);
        }
        self.restore_some(queue, round, |access| access == Access::ReadWrite)
    }

    /// Puts a round's inputs in place, and leaves outputs as they are.
    pub(super) fn restore_inputs(&self, queue: &Queue, round: Round) -> Result<()> {
        self.placed.set(round);
        self.restore_some(queue, round, |access| access != Access::Write)
    }

    fn poison_scratch(&self, queue: &Queue, round: Round) -> Result<()> {
        let scratch = self.scratch.borrow();
        let mut buffers = scratch.iter().flatten();
        buffers.try_for_each(|buffer| buffer.poison(queue, round))
    }

    /// Poisons what a launch only writes, and scratch buffers. The round's inputs are in place.
    pub(super) fn empty_outputs(&self, queue: &Queue, round: Round) -> Result<()> {
        self.poison_scratch(queue, round)?;
        self.restore_some(queue, round, |access| access == Access::Write)
    }

    /// Puts the reference's results into what a launch only writes. The round's inputs are in
    /// place.
    pub(super) fn fill_outputs(&self, queue: &Queue, round: Round) -> Result<()> {
        let mut outputs = self.outputs();
        outputs.try_for_each(|buffer| buffer.put_results(queue, round))
    }

    /// Poisons what a launch only writes by the operation of [`Self::fill_outputs`], and scratch
    /// buffers. The round's inputs are in place.
    pub(super) fn empty_outputs_as_filled(&self, queue: &Queue, round: Round) -> Result<()> {
        self.poison_scratch(queue, round)?;
        let mut outputs = self.outputs();
        outputs.try_for_each(|buffer| buffer.put_poison(queue, round))
    }

    /// Whether a launch changes any of its inputs.
    pub(super) fn has_read_write(&self) -> bool {
        let mut buffers = self.buffers.iter();
        buffers.any(|buffer| buffer.access == Access::ReadWrite && buffer.bytes() > 0)
    }

    /// Whether a launch only writes any memory.
    pub(super) fn has_outputs(&self) -> bool {
        self.outputs().next().is_some()
    }

    fn outputs(&self) -> impl Iterator<Item = &BufferArgument> {
        let outputs = self.buffers.iter();
        outputs.filter(|buffer| buffer.access == Access::Write && buffer.bytes() > 0)
    }

    fn restore_some(
        &self,
        queue: &Queue,
        round: Round,
        is_meant: impl Fn(Access) -> bool,
    ) -> Result<()> {
        let buffers = self.buffers.iter();
        buffers
            .filter(|buffer| is_meant(buffer.access))
            .try_for_each(|buffer| buffer.restore(queue, round))
    }

    /// Whether buffers were to lie between forbidden pages, and the driver computes in memory of
    /// its own.
    pub(super) fn is_protected_in_vain(&self) -> bool {
        self.surroundings == Surroundings::Pages && self.shown != Shown::Written
    }

    /// Whether the device says that a buffer's contents are as they should be, of which sums tell
    /// nothing. Where it does not, or cannot, the host finds out what is wrong.
    fn is_near_on_device(
        &self,
        queue: &Queue,
        buffer: &BufferArgument,
        round: Round,
    ) -> Result<bool> {
        let Some((reference, expected)) = buffer.near_on_device(round) else {
            return Ok(false);
        };
        let scalar = buffer.element.component();
        let near = scalar.and_then(|scalar| self.nears.of(queue.context(), scalar));
        near.map_or(Ok(false), |near| {
            near.is_right(queue, buffer.place(round), expected, reference)
        })
    }

    /// The error in the results of a launch, if there is one. Repairs the memory beside buffers.
    pub(super) fn verify(&self, queue: &Queue, round: Round) -> Result<Option<WrongResult>> {
        let is_told_by_sums = match &self.watch {
            Some(watch) => {
                let sums = self.buffers.iter().flat_map(|buffer| buffer.sums(round));
                watch.changed(queue, &sums.collect::<Vec<_>>())?.is_none()
            }
            None => false,
        };
        if !is_told_by_sums && let Some(wrong) = self.damage_beside(queue)? {
            return Ok(Some(wrong));
        }
        if is_told_by_sums && let Some(wrong) = self.damage_beside_scratch(queue)? {
            return Ok(Some(wrong));
        }
        let mut read_to = self.read_to.borrow_mut();
        for buffer in &self.buffers {
            if is_told_by_sums && buffer.is_told_by_sums(round)
                || self.is_near_on_device(queue, buffer, round)?
            {
                continue;
            }
            if let Some(kind) = buffer.verify(queue, round, &mut read_to)? {
                return Ok(Some(WrongResult::new(&*buffer.name, buffer.element, kind)));
            }
        }
        Ok(None)
    }

    /// Whether it costs little to look at what is kept after every configuration.
    pub(super) fn is_kept_in_sight(&self) -> bool {
        let kept = self.buffers.iter().flat_map(BufferArgument::kept_on_device);
        let bytes: usize = kept.map(|(span, ..)| span.bytes).sum();
        self.watch.is_some() && bytes <= IN_SIGHT
    }

    /// Looks at memory that no configuration may touch; at what is kept only if `with_kept`.
    /// Repairs what is beside buffers.
    pub(super) fn damage(&self, queue: &Queue, with_kept: bool) -> Result<Option<Damage>> {
        let Some(watch) = &self.watch else {
            if let Some(wrong) = self.damage_beside(queue)? {
                return Ok(Some(Damage::Beside(wrong)));
            }
            let changed = || {
                self.buffers
                    .iter()
                    .find_map(BufferArgument::changed_on_host)
            };
            return Ok(with_kept.then(changed).flatten().map(Damage::Kept));
        };
        let kept = self.buffers.iter().filter(|_| with_kept);
        let kept: Vec<_> = kept.flat_map(BufferArgument::kept_on_device).collect();
        let zones = self
            .buffers
            .iter()
            .map(|buffer| (buffer, buffer.zone_sums()));
        let zones = zones.flat_map(|(buffer, sums)| {
            let of_zone =
                move |(span, checksum)| (span, checksum, buffer.far_write(KeptFor::Sums, 0));
            sums.into_iter().map(of_zone)
        });
        let count = kept.len();
        let (sums, mut written): (Vec<_>, Vec<_>) = kept
            .into_iter()
            .chain(zones)
            .map(|(span, checksum, wrong)| ((span, checksum), wrong))
            .unzip();
        let Some(index) = watch.changed(queue, &sums)? else {
            return Ok(None);
        };
        let beside = self.damage_beside(queue)?;
        // A zone in which the host sees nothing is as it was, and what it is to add up to is not.
        let is_beside = index >= count && beside.is_some();
        let found = if is_beside {
            beside.map(Damage::Beside)
        } else {
            Some(Damage::Kept(written.swap_remove(index)))
        };
        Ok(found)
    }

    /// The access beside a buffer, if there was one. The memory there is repaired.
    fn damage_beside(&self, queue: &Queue) -> Result<Option<WrongResult>> {
        let mut found = None;
        for buffer in &self.buffers {
            let place = buffer.place(self.placed.get());
            if let Some(kind) = place.damage(queue)? {
                place.restore_guards(queue)?;
                found.get_or_insert(WrongResult::new(&*buffer.name, buffer.element, kind));
            }
        }
        let beside_scratch = self.damage_beside_scratch(queue)?;
        Ok(found.or(beside_scratch))
    }

    /// The same of scratch buffers, which have guard zones that the host looks at.
    fn damage_beside_scratch(&self, queue: &Queue) -> Result<Option<WrongResult>> {
        let mut found = None;
        for scratch in self.scratch.borrow().iter().flatten() {
            let place = scratch.place(self.placed.get());
            if let Some(kind) = place.damage(queue)? {
                place.restore_guards(queue)?;
                let memory = scratch.memory();
                found.get_or_insert(WrongResult::new(&*memory.name, memory.element, kind));
            }
            if let Some(wrong) = scratch.left_no_zeros(queue, self.placed.get())? {
                found.get_or_insert(wrong);
            }
        }
        Ok(found)
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
