//! A scratch buffer of a group of launches.

use super::buffers::Round;
use super::elements::{component_at, filler, poison};
use super::guarded::{Guarded, Surroundings};
use super::outcome::{WrongKind, WrongResult};
use crate::error::Result;
use crate::queue::Queue;
use cltune_core::model::ScratchMemory;

/// A scratch buffer of a group of launches: poisoned like an output, and compared with nothing.
#[derive(Debug)]
pub(super) struct ScratchBuffer {
    memory: ScratchMemory,
    places: Vec<Guarded>,
}

impl ScratchBuffer {
    pub(super) fn new(
        queue: &Queue,
        memory: &ScratchMemory,
        surroundings: Surroundings,
    ) -> Result<Self> {
        let surroundings = match surroundings {
            // They are made again and again, and have no sums that the device could compare.
            Surroundings::LargeZones => Surroundings::Zones,
            other => other,
        };
        let (context, scalar) = (queue.context(), filler(memory.element));
        Ok(Self {
            places: Guarded::places(context, queue, memory.bytes, scalar, surroundings)?,
            memory: memory.clone(),
        })
    }

    /// The declared buffer, and its size.
    pub(super) fn memory(&self) -> &ScratchMemory {
        &self.memory
    }

    /// Where it lies in a round.
    pub(super) fn place(&self, round: Round) -> &Guarded {
        &self.places[round.place % self.places.len()]
    }

    /// Fills it for the first launch of a configuration.
    pub(super) fn begin(&self, queue: &Queue, round: Round) -> Result<()> {
        if self.memory.zeros {
            self.zero(queue, round)
        } else {
            self.poison(queue, round)
        }
    }

    /// What is wrong where a launch had to leave zeros and has not. They are there after that.
    pub(super) fn left_no_zeros(&self, queue: &Queue, round: Round) -> Result<Option<WrongResult>> {
        let ScratchMemory {
            name,
            element,
            bytes,
            zeros: true,
        } = &self.memory
        else {
            return Ok(None);
        };
        let mut left = vec![0; *bytes];
        self.place(round).read(queue, &mut left)?;
        let Some(byte) = left.iter().position(|byte| *byte != 0) else {
            return Ok(None);
        };
        self.zero(queue, round)?;
        let size = element.size();
        let len = bytes / size;
        let is_wrong = |element: &&[u8]| element.iter().any(|byte| *byte != 0);
        let kind = WrongKind::Mismatch {
            index: component_at(*element, byte),
            expected: "0".into(),
            found: "something else, though the next call needs zeros".into(),
            allowed: 0.0,
            count: left.chunks(size).filter(is_wrong).count(),
            len,
            most: None,
        };
        Ok(Some(WrongResult::new(&**name, *element, kind)))
    }

    /// Fills it with what no kernel has written. One that has to hold zeros keeps what the launch
    /// before left in it, as for a caller.
    pub(super) fn poison(&self, queue: &Queue, round: Round) -> Result<()> {
        let place = self.place(round);
        if self.places.len() > 1 {
            // The other place is where this one's surroundings are.
            place.restore_guards(queue)?;
            if self.memory.zeros {
                return self.zero(queue, round);
            }
        }
        if self.memory.zeros {
            return Ok(());
        }
        place.fill(queue, &poison(self.memory.element))
    }

    fn zero(&self, queue: &Queue, round: Round) -> Result<()> {
        let zeros = vec![0; self.memory.element.size()];
        self.place(round).fill(queue, &zeros)
    }
}
