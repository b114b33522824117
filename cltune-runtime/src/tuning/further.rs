//! Verification on every draw: random ones, and those of other kinds, which are made when the first
//! configuration is verified on them.

use super::arguments::{FurtherDraw, Results, Setting};
use super::buffers::Round;
use super::build::{BuiltConfiguration, launch_failed};
use super::kinds::{InputKind, Special, Values};
use super::measurer::Measurer;
use super::options::Step;
use super::outcome::{Outcome, WrongResult};
use super::prepare_error::PrepareError;
use super::tolerance::unit_roundoff;
use cltune_core::model::ScalarType;

/// Further draws take at most this part of the device's memory.
const PART_OF_MEMORY: u64 = 8;
/// A sum of terms of one sign that may lose more than this to roundings of its type does not tell
/// whether a kernel is right.
const MOST_ROUNDINGS: f64 = 1.0 / 32.0;
/// Results with zeros in the place of denormal numbers may differ by such a part of what is allowed
/// from those with normal ones: then it is all the same whether a device takes denormal numbers for
/// zero.
const ALL_THE_SAME: f64 = 1.0 / 16.0;

impl Measurer {
    /// Builds a configuration, unless it is loaded, and verifies it on every draw, without timing
    /// it: on the random ones, then on those of [other kinds](InputKind); then all memory that it
    /// must not touch is looked at. The number of draws on which it was right. What is right stays
    /// built, for [comparing](Self::compare) it.
    ///
    /// The first call also computes the reference for the further draws, and so does each where
    /// these are too large to be kept.
    ///
    /// # Errors
    /// The failure: an outcome that is not [`Outcome::Ok`].
    pub fn verify(&mut self, codes: &[i64]) -> Result<usize, Outcome> {
        let built = self.take_built(codes, None)?;
        // Changes that are found in the end are then this configuration's.
        if !self.is_usable() {
            self.is_able_to_judge()?;
        }
        let (right, outcome) = match self.verify_built(&built) {
            Ok(right) => (right, built.timed(Vec::new())),
            Err(outcome) => (0, self.of_configuration(codes, outcome)),
        };
        match self.judged(outcome, true) {
            Outcome::Ok(_) => {
                self.keep_built(codes, built);
                Ok(right)
            }
            failure => Err(failure),
        }
    }

    /// The kinds of inputs that could not be used, with the reason for each, after the first
    /// [`verify`](Self::verify): `zeros among the inputs: the reference computes NaN at y[3]`.
    pub fn left_out(&self) -> &[String] {
        &self.further.left_out
    }

    fn verify_built(&mut self, built: &BuiltConfiguration) -> Result<usize, Outcome> {
        for round in self.arguments.rounds() {
            self.check(built, round, None)?;
        }
        let mut right = self.arguments.draws;
        let is_kept = self.keeps_further();
        for kind in self.further.kinds.clone() {
            let made = match self.further.made(kind) {
                Some(made) => made,
                None => match self.make(kind) {
                    Ok(made) => made,
                    Err(reason) => {
                        self.further.leave_out(kind, &reason);
                        self.further.kinds.retain(|other| *other != kind);
                        continue;
                    }
                },
            };
            if let Some(reason) = &made.unfit {
                self.further.leave_out(kind, reason);
            }
            let checked = self.check(built, Round::of(made.draw), Some(kind));
            right += usize::from(made.unfit.is_none());
            if !is_kept {
                self.arguments.remove_draws(made.draw);
            } else if self.further.made(kind).is_none() {
                self.further.made.push((kind, made));
            }
            checked?;
        }
        Ok(right)
    }

    /// Runs a configuration on a draw, and compares.
    fn check(
        &self,
        built: &BuiltConfiguration,
        round: Round,
        kind: Option<InputKind>,
    ) -> Result<(), Outcome> {
        self.step(Step::Kernel);
        match self.run_and_verify(built, round) {
            Ok(None) => Ok(()),
            Ok(Some(wrong)) => Err(Outcome::WrongResult(WrongResult {
                inputs: kind,
                ..wrong
            })),
            Err(error) => Err(launch_failed(&error)),
        }
    }

    /// Whether further draws stay once they are made.
    fn keeps_further(&self) -> bool {
        let bytes = self.arguments.bytes_of_draw();
        let bytes = bytes.saturating_mul(self.further.kinds.len() as u64);
        let memory = self.context.device().info().limits.global_mem_size;
        let memory = u64::try_from(memory).unwrap_or(0);
        bytes <= self.options.further_bytes.min(memory / PART_OF_MEMORY)
    }

    /// Makes a further draw, or says why it cannot be used.
    fn make(&mut self, kind: InputKind) -> Result<FurtherDraw, String> {
        if kind.has_one_sign()
            && let Some((terms, element)) = self.loses_sums()
        {
            let element = element.rust_name();
            return Err(format!(
                "sums of {terms} terms of one sign lose their precision in {element}"
            ));
        }
        if kind == InputKind::Denormal {
            return self.make_denormal();
        }
        self.compute(kind.values())
    }

    /// One with denormal numbers, which a device may take for zero: it can only be used where that
    /// is all the same.
    fn make_denormal(&mut self) -> Result<FurtherDraw, String> {
        let kept = self.further.made(InputKind::Zeros);
        let is_kept = kept.is_some();
        let zeros = match kept {
            Some(zeros) => zeros,
            None => self.compute(Values::With(Special::Zero))?,
        };
        let results = self.same_as_zeros(&zeros);
        if !is_kept {
            self.arguments.remove_draws(zeros.draw);
        }
        let results = results?;
        let draw = self.add_draw(Values::With(Special::Denormal))?;
        self.arguments.give_expected(draw, results);
        Ok(FurtherDraw { draw, unfit: None })
    }

    /// The reference's results with the least normal numbers in the place of zeros, where that
    /// is the same.
    fn same_as_zeros(&mut self, zeros: &FurtherDraw) -> Result<Results, String> {
        let normal = self.compute(Values::With(Special::LeastNormal))?;
        let results = self.arguments.take_expected(normal.draw);
        self.arguments.remove_draws(normal.draw);
        if let Some(reason) = normal.unfit.or_else(|| zeros.unfit.clone()) {
            return Err(reason);
        }
        let arguments = &self.arguments;
        if arguments.are_nearer(ALL_THE_SAME, zeros.draw, &results) {
            Ok(results)
        } else {
            Err("results depend on whether they are taken for zero".into())
        }
    }

    /// Adds a draw, and lets the reference compute it.
    fn compute(&mut self, values: Values) -> Result<FurtherDraw, String> {
        let draw = self.add_draw(values)?;
        let made = self.run_reference_on(draw);
        if made.is_err() {
            self.arguments.remove_draws(draw);
        }
        made
    }

    fn add_draw(&mut self, values: Values) -> Result<usize, String> {
        let setting = Setting {
            context: &self.context,
            queue: &self.queue,
            declaration: &self.declaration,
            codes: &self.default,
            dims: &self.dims,
            folder: &self.options.folder,
            draws: self.arguments.draws,
            seed: self.options.seed,
            guards: self.options.guards,
            protect: self.options.protect,
            on_step: self.options.on_step,
            compare_on_device: self.options.compare_on_device,
        };
        let added = self.arguments.add_draw(&setting, values);
        let draw = added.map_err(|error| error.to_string())?;
        if let Some(inputs) = &self.inputs {
            let made = inputs.make(&mut self.arguments, &self.queue, draw);
            made.map_err(|error| {
                self.arguments.remove_draws(draw);
                error.to_string()
            })?;
        }
        Ok(draw)
    }

    fn run_reference_on(&mut self, draw: usize) -> Result<FurtherDraw, String> {
        let text = |error: PrepareError| error.to_string();
        let Some(reference) = &self.reference else {
            return Err("there is no reference".into());
        };
        self.run_on(reference, Round::of(draw)).map_err(text)?;
        let accumulates = reference.accumulates;
        // Nothing is expected yet, so that this finds only accesses that are wrong by themselves.
        let wrong = self.arguments.verify(&self.queue, Round::of(draw));
        if let Some(wrong) = wrong.map_err(|error| text(error.into()))? {
            return Ok(FurtherDraw {
                draw,
                unfit: Some(format!("the reference is wrong there: {wrong}")),
            });
        }
        let tolerance = &self.declaration.tolerance;
        let kept = self
            .arguments
            .keep_expected_of_kind(&self.queue, draw, tolerance, accumulates);
        kept?;
        Ok(FurtherDraw { draw, unfit: None })
    }

    /// The number of terms and the type of a result in which sums of so many of one sign mean
    /// little, if there is one.
    fn loses_sums(&self) -> Option<(u64, ScalarType)> {
        let terms = self.reference.as_ref()?.accumulates?;
        let mut results = self.declaration.compared_elements();
        let loses = |scalar| unit_roundoff(scalar) * terms as f64 > MOST_ROUNDINGS;
        let lost = results.find(|element| loses(element.scalar))?;
        Some((terms, lost.scalar))
    }
}
