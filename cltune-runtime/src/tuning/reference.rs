//! The reference: it computes the results that configurations are compared with.

use super::buffers::Round;
use super::computation::{ReferenceLaunch, Unbuilt, check_signatures, name};
use super::inputs::InputMaker;
use super::measurer::Measurer;
use super::options::Step;
use super::prepare_error::PrepareError;
use crate::error::Error;
use crate::opencl::RawProgram;
use cltune_formats::declaration::Reference;

impl Measurer {
    /// Compares the declaration with the kernel's signature, makes inputs from others, then keeps
    /// what the reference makes of every draw.
    pub(super) fn run_reference(&mut self) -> Result<(), PrepareError> {
        self.step(Step::Host);
        let own = self.target().own_program(&self.default)?;
        let on_step = self.options.on_step;
        self.inputs = InputMaker::new(self.target(), &self.default, &own, on_step)?;
        if let Some(inputs) = &self.inputs {
            for draw in 0..self.arguments.draws {
                inputs.make(&mut self.arguments, &self.queue, draw)?;
            }
        }
        let reference = self.reference(&own)?;
        for draw in 0..self.arguments.draws {
            let round = Round::of(draw);
            self.run_on(&reference, round)?;
            let tolerance = &self.declaration.tolerance;
            self.arguments
                .keep_expected(&self.queue, round, tolerance, reference.accumulates)?;
        }
        self.reference = Some(reference);
        Ok(())
    }

    /// Lets the reference compute a draw.
    pub(super) fn run_on(
        &self,
        reference: &ReferenceLaunch,
        round: Round,
    ) -> Result<(), PrepareError> {
        let failed = |error: Error| PrepareError::Reference {
            kernel: reference.launches.name.clone(),
            error: error.to_string(),
        };
        self.step(Step::Host);
        self.arguments.restore(&self.queue, round)?;
        self.queue.finish().map_err(failed)?;
        self.step(Step::Kernel);
        self.launch(&reference.launches.commands, round, None)
            .map_err(failed)?;
        self.step(Step::Host);
        Ok(())
    }

    /// The number of terms that each result accumulates, if that is declared.
    fn accumulates(&self) -> Result<Option<u64>, PrepareError> {
        let Some(terms) = &self.declaration.tolerance.accumulates else {
            return Ok(None);
        };
        let wrong = |reason: String| PrepareError::Accumulates {
            text: terms.text.to_string(),
            reason,
        };
        let value = terms.eval(&self.env(&self.default));
        let value = value.map_err(|reason| wrong(format!("has no value: {reason}")))?;
        let terms = u64::try_from(value).ok().filter(|terms| *terms > 0);
        terms
            .map(Some)
            .ok_or_else(|| wrong(format!("is {value}, and must be at least 1")))
    }

    /// Builds the reference; `own` is the tunable's program.
    fn reference(&self, own: &RawProgram) -> Result<ReferenceLaunch, PrepareError> {
        let model = &self.declaration.model;
        let accumulates = self.accumulates()?;
        let limits = &self.context.device().info().limits;
        let failed = |kernel, error| PrepareError::Reference { kernel, error };
        let commands = model.commands(&self.default, &self.dims, limits);
        let commands = commands
            .map_err(|rejection| Unbuilt::failed(name(model), rejection))
            .and_then(|commands| {
                check_signatures(own, model, &self.default, &commands)?;
                Ok(commands)
            })
            .map_err(|unbuilt| unbuilt.of(failed))?;
        let target = self.target();
        let launches = match &self.declaration.reference {
            Reference::Default => target.prepared(name(model), own, commands),
            Reference::Own(reference) => target.computation(reference, &self.default, own),
        };
        Ok(ReferenceLaunch {
            launches: launches.map_err(|unbuilt| unbuilt.of(failed))?,
            accumulates,
        })
    }
}
