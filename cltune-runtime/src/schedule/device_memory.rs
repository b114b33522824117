//! The blocks on a device: what is kept, and what makes room.

use crate::context::Context;
use crate::error::{Error, Result};
use crate::opencl::{RawBuffer, RawEvent};
use cltune_core::tasks::{Candidate, Rect, victim};
use std::collections::{BTreeSet, HashMap};
use std::sync::Arc;

/// What a block holds: a part of a matrix or of a temporary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct BlockKey {
    pub(super) value: Value,
    pub(super) rect: Rect,
    /// The distance of its lines on the device, elements.
    pub(super) leading: usize,
}

/// The contents of a matrix, or a temporary.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) enum Value {
    Matrix { id: u64, version: u64 },
    Temporary(u64),
}

/// A queue of a device.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Lane {
    Up,
    Compute,
    Down,
}

/// A buffer, with the last command of each queue that uses it.
#[derive(Debug)]
pub(super) struct DeviceBuffer {
    pub(super) raw: RawBuffer,
    bytes: usize,
    used: [Option<Arc<RawEvent>>; 3],
}

/// A block that is kept.
#[derive(Debug)]
struct KeptBlock {
    buffer: DeviceBuffer,
    /// Until launches wait for it: the event of the transfer that brings it.
    arriving: Option<Arc<RawEvent>>,
    /// The step that needs it next although none is planned to.
    lent: Option<u64>,
    last: u64,
    /// Whether a temporary was computed from it, and nothing else since.
    is_spent: bool,
}

/// The memory of a device.
#[derive(Debug)]
pub(super) struct DeviceMemory {
    limit: usize,
    /// What kernels allocate for themselves.
    reserved: usize,
    allocated: usize,
    peak: usize,
    /// The step that is being enqueued.
    step: u64,
    blocks: HashMap<BlockKey, KeptBlock>,
    idle: Vec<DeviceBuffer>,
    /// The steps that are going to need a block.
    planned: HashMap<BlockKey, BTreeSet<u64>>,
}

impl DeviceBuffer {
    /// Notes the last command of a queue.
    pub(super) fn use_in(&mut self, lane: Lane, event: Arc<RawEvent>) {
        self.used[lane as usize] = Some(event);
    }

    /// The events that a command of a queue has to wait for before it overwrites the buffer.
    pub(super) fn before(&mut self, lane: Lane) -> Vec<Arc<RawEvent>> {
        let used = std::mem::take(&mut self.used).into_iter().enumerate();
        // A queue is in order.
        let others = used.filter(|(other, _)| *other != lane as usize);
        let events = others.filter_map(|(_, event)| event);
        events
            .filter(|event| !event.has_ended().unwrap_or(false))
            .collect()
    }
}

impl DeviceMemory {
    pub(super) fn new(limit: usize) -> Self {
        Self {
            limit,
            reserved: 0,
            allocated: 0,
            peak: 0,
            step: 0,
            blocks: HashMap::new(),
            idle: Vec::new(),
            planned: HashMap::new(),
        }
    }

    /// Begins to enqueue a step.
    pub(super) const fn begin(&mut self, step: u64) {
        self.step = step;
    }

    /// Leaves room for what kernels allocate.
    pub(super) const fn reserve(&mut self, bytes: usize) {
        self.reserved = bytes;
    }

    /// The most that was ever allocated for blocks and for kernels, bytes.
    pub(super) const fn peak(&self) -> usize {
        self.peak
    }

    /// Whether a block is there or on its way.
    pub(super) fn has(&self, key: &BlockKey) -> bool {
        self.blocks.contains_key(key)
    }

    /// Whether a block is there, or will have been sent for steps that are planned.
    pub(super) fn will_have(&self, key: &BlockKey) -> bool {
        self.has(key) || self.planned.contains_key(key)
    }

    /// The last step that is planned to need a block.
    pub(super) fn last_planned(&self, key: &BlockKey) -> Option<u64> {
        self.planned.get(key)?.last().copied()
    }

    /// Says that a step is going to need a block.
    pub(super) fn plan(&mut self, key: BlockKey, step: u64) {
        self.planned.entry(key).or_default().insert(step);
    }

    /// Says that a step needs a block no more.
    pub(super) fn unplan(&mut self, key: &BlockKey, step: u64) {
        if let Some(steps) = self.planned.get_mut(key) {
            steps.remove(&step);
            if steps.is_empty() {
                self.planned.remove(key);
            }
        }
        if let Some(entry) = self.blocks.get_mut(key)
            && entry.lent == Some(step)
        {
            entry.lent = None;
        }
    }

    /// The event of the transfer that brings a block, for a launch of a step; `None` where an
    /// earlier launch has waited for it.
    pub(super) fn arriving(&mut self, key: &BlockKey, step: u64) -> Option<Arc<RawEvent>> {
        let entry = self.blocks.get_mut(key)?;
        entry.last = step;
        entry.arriving.take()
    }

    /// The buffer of a block.
    pub(super) fn buffer(&self, key: &BlockKey) -> Option<&RawBuffer> {
        Some(&self.blocks.get(key)?.buffer.raw)
    }

    /// Notes the launch that has read a block.
    pub(super) fn launched(&mut self, key: &BlockKey, event: &Arc<RawEvent>) {
        if let Some(entry) = self.blocks.get_mut(key) {
            entry.buffer.use_in(Lane::Compute, Arc::clone(event));
            entry.is_spent = false;
        }
    }

    /// Notes the launch that has computed a temporary from a block.
    pub(super) fn spent(&mut self, key: &BlockKey, event: &Arc<RawEvent>) {
        self.launched(key, event);
        if let Some(entry) = self.blocks.get_mut(key) {
            entry.is_spent = true;
        }
    }

    /// Keeps a block, which `lent` is a step of that needs it.
    pub(super) fn keep(
        &mut self,
        key: BlockKey,
        buffer: DeviceBuffer,
        arriving: Option<Arc<RawEvent>>,
        lent: Option<u64>,
        step: u64,
    ) {
        let entry = KeptBlock {
            buffer,
            arriving,
            lent,
            last: step,
            is_spent: false,
        };
        if let Some(before) = self.blocks.insert(key, entry) {
            self.idle.push(before.buffer);
        }
    }

    /// Lends a block to a step, so that it stays until then.
    pub(super) fn lend(&mut self, key: &BlockKey, step: u64) {
        if let Some(entry) = self.blocks.get_mut(key) {
            entry.lent = Some(entry.lent.map_or(step, |lent| lent.min(step)));
        }
    }

    /// Gives a buffer back whose contents nobody needs.
    pub(super) fn give_back(&mut self, buffer: DeviceBuffer) {
        self.idle.push(buffer);
    }

    /// A buffer of so many bytes for a step, which a queue is to write first. Blocks that this step
    /// or an earlier one needs are not given up for it; `None` where there is no room then.
    ///
    /// What is sent must not wait for the launches that it is to hide behind. Launches follow each
    /// other anyway, so they take what was used last and leave the rest to transfers.
    pub(super) fn acquire(
        &mut self,
        context: &Context,
        bytes: usize,
        step: u64,
        lane: Lane,
    ) -> Result<Option<DeviceBuffer>> {
        let is_launched = lane == Lane::Compute;
        loop {
            let is_fitting = |buffer: &DeviceBuffer| buffer.bytes == bytes;
            let fitting = if is_launched {
                self.idle.iter().rposition(is_fitting)
            } else {
                self.idle.iter().position(is_fitting)
            };
            if let Some(position) = fitting {
                return Ok(Some(self.idle.remove(position)));
            }
            if self.allocated + bytes <= self.limit.saturating_sub(self.reserved) {
                match RawBuffer::new(context.raw(), bytes) {
                    Ok(raw) => {
                        self.allocated += bytes;
                        self.peak = self.peak.max(self.allocated + self.reserved);
                        let used = [None, None, None];
                        return Ok(Some(DeviceBuffer { raw, bytes, used }));
                    }
                    Err(status) if status.is_of_memory() && self.allocated > 0 => {
                        // There is less than the limit says.
                        self.limit = self.allocated + self.reserved;
                    }
                    Err(status) => {
                        let call = format!("clCreateBuffer of {bytes} bytes");
                        return Err(Error::call(call)(status));
                    }
                }
            }
            if let Some(buffer) = self.idle.pop() {
                self.allocated -= buffer.bytes;
                continue;
            }
            let candidates = self.blocks.iter().filter_map(|(key, entry)| {
                let planned = self.planned.get(key).and_then(|steps| steps.first());
                let next = planned.copied().into_iter().chain(entry.lent).min();
                // Of the launches before this step, the last one may not even have begun. What a
                // temporary is computed from is read at the beginning of a step.
                let begun = entry.last + u64::from(!entry.is_spent);
                next.is_none_or(|next| next > step).then_some(Candidate {
                    key: *key,
                    next,
                    last: entry.last,
                    is_of_size: entry.buffer.bytes == bytes,
                    is_spent: entry.is_spent,
                    is_in_use: !is_launched && begun >= self.step,
                })
            });
            let Some(key) = victim(candidates) else {
                return Ok(None);
            };
            if let Some(entry) = self.blocks.remove(&key) {
                self.idle.push(entry.buffer);
            }
        }
    }

    /// Frees everything but the buffers of tiles under way.
    pub(super) fn clear<'b>(&mut self, tiles: impl Iterator<Item = &'b DeviceBuffer>) {
        self.blocks.clear();
        self.idle.clear();
        self.allocated = tiles.map(|buffer| buffer.bytes).sum();
    }

    /// Forgets what is planned.
    pub(super) fn forget_plans(&mut self) {
        self.planned.clear();
        for entry in self.blocks.values_mut() {
            entry.lent = None;
        }
    }
}
