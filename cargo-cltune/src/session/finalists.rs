//! The choice between close configurations: the best are verified on every draw, then timed again
//! in turns. One that fails there is out for good, and the next best take its place.

use super::evaluation::Evaluation;
use super::repeatability::Repeatability;
use super::workers::{MeasurementWorker, WorkerError};
use crate::interrupt;
use cltune_runtime::tuning::{Compared, FinalistRule, Finalists};
use std::collections::HashMap;
use std::time::Duration;

const RULE: FinalistRule = FinalistRule {
    few: 5,
    noise: 1.1,
    close: 1.02,
    many: 16,
};
/// A configuration must be this much faster than another to be preferred for its time.
const TIE: f64 = 0.99;
/// After Ctrl-C, finalists are verified for this long; those that remain are not chosen.
const AFTER_INTERRUPT: Duration = Duration::from_secs(10);

/// The chosen configuration and the default, timed in the same rounds.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Choice {
    pub(crate) codes: Vec<i64>,
    pub(crate) time_us: f64,
    /// `None` when the default fails.
    pub(crate) default_us: Option<f64>,
    /// What repeating the comparison would change; `None` where there was none.
    pub(crate) repeatability: Option<Repeatability>,
    /// The configurations that were compared, with the time of each round in microseconds; empty
    /// where there was no comparison.
    pub(crate) finalists: Vec<(Vec<i64>, Vec<f64>)>,
}

/// A configuration that may be chosen.
struct Candidate {
    codes: Vec<i64>,
    time_us: f64,
    /// Its use of the device: local memory, then work-items of a work-group.
    resources: (u64, usize),
}

/// Verifies and times finalists.
pub(crate) trait Judge {
    /// The failure of a configuration on any draw; `None` where it is right on all.
    ///
    /// # Errors
    /// The device is lost, or Ctrl-C was pressed.
    fn verify(&mut self, codes: &[i64]) -> Result<Option<Evaluation>, WorkerError>;

    /// Times configurations in turns, or returns why they fail.
    ///
    /// # Errors
    /// As [`verify`](Self::verify).
    fn compare(&mut self, codes: &[Vec<i64>]) -> Result<Compares, WorkerError>;
}

/// The times of each configuration, or the reason why it has none.
pub(crate) type Compares = Vec<Result<Compared, Evaluation>>;

impl Judge for MeasurementWorker {
    fn verify(&mut self, codes: &[i64]) -> Result<Option<Evaluation>, WorkerError> {
        self.verify(codes)
    }

    fn compare(&mut self, codes: &[Vec<i64>]) -> Result<Compares, WorkerError> {
        self.compare(codes)
    }
}

/// Chooses the best of all `results` (codes and first time): verifies the finalists and the default
/// on every draw, and times them in turns. `reject` is called for those that fail, which are out;
/// the next best of the others take their place. `None` when none is left. `sound` is asked about
/// the choice, and may object.
///
/// Where no judge is left, the fastest of the configurations that passed is chosen. Where none has
/// passed yet, the fastest by its first time is chosen, which was verified on one draw, unless
/// Ctrl-C was pressed: then the search can be resumed.
pub(crate) fn choose(
    mut judge: Option<&mut dyn Judge>,
    default: &[i64],
    results: &[(Vec<i64>, f64)],
    mut sound: impl FnMut(&[i64]) -> Result<(), Evaluation>,
    mut reject: impl FnMut(&[i64], &Evaluation),
) -> Option<Choice> {
    let mut finalists = Finalists::new(RULE, default, results.iter().cloned());
    let mut compared = HashMap::new();
    loop {
        let choice = best_finalist(
            &mut judge,
            default,
            &mut finalists,
            &mut compared,
            &mut reject,
        )?;
        let Err(unsound) = sound(&choice.codes) else {
            return Some(choice);
        };
        finalists.fails(&choice.codes);
        reject(&choice.codes, &unsound);
    }
}

/// The best of the finalists, as [`choose`] says.
fn best_finalist(
    judge: &mut Option<&mut dyn Judge>,
    default: &[i64],
    finalists: &mut Finalists,
    compared: &mut HashMap<Vec<i64>, Compared>,
    reject: &mut impl FnMut(&[i64], &Evaluation),
) -> Option<Choice> {
    loop {
        let Some(judge) = judge.as_deref_mut() else {
            return by_first_times(finalists.left(), default);
        };
        let mut failed = Vec::new();
        let judged = judge_finalists(judge, finalists, compared, &mut failed);
        for (codes, measured) in &failed {
            reject(codes, measured);
        }
        if let Err(error) = judged {
            let held = finalists.contenders();
            let mut left = finalists.left().to_vec();
            if matches!(error, WorkerError::Interrupted) || !held.is_empty() {
                left.retain(|(codes, _)| held.contains(codes));
            }
            return by_first_times(&left, default);
        }
        if failed.is_empty() {
            let contenders = finalists.contenders().into_iter();
            let candidates = contenders.filter_map(|codes| {
                let compared = compared.get(&codes)?;
                Some((Candidate::new(codes, compared), compared.samples_us.clone()))
            });
            return of_rounds(candidates.unzip(), default);
        }
    }
}

/// Verifies the finalists that have not passed yet, then times all in turns, unless they were
/// timed. Those that fail are no longer finalists; they are added to `failed`, also where an error
/// follows.
fn judge_finalists(
    judge: &mut dyn Judge,
    finalists: &mut Finalists,
    compared: &mut HashMap<Vec<i64>, Compared>,
    failed: &mut Vec<(Vec<i64>, Evaluation)>,
) -> Result<(), WorkerError> {
    while let Some(codes) = finalists.next().map(<[i64]>::to_vec) {
        if interrupt::since().is_some_and(|since| since > AFTER_INTERRUPT) {
            return Err(WorkerError::Interrupted);
        }
        match judge.verify(&codes)? {
            None => finalists.holds(&codes),
            Some(measured) => {
                finalists.fails(&codes);
                failed.push((codes, measured));
            }
        }
    }
    let contenders = finalists.contenders();
    if contenders.iter().all(|codes| compared.contains_key(codes)) {
        return Ok(());
    }
    // Times of different rounds do not compare.
    compared.clear();
    let times = judge.compare(&contenders)?;
    for (codes, times) in contenders.into_iter().zip(times) {
        match times {
            Ok(times) => drop(compared.insert(codes, times)),
            Err(measured) => {
                finalists.fails(&codes);
                failed.push((codes, measured));
            }
        }
    }
    Ok(())
}

/// The best by the times of the search.
fn by_first_times(results: &[(Vec<i64>, f64)], default: &[i64]) -> Option<Choice> {
    let candidates = results.iter().map(|(codes, time_us)| Candidate {
        codes: codes.clone(),
        time_us: *time_us,
        resources: (0, 0),
    });
    best(&candidates.collect::<Vec<_>>(), default)
}

impl Candidate {
    fn new(codes: Vec<i64>, compared: &Compared) -> Self {
        Self {
            codes,
            time_us: compared.time_us,
            resources: (compared.local_mem, compared.work_items),
        }
    }
}

/// The best of candidates that were timed in turns, with these times of each round.
fn of_rounds(
    (candidates, samples_us): (Vec<Candidate>, Vec<Vec<f64>>),
    default: &[i64],
) -> Option<Choice> {
    let times_us: Vec<f64> = candidates.iter().map(|of| of.time_us).collect();
    let chosen = chosen(&candidates, &times_us, default)?;
    let again = |times_us: &[f64]| self::chosen(&candidates, times_us, default);
    let repeatability = Repeatability::of(chosen, &samples_us, again);
    let choice = choice(&candidates, chosen, default);
    let codes = candidates.into_iter().map(|candidate| candidate.codes);
    Some(Choice {
        repeatability,
        finalists: codes.zip(samples_us).collect(),
        ..choice
    })
}

/// The best of candidates by their own times.
fn best(candidates: &[Candidate], default: &[i64]) -> Option<Choice> {
    let times_us: Vec<f64> = candidates.iter().map(|of| of.time_us).collect();
    let chosen = chosen(candidates, &times_us, default)?;
    Some(choice(candidates, chosen, default))
}

/// The default, if it is as good as the fastest; else the one of these that uses least of the
/// device. A position; each candidate has one of the times.
fn chosen(candidates: &[Candidate], times_us: &[f64], default: &[i64]) -> Option<usize> {
    let fastest = times_us.iter().copied().reduce(f64::min)?;
    let tied = || (0..candidates.len()).filter(|at| fastest >= times_us[*at] * TIE);
    let of_default = tied().find(|at| candidates[*at].codes == default);
    of_default.or_else(|| {
        tied().min_by(|a, b| {
            let resources = candidates[*a].resources.cmp(&candidates[*b].resources);
            resources.then_with(|| times_us[*a].total_cmp(&times_us[*b]))
        })
    })
}

fn choice(candidates: &[Candidate], chosen: usize, default: &[i64]) -> Choice {
    let default = candidates.iter().find(|of| of.codes == default);
    Choice {
        codes: candidates[chosen].codes.clone(),
        time_us: candidates[chosen].time_us,
        default_us: default.map(|default| default.time_us),
        repeatability: None,
        finalists: Vec::new(),
    }
}

#[cfg(test)]
#[path = "../../tests/unit/finalists.rs"]
mod tests;
