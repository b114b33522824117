//! The scheduler as the program calls it.

use super::center::Center;
use super::devices::{Condition, DeviceState};
use super::error::ScheduleError;
use super::expression::{Expression, Node};
use super::job::Job;
use super::kernel::{BlockCall, BlockError, BlockKernel, MapKernel};
use super::matrix::{Matrix, Results};
use super::matrix_core::MatrixCore;
use super::operation::Operation;
use super::probe::host_memory;
use super::report::{Progress, RunReport};
use super::worker::Worker;
use crate::buffer::{Buffer, byte_len};
use crate::context::Context;
use crate::device::Device;
use crate::element::Element;
use crate::error::Error;
use crate::queue::Queue;
use cltune_core::tasks::{Axis, LinkRates};
use std::sync::Arc;
use std::thread::{Builder, JoinHandle};

/// Operations on matrices in host memory, on several devices, whatever their sizes.
///
/// The method is that of the paper on ViennaCL's scheduler (Rupp et al., section 2). Operations are
/// enqueued and return at once. They become tasks on blocks, whose size follows from the memory of
/// the devices, from how fast they are and from how fast data gets there; a task is given to the
/// device that ends it first. A device that fails is lost, and the others do its tasks.
#[derive(Debug)]
pub struct Scheduler {
    pub(super) center: Arc<Center>,
    threads: Vec<JoinHandle<()>>,
    /// What matrices are pinned through, where that pays.
    pins: Option<Queue>,
    /// Of any device, where nothing is pinned.
    any: Queue,
}

/// Limits and choices of a [`Scheduler`].
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct SchedulerOptions {
    device_memory: Vec<usize>,
    host_memory: Option<usize>,
    host_rate: Option<f64>,
    is_traced: bool,
}

impl SchedulerOptions {
    /// The usual ones: four fifths of the memory of a device that has its own, a quarter of the
    /// host's for each device that uses that, and as much host memory as there is.
    pub fn new() -> Self {
        Self::default()
    }

    /// The memory of devices that may be used, bytes: one number for each device, or one for all.
    #[must_use]
    pub fn device_memory(mut self, bytes: &[usize]) -> Self {
        self.device_memory = bytes.to_vec();
        self
    }

    /// The most memory that all matrices may take, bytes.
    #[must_use]
    pub const fn host_memory(mut self, bytes: usize) -> Self {
        self.host_memory = Some(bytes);
        self
    }

    /// What the host's memory moves for all devices at the same time, bytes per second, where that
    /// is less than what the devices can take.
    #[must_use]
    pub const fn host_rate(mut self, rate: f64) -> Self {
        self.host_rate = Some(rate);
        self
    }

    /// Records when what was transferred and launched, for [`RunReport::timeline`]. It makes queues
    /// that know times, with which some drivers are slower.
    #[must_use]
    pub const fn traced(mut self) -> Self {
        self.is_traced = true;
        self
    }
}

impl Scheduler {
    /// A scheduler for these devices with the usual limits, see [`SchedulerOptions::new`]. A device
    /// may be there several times.
    ///
    /// # Errors
    /// [`ScheduleError::NoDevices`]; why the first device has no context where none has.
    pub fn new(devices: &[Device]) -> Result<Self, ScheduleError> {
        Self::with(devices, &SchedulerOptions::new())
    }

    /// A scheduler with limits.
    ///
    /// # Errors
    /// As [`Scheduler::new`]; [`ScheduleError::ZeroLimit`], [`ScheduleError::Limits`].
    pub fn with(devices: &[Device], options: &SchedulerOptions) -> Result<Self, ScheduleError> {
        if devices.is_empty() {
            return Err(ScheduleError::NoDevices);
        }
        let limits = limits(devices, options)?;
        let host = options.host_memory.unwrap_or(usize::MAX);
        let states = devices.iter().zip(&limits);
        let states = states.map(|(device, memory)| DeviceState::new(device, *memory));
        let mut states: Vec<DeviceState> = states.collect();
        let contexts: Vec<Result<Context, Error>> = devices.iter().map(Context::new).collect();
        for (state, context) in states.iter_mut().zip(&contexts) {
            if let Err(error) = context {
                state.condition = Condition::Lost(error.clone());
            }
        }
        let own_memory: Vec<bool> = states.iter().map(|state| state.has_own_memory).collect();
        let queue_of = |has_own_memory: Option<bool>| {
            let mut contexts = contexts.iter().zip(&own_memory);
            contexts.find_map(|(context, own)| {
                let is_right = has_own_memory.is_none_or(|wanted| wanted == *own);
                Some(Queue::new(context.as_ref().ok().filter(|_| is_right)?))
            })
        };
        let Some(any) = queue_of(None) else {
            let first = contexts.into_iter().find_map(Result::err);
            return Err(first.map_or(ScheduleError::NoDevices, ScheduleError::Runtime));
        };
        let (any, pins) = (any?, queue_of(Some(true)).transpose()?);
        let center = Center::new(states, host, options.host_rate.unwrap_or(f64::INFINITY));
        let mut scheduler = Self {
            center,
            threads: Vec::new(),
            pins,
            any,
        };
        let facts = contexts.into_iter().zip(limits).zip(own_memory);
        for (device, ((context, memory), has_own_memory)) in facts.enumerate() {
            let Ok(context) = context else { continue };
            let worker = Worker {
                center: Arc::clone(&scheduler.center),
                device,
                context,
                memory,
                has_own_memory,
                is_traced: options.is_traced,
            };
            let name = format!("cltune device {device}");
            match Builder::new().name(name).spawn(move || worker.run()) {
                Ok(thread) => scheduler.threads.push(thread),
                Err(error) => {
                    let reason = error.to_string();
                    scheduler.center.lose(device, &Error::NoThread { reason });
                }
            }
        }
        Ok(scheduler)
    }

    /// A matrix of zeros whose rows lie one after the other. It is in pinned memory, which takes
    /// 0.4 s for 1 GiB beside an H200, where a device has memory of its own.
    ///
    /// # Errors
    /// [`ScheduleError::Empty`], [`ScheduleError::HostLimit`], [`ScheduleError::HostMemory`].
    pub fn matrix<T: Element>(
        &self,
        rows: usize,
        columns: usize,
    ) -> Result<Matrix<T>, ScheduleError> {
        self.make(rows, columns, true)
    }

    /// A matrix of zeros whose columns lie one after the other; otherwise as
    /// [`Scheduler::matrix`].
    ///
    /// # Errors
    /// As [`Scheduler::matrix`].
    pub fn matrix_by_columns<T: Element>(
        &self,
        rows: usize,
        columns: usize,
    ) -> Result<Matrix<T>, ScheduleError> {
        self.make(rows, columns, false)
    }

    /// A vector of zeros: a matrix of one column, which lies in one piece.
    ///
    /// # Errors
    /// As [`Scheduler::matrix`].
    pub fn vector<T: Element>(&self, len: usize) -> Result<Matrix<T>, ScheduleError> {
        self.make(len, 1, false)
    }

    fn make<T: Element>(
        &self,
        rows: usize,
        columns: usize,
        by_rows: bool,
    ) -> Result<Matrix<T>, ScheduleError> {
        if rows == 0 || columns == 0 {
            return Err(ScheduleError::Empty { rows, columns });
        }
        let len = rows.saturating_mul(columns);
        let bytes = byte_len::<T>(len)?;
        let share = self.center.host().take(bytes)?;
        let queue = self.pins.as_ref().unwrap_or(&self.any);
        let memory = host_memory(queue.context(), queue, bytes, self.pins.is_some());
        let memory = memory.map_err(|error| match error {
            Error::HostMemory { bytes, reason } => ScheduleError::HostMemory { bytes, reason },
            other => ScheduleError::Runtime(other),
        })?;
        let stored = if by_rows {
            [rows, columns]
        } else {
            [columns, rows]
        };
        let core = MatrixCore::new(self.center.id(), (memory, share), stored, size_of::<T>());
        Ok(Matrix::new(&self.center, core, by_rows))
    }

    /// Enqueues an operation, and returns at once. Operations are computed as if one after the
    /// other, and at the same time where their results are the same. Of several results, those that
    /// nobody needs when a tile has been computed are not transferred; an operation of which nobody
    /// needs any is given up.
    ///
    /// A result is no operand of the same operation: other tasks would need what one overwrites.
    /// The compiler sees to that. An operation that [reads a result](Operation::reads_output) gets
    /// each tile as it was.
    ///
    /// ```compile_fail,E0502
    /// # use cltune::schedule::{Matrix, ScheduleError, Scheduler};
    /// # fn example(scheduler: &Scheduler, c: &mut Matrix<f32>) -> Result<(), ScheduleError> {
    /// scheduler.store(c.transposed(), c)
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`ScheduleError::Shape`], [`ScheduleError::OtherScheduler`], [`ScheduleError::Results`].
    pub fn enqueue<'r, T: Element>(
        &self,
        operation: Operation<'_, T>,
        results: impl Into<Results<'r, T>>,
    ) -> Result<(), ScheduleError> {
        let Results(results) = results.into();
        let matrices: Vec<&Arc<MatrixCore>> = results.iter().map(|of| &of.core).collect();
        let job = Job::new(operation, &matrices, self.center.id())?;
        self.center.enqueue(job);
        Ok(())
    }

    /// Enqueues the computation of an expression into a matrix of the same shape and layout.
    ///
    /// # Errors
    /// As [`Scheduler::enqueue`]; [`ScheduleError::Layout`].
    pub fn store<'a, T: Element>(
        &self,
        expression: impl Into<Expression<'a, T>>,
        result: &mut Matrix<T>,
    ) -> Result<(), ScheduleError> {
        let expression = expression.into();
        let axes = [Axis::I, Axis::J];
        let [lines, length] = expression.stored;
        let mut operation = Operation::new(Copy, [lines, length, 1], axes);
        if expression.by_rows != result.by_rows {
            return Err(ScheduleError::Layout {
                operation: operation.kernel.name(),
                what: "the result".to_owned(),
            });
        }
        match &*expression.node {
            Node::Matrix(_) => operation = operation.input(expression, axes),
            Node::Map { kernel, inputs } => {
                operation.kernel = Arc::clone(kernel);
                for (node, origin) in inputs {
                    let mut input = expression.clone();
                    input.node = Arc::clone(node);
                    input.origin = [0, 1].map(|at| expression.origin[at] + origin[at]);
                    operation = operation.input(input, axes);
                }
            }
        }
        self.enqueue(operation, result)
    }

    /// Enqueues the computation of several matrices of one shape and layout by one function of what
    /// is at the same position of others: `function` launches a kernel, for example a `#[fused]`
    /// one, that reads and writes so many elements from the beginning of the buffers, see
    /// [`map`](super::map). What it reads is sent once for all results.
    ///
    /// ```no_run
    /// # use cltune::schedule::{Matrix, ScheduleError, Scheduler};
    /// # use cltune::{Buffer, Event, Queue, Result};
    /// # type Both = fn(
    /// #     &Queue, u64, &Buffer<f32>, &Buffer<f32>, &mut Buffer<f32>, &mut Buffer<f32>,
    /// # ) -> Result<Event>;
    /// # fn example(
    /// #     scheduler: &Scheduler, both: Both, [a, b]: [&Matrix<f32>; 2],
    /// #     [u, v]: [&mut Matrix<f32>; 2],
    /// # ) -> std::result::Result<(), ScheduleError> {
    /// // u = a + b; v = a - b;
    /// scheduler.store_all(
    ///     "both",
    ///     [a, b],
    ///     move |queue, n, [a, b], [u, v]| both(queue, n as u64, a, b, u, v).map(drop),
    ///     [u, v],
    /// )
    /// # }
    /// ```
    ///
    /// # Errors
    /// As [`Scheduler::enqueue`]; [`ScheduleError::Layout`], [`ScheduleError::NoResult`].
    pub fn store_all<'a, T, E, F, const N: usize, const M: usize>(
        &self,
        name: &str,
        inputs: [E; N],
        function: F,
        results: [&mut Matrix<T>; M],
    ) -> Result<(), ScheduleError>
    where
        T: Element,
        E: Into<Expression<'a, T>>,
        F: Fn(&Queue, usize, [&Buffer<T>; N], [&mut Buffer<T>; M]) -> crate::Result<()>
            + Send
            + Sync
            + 'static,
    {
        let name = name.to_owned();
        self.enqueue_map(MapKernel { name, function }, inputs, results, false)
    }

    /// Enqueues a change of matrices by what is at the same position of each other and of others;
    /// `function` reads and writes the last buffers. Otherwise as [`Scheduler::store_all`].
    ///
    /// # Errors
    /// As [`Scheduler::store_all`].
    pub fn update<'a, T, E, F, const N: usize, const M: usize>(
        &self,
        name: &str,
        inputs: [E; N],
        function: F,
        results: [&mut Matrix<T>; M],
    ) -> Result<(), ScheduleError>
    where
        T: Element,
        E: Into<Expression<'a, T>>,
        F: Fn(&Queue, usize, [&Buffer<T>; N], [&mut Buffer<T>; M]) -> crate::Result<()>
            + Send
            + Sync
            + 'static,
    {
        let name = name.to_owned();
        self.enqueue_map(MapKernel { name, function }, inputs, results, true)
    }

    fn enqueue_map<'a, T, E, F, const N: usize, const M: usize>(
        &self,
        kernel: MapKernel<N, M, F>,
        inputs: [E; N],
        results: [&mut Matrix<T>; M],
        are_read: bool,
    ) -> Result<(), ScheduleError>
    where
        T: Element,
        E: Into<Expression<'a, T>>,
        MapKernel<N, M, F>: BlockKernel<T>,
    {
        let operation = kernel.name.clone();
        let Some(first) = results.first() else {
            return Err(ScheduleError::NoResult { operation });
        };
        let (axes, by_rows) = ([Axis::I, Axis::J], first.by_rows);
        let lies_as = |is_by_rows: bool, what: String| {
            let operation = operation.clone();
            if is_by_rows == by_rows {
                Ok(())
            } else {
                Err(ScheduleError::Layout { operation, what })
            }
        };
        let mut map = Operation::new(kernel, [first.core.lines, first.core.length, 1], axes);
        for (position, result) in results.iter().enumerate() {
            lies_as(result.by_rows, format!("result {}", position + 1))?;
            if position > 0 {
                map = map.output(axes);
            }
            if are_read {
                map = map.reads_output();
            }
        }
        for (position, input) in inputs.into_iter().map(Into::into).enumerate() {
            lies_as(input.by_rows, format!("operand {}", position + 1))?;
            map = map.input(input, axes);
        }
        self.enqueue(map, results)
    }

    /// Waits until all operations have ended: the report of what was done since the last call.
    ///
    /// # Errors
    /// The first error of an operation. Those that do not need its result were computed all the
    /// same.
    pub fn finish(&self) -> Result<RunReport, ScheduleError> {
        self.center.finish()
    }

    /// Lets a device, by its position in the list, have no further tasks, or have some again. What
    /// it was given it ends. Operations wait as long as all devices rest.
    ///
    /// # Panics
    /// When there are not so many devices.
    pub fn set_resting(&self, device: usize, is_resting: bool) {
        self.center
            .change(|state| state.devices[device].is_resting = is_resting);
    }

    /// How fast data moves to each device and back, where that has been measured: threads measure
    /// it when the scheduler is made.
    pub fn link_rates(&self) -> Vec<Option<LinkRates>> {
        let state = self.center.lock();
        state.devices.iter().map(DeviceState::links).collect()
    }

    /// How far it is.
    pub fn progress(&self) -> Progress {
        self.center.progress()
    }
}

impl Drop for Scheduler {
    /// Gives up what has not ended.
    fn drop(&mut self) {
        self.center.stop();
        for thread in self.threads.drain(..) {
            // A panic was taken for a lost device.
            let _ = thread.join();
        }
    }
}

/// The memory limit of each device, bytes.
fn limits(devices: &[Device], options: &SchedulerOptions) -> Result<Vec<usize>, ScheduleError> {
    let zero = |of: String| ScheduleError::ZeroLimit { of };
    if options.host_memory == Some(0) {
        return Err(zero("the host".to_owned()));
    }
    let given = match options.device_memory[..] {
        [] => None,
        [all] => Some(vec![all; devices.len()]),
        ref each if each.len() == devices.len() => Some(each.to_vec()),
        ref each => {
            return Err(ScheduleError::Limits {
                limits: each.len(),
                devices: devices.len(),
            });
        }
    };
    let limit = |(position, device): (usize, &Device)| {
        let memory = usize::try_from(device.info().limits.global_mem_size).unwrap_or(0);
        let usual = if device.shares_host_memory() {
            memory / 4
        } else {
            memory / 5 * 4
        };
        match given.as_ref().map_or(usual, |given| given[position]) {
            0 => Err(zero(device.to_string())),
            limit => Ok(limit),
        }
    };
    devices.iter().enumerate().map(limit).collect()
}

/// The elements as they are.
struct Copy;

impl<T: Element> BlockKernel<T> for Copy {
    type Kept = ();

    fn name(&self) -> String {
        format!("copy {}", T::TYPE)
    }

    fn prepare(&self, _queue: &Queue) -> Result<(), BlockError> {
        Ok(())
    }

    fn launch(&self, queue: &Queue, (): &mut (), call: BlockCall<'_, T>) -> Result<(), BlockError> {
        let ([source], [target]) = (&call.inputs[..], &call.outputs[..]) else {
            return Err("a copy has one operand and one result".into());
        };
        let bytes = target.len() * size_of::<T>();
        let copied = queue
            .raw()
            .copy(source.buffer.raw(), 0, target.buffer.raw(), 0, bytes);
        let _event = copied.map_err(Error::call("clEnqueueCopyBuffer of a block"))?;
        Ok(())
    }
}
