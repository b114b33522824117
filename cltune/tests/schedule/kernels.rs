//! Kernels and schedulers of the tests.

use cltune::schedule::{
    Axis, BlockCall, BlockError, BlockKernel, Expression, Matrix, Operation, ScheduleError,
    Scheduler, SchedulerOptions, map,
};
use cltune::{Buffer, Device, Element, Event, Queue, Result, fused};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// c ← a + b.
#[fused(tune(n = 1024))]
pub(crate) fn add(
    queue: &Queue,
    n: u64,
    #[arg(len = n)] a: &Buffer<f32>,
    #[arg(len = n)] b: &Buffer<f32>,
    #[arg(out, len = n)] c: &mut Buffer<f32>,
) -> Result<Event> {
    c = a + b;
}

/// c ← c + a.
#[fused(tune(n = 1024))]
pub(crate) fn increase(
    queue: &Queue,
    n: u64,
    #[arg(len = n)] a: &Buffer<f32>,
    #[arg(len = n)] c: &mut Buffer<f32>,
) -> Result<Event> {
    c += a;
}

/// A + B as a temporary.
pub(crate) fn sum<'a>(
    a: impl Into<Expression<'a, f32>>,
    b: impl Into<Expression<'a, f32>>,
) -> std::result::Result<Expression<'a, f32>, ScheduleError> {
    map("add", [a.into(), b.into()], |queue, n, [a, b], c| {
        add(queue, n as u64, a, b, c).map(drop)
    })
}

/// So many devices, from that of the tests on (`CLTUNE_DEVICE`): all there are, again and again.
pub(crate) fn devices(count: usize) -> Vec<Device> {
    let all = Device::all().expect("there is a device");
    let first = Device::select().expect("there is a device").index();
    let places = (first..).map(|at| at % all.len());
    places.take(count).map(|at| all[at].clone()).collect()
}

pub(crate) fn scheduler(count: usize, memory: usize) -> Scheduler {
    let options = SchedulerOptions::new().device_memory(&[memory]);
    Scheduler::with(&devices(count), &options).expect("there is a scheduler")
}

/// A matrix whose element at each position is the position.
pub(crate) fn counted(scheduler: &Scheduler, rows: usize, columns: usize) -> Matrix<f32> {
    let mut matrix = scheduler.matrix(rows, columns).expect("there is memory");
    for (at, value) in matrix.values_mut().iter_mut().enumerate() {
        *value = at as f32;
    }
    matrix
}

/// A vector of these numbers.
pub(crate) fn vector<T: Element>(scheduler: &Scheduler, values: &[T]) -> Matrix<T> {
    let mut vector = scheduler.vector(values.len()).expect("there is memory");
    vector.values_mut().copy_from_slice(values);
    vector
}

/// What a kernel does on each device, by the order in which devices prepare it.
pub(crate) type Behaviour = dyn Fn(usize) -> std::result::Result<(), BlockError> + Send + Sync;

/// Adds two matrices after a behaviour of its own.
#[derive(Clone)]
pub(crate) struct Adding {
    pub(crate) name: &'static str,
    pub(crate) behaviour: Arc<Behaviour>,
    pub(crate) prepared: Arc<AtomicUsize>,
    pub(crate) launched: Arc<AtomicUsize>,
}

impl Adding {
    pub(crate) fn new(
        name: &'static str,
        behaviour: impl Fn(usize) -> std::result::Result<(), BlockError> + Send + Sync + 'static,
    ) -> Self {
        Self {
            name,
            behaviour: Arc::new(behaviour),
            prepared: Arc::default(),
            launched: Arc::default(),
        }
    }

    /// c ← a + b.
    pub(crate) fn enqueue(
        &self,
        scheduler: &Scheduler,
        a: &Matrix<f32>,
        b: &Matrix<f32>,
        c: &mut Matrix<f32>,
    ) -> std::result::Result<(), ScheduleError> {
        let axes = [Axis::I, Axis::J];
        let operation = Operation::new(self.clone(), [c.rows(), c.columns(), 1], axes);
        scheduler.enqueue(operation.input(a, axes).input(b, axes), c)
    }

    /// Both ← a + a.
    pub(crate) fn enqueue_both(
        &self,
        scheduler: &Scheduler,
        a: &Matrix<f32>,
        results: [&mut Matrix<f32>; 2],
    ) -> std::result::Result<(), ScheduleError> {
        let axes = [Axis::I, Axis::J];
        let operation = Operation::new(self.clone(), [a.rows(), a.columns(), 1], axes).output(axes);
        scheduler.enqueue(operation.input(a, axes).input(a, axes), results)
    }
}

impl BlockKernel<f32> for Adding {
    type Kept = usize;

    fn name(&self) -> String {
        self.name.to_owned()
    }

    fn prepare(&self, _queue: &Queue) -> std::result::Result<usize, BlockError> {
        Ok(self.prepared.fetch_add(1, Ordering::Relaxed))
    }

    fn launch(
        &self,
        queue: &Queue,
        device: &mut usize,
        call: BlockCall<'_, f32>,
    ) -> std::result::Result<(), BlockError> {
        self.launched.fetch_add(1, Ordering::Relaxed);
        (self.behaviour)(*device)?;
        let (a, b) = (call.inputs[0].buffer, call.inputs[1].buffer);
        for output in call.outputs {
            add(queue, output.len() as u64, a, b, output.buffer)?;
        }
        Ok(())
    }
}

#[track_caller]
pub(crate) fn is_twice(matrix: &Matrix<f32>) {
    let values = matrix.values().expect("it was computed");
    let wrong = values
        .iter()
        .enumerate()
        .find(|(at, value)| **value != 2.0 * *at as f32);
    assert_eq!(wrong, None);
}
