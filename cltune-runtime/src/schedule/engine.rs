//! The queues of a device, its memory, and what is under way in them.

use super::center::Center;
use super::clock::Clock;
use super::device_memory::{BlockKey, DeviceBuffer, DeviceMemory};
use super::job::Job;
use super::kernel::{BlockError, Kept};
use super::timeline::Span;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::opencl::{HostTransfer, RawEvent};
use crate::queue::Queue;
use crate::split::{Attribution, Failure};
use cltune_core::tasks::{TaskId, Tile};
use std::collections::{HashMap, VecDeque};
use std::sync::Arc;

/// The number of steps whose operands are sent before a step is launched.
pub(super) const AHEAD: usize = 2;

/// The queues of a device, its memory, and what is under way.
pub(super) struct Engine {
    pub(super) center: Arc<Center>,
    pub(super) device: usize,
    // Declared before the queues, through which they go.
    pub(super) fetching: VecDeque<Fetch>,
    pub(super) sending: VecDeque<Sending>,
    pub(super) in_flight: VecDeque<InFlight>,
    pub(super) steps: VecDeque<Step>,
    /// The tiles of tasks under way, one for each result.
    pub(super) tiles: HashMap<TaskId, Vec<DeviceBuffer>>,
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

/// A block on its way to the device.
pub(super) struct Sending {
    pub(super) transfer: HostTransfer,
    pub(super) bytes: usize,
}

/// The tile of a result on its way to host memory.
pub(super) struct Fetch {
    pub(super) task: TaskId,
    /// Whether the results of the task are all there with it.
    pub(super) is_last: bool,
    /// The last step of the tile.
    pub(super) step: u64,
    pub(super) transfer: HostTransfer,
    pub(super) buffer: DeviceBuffer,
    /// What the buffer holds then; `None` where some of it belongs to another tile.
    pub(super) key: Option<BlockKey>,
    pub(super) bytes: usize,
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

/// An event that ends when all commands of a queue so far have ended.
pub(super) fn marker(queue: &Queue) -> Result<RawEvent, Failure> {
    let marker = queue.raw().marker();
    marker
        .map_err(Error::call("clEnqueueMarkerWithWaitList"))
        .map_err(Failure::during)
}
