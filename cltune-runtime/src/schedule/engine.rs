//! The steps of tasks on their way through a device's queues.
//!
//! A step is a panel of a tile. Before it is launched, what the next steps need is on its way: on
//! NVIDIA's driver, transfers that are enqueued after a launch begin when that has ended (measured
//! for split calls, BENCHMARKS.md, "Several devices"). The host waits for old steps only.

use super::center::Center;
use super::clock::Clock;
use super::device_memory::{BlockKey, DeviceBuffer, DeviceMemory, Lane};
use super::job::Job;
use super::kernel::{AnyKernel, BlockError, Kept, RawBlock, RawCall};
use super::places::{inputs, key, leading, place};
use super::staging::kept;
use super::timeline::Span;
use super::transfers::{Fetch, Sending, marker};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::opencl::RawEvent;
use crate::queue::Queue;
use crate::split::{Attribution, Failure};
use cltune_core::tasks::{Rect, TaskId, Tile};
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

/// The number of steps whose operands are sent before a step is launched.
pub(super) const AHEAD: usize = 2;

/// The number of steps that are launched and not waited for.
const DEPTH: usize = 3;

/// The queues of a device, its memory, and what is under way.
pub(super) struct Engine {
    pub(super) center: Arc<Center>,
    pub(super) device: usize,
    // Declared before the queues, through which they go.
    pub(super) fetching: VecDeque<Fetch>,
    pub(super) sending: VecDeque<Sending>,
    pub(super) in_flight: VecDeque<InFlight>,
    pub(super) steps: VecDeque<Step>,
    /// The tiles of tasks under way.
    pub(super) tiles: HashMap<TaskId, DeviceBuffer>,
    pub(super) memory: DeviceMemory,
    pub(super) kept: HashMap<String, Kept>,
    pub(super) workspaces: HashMap<String, usize>,
    pub(super) next: u64,
    pub(super) up: Queue,
    pub(super) compute: Queue,
    pub(super) down: Queue,
    pub(super) clock: Option<Clock>,
    pub(super) spans: Vec<Span>,
}

/// A panel of a tile.
pub(super) struct Step {
    pub(super) number: u64,
    pub(super) task: TaskId,
    pub(super) job: Arc<Job>,
    pub(super) tile: Tile,
    /// First position and size along K.
    pub(super) panel: [usize; 2],
    pub(super) is_first: bool,
    pub(super) is_last: bool,
}

/// A step that was launched.
pub(super) struct InFlight {
    pub(super) number: u64,
    pub(super) end: Arc<RawEvent>,
    /// With the name of the operation, where times are wanted.
    pub(super) begin: Option<(RawEvent, String)>,
}

/// What a failure is about.
pub(super) struct Broken {
    pub(super) failure: Failure,
    /// The operation of the step.
    pub(super) operation: Option<(u64, Arc<Job>)>,
}

impl Drop for Engine {
    /// Waits for launches that were given up; transfers do so themselves. The process may end next,
    /// and drivers that are at work meanwhile may crash.
    fn drop(&mut self) {
        // One may wait for another; where that fails, the device is lost, and nothing runs.
        for queue in [&self.up, &self.down] {
            let _ = queue.raw().flush();
        }
        let _ = self.compute.finish();
    }
}

impl Engine {
    pub(super) fn new(
        center: Arc<Center>,
        device: usize,
        context: &Context,
        memory: usize,
        is_traced: bool,
    ) -> Result<Self> {
        let queue = || {
            if is_traced {
                Queue::with_profiling(context)
            } else {
                Queue::new(context)
            }
        };
        let (up, compute, down) = (queue()?, queue()?, queue()?);
        let clock = is_traced.then(|| Clock::of(&compute)).transpose()?;
        Ok(Self {
            center,
            device,
            fetching: VecDeque::new(),
            sending: VecDeque::new(),
            in_flight: VecDeque::new(),
            steps: VecDeque::new(),
            tiles: HashMap::new(),
            memory: DeviceMemory::new(memory),
            kept: HashMap::new(),
            workspaces: HashMap::new(),
            next: 0,
            up,
            compute,
            down,
            clock,
            spans: Vec::new(),
        })
    }

    pub(super) const fn queue(&self) -> &Queue {
        &self.compute
    }

    /// What a kernel keeps here, and the queue of launches.
    pub(super) fn kept(
        &mut self,
        kernel: &Arc<dyn AnyKernel>,
    ) -> Result<(&mut Kept, &Queue), BlockError> {
        Ok((kept(&mut self.kept, &self.compute, kernel)?, &self.compute))
    }

    /// Whether there is nothing to do and nothing to wait for.
    pub(super) fn is_idle(&self) -> bool {
        self.steps.is_empty() && self.in_flight.is_empty() && self.fetching.is_empty()
    }

    /// Whether it should know its next task now, so that the device does not wait for it, and keeps
    /// what it needs.
    pub(super) fn wants_task(&self) -> bool {
        let ends = self.steps.front().zip(self.steps.back());
        self.steps.len() <= AHEAD || ends.is_some_and(|(first, last)| first.task == last.task)
    }

    /// Whether it could wait for its next task without a device that waits.
    pub(super) fn is_early(&self) -> bool {
        self.steps.len() > AHEAD
    }

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
        self.memory.clear(self.tiles.values());
        Ok(())
    }

    fn skip(&mut self, step: &Step) {
        for (source, operand) in step.job.inputs.iter().zip(&step.job.shape.inputs) {
            let rect = step.job.shape.rect(operand, &step.tile, step.panel);
            self.memory.unplan(&key(source, rect, operand), step.number);
        }
        if let Some(buffer) = self.tiles.remove(&step.task) {
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
        let output = &job.shape.output;
        let rect = job.shape.whole_rect(output, &step.tile);
        self.reserve(&job);
        self.memory.begin(step.number);
        if step.is_first {
            let bytes = output.block_bytes(blocks);
            let lane = if job.shape.reads_output {
                Lane::Up
            } else {
                Lane::Compute
            };
            let mut buffer = self.buffer(&job, bytes, step.number, lane)?;
            if job.shape.reads_output {
                let place = place(&job.output, rect, leading(rect, output));
                self.wait_in_up(&mut buffer)?;
                let event = self.send(&job.output, &buffer, place)?;
                buffer.use_in(Lane::Up, event);
            }
            self.tiles.insert(step.task, buffer);
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
        self.launch(step, rect)
    }

    /// Launches a step whose operands are on their way.
    fn launch(&mut self, step: &Step, rect: Rect) -> Result<(), Failure> {
        let job = &step.job;
        let mut tile = self.tiles.remove(&step.task).ok_or_else(|| no_room(job))?;
        for event in tile.before(Lane::Compute) {
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
        let output = RawBlock {
            buffer: &tile.raw,
            lines: rect.lines,
            length: rect.length,
            leading: leading(rect, &job.shape.output),
        };
        let kept = kept(&mut self.kept, &self.compute, &job.kernel).map_err(refused)?;
        let call = RawCall {
            inputs: &blocks,
            output,
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
        tile.use_in(Lane::Compute, Arc::clone(&end));
        self.in_flight.push_back(InFlight {
            number: step.number,
            end: Arc::clone(&end),
            begin,
        });
        if !step.is_last {
            self.tiles.insert(step.task, tile);
            return Ok(());
        }
        if !self.center.commit(step.task, self.device) {
            self.memory.give_back(tile);
            self.center.leave(step.task, self.device);
            return Ok(());
        }
        self.fetch(step, rect, tile, &end)
    }

    /// Waits for everything under way.
    pub(super) fn drain(&mut self) -> Result<()> {
        while !self.in_flight.is_empty() {
            self.retire()?;
        }
        self.settle(true)
    }
}

/// A failure of a kernel: the device's where a call of the run time failed.
pub(super) fn refused(error: BlockError) -> Failure {
    match error.downcast::<Error>() {
        Ok(error) => Failure::before(*error),
        Err(other) => Failure {
            error: Box::new(Error::BlockKernel {
                reason: other.to_string(),
            }),
            attribution: Attribution::Problem,
        },
    }
}

pub(super) fn no_room(job: &Job) -> Failure {
    refused(format!("there is no room for the blocks of `{}`", job.name).into())
}
