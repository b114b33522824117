//! A buffer argument: its memory, and its contents in each draw.

use super::draws::{BufferDraw, Inputs, Making, OnDevice};
use super::elements::{component_at, filler, poison};
use super::expected::ExpectedBuffer;
use super::fill::elements;
use super::guarded::{Guarded, Surroundings};
use super::kept::Kept;
use super::options::Step;
use super::outcome::{KeptFor, WrongKind, WrongResult};
use super::prepare_error::PrepareError;
use super::verify::{Expected, is_same};
use super::watch::{Checksum, Span};
use crate::error::{Error, Result};
use crate::opencl::RawBuffer;
use crate::queue::Queue;
use cltune_core::model::{Access, ElementType};
use cltune_formats::declaration::Fill;
use rand_pcg::Pcg64Mcg;
use std::cell::Cell;
use std::ops::Range;
use std::path::Path;

/// The contents of buffers for a launch, and their places.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Round {
    pub(super) draw: usize,
    /// One of the places of a buffer that has several.
    pub(super) place: usize,
}

impl Round {
    /// One for each draw.
    pub(super) fn of(draw: usize) -> Self {
        Self { draw, place: draw }
    }
}

/// A buffer that a kernel gets.
#[derive(Debug)]
pub(super) struct BufferArgument {
    pub(super) position: usize,
    pub(super) name: String,
    pub(super) element: ElementType,
    pub(super) access: Access,
    /// Whether it is an image of normalized integers.
    pub(super) normalized: bool,
    /// The elements that are compared with the reference's; `None` where none are.
    pub(super) compared: Option<Range<usize>>,
    /// Whether kernels make its inputs from others.
    pub(super) is_prepared: bool,
    /// Where it lies, in turn.
    places: Vec<Guarded>,
    /// The sums of the guard zones of the only place, where the device checks them.
    zones: Vec<Checksum>,
    draws: Vec<BufferDraw>,
    /// Counts how often its elements were put in place.
    version: Cell<u64>,
}

/// Smaller results are read back at once, bytes.
const LARGE: usize = 1 << 20;

/// The declaration of a buffer, with its length for a problem.
pub(super) struct Declared<'a> {
    pub(super) position: usize,
    pub(super) name: String,
    pub(super) element: ElementType,
    pub(super) access: Access,
    pub(super) normalized: bool,
    pub(super) fill: &'a Fill,
    pub(super) folder: &'a Path,
    /// The elements that are compared.
    pub(super) compared: Option<Range<usize>>,
    /// The number of elements.
    pub(super) len: usize,
}

impl BufferArgument {
    /// Allocates, and keeps the contents of as many draws as there are random sequences.
    pub(super) fn new(
        making: &Making<'_>,
        declared: Declared<'_>,
        draws: impl Iterator<Item = Pcg64Mcg>,
    ) -> Result<Self, PrepareError> {
        let Declared {
            position,
            name,
            element,
            access,
            normalized,
            fill,
            folder,
            compared,
            len,
        } = declared;
        let bytes = len
            .checked_mul(element.size())
            .filter(|bytes| isize::try_from(*bytes).is_ok())
            .ok_or(Error::TooLarge {
                len,
                size: element.size(),
            })?;
        let Making { context, queue, .. } = making;
        let places = Guarded::places(context, queue, bytes, filler(element), making.surroundings)?;
        let zones = match (making.watch, places.as_slice()) {
            (Some(watch), [place]) => {
                let zones = place.zones().into_iter();
                zones.map(|zone| watch.checksum(queue, zone)).collect()
            }
            _ => Ok(Vec::new()),
        }?;
        let is_prepared = *fill == Fill::Prepared;
        let draw = |random: Pcg64Mcg| {
            let mut contents = Vec::new();
            // What kernels make is not there yet.
            if access != Access::Write && !is_prepared {
                (making.on_step)(Step::Host);
                contents = elements(fill, element, len, &name, folder, &random)?;
            }
            Ok::<_, PrepareError>(BufferDraw::new(making, contents)?)
        };
        let draws = draws.map(draw).collect::<Result<_, _>>()?;
        Ok(Self {
            position,
            name,
            element,
            access,
            normalized,
            compared,
            is_prepared,
            places,
            zones,
            draws,
            version: Cell::default(),
        })
    }

    pub(super) fn bytes(&self) -> usize {
        self.places[0].bytes()
    }

    /// The number of draws.
    pub(super) fn draws(&self) -> usize {
        self.draws.len()
    }

    /// Adds a draw with these contents; nothing for outputs.
    pub(super) fn add_draw(&mut self, making: &Making<'_>, contents: Vec<u8>) -> Result<()> {
        self.draws.push(BufferDraw::new(making, contents)?);
        Ok(())
    }

    /// Keeps what is in place as the inputs of a draw.
    ///
    /// # Errors
    /// Also where nothing was written.
    pub(super) fn keep_inputs(
        &mut self,
        making: &Making<'_>,
        round: Round,
    ) -> Result<(), PrepareError> {
        let mut contents = vec![0; self.bytes()];
        self.place(round).read(making.queue, &mut contents)?;
        let pattern = poison(self.element);
        if !contents.is_empty()
            && contents
                .chunks_exact(pattern.len())
                .all(|of| *of == *pattern)
        {
            let argument = self.name.clone();
            return Err(PrepareError::NotPrepared { argument });
        }
        self.draws[round.draw] = BufferDraw::new(making, contents)?;
        Ok(())
    }

    /// Whether a round's inputs are still in place.
    pub(super) fn has_inputs(&self, queue: &Queue, round: Round) -> Result<bool> {
        let inputs = self.contents(queue, round.draw)?;
        let mut found = vec![0; inputs.len()];
        self.place(round).read(queue, &mut found)?;
        Ok(is_same(&inputs, &found))
    }

    /// Removes all draws from this one on.
    pub(super) fn remove_draws(&mut self, from: usize) {
        self.draws.truncate(from);
    }

    /// The contents that the kernel finds in a draw; nothing for outputs.
    pub(super) fn contents(&self, queue: &Queue, draw: usize) -> Result<Vec<u8>> {
        let inputs = self.draws[draw].inputs.as_ref();
        let contents = inputs.map(|inputs| inputs.read(queue, self.bytes()));
        Ok(contents.transpose()?.unwrap_or_default().into_owned())
    }

    /// The reference's results for a draw.
    pub(super) fn expected(&self, draw: usize) -> Option<&ExpectedBuffer> {
        self.draws[draw].expected.as_ref()
    }

    /// Takes away what the reference makes of a draw.
    pub(super) fn take_expected(&mut self, draw: usize) -> Option<ExpectedBuffer> {
        let draw = &mut self.draws[draw];
        draw.expected_on_device = None;
        draw.expected.take()
    }

    /// Gives a draw what the reference makes of another.
    pub(super) fn give_expected(&mut self, draw: usize, expected: Option<ExpectedBuffer>) {
        self.draws[draw].expected = expected;
    }

    /// Whether any kernel writes it: one of a configuration, or one that makes inputs.
    pub(super) fn is_changed(&self) -> bool {
        self.access != Access::Read || self.is_prepared
    }

    /// A number that changes whenever its elements are put in place.
    pub(super) fn version(&self) -> u64 {
        self.version.get()
    }

    /// Puts what the reference makes of a round's draw in place.
    pub(super) fn put_results(&self, queue: &Queue, round: Round) -> Result<()> {
        self.version.set(self.version.get() + 1);
        let (place, draw) = (self.place(round), self.draw(round));
        match (&draw.expected_on_device, &draw.expected) {
            (Some(expected), _) => place.copy_from(queue, &expected.contents),
            (None, Some(expected)) => place.write(queue, expected.bytes()),
            (None, None) => Ok(()),
        }
    }

    /// Poisons it by the operation that puts the results in place, so that a launch finds the same
    /// caches after both.
    pub(super) fn put_poison(&self, queue: &Queue, round: Round) -> Result<()> {
        self.version.set(self.version.get() + 1);
        let (place, poison) = (self.place(round), poison(self.element));
        if self.draw(round).expected_on_device.is_none() {
            let elements = self.bytes() / poison.len();
            return place.write(queue, &poison.repeat(elements));
        }
        place.fill(queue, &poison)?;
        match place.duplicate(queue) {
            Some(poisoned) => place.copy_from(queue, &poisoned),
            // A fill has to do where the device has no memory for another copy.
            None => Ok(()),
        }
    }

    /// In how many places it lies in turn.
    pub(super) fn places(&self) -> usize {
        self.places.len()
    }

    /// Where it lies in a round.
    pub(super) fn place(&self, round: Round) -> &Guarded {
        &self.places[round.place % self.places.len()]
    }

    fn draw(&self, round: Round) -> &BufferDraw {
        &self.draws[round.draw]
    }

    /// Whether anything is known of what it must hold after a launch.
    fn is_looked_at(&self) -> bool {
        self.access == Access::Read || self.compared.is_some()
    }

    fn is_large(&self) -> bool {
        self.bytes() >= LARGE
    }

    /// Puts a round's contents in place.
    pub(super) fn restore(&self, queue: &Queue, round: Round) -> Result<()> {
        self.version.set(self.version.get() + 1);
        let place = self.place(round);
        if self.places.len() > 1 {
            // The other place is where this one's surroundings are.
            place.restore_guards(queue)?;
        }
        match &self.draw(round).inputs {
            Some(Inputs::Device(inputs)) => place.copy_from(queue, &inputs.contents),
            Some(Inputs::Host(inputs)) => place.write(queue, inputs),
            None => place.fill(queue, &poison(self.element)),
        }
    }

    /// Takes what the reference left as what is expected. What the host's memory shows of it, in
    /// the first round and where it is between forbidden pages.
    pub(super) fn expect<E: From<Error>>(
        &mut self,
        making: &Making<'_>,
        round: Round,
        expected: impl FnOnce(Kept) -> Result<ExpectedBuffer, E>,
    ) -> Result<Shown, E> {
        let queue = making.queue;
        let place = self.place(round);
        let read = |target: &mut [u8]| place.read(queue, target);
        let bytes = Kept::new(place.bytes(), making.keeping, read)?;
        let is_as_before = || match &self.draw(round).inputs {
            Some(Inputs::Host(inputs)) => **inputs == *bytes,
            _ => bytes.is_empty(),
        };
        let shown = if round != Round::default() || making.surroundings != Surroundings::Pages {
            Shown::Nothing
        } else if !place.is_in_host_memory(queue, &bytes)? {
            Shown::Elsewhere
        } else if is_as_before() {
            Shown::Nothing
        } else {
            Shown::Written
        };
        let expected = expected(bytes)?;
        let on_device = match making.watch {
            Some(watch) if self.is_large() => {
                let size = self.element.size();
                let compared = expected.compared();
                let summed = compared.start * size..compared.end * size;
                let contents = place.duplicate(queue);
                contents
                    .map(|contents| OnDevice::new(watch, queue, contents, summed))
                    .transpose()?
            }
            _ => None,
        };
        let draw = &mut self.draws[round.draw];
        draw.expected = Some(expected);
        draw.expected_on_device = on_device;
        Ok(shown)
    }

    /// Memory whose state in a round the device can check by sums alone: guard zones, and the
    /// contents where they must be exactly what is kept.
    pub(super) fn sums(&self, round: Round) -> Vec<(Span<'_>, &Checksum)> {
        let place = self.place(round);
        let mut sums = self.zone_sums();
        if let Some(kept) = self.exact_on_device(round) {
            sums.push((kept.span(place.region()), &kept.checksum));
        }
        sums
    }

    /// The guard zones, where the device looks at them.
    pub(super) fn zone_sums(&self) -> Vec<(Span<'_>, &Checksum)> {
        let zones = self.places[0].zones().into_iter();
        zones.zip(&self.zones).collect()
    }

    /// The exact contents after a round, on the device.
    fn exact_on_device(&self, round: Round) -> Option<&OnDevice> {
        let draw = self.draw(round);
        match (self.access, &draw.inputs) {
            (Access::Read, Some(Inputs::Device(inputs))) => Some(inputs),
            (Access::Read, _) => None,
            _ if !self.element.is_integer() => None,
            _ => draw.expected_on_device.as_ref(),
        }
    }

    /// Whether sums tell all there is to know of the contents after a round.
    pub(super) fn is_told_by_sums(&self, round: Round) -> bool {
        self.bytes() == 0 || !self.is_looked_at() || self.exact_on_device(round).is_some()
    }

    /// The results that the contents are compared with on the device, element by element.
    pub(super) fn near_on_device(&self, round: Round) -> Option<(&Expected, &RawBuffer)> {
        let draw = self.draw(round);
        let on_device = draw.expected_on_device.as_ref()?;
        Some((draw.expected.as_ref()?.as_one()?, &on_device.contents))
    }

    /// The error in the contents after a round.
    pub(super) fn verify(
        &self,
        queue: &Queue,
        round: Round,
        scratch: &mut Vec<u8>,
    ) -> Result<Option<WrongKind>> {
        let place = self.place(round);
        if place.bytes() == 0 || !self.is_looked_at() {
            return Ok(None);
        }
        let found = place.read_into(queue, scratch)?;
        let draw = self.draw(round);
        if self.access != Access::Read {
            let is_poisoned = self.access == Access::Write;
            let expected = draw.expected.as_ref();
            return Ok(expected.and_then(|expected| expected.compare(found, is_poisoned)));
        }
        let Some(inputs) = &draw.inputs else {
            return Ok(None);
        };
        let inputs = inputs.read(queue, place.bytes())?;
        if is_same(&inputs, found) {
            return Ok(None);
        }
        let mut pairs = found.iter().zip(inputs.iter());
        let changed = pairs.position(|(found, input)| found != input);
        Ok(changed.map(|byte| WrongKind::ReadOnlyWritten {
            index: component_at(self.element, byte),
        }))
    }

    /// Kept memory on the device, with the use that it is kept for.
    pub(super) fn kept_on_device(&self) -> Vec<(Span<'_>, &Checksum, WrongResult)> {
        let mut all = Vec::new();
        for (index, draw) in self.draws.iter().enumerate() {
            let inputs = match &draw.inputs {
                Some(Inputs::Device(inputs)) => Some(inputs),
                _ => None,
            };
            let expected = draw.expected_on_device.as_ref();
            let kept = [(inputs, KeptFor::Inputs), (expected, KeptFor::Results)];
            for (kept, what) in kept
                .into_iter()
                .filter_map(|(kept, what)| Some((kept?, what)))
            {
                let span = kept.span(&kept.contents);
                all.push((span, &kept.checksum, self.far_write(what, index)));
            }
        }
        all
    }

    /// Kept bytes on the host that have changed.
    pub(super) fn changed_on_host(&self) -> Option<WrongResult> {
        self.draws.iter().enumerate().find_map(|(index, draw)| {
            let inputs = match &draw.inputs {
                Some(Inputs::Host(inputs)) => Some(inputs),
                _ => None,
            };
            if inputs.is_some_and(|inputs| !inputs.is_intact()) {
                return Some(self.far_write(KeptFor::Inputs, index));
            }
            let expected = draw.expected.as_ref();
            expected
                .is_some_and(|expected| !expected.is_intact())
                .then(|| self.far_write(KeptFor::Results, index))
        })
    }

    /// The error where something has written to the kept contents of a draw.
    pub(super) fn far_write(&self, what: KeptFor, draw: usize) -> WrongResult {
        WrongResult::new(
            &*self.name,
            self.element,
            WrongKind::FarOutOfBounds { what, draw },
        )
    }
}

/// The appearance of a kernel's writes in the host's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shown {
    /// It is there.
    Written,
    /// Nothing changed.
    Nothing,
    /// It is somewhere else.
    Elsewhere,
}

impl Shown {
    /// The appearance of the writes to several buffers.
    pub(super) fn and(self, other: Self) -> Self {
        match (self, other) {
            (Self::Elsewhere, _) | (_, Self::Elsewhere) => Self::Elsewhere,
            (Self::Written, _) | (_, Self::Written) => Self::Written,
            (Self::Nothing, Self::Nothing) => Self::Nothing,
        }
    }
}
