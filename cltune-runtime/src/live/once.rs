//! Tuning at the first call, which waits: the search and the measuring of `cargo cltune`, within a
//! budget.

use super::searching::{Searching, Untuned};
use crate::cache::{Leave, Store, Trial};
use crate::device::Device;
use crate::launch::Tunable;
use crate::policy::Budget;
use crate::search::{Confidence, Score, Search, Stagnation, Step};
use crate::tuning::{MeasureOptions, Measurer, Outcome};
use cltune_core::lockfile::Measured;
use cltune_core::model::Model;
use cltune_core::select::default_codes;
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// How long to wait for another program that tunes the same, where the budget is no time.
const PATIENCE: Duration = Duration::from_mins(1);

/// The part of a budget that is for searching; the rest is for comparing the fastest.
const SEARCHING: f64 = 0.8;

/// How long to compare, where the budget is no time.
const COMPARING: Duration = Duration::from_millis(500);

/// So many of the fastest are compared with the default in the end.
const FINALISTS: usize = 3;

/// Tunes a kernel for a device and a problem, and remembers what it finds. One at a time in this
/// process, since measuring wants the device for itself; `is_known` is asked when the turn has come.
///
/// # Errors
/// [`Untuned`].
pub(crate) fn tune_once(
    tunable: &Tunable,
    device: &Device,
    dims: &[i64],
    budget: Budget,
    store: &Store,
    is_known: impl Fn() -> bool,
) -> Result<(), Untuned> {
    static TURN: Mutex<()> = Mutex::new(());
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    if is_known() {
        return Ok(());
    }
    let begin = Instant::now();
    let (model, info) = (tunable.model(), device.info());
    let patience = budget.time().unwrap_or(PATIENCE);
    let trial = match store.leave(model, info, dims, patience)? {
        Leave::Given(trial) => trial,
        Leave::OtherProgram => return Err(Untuned::OtherProgram),
    };
    store.known_by_now(model, info);
    if is_known() {
        return Ok(());
    }
    let default = default_codes(model, dims, &info.limits).ok_or(Untuned::Empty)?;
    let evaluations = budget.evaluations();
    let Searching {
        mut search,
        declaration,
        valid,
    } = Searching::new(tunable, device, dims, evaluations, &default, store)?;
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

/// What measures.
struct Session<'a> {
    model: &'a Model,
    dims: &'a [i64],
    measurer: Measurer,
    /// When to stop searching.
    deadline: Option<Instant>,
    /// How long the comparison in the end may take.
    comparing: Duration,
    trial: Option<Trial>,
    /// Why the first configuration that failed did.
    failure: Option<String>,
}

impl Session<'_> {
    fn is_over(&self) -> bool {
        self.deadline
            .is_some_and(|deadline| Instant::now() >= deadline)
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
                let describe = || format!("{}: {}", self.model.describe(codes), reason(failed));
                self.failure.get_or_insert_with(describe);
                None
            }
        };
        if let Some(trial) = &mut self.trial {
            trial.settle();
        }
        Score::of(time_us)
    }

    fn note(&mut self, codes: &[i64]) {
        if let Some(trial) = &mut self.trial
            && let Err(reason) = trial.note_codes(self.model, self.dims, codes)
        {
            tracing::warn!(%reason, "what is being tried cannot be noted in cltune's cache");
            self.trial = None;
        }
    }

    /// The fastest when the fastest and the default are timed in turns; an improvement that does not
    /// show there is none.
    fn choose(
        &mut self,
        search: &Search,
        default: &[i64],
        valid: u128,
    ) -> Result<Measured, Untuned> {
        let mut times: Vec<(Vec<i64>, f64)> = search
            .results()
            .filter_map(|(codes, score)| Some((codes.to_vec(), score.time()?)))
            .collect();
        times.sort_by(|a, b| a.1.total_cmp(&b.1));
        let default_us = times.iter().find(|(codes, _)| codes == default);
        let default_us = default_us.map(|(_, time)| *time);
        let Some(fastest) = times.first().cloned() else {
            let failure = self.failure.take().unwrap_or_default();
            return Err(Untuned::AllFailed(failure));
        };
        let finalists = times.iter().take(FINALISTS).map(|(codes, _)| codes);
        let mut contenders = vec![default.to_vec()];
        contenders.extend(finalists.filter(|codes| *codes != default).cloned());
        let compared = self.measurer.compare_within(&contenders, self.comparing);
        let compared: Vec<Option<f64>> = compared
            .iter()
            .map(|compared| compared.as_ref().map(|compared| compared.time_us))
            .collect();
        let default_us = compared.first().copied().flatten().or(default_us);
        let in_turns = contenders.into_iter().zip(compared);
        let in_turns = in_turns.filter_map(|(codes, time)| Some((codes, time?)));
        // Of equals the first, which is the default.
        let best = in_turns.min_by(|a, b| a.1.total_cmp(&b.1));
        let (codes, time_us) = best.unwrap_or(fastest);
        Ok(Measured {
            dims: self.dims.to_vec(),
            codes,
            time_us,
            default_us,
            evaluated: search.evaluated() as u64,
            valid,
            strategy: search.name().to_owned(),
        })
    }
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
    }
}
