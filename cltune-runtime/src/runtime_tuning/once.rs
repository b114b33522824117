//! Tuning at the first call, which waits: the search and the measuring of `cargo cltune`, within a
//! budget.

use super::search::{PreparedSearch, Untuned};
use crate::cache::{Store, Trial, TuningPermit};
use crate::device::Device;
use crate::kernel::Tunable;
use crate::policy::Budget;
use crate::tuning::{FinalistRule, Finalists, MeasureOptions, Measurer, Outcome};
use cltune_core::model::Model;
use cltune_core::select::default_codes;
use cltune_formats::lockfile::Measured;
use cltune_search::{Confidence, Score, Search, Stagnation, Step};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// The time to wait for another program that tunes the same, where the budget is no time.
const PATIENCE: Duration = Duration::from_mins(1);

/// The part of a budget that is for searching; the rest is for comparing the fastest.
const SEARCHING: f64 = 0.8;

/// The time to compare, where the budget is no time.
const COMPARING: Duration = Duration::from_millis(500);

/// Of the fastest these are compared with the default in the end.
const FINALISTS: FinalistRule = FinalistRule {
    few: 3,
    noise: f64::INFINITY,
    close: 1.0,
    many: 3,
};

/// Tunes a kernel for a device and a problem, and remembers the result. One at a time in this
/// process, since measuring needs the device for itself; `is_tuned` is asked once others that tuned
/// have ended.
///
/// # Errors
/// [`Untuned`].
pub(crate) fn tune_once(
    tunable: &Tunable,
    device: &Device,
    dims: &[i64],
    budget: Budget,
    store: &Store,
    is_tuned: impl Fn() -> bool,
) -> Result<(), Untuned> {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _alone = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    if is_tuned() {
        return Ok(());
    }
    let begin = Instant::now();
    let (model, info) = (tunable.model(), device.info());
    let patience = budget.time().unwrap_or(PATIENCE);
    let trial = match store.permit(model, info, dims, patience)? {
        TuningPermit::Given(trial) => trial,
        TuningPermit::OtherProgram => return Err(Untuned::OtherProgram),
    };
    store.results_by_now(model, info);
    if is_tuned() {
        return Ok(());
    }
    let default = default_codes(model, dims, &info.limits).ok_or(Untuned::Empty)?;
    let evaluations = budget.evaluations();
    let PreparedSearch {
        mut search,
        declaration,
        valid,
    } = PreparedSearch::new(tunable, device, dims, evaluations, &default, store)?;
    let options = MeasureOptions {
        most_repeats: 20,
        repeat_time: Duration::from_millis(20),
        ..MeasureOptions::default()
    };
    let mut session = Session {
        model,
        dims,
        measurer: Measurer::new(device, &declaration, dims, &options)?,
        // A deadline that no clock can show is none.
        deadline: budget
            .time()
            .and_then(|time| begin.checked_add(time.mul_f64(SEARCHING))),
        end: budget.time().and_then(|time| begin.checked_add(time)),
        comparing: budget
            .time()
            .map_or(COMPARING, |time| time.mul_f64(1.0 - SEARCHING)),
        trial,
        failure: None,
    };
    session.run(&mut search);
    let measured = session.choose(&search, &default, valid)?;
    tracing::info!(
        kernel = %model.name,
        %device,
        problem = %model.describe_problem(dims),
        configuration = %model.describe(&measured.codes),
        time_us = measured.time_us,
        default_us = measured.default_us,
        evaluated = measured.evaluated,
        seconds = begin.elapsed().as_secs_f64(),
        "tuned"
    );
    store.add_result(model, info, &measured);
    Ok(())
}

/// A measuring session.
struct Session<'a> {
    model: &'a Model,
    dims: &'a [i64],
    measurer: Measurer,
    /// When to stop searching.
    deadline: Option<Instant>,
    /// When nothing more is verified, where something holds already.
    end: Option<Instant>,
    /// The time that the comparison in the end may take.
    comparing: Duration,
    trial: Option<Trial>,
    /// Why the first configuration that failed did.
    failure: Option<String>,
}

impl Session<'_> {
    fn is_over(&self) -> bool {
        is_past(self.deadline)
    }

    /// Measures until the budget is used up or going on leads nowhere. The first configuration, the
    /// default, is measured in any case.
    fn run(&mut self, search: &mut Search) {
        let mut stagnation = Stagnation::new(Confidence::default());
        while let Step::Measure(codes) = search.step() {
            let best_us = search.best().map(|(_, time_us)| time_us);
            let score = self.measure(&codes, best_us);
            search.tell(&codes, score);
            stagnation.observe(score);
            if self.is_over() || stagnation.is_reached() {
                return;
            }
            if score == Score::Failed && !self.measurer.is_usable() {
                tracing::warn!(kernel = %self.model.name, "the device failed while it was tuned");
                return;
            }
        }
    }

    fn measure(&mut self, codes: &[i64], best_us: Option<f64>) -> Score {
        self.note(codes);
        let outcome = self.measurer.measure(codes, best_us, None);
        let time_us = match &outcome {
            Outcome::Ok(measurement) => Some(measurement.time_us),
            failed => {
                let failure = self.describe(codes, failed);
                self.failure.get_or_insert(failure);
                None
            }
        };
        self.settle();
        Score::of(time_us)
    }

    /// The driver has survived what was noted.
    fn settle(&mut self) {
        if let Some(trial) = &mut self.trial {
            trial.settle();
        }
    }

    fn note(&mut self, codes: &[i64]) {
        if let Some(trial) = &mut self.trial
            && let Err(reason) = trial.note_codes(self.model, self.dims, codes)
        {
            tracing::warn!(%reason, "the configuration under trial cannot be noted in cltune's cache");
            self.trial = None;
        }
    }

    /// The fastest when the fastest and the default are timed in turns; an improvement that does
    /// not show there is none. What fails on another draw than its first, or while it is timed
    /// again, is out for good, and the next best take its place.
    fn choose(
        &mut self,
        search: &Search,
        default: &[i64],
        valid: u128,
    ) -> Result<Measured, Untuned> {
        let times = search
            .results()
            .filter_map(|(codes, score)| Some((codes.to_vec(), score.time()?)));
        let mut finalists = Finalists::new(FINALISTS, default, times);
        let compared = self.compare(&mut finalists);
        // Of equals the first, which is the default.
        let best = compared.iter().min_by(|a, b| a.1.total_cmp(&b.1));
        let Some((codes, time_us)) = best.cloned() else {
            let failure = self.failure.take().unwrap_or_default();
            return Err(Untuned::AllFailed(failure));
        };
        let of_default = compared.iter().find(|(codes, _)| codes == default);
        Ok(Measured {
            dims: self.dims.to_vec(),
            codes,
            time_us,
            default_us: of_default.map(|(_, time_us)| *time_us),
            evaluated: search.evaluated() as u64,
            valid,
            strategy: search.name().to_owned(),
            verification: None,
            measure: self.measurer.measure_of(),
            energy_j: None,
            default_energy_j: None,
        })
    }

    /// Verifies finalists on every draw, the default first, and times them in turns, until all of
    /// these hold or none is left.
    fn compare(&mut self, finalists: &mut Finalists) -> Vec<(Vec<i64>, f64)> {
        loop {
            while let Some(codes) = finalists.next().map(<[i64]>::to_vec) {
                if is_past(self.end) && !finalists.contenders().is_empty() {
                    break;
                }
                self.note(&codes);
                match self.measurer.verify(&codes) {
                    Ok(_) => finalists.holds(&codes),
                    Err(outcome) => self.leave_out(finalists, &codes, &outcome),
                }
                self.settle();
            }
            let contenders = finalists.contenders();
            let outcomes = self.measurer.compare_within(&contenders, self.comparing);
            let mut compared = Vec::new();
            let mut all_held = true;
            for (codes, outcome) in contenders.into_iter().zip(outcomes) {
                match outcome {
                    Ok(one) => compared.push((codes, one.time_us)),
                    Err(outcome) => {
                        all_held = false;
                        self.leave_out(finalists, &codes, &outcome);
                    }
                }
            }
            if all_held {
                return compared;
            }
        }
    }

    /// A finalist has failed.
    fn leave_out(&mut self, finalists: &mut Finalists, codes: &[i64], outcome: &Outcome) {
        finalists.fails(codes);
        let failure = self.describe(codes, outcome);
        tracing::warn!(kernel = %self.model.name, %failure, "a configuration is left out");
        self.failure.get_or_insert(failure);
    }

    fn describe(&self, codes: &[i64], outcome: &Outcome) -> String {
        format!("{}: {}", self.model.describe(codes), reason(outcome))
    }
}

fn is_past(deadline: Option<Instant>) -> bool {
    deadline.is_some_and(|deadline| Instant::now() >= deadline)
}

/// Why a configuration failed.
fn reason(outcome: &Outcome) -> String {
    match outcome {
        Outcome::Ok(_) => String::new(),
        Outcome::BuildFailed { log } => log.clone(),
        Outcome::LaunchFailed { error } => error.clone(),
        Outcome::WrongResult(wrong) => wrong.to_string(),
        Outcome::Unjudged { reason } => reason.clone(),
        Outcome::TooSlow { .. } => "far slower than the best".into(),
        Outcome::SkipsWork(skips) => skips.to_string(),
    }
}
