//! Sums over all elements.
//!
//! A vector is divided into a fixed number of parts, which are summed up at the same time on all
//! devices; their sums are added up in the end.

use super::real::Real;
use cltune::Queue;
use cltune::schedule::{
    Axis, BlockCall, BlockError, BlockKernel, Expression, Matrix, Operation, ScheduleError,
    Scheduler,
};

/// The most parts of a vector. That they do not depend on the devices keeps results the same.
const PARTS: usize = 16;

/// The least elements of a part.
const LEAST: usize = 1 << 20;

/// Enqueues s ← Σ xᵢ yᵢ, of vectors of [`Scheduler::vector`] into one of one element.
///
/// # Errors
/// [`ScheduleError::Shape`] also for matrices, [`ScheduleError::OtherScheduler`],
/// [`ScheduleError::HostLimit`].
pub fn dot<'a, T: Real>(
    scheduler: &Scheduler,
    x: impl Into<Expression<'a, T>>,
    y: impl Into<Expression<'a, T>>,
    s: &mut Matrix<T>,
) -> Result<(), ScheduleError> {
    reduce(scheduler, &[x.into(), y.into()], Sum::Products, s)
}

/// Enqueues s ← Σ xᵢ, as [`dot`].
///
/// # Errors
/// As [`dot`].
pub fn total<'a, T: Real>(
    scheduler: &Scheduler,
    x: impl Into<Expression<'a, T>>,
    s: &mut Matrix<T>,
) -> Result<(), ScheduleError> {
    reduce(scheduler, &[x.into()], Sum::Elements, s)
}

/// What is added up.
#[derive(Clone, Copy, Debug)]
enum Sum {
    Elements,
    Products,
}

fn reduce<T: Real>(
    scheduler: &Scheduler,
    inputs: &[Expression<'_, T>],
    sum: Sum,
    s: &mut Matrix<T>,
) -> Result<(), ScheduleError> {
    let len = inputs.first().map_or(0, Expression::rows);
    for (position, input) in inputs.iter().enumerate() {
        if input.columns() != 1 || input.rows() != len || input.is_by_rows() {
            return Err(ScheduleError::Shape {
                operation: BlockKernel::<T>::name(&sum),
                what: format!("operand {}", position + 1),
                found: format!("{} x {}", input.rows(), input.columns()),
                expected: format!("a vector of {len} elements, from `Scheduler::vector`"),
            });
        }
    }
    let parts = (len / LEAST).clamp(1, PARTS);
    if parts == 1 {
        return one(scheduler, inputs, sum, s, 0);
    }
    // Nobody needs it but the last operation.
    let mut sums = scheduler.vector::<T>(parts)?;
    let length = len.div_ceil(parts);
    for part in 0..parts {
        let rows = part * length..((part + 1) * length).min(len);
        let inputs = inputs
            .iter()
            .map(|input| input.clone().part(rows.clone(), 0..1));
        let inputs: Vec<Expression<'_, T>> = inputs.collect::<Result<_, _>>()?;
        one(scheduler, &inputs, sum, &mut sums, part)?;
    }
    one(scheduler, &[sums.expression()], Sum::Elements, s, 0)
}

/// Enqueues a sum into an element of a vector.
fn one<T: Real>(
    scheduler: &Scheduler,
    inputs: &[Expression<'_, T>],
    sum: Sum,
    sums: &mut Matrix<T>,
    at: usize,
) -> Result<(), ScheduleError> {
    let len = inputs.first().map_or(0, Expression::rows);
    let mut operation = Operation::new(sum, [1, 1, len], [Axis::One, Axis::One]).at([0, at]);
    for input in inputs {
        operation = operation.input(input, [Axis::One, Axis::K]);
    }
    scheduler.enqueue(operation, sums)
}

impl<T: Real> BlockKernel<T> for Sum {
    type Kept = ();

    fn name(&self) -> String {
        match self {
            Self::Elements => format!("total of {}", T::NAME),
            Self::Products => format!("dot product of {}", T::NAME),
        }
    }

    fn prepare(&self, _queue: &Queue) -> Result<(), BlockError> {
        Ok(())
    }

    fn launch(
        &self,
        queue: &Queue,
        (): &mut (),
        mut call: BlockCall<'_, T>,
    ) -> Result<(), BlockError> {
        let is_first = call.is_first;
        let [target] = &mut call.outputs[..] else {
            return Err("a sum has one result".into());
        };
        let target = &mut *target.buffer;
        match &call.inputs[..] {
            [x] => T::total(queue, x.length as u64, x.buffer, is_first, target)?,
            [x, y] => T::dot(
                queue,
                x.length as u64,
                [x.buffer, y.buffer],
                is_first,
                target,
            )?,
            _ => return Err("a sum has one operand or two".into()),
        }
        Ok(())
    }
}
