//! Results of launches of the tuner's own that are kept: prepared inputs, and the reference's
//! results.

use super::super::buffers::Round;
use super::Arguments;
use crate::queue::Queue;
use crate::tuning::draws::Making;
use crate::tuning::expected::ExpectedBuffer;
use crate::tuning::outcome::{WrongKind, WrongResult};
use crate::tuning::place::Place;
use crate::tuning::prepare_error::PrepareError;
use cltune_core::model::Access;
use cltune_formats::declaration::Tolerance;

impl Arguments {
    /// Keeps what kernels have made of a draw's other inputs.
    pub(in crate::tuning) fn keep_prepared(
        &mut self,
        queue: &Queue,
        round: Round,
    ) -> Result<(), PrepareError> {
        // Nothing is expected yet, so that this finds only what is wrong by itself.
        match self.verify(queue, round)? {
            Some(WrongResult {
                argument,
                kind: WrongKind::ReadOnlyWritten { .. },
                ..
            }) => return Err(PrepareError::PreparesOther { argument }),
            Some(wrong) => return Err(PrepareError::InputsWrong(Box::new(wrong))),
            None => {}
        }
        let watch = self.watch.as_ref();
        let making = Making::of_filled(queue, self.surroundings, self.keeping, watch);
        for buffer in &mut self.buffers {
            if buffer.is_prepared {
                buffer.keep_inputs(&making, round)?;
            } else if buffer.access == Access::ReadWrite && !buffer.has_inputs(queue, round)? {
                let argument = buffer.name.clone();
                return Err(PrepareError::PreparesOther { argument });
            }
        }
        Ok(())
    }

    /// Keeps what is in the written buffers as the reference's results of a draw, which must be
    /// results that others can be compared with.
    pub(in crate::tuning) fn keep_expected(
        &mut self,
        queue: &Queue,
        round: Round,
        tolerance: &Tolerance,
        accumulates: Option<u64>,
    ) -> Result<(), PrepareError> {
        // No results are expected yet, so that this finds only what is wrong by itself: accesses
        // out of bounds and writes into read-only buffers.
        if let Some(wrong) = self.verify(queue, round)? {
            return Err(PrepareError::ReferenceWrong(Box::new(wrong)));
        }
        let watch = self.watch.as_ref();
        let making = Making::of_filled(queue, self.surroundings, self.keeping, watch);
        let buffers = self.buffers.iter_mut();
        for buffer in buffers.filter(|buffer| buffer.access != Access::Read) {
            let (element, access, argument) = (buffer.element, buffer.access, buffer.name.clone());
            let normalized = buffer.normalized;
            let Some(compared) = buffer.compared.clone() else {
                continue;
            };
            let shown = buffer.expect(&making, round, |bytes| {
                let expected =
                    ExpectedBuffer::new(element, bytes, compared, tolerance, accumulates);
                match expected {
                    Err(index) => Err(PrepareError::ReferenceNan {
                        place: Place::of(&argument, element, index).to_string(),
                        draw: round.draw,
                    }),
                    Ok(expected) if access == Access::Write && expected.is_unwritten() => {
                        Err(PrepareError::ReferenceWritesNothing { argument })
                    }
                    Ok(expected) => Ok(expected.rounded(normalized, tolerance)),
                }
            })?;
            self.shown = self.shown.and(shown);
        }
        Ok(())
    }
}
