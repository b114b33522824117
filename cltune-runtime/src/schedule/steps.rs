//! The way of steps through a device's queues.
//!
//! Before a step is launched, what the next steps need is on its way: on NVIDIA's driver, transfers
//! that are enqueued after a launch begin when that has ended (measured for split calls,
//! BENCHMARKS.md, "Several devices"). The host waits for old steps only.

use super::device_memory::{BlockKey, Lane};
use super::engine::{Broken, Engine, InFlight, Step, marker, no_room, refused};
use super::job::{Job, Target};
use super::kernel::{RawBlock, RawCall};
use super::places::{inputs, key, leading, place};
use super::staging::kept;
use crate::error::Result;
use crate::split::Failure;
use cltune_core::tasks::{Output, TaskId};
use std::sync::Arc;

/// The number of steps that are launched and not waited for.
const DEPTH: usize = 3;

impl Engine {
    /// The bytes that have to be sent for a tile, by some of its panels.
    pub(super) fn missing(&self, job: &Job, tile: usize) -> usize {
        const SOME: usize = 8;
        let division = job.division();
        let Some(tile) = division.tiles.get(tile) else {
            return 0;
        };
        let stride = division.panels.div_ceil(SOME).max(1);
        let mut bytes = 0;
        for panel in (0..division.panels).step_by(stride) {
            let panel = job.shape.panel(division.cut, panel);
            for (source, operand) in job.inputs.iter().zip(&job.shape.inputs) {
                let rect = job.shape.rect(operand, tile, panel);
                if !self.memory.will_have(&key(source, rect, operand)) {
                    bytes += rect.elements() * operand.element * operand.leaves;
                }
            }
        }
        bytes
    }

    /// Adds the steps of a task.
    pub(super) fn push(&mut self, task: TaskId, job: &Arc<Job>) {
        let division = job.division();
        let tile = division.tiles[task.tile];
        // What the tile before leaves here comes first.
        let inputs = job.inputs.iter().zip(&job.shape.inputs);
        let left = |panel: usize| {
            let panel = job.shape.panel(division.cut, panel);
            let keys = inputs.clone().map(|(source, operand)| {
                key(source, job.shape.rect(operand, &tile, panel), operand)
            });
            let planned = |key: &BlockKey| self.memory.last_planned(key);
            let (planned, there): (Vec<_>, Vec<_>) = keys
                .map(|key| (planned(&key), self.memory.has(&key)))
                .unzip();
            let there = there.into_iter().filter(|is_there| *is_there).count();
            (planned.into_iter().max(), there)
        };
        let last = division.panels - 1;
        let is_reversed = left(last) > left(0);
        for position in 0..division.panels {
            let panel = if is_reversed {
                last - position
            } else {
                position
            };
            let panel = job.shape.panel(division.cut, panel);
            let number = self.next;
            self.next += 1;
            for (source, operand) in job.inputs.iter().zip(&job.shape.inputs) {
                let rect = job.shape.rect(operand, &tile, panel);
                self.memory.plan(key(source, rect, operand), number);
            }
            self.steps.push_back(Step {
                number,
                task,
                job: Arc::clone(job),
                tile,
                panel,
                is_first: position == 0,
                is_last: position == last,
            });
        }
    }

    /// Goes on: with the next step, or by waiting for an earlier one.
    pub(super) fn advance(&mut self) -> Result<(), Broken> {
        let Some(step) = self.steps.pop_front() else {
            return self.wait().map_err(|error| Broken {
                failure: Failure::during(error),
                operation: None,
            });
        };
        let (task, operation) = (
            step.task,
            Some((step.task.operation, Arc::clone(&step.job))),
        );
        let is_given_up = !step.is_first && !self.tiles.contains_key(&task);
        if is_given_up || !self.center.is_wanted(task, self.device) {
            self.skip(&step);
            return Ok(());
        }
        let submitted = self.submit(&step);
        let waited = submitted.and_then(|()| {
            while self.in_flight.len() >= DEPTH {
                self.retire().map_err(Failure::during)?;
            }
            self.settle(false).map_err(Failure::during)
        });
        waited.map_err(|failure| Broken { failure, operation })
    }

    /// Gives up all that is planned of an operation, when what is under way has ended.
    pub(super) fn abandon(&mut self, operation: u64) -> Result<()> {
        self.steps.retain(|step| step.task.operation != operation);
        self.memory.forget_plans();
        for step in &self.steps {
            for (source, operand) in step.job.inputs.iter().zip(&step.job.shape.inputs) {
                let rect = step.job.shape.rect(operand, &step.tile, step.panel);
                self.memory.plan(key(source, rect, operand), step.number);
            }
        }
        self.tiles.retain(|task, _| task.operation != operation);
        self.up.finish()?;
        self.compute.finish()?;
        self.drain()?;
        // Some buffers were lost with the failure.
        self.memory.clear(self.tiles.values().flatten());
        Ok(())
    }

    fn skip(&mut self, step: &Step) {
        for (source, operand) in step.job.inputs.iter().zip(&step.job.shape.inputs) {
            let rect = step.job.shape.rect(operand, &step.tile, step.panel);
            self.memory.unplan(&key(source, rect, operand), step.number);
        }
        for buffer in self.tiles.remove(&step.task).into_iter().flatten() {
            self.memory.give_back(buffer);
        }
        if step.is_last {
            self.center.leave(step.task, self.device);
        }
    }

    /// Waits for the oldest step, or else for a result.
    fn wait(&mut self) -> Result<()> {
        if self.in_flight.is_empty() {
            if let Some(fetch) = self.fetching.pop_front() {
                self.fetched(fetch)?;
            }
        } else {
            self.retire()?;
        }
        self.settle(false)
    }

    fn submit(&mut self, step: &Step) -> Result<(), Failure> {
        let job = Arc::clone(&step.job);
        let blocks = job.division().cut.0;
        self.reserve(&job);
        self.memory.begin(step.number);
        if step.is_first {
            self.begin_tile(step)?;
        }
        let number = step.number;
        for (source, rect, operand) in inputs(step) {
            self.load(&job, source, rect, operand, number, false)?;
        }
        // Room for temporaries, before later steps take it.
        let mut rooms = Vec::new();
        for (source, rect, operand) in inputs(step) {
            for _ in 0..self.temporaries(source, rect, operand) {
                let bytes = operand.block_bytes(blocks);
                rooms.push(self.buffer(&job, bytes, number, Lane::Compute)?);
            }
        }
        // The last one taken is the last one made.
        rooms.reverse();
        self.prefetch()?;
        self.up.flush().map_err(Failure::during)?;
        let mut touched = Vec::new();
        for (source, rect, operand) in inputs(step) {
            self.make(
                &job,
                source,
                rect,
                operand,
                number,
                &mut rooms,
                &mut touched,
            )?;
        }
        for room in rooms {
            self.memory.give_back(room);
        }
        if !touched.is_empty() {
            // They need not wait for the launch of the panel.
            let made = Arc::new(marker(&self.compute)?);
            for key in &touched {
                self.memory.spent(key, &made);
                self.memory.unplan(key, number);
            }
        }
        self.launch(step)
    }

    /// Takes a buffer for the tile of each result, and sends what is read of it.
    fn begin_tile(&mut self, step: &Step) -> Result<(), Failure> {
        let job = &step.job;
        let mut buffers = Vec::new();
        for (Target { core, .. }, Output { operand, is_read }) in job.results() {
            let bytes = operand.block_bytes(job.division().cut.0);
            let lane = if *is_read { Lane::Up } else { Lane::Compute };
            let mut buffer = self.buffer(job, bytes, step.number, lane)?;
            if *is_read {
                let rect = job.shape.whole_rect(operand, &step.tile);
                let place = place(core, rect, leading(rect, operand));
                self.wait_in_up(&mut buffer)?;
                let event = self.send(core, &buffer, place)?;
                buffer.use_in(Lane::Up, event);
            }
            buffers.push(buffer);
        }
        self.tiles.insert(step.task, buffers);
        Ok(())
    }

    /// Launches a step whose operands are on their way.
    fn launch(&mut self, step: &Step) -> Result<(), Failure> {
        let job = &step.job;
        let mut tile = self.tiles.remove(&step.task).ok_or_else(|| no_room(job))?;
        for event in tile.iter_mut().flat_map(|of| of.before(Lane::Compute)) {
            self.wait_in_compute(&event)?;
        }
        let keys: Vec<BlockKey> = inputs(step)
            .map(|(source, rect, operand)| key(source, rect, operand))
            .collect();
        for key in &keys {
            self.arrive(key, step.number)?;
        }
        // What it waits for is not its time.
        let begin = self.begin_span(&job.name)?;
        let memory = &mut self.memory;
        let mut blocks = Vec::new();
        for block in &keys {
            let buffer = memory.buffer(block).ok_or_else(|| no_room(job))?;
            blocks.push(RawBlock {
                buffer,
                lines: block.rect.lines,
                length: block.rect.length,
                leading: block.leading,
            });
        }
        let outputs = tile.iter().zip(&job.shape.outputs);
        let outputs = outputs.map(|(buffer, Output { operand, .. })| {
            let rect = job.shape.whole_rect(operand, &step.tile);
            RawBlock {
                buffer: &buffer.raw,
                lines: rect.lines,
                length: rect.length,
                leading: leading(rect, operand),
            }
        });
        let outputs: Vec<RawBlock<'_>> = outputs.collect();
        let kept = kept(&mut self.kept, &self.compute, &job.kernel).map_err(refused)?;
        let call = RawCall {
            inputs: &blocks,
            outputs: &outputs,
            is_first: step.is_first,
            tile: job.shape.computed(&step.tile),
        };
        job.kernel
            .launch(&self.compute, kept, call)
            .map_err(refused)?;
        let end = Arc::new(marker(&self.compute)?);
        self.compute.flush().map_err(Failure::during)?;
        for key in &keys {
            self.memory.launched(key, &end);
            self.memory.unplan(key, step.number);
        }
        for buffer in &mut tile {
            buffer.use_in(Lane::Compute, Arc::clone(&end));
        }
        self.in_flight.push_back(InFlight {
            number: step.number,
            end: Arc::clone(&end),
            begin,
        });
        if !step.is_last {
            self.tiles.insert(step.task, tile);
            return Ok(());
        }
        let Some(are_needed) = self.center.commit(step.task, self.device, job) else {
            for buffer in tile {
                self.memory.give_back(buffer);
            }
            self.center.leave(step.task, self.device);
            return Ok(());
        };
        self.fetch(step, tile, &are_needed, &end)
    }

    /// Waits for everything under way.
    pub(super) fn drain(&mut self) -> Result<()> {
        while !self.in_flight.is_empty() {
            self.retire()?;
        }
        self.settle(true)
    }
}
