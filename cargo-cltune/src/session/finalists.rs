//! The choice between close configurations: the best are verified on every draw, then timed again
//! in turns. One that fails there is out for good, and the next best take its place.

use super::cost::Cost;
use super::evaluation::Evaluation;
use super::repeatability::Repeatability;
use super::workers::{MeasurementWorker, WorkerError};
use crate::interrupt;
use cltune_core::measure::Objective;
use cltune_runtime::tuning::{Compared, FinalistRule, Finalists, figures, median};
use std::collections::HashMap;
use std::time::Duration;

const RULE: FinalistRule = FinalistRule {
    few: 5,
    noise: 1.1,
    close: 1.02,
    many: 16,
};
/// A configuration must be this much better than another by the objective to be preferred.
const TIE: f64 = 0.99;
/// After Ctrl-C, finalists are verified for this long; those that remain are not chosen.
const AFTER_INTERRUPT: Duration = Duration::from_secs(10);

/// The chosen configuration and the default, timed in the same rounds.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Choice {
    pub(crate) codes: Vec<i64>,
    pub(crate) cost: Cost,
    /// What the default costs; `None` where it fails, and where the session leaves it out.
    pub(crate) default: Option<Cost>,
    /// What repeating the comparison would change; `None` where there was none.
    pub(crate) repeatability: Option<Repeatability>,
    /// The configurations that were compared; empty where there was no comparison.
    pub(crate) finalists: Vec<Finalist>,
}

/// A configuration that was compared with others, and what was measured in each round.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Finalist {
    pub(crate) codes: Vec<i64>,
    /// Microseconds.
    pub(crate) samples_us: Vec<f64>,
    /// Joules; empty where energy is not measured.
    pub(crate) energies_j: Vec<f64>,
}

/// A configuration that may be chosen.
struct Candidate {
    codes: Vec<i64>,
    cost: Cost,
    /// What the objective wants least of.
    figure: f64,
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

/// Chooses the best of all `results` (codes and what was measured first) by the objective: verifies
/// the finalists and the default on every draw, and times them in turns. `reject` is called for
/// those that fail, which are out; the next best of the others take their place. `None` when none
/// is left. `sound` is asked about the choice, and may object.
///
/// Where no judge is left, the best of the configurations that passed is chosen. Where none has
/// passed yet, the best by what was measured first is chosen, which was verified on one draw,
/// unless Ctrl-C was pressed: then the search can be resumed.
pub(crate) fn choose(
    mut judge: Option<&mut dyn Judge>,
    default: &[i64],
    objective: Objective,
    results: &[(Vec<i64>, Cost)],
    mut sound: impl FnMut(&[i64]) -> Result<(), Evaluation>,
    mut reject: impl FnMut(&[i64], &Evaluation),
) -> Option<Choice> {
    let figures = results.iter();
    let figures = figures.map(|(codes, cost)| (codes.clone(), cost.figure(objective)));
    let mut finalists = Finalists::new(RULE, default, figures);
    let costs = results.iter().cloned().collect();
    let judging = Judging {
        default,
        objective,
        costs: &costs,
    };
    let mut compared = HashMap::new();
    loop {
        let choice = best_finalist(
            &mut judge,
            &judging,
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

/// What finalists are judged by.
struct Judging<'a> {
    default: &'a [i64],
    objective: Objective,
    /// What was measured first.
    costs: &'a HashMap<Vec<i64>, Cost>,
}

/// The best of the finalists, as [`choose`] says.
fn best_finalist(
    judge: &mut Option<&mut dyn Judge>,
    judging: &Judging<'_>,
    finalists: &mut Finalists,
    compared: &mut HashMap<Vec<i64>, Compared>,
    reject: &mut impl FnMut(&[i64], &Evaluation),
) -> Option<Choice> {
    loop {
        let Some(judge) = judge.as_deref_mut() else {
            return judging.by_first_results(finalists.left());
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
            return judging.by_first_results(&left);
        }
        if failed.is_empty() {
            let contenders = finalists.contenders().into_iter();
            let candidates = contenders.filter_map(|codes| {
                let compared = compared.get(&codes)?;
                Some(judging.in_rounds(codes, compared))
            });
            return of_rounds(candidates.unzip(), judging.default);
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

impl Judging<'_> {
    /// The best by the results of the search.
    fn by_first_results(&self, results: &[(Vec<i64>, f64)]) -> Option<Choice> {
        let candidates = results.iter().filter_map(|(codes, figure)| {
            Some(Candidate {
                codes: codes.clone(),
                cost: *self.costs.get(codes)?,
                figure: *figure,
                resources: (0, 0),
            })
        });
        best(&candidates.collect::<Vec<_>>(), self.default)
    }

    /// A candidate of a comparison in turns, with what was measured in each round, and the figures
    /// of the rounds.
    fn in_rounds(&self, codes: Vec<i64>, compared: &Compared) -> (Candidate, Rounds) {
        let (samples_us, energies_j) = (&compared.samples_us, &compared.energies_j);
        let figures = figures(samples_us, energies_j, self.objective);
        let candidate = Candidate {
            cost: Cost {
                time_us: compared.time_us,
                energy_j: compared.energy_j(),
            },
            figure: median(&figures).unwrap_or(f64::INFINITY),
            resources: (compared.local_mem, compared.work_items),
            codes: codes.clone(),
        };
        let finalist = Finalist {
            codes,
            samples_us: samples_us.clone(),
            energies_j: energies_j.clone(),
        };
        (candidate, (finalist, figures))
    }
}

/// What was measured in each round, and what the objective wants least of.
type Rounds = (Finalist, Vec<f64>);

/// The best of candidates that were measured in turns.
fn of_rounds(
    (candidates, rounds): (Vec<Candidate>, Vec<Rounds>),
    default: &[i64],
) -> Option<Choice> {
    let (finalists, rounds): (Vec<Finalist>, Vec<Vec<f64>>) = rounds.into_iter().unzip();
    let figures: Vec<f64> = candidates.iter().map(|of| of.figure).collect();
    let chosen = chosen(&candidates, &figures, default)?;
    let again = |figures: &[f64]| self::chosen(&candidates, figures, default);
    let repeatability = Repeatability::of(chosen, &rounds, again);
    Some(Choice {
        repeatability,
        finalists,
        ..choice(&candidates, chosen, default)
    })
}

/// The best of candidates by their own figures.
fn best(candidates: &[Candidate], default: &[i64]) -> Option<Choice> {
    let figures: Vec<f64> = candidates.iter().map(|of| of.figure).collect();
    let chosen = chosen(candidates, &figures, default)?;
    Some(choice(candidates, chosen, default))
}

/// The default, if it is as good as the best; else the one of these that uses least of the device.
/// A position; each candidate has one of the figures.
fn chosen(candidates: &[Candidate], figures: &[f64], default: &[i64]) -> Option<usize> {
    let least = figures.iter().copied().reduce(f64::min)?;
    let tied = || (0..candidates.len()).filter(|at| least >= figures[*at] * TIE);
    let of_default = tied().find(|at| candidates[*at].codes == default);
    of_default.or_else(|| {
        tied().min_by(|a, b| {
            let resources = candidates[*a].resources.cmp(&candidates[*b].resources);
            resources.then_with(|| figures[*a].total_cmp(&figures[*b]))
        })
    })
}

fn choice(candidates: &[Candidate], chosen: usize, default: &[i64]) -> Choice {
    let default = candidates.iter().find(|of| of.codes == default);
    Choice {
        codes: candidates[chosen].codes.clone(),
        cost: candidates[chosen].cost,
        default: default.map(|default| default.cost),
        repeatability: None,
        finalists: Vec::new(),
    }
}

#[cfg(test)]
#[path = "../../tests/unit/finalists.rs"]
mod tests;
