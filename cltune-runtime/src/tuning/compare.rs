//! Comparison of configurations that are nearly alike, timed in turns.

use super::buffers::Round;
use super::build::{BuiltConfiguration, launch_failed};
use super::damage::unjudged;
use super::measurer::Measurer;
use super::options::Step;
use super::outcome::Outcome;
use super::timing::{median, median_interval};
use cltune_core::measure::Objective;
use serde::{Deserialize, Serialize};
use std::time::{Duration, Instant};

/// The time to compare, beyond the least number of rounds.
const TIME: Duration = Duration::from_secs(2);
/// The least and the most rounds.
const ROUNDS: (usize, usize) = (11, 101);
/// Where energy is measured: each round takes many launches of each.
const ENERGY_TIME: Duration = Duration::from_secs(10);
const ENERGY_ROUNDS: (usize, usize) = (5, 25);
/// After so many rounds, one that needed more than so many times another's most in each is not
/// timed again: a default that is a hundred times slower would take nearly all of the time. On a
/// machine that hinders now and then the other is hindered too, sooner or later, and the first is
/// timed again.
const FAR: (usize, f64) = (3, 2.0);
/// A launch that takes longer, microseconds, finds nothing in caches that the one before has left.
const LONG_US: f64 = 1e4;

/// A configuration timed in turns with others.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Compared {
    /// The median time of one launch, microseconds.
    pub time_us: f64,
    /// The time of each round, microseconds; in the same rounds as the others'.
    pub samples_us: Vec<f64>,
    /// The energy of a launch in each round, joules, where that is measured.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub energies_j: Vec<f64>,
    /// The local memory that the kernel uses, bytes; 0 where the driver does not tell.
    pub local_mem: u64,
    /// The work-items of a work-group; 1 where the driver chooses.
    pub work_items: usize,
}

/// A configuration that is timed in turns; or why it is not any more.
type Contender = Result<Contending, Outcome>;

/// A configuration that is timed in turns, and its results so far, in each round.
struct Contending {
    built: BuiltConfiguration,
    samples_us: Vec<f64>,
    energies_j: Vec<f64>,
}

impl Measurer {
    /// Times several configurations in turns, so that whatever else the machine does meets all
    /// alike: 11 rounds, and more (up to 101, or 2 seconds) until the fastest is certain, or all
    /// are known to 0.2 %. A launch that is not timed comes before each that is, since caches would
    /// hold what another configuration has left there. Where energy is measured, each round
    /// measures it as well: 5 rounds, and up to 25, or 10 seconds; they are compared by their
    /// objective. One that always needs more than twice another's most has 3 rounds. They are
    /// expected to have been [verified](Self::verify), which also has built them.
    ///
    /// For each its times, or why it failed: an outcome that is not [`Outcome::Ok`].
    pub fn compare(&mut self, configurations: &[Vec<i64>]) -> Vec<Result<Compared, Outcome>> {
        let time = self.metering.as_ref().map_or(TIME, |_| ENERGY_TIME);
        self.compare_within(configurations, time)
    }

    /// As [`compare`](Self::compare), with another time than 2 seconds.
    pub(crate) fn compare_within(
        &mut self,
        configurations: &[Vec<i64>],
        time: Duration,
    ) -> Vec<Result<Compared, Outcome>> {
        let built = configurations.iter();
        let built = built.map(|codes| {
            Ok(Contending {
                built: self.take_built(codes, None)?,
                samples_us: Vec::new(),
                energies_j: Vec::new(),
            })
        });
        let mut contenders: Vec<Contender> = built.collect();
        let (on, begin) = (Round::default(), Instant::now());
        let rounds = self.metering.as_ref().map_or(ROUNDS, |_| ENERGY_ROUNDS);
        let objective = self.measure_of().objective;
        for round in 0..rounds.1 {
            let far = far_behind(&contenders, objective);
            let is_enough = || begin.elapsed() > time || is_decided(&contenders, far, objective);
            if round >= rounds.0 && is_enough() {
                break;
            }
            for contender in &mut contenders {
                if let Ok(contending) = contender
                    && !contending.is_behind(far, objective)
                    && let Err(outcome) = self.one_round(contending, on, round == 0)
                {
                    *contender = Err(outcome);
                }
            }
        }
        if let Some(touched) = self.touched_while_comparing(contenders.len()) {
            return vec![Err(touched); contenders.len()];
        }
        let contenders = configurations.iter().zip(contenders);
        let compared = contenders.map(|(codes, contender)| {
            let compared = contender.and_then(|contending| {
                self.check_work(&contending.built, on, &contending.samples_us)?;
                let compared = self.compared(&contending);
                self.keep_built(codes, contending.built);
                Ok(compared)
            });
            compared.map_err(|outcome| self.of_configuration(codes, outcome))
        });
        compared.collect()
    }

    /// Times a contender once, and measures its energy.
    fn one_round(
        &mut self,
        contending: &mut Contending,
        on: Round,
        is_first: bool,
    ) -> Result<(), Outcome> {
        let built = &contending.built;
        let failed = |error| launch_failed(&error);
        self.step(Step::Kernel);
        let sample_us = if is_first {
            self.warm_up(built, on).map_err(failed)?;
            self.first_sample(built, on)?
        } else {
            let is_short = contending.samples_us.iter().any(|time| *time < LONG_US);
            if self.displacer.is_none() && is_short {
                self.launch(&built.commands, on, None).map_err(failed)?;
            }
            self.sample(built, on).map_err(failed)?
        };
        if let Some(energy) = self.energy(built, on, sample_us)? {
            contending.energies_j.push(energy.joules);
        }
        contending.samples_us.push(sample_us);
        Ok(())
    }

    /// The outcome of all, where one of them has touched memory that none may touch. That one is
    /// not known, unless there is only one.
    fn touched_while_comparing(&self, contenders: usize) -> Option<Outcome> {
        match self.touched()? {
            Outcome::WrongResult(wrong) if contenders > 1 => Some(unjudged(&wrong)),
            touched => Some(touched),
        }
    }

    fn compared(&self, contending: &Contending) -> Compared {
        let device = self.context.device().raw();
        let commands = &contending.built.commands;
        Compared {
            time_us: median(&contending.samples_us).unwrap_or(f64::NAN),
            samples_us: contending.samples_us.clone(),
            energies_j: contending.energies_j.clone(),
            local_mem: commands.local_mem(device),
            work_items: commands.work_items(),
        }
    }
}

impl Compared {
    /// The median energy of one launch, joules, where it was measured.
    pub fn energy_j(&self) -> Option<f64> {
        median(&self.energies_j)
    }
}

impl Contending {
    /// What the objective wants least of, in each round.
    fn figures(&self, objective: Objective) -> Vec<f64> {
        figures(&self.samples_us, &self.energies_j, objective)
    }

    /// Whether all of them are above what [`far_behind`] says.
    fn is_behind(&self, far: Option<f64>, objective: Objective) -> bool {
        let above = |far: f64| self.figures(objective).into_iter().all(|of| of > far);
        far.is_some_and(above)
    }
}

/// What the objective wants least of in each round, from times in microseconds and energies in
/// joules, which may be none where the objective is the time.
pub fn figures(samples_us: &[f64], energies_j: &[f64], objective: Objective) -> Vec<f64> {
    let energies = energies_j.iter().copied().map(Some);
    let energies = energies.chain(std::iter::repeat(None));
    let rounds = samples_us.iter().zip(energies);
    rounds
        .filter_map(|(sample_us, energy_j)| objective.figure(*sample_us, energy_j))
        .collect()
}

/// The precision to which all are known at most, a part of the time.
const PRECISION: f64 = 0.002;

/// A contender all of whose figures are above this is far behind another; `None` before the rounds
/// of [`FAR`].
fn far_behind(contenders: &[Contender], objective: Objective) -> Option<f64> {
    let contending = contenders.iter().flatten();
    let known = contending.filter(|of| of.samples_us.len() >= FAR.0);
    let most = known.filter_map(|of| of.figures(objective).into_iter().reduce(f64::max));
    Some(most.reduce(f64::min)? * FAR.1)
}

/// Whether one is better than all others beyond doubt, or all are known well. Those that are far
/// behind are neither.
fn is_decided(contenders: &[Contender], far: Option<f64>, objective: Objective) -> bool {
    let contending = contenders.iter().flatten();
    let contending = contending.filter(|of| !of.is_behind(far, objective));
    let figures = contending.map(|of| of.figures(objective));
    let mut intervals: Vec<(f64, f64)> = figures.filter_map(|of| median_interval(&of)).collect();
    if intervals
        .iter()
        .all(|(low, high)| high - low <= 2.0 * PRECISION * low)
    {
        return true;
    }
    intervals.sort_by(|a, b| a.1.total_cmp(&b.1));
    match intervals.as_slice() {
        [] => true,
        [fastest, others @ ..] => others.iter().all(|other| other.0 > fastest.1),
    }
}
