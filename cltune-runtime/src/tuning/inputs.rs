//! Inputs that kernels make from others: the clause `prepare`.

use super::arguments::Arguments;
use super::buffers::Round;
use super::build::BuildTarget;
use super::computation::BuiltComputation;
use super::options::Step;
use super::prepare_error::PrepareError;
use crate::error::Error;
use crate::opencl::RawProgram;
use crate::queue::Queue;

/// The launches that make inputs.
#[derive(Debug)]
pub(super) struct InputMaker {
    launches: BuiltComputation,
    on_step: fn(Step),
}

impl InputMaker {
    /// `None` where nothing is to be made.
    pub(super) fn new(
        target: BuildTarget<'_>,
        default: &[i64],
        own: &RawProgram,
        on_step: fn(Step),
    ) -> Result<Option<Self>, PrepareError> {
        let Some(prepare) = &target.declaration.prepare else {
            return Ok(None);
        };
        let launches = target.computation(prepare, default, own);
        let launches = launches.map_err(|unbuilt| {
            unbuilt.of(|kernel, error| PrepareError::Inputs { kernel, error })
        })?;
        Ok(Some(Self { launches, on_step }))
    }

    /// Makes the inputs of a draw, of which all others are there.
    pub(super) fn make(
        &self,
        arguments: &mut Arguments,
        queue: &Queue,
        draw: usize,
    ) -> Result<(), PrepareError> {
        let failed = |error: Error| PrepareError::Inputs {
            kernel: self.launches.name.clone(),
            error: error.to_string(),
        };
        let round = Round::of(draw);
        (self.on_step)(Step::Host);
        arguments.restore(queue, round)?;
        queue.finish().map_err(failed)?;
        (self.on_step)(Step::Kernel);
        let enqueued = arguments.enqueue(queue, &self.launches.commands, round, None);
        let ended = enqueued.and_then(|of| of.last.wait().map_err(Error::call("the kernel")));
        ended.map_err(failed)?;
        (self.on_step)(Step::Host);
        arguments.keep_prepared(queue, round)
    }
}
