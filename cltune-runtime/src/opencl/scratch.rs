//! Memory for scratch buffers: all groups of launches of a queue share it, since the queue's
//! commands run one after the other.

use super::{RawBuffer, RawContext, Status};
use cltune_core::model::ScratchMemory;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// The scratch memory of a queue. It grows to the most that a call needs and is freed with the
/// queue.
#[derive(Debug, Default)]
pub(crate) struct ScratchPool(Mutex<Slots>);

/// Buffers with their sizes, by the position of the scratch buffer in its tunable. Those that hold
/// zeros between calls are never used for others.
#[derive(Debug, Default)]
struct Slots {
    any: Vec<Option<(RawBuffer, usize)>>,
    zeros: Vec<Option<(RawBuffer, usize)>>,
}

impl Slots {
    fn of(&self, memory: &ScratchMemory) -> &Vec<Option<(RawBuffer, usize)>> {
        if memory.zeros { &self.zeros } else { &self.any }
    }
}

/// The pool for the time in which one call's commands are enqueued: those of another call must not
/// come between them.
#[derive(Debug)]
pub(crate) struct Scratch<'a> {
    slots: MutexGuard<'a, Slots>,
    buffers: &'a [Option<ScratchMemory>],
}

impl ScratchPool {
    /// Memory for these buffers; none where there is none.
    pub(crate) fn get<'a>(
        &'a self,
        context: &RawContext,
        buffers: &'a [Option<ScratchMemory>],
    ) -> Result<Scratch<'a>, Status> {
        // A panic leaves no buffer half made.
        let mut slots = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        for (position, memory) in buffers.iter().enumerate() {
            let Some(ScratchMemory {
                bytes: size, zeros, ..
            }) = *memory
            else {
                continue;
            };
            let pool = if zeros {
                &mut slots.zeros
            } else {
                &mut slots.any
            };
            if pool.len() <= position {
                pool.resize_with(position + 1, || None);
            }
            let slot = &mut pool[position];
            if slot.as_ref().is_none_or(|(_, has)| *has < size) {
                // Commands that use the smaller one keep it until they have ended. It goes first,
                // so that both need not fit.
                *slot = None;
                let made = if zeros {
                    RawBuffer::zeros(context, size)
                } else {
                    RawBuffer::new(context, size)
                };
                *slot = Some((made?, size));
            }
        }
        Ok(Scratch { slots, buffers })
    }
}

impl Scratch<'_> {
    /// A buffer; `None` where it was not asked for.
    pub(crate) fn buffer(&self, position: u16) -> Option<&RawBuffer> {
        let position = usize::from(position);
        let memory = self.buffers.get(position)?.as_ref()?;
        let slot = self.slots.of(memory).get(position)?;
        slot.as_ref().map(|(buffer, _)| buffer)
    }
}
