//! The operands of steps: what is sent ahead, what is computed from it, and the room for both.

use super::device_memory::{BlockKey, DeviceBuffer, Lane};
use super::engine::{AHEAD, Engine, no_room, refused};
use super::job::{Job, Source, moved};
use super::kernel::{AnyKernel, BlockError, Kept, RawBlock, RawCall, tile_of};
use super::places::{key, place};
use crate::error::Error;
use crate::opencl::RawEvent;
use crate::queue::Queue;
use crate::split::Failure;
use cltune_core::tasks::{Operand, Rect};
use std::collections::HashMap;
use std::sync::Arc;

impl Engine {
    /// What a kernel keeps here, and the queue of launches.
    pub(super) fn kept(
        &mut self,
        kernel: &Arc<dyn AnyKernel>,
    ) -> Result<(&mut Kept, &Queue), BlockError> {
        Ok((kept(&mut self.kept, &self.compute, kernel)?, &self.compute))
    }

    /// Sends what the next steps need, as far as there is room.
    pub(super) fn prefetch(&mut self) -> Result<(), Failure> {
        for position in 0..AHEAD.min(self.steps.len()) {
            let step = &self.steps[position];
            let (number, job, tile, panel) =
                (step.number, Arc::clone(&step.job), step.tile, step.panel);
            for (source, operand) in job.inputs.iter().zip(&job.shape.inputs) {
                let rect = job.shape.rect(operand, &tile, panel);
                if !self.load(&job, source, rect, operand, number, true)? {
                    return Ok(());
                }
            }
        }
        Ok(())
    }

    /// Sees to it that what an input is computed from is there or on its way. `is_ahead` says that
    /// later steps need it: false then where there is no room yet.
    pub(super) fn load(
        &mut self,
        job: &Job,
        source: &Source,
        rect: Rect,
        operand: &Operand,
        step: u64,
        is_ahead: bool,
    ) -> Result<bool, Failure> {
        let key = key(source, rect, operand);
        if self.memory.has(&key) {
            self.memory.lend(&key, step);
            return Ok(true);
        }
        match source {
            Source::Matrix { core, origin, .. } => {
                let bytes = operand.block_bytes(job.division().cut.0);
                let mut buffer = if is_ahead {
                    let context = self.up.context();
                    let buffer = self.memory.acquire(context, bytes, step, Lane::Up);
                    match buffer.map_err(Failure::before)? {
                        Some(buffer) => buffer,
                        None => return Ok(false),
                    }
                } else {
                    self.buffer(job, bytes, step, Lane::Up)?
                };
                self.wait_in_up(&mut buffer)?;
                let place = place(core, moved(rect, *origin), key.leading);
                let event = self.send(core, &buffer, place)?;
                buffer.use_in(Lane::Up, Arc::clone(&event));
                self.memory.keep(key, buffer, Some(event), Some(step), step);
                Ok(true)
            }
            Source::Map { inputs, .. } => {
                for input in inputs {
                    if !self.load(job, input, rect, operand, step, is_ahead)? {
                        return Ok(false);
                    }
                }
                Ok(true)
            }
        }
    }

    /// The number of temporaries that have to be made for an input.
    pub(super) fn temporaries(&self, source: &Source, rect: Rect, operand: &Operand) -> usize {
        match source {
            Source::Map { inputs, .. } if !self.memory.has(&key(source, rect, operand)) => {
                let inputs = inputs.iter();
                1 + inputs
                    .map(|input| self.temporaries(input, rect, operand))
                    .sum::<usize>()
            }
            _ => 0,
        }
    }

    /// Launches what makes a temporary from what was loaded. The keys of blocks that launches read
    /// are added to `touched`.
    #[expect(
        clippy::too_many_arguments,
        reason = "a recursion with what it collects"
    )]
    pub(super) fn make(
        &mut self,
        job: &Job,
        source: &Source,
        rect: Rect,
        operand: &Operand,
        step: u64,
        rooms: &mut Vec<DeviceBuffer>,
        touched: &mut Vec<BlockKey>,
    ) -> Result<(), Failure> {
        let own = key(source, rect, operand);
        let Source::Map { kernel, inputs, .. } = source else {
            return Ok(());
        };
        if self.memory.has(&own) {
            return Ok(());
        }
        for input in inputs {
            self.make(job, input, rect, operand, step, rooms, touched)?;
        }
        let mut buffer = if let Some(buffer) = rooms.pop() {
            buffer
        } else {
            let bytes = operand.block_bytes(job.division().cut.0);
            self.buffer(job, bytes, step, Lane::Compute)?
        };
        for event in buffer.before(Lane::Compute) {
            self.wait_in_compute(&event)?;
        }
        let keys: Vec<BlockKey> = inputs
            .iter()
            .map(|input| key(input, rect, operand))
            .collect();
        for key in &keys {
            self.arrive(key, step)?;
        }
        let block = |buffer, key: &BlockKey| RawBlock {
            buffer,
            lines: key.rect.lines,
            length: key.rect.length,
            leading: key.leading,
        };
        let mut blocks = Vec::new();
        for key in &keys {
            let buffer = self.memory.buffer(key).ok_or_else(|| no_room(job))?;
            blocks.push(block(buffer, key));
        }
        let kept = kept(&mut self.kept, &self.compute, kernel).map_err(refused)?;
        let output = block(&buffer.raw, &own);
        let call = RawCall {
            inputs: &blocks,
            outputs: &[output],
            is_first: true,
            tile: tile_of(own.rect),
        };
        kernel.launch(&self.compute, kept, call).map_err(refused)?;
        touched.extend(keys);
        self.memory.keep(own, buffer, None, Some(step), step);
        Ok(())
    }

    /// Lets the next launch wait for a block that is on its way.
    pub(super) fn arrive(&mut self, key: &BlockKey, step: u64) -> Result<(), Failure> {
        match self.memory.arriving(key, step) {
            Some(event) => self.wait_in_compute(&event),
            None => Ok(()),
        }
    }

    /// Leaves room for what the kernel of a job allocates.
    pub(super) fn reserve(&mut self, job: &Job) {
        let known = self.workspaces.entry(job.name.clone()).or_default();
        *known = (*known).max(job.workspace());
        self.memory.reserve(self.workspaces.values().sum());
    }

    /// A buffer for a step of a job that is launched now, which a queue is to write first.
    pub(super) fn buffer(
        &mut self,
        job: &Job,
        bytes: usize,
        step: u64,
        lane: Lane,
    ) -> Result<DeviceBuffer, Failure> {
        for attempt in 0..3 {
            let context = self.up.context();
            let acquired = self.memory.acquire(context, bytes, step, lane);
            if let Some(buffer) = acquired.map_err(Failure::before)? {
                return Ok(buffer);
            }
            // Where a single step fits, results of earlier tiles have to leave first, and then what
            // kernels keep that earlier jobs needed.
            self.drain().map_err(Failure::during)?;
            if attempt == 1 {
                self.kept.clear();
                self.workspaces.clear();
                self.reserve(job);
            }
        }
        Err(refused(
            format!("there is no room for a block of {bytes} bytes").into(),
        ))
    }

    pub(super) fn wait_in_up(&self, buffer: &mut DeviceBuffer) -> Result<(), Failure> {
        for event in buffer.before(Lane::Up) {
            let waits = self.up.raw().wait_for(&event);
            waits
                .map_err(Error::call("clEnqueueBarrierWithWaitList"))
                .map_err(Failure::during)?;
        }
        Ok(())
    }

    pub(super) fn wait_in_compute(&self, event: &RawEvent) -> Result<(), Failure> {
        let waits = self.compute.raw().wait_for(event);
        waits
            .map_err(Error::call("clEnqueueBarrierWithWaitList"))
            .map_err(Failure::during)
    }
}

/// What a kernel keeps, made where it is not there.
pub(super) fn kept<'k>(
    all: &'k mut HashMap<String, Kept>,
    queue: &Queue,
    kernel: &Arc<dyn AnyKernel>,
) -> Result<&'k mut Kept, BlockError> {
    use std::collections::hash_map::Entry;
    match all.entry(kernel.name()) {
        Entry::Occupied(entry) => Ok(entry.into_mut()),
        Entry::Vacant(entry) => Ok(entry.insert(kernel.prepare(queue)?)),
    }
}
