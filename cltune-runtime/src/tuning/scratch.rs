//! A scratch buffer of a group of launches.

use super::buffers::Round;
use super::elements::{filler, poison};
use super::guarded::{Guarded, Surroundings};
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

    /// Fills it with what no kernel has written.
    pub(super) fn poison(&self, queue: &Queue, round: Round) -> Result<()> {
        let place = self.place(round);
        if self.places.len() > 1 {
            // The other place is where this one's surroundings are.
            place.restore_guards(queue)?;
        }
        place.fill(queue, &poison(self.memory.element))
    }
}
