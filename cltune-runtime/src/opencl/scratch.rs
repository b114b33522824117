//! Memory for scratch buffers: all groups of launches of a queue share it, since the queue's
//! commands run one after the other.

use super::{RawBuffer, RawContext, Status};
use cltune_core::model::ScratchMemory;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The scratch memory of a queue, by the position of the scratch buffer in its tunable. It grows to
/// the most that a call needs and is freed with the queue.
#[derive(Debug, Default)]
pub(crate) struct ScratchPool(Mutex<Vec<Option<(RawBuffer, usize)>>>);

/// The pool for the time in which one call's commands are enqueued: those of another call must not
/// come between them.
#[derive(Debug)]
pub(crate) struct Scratch<'a>(MutexGuard<'a, Vec<Option<(RawBuffer, usize)>>>);

impl ScratchPool {
    /// Memory for these buffers; none where there is none.
    pub(crate) fn get(
        &self,
        context: &RawContext,
        buffers: &[Option<ScratchMemory>],
    ) -> Result<Scratch<'_>, Status> {
        // A panic leaves no buffer half made.
        let mut pool = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if pool.len() < buffers.len() {
            pool.resize_with(buffers.len(), || None);
        }
        for (slot, size) in pool.iter_mut().zip(buffers) {
            let Some(ScratchMemory { bytes: size, .. }) = *size else {
                continue;
            };
            if slot.as_ref().is_none_or(|(_, has)| *has < size) {
                // Commands that use the smaller one keep it until they have ended. It goes first,
                // so that both need not fit.
                *slot = None;
                *slot = Some((RawBuffer::new(context, size)?, size));
            }
        }
        Ok(Scratch(pool))
    }
}

impl Scratch<'_> {
    /// A buffer; `None` where it was not asked for.
    pub(crate) fn buffer(&self, position: u16) -> Option<&RawBuffer> {
        let slot = self.0.get(usize::from(position))?;
        slot.as_ref().map(|(buffer, _)| buffer)
    }
}
