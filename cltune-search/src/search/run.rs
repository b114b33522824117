//! Running a strategy: in which order it is asked and told, what it already knows, and what happens
//! when it repeats itself.

use super::generator::Generator;
use super::registry::Chosen;
use super::strategy::starts;
use super::strategy::{Score, Setting, Strategy};
use crate::space::Permutation;
use crate::space::Space;
use std::collections::{HashMap, VecDeque};
use std::fmt;
use std::sync::Arc;

/// After so many proposals in a row that are known or invalid, the search itself picks a
/// configuration: a strategy may be caught in a corner that is measured completely.
const MOST_REPETITIONS: usize = 1000;

/// What to do next.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Measure this configuration, then [tell](Search::tell).
    Measure(Vec<i64>),
    /// Nothing before another result is told.
    Wait,
    /// Nothing more: the budget is used up, every configuration was handed out, or the strategy
    /// has ended. Results may still be told.
    Done,
}

/// A strategy at work on a space.
///
/// The configuration handed out as number `i` (from 0) depends on the seed, on the results of the
/// configurations before number `i + 1 - in_flight` (and of later ones that the strategy waits
/// for), and on nothing else: results are passed on to
/// the strategy in the order in which configurations were handed out, and [`Step::Wait`] is
/// returned until the ones needed are there. So a search takes the same curve however fast its
/// workers are, and a search interrupted is continued by [`know`](Self::know)ing its results.
pub struct Search {
    name: String,
    space: Arc<Space>,
    strategy: Box<dyn Strategy>,
    budget: Option<u64>,
    in_flight: usize,
    /// Configurations to hand out before the strategy's.
    first: VecDeque<Arc<[i64]>>,
    /// Every configuration handed out or answered from memory, in order.
    trials: Vec<Trial>,
    /// Where a configuration is among the trials.
    positions: HashMap<Arc<[i64]>, usize>,
    /// Results known beforehand, of configurations that are no trials yet.
    known: HashMap<Arc<[i64]>, Score>,
    /// How many trials the strategy was told about.
    told: usize,
    /// How many it must have been told about before it is asked again.
    needed: usize,
    /// A trial that the strategy proposed again, to be answered once it has been told.
    repeated: Option<usize>,
    /// How many proposals in a row were known or invalid.
    repetitions: usize,
    /// Stands in for a strategy that only repeats itself.
    substitute: Substitute,
    best: Option<usize>,
    /// How many trials have a score.
    evaluated: usize,
    ended: bool,
}

/// A configuration and what became of it.
struct Trial {
    configuration: Arc<[i64]>,
    score: Option<Score>,
}

/// Where the next trial comes from.
enum Proposal {
    New(Arc<[i64]>),
    Wait,
    Done,
}

impl Search {
    /// A search that has not begun, with a strategy that was [found](super::find) by name or is a
    /// [`StrategyKind`](super::StrategyKind) of one's own. It will start with the setting's first
    /// configuration and the best that its prior results have, as far as the space contains them.
    pub fn new(strategy: impl Into<Chosen>, setting: &Setting) -> Self {
        let strategy = strategy.into();
        let mut search = Self {
            name: strategy.name(),
            space: Arc::clone(&setting.space),
            strategy: strategy.make(setting),
            budget: setting.budget,
            in_flight: setting.in_flight.max(1),
            first: VecDeque::new(),
            trials: Vec::new(),
            positions: HashMap::new(),
            known: HashMap::new(),
            told: 0,
            needed: 0,
            repeated: None,
            repetitions: 0,
            substitute: Substitute::new(setting),
            best: None,
            evaluated: 0,
            ended: false,
        };
        for configuration in setting
            .first
            .iter()
            .cloned()
            .chain(starts(&setting.prior_results))
        {
            search.start_with(&configuration);
        }
        search
    }

    /// The strategy's name with its options, for the lockfile.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Hands this configuration out before the strategy's own, in the order of the calls; the
    /// strategy is told about it. `false`, and nothing happens, where it is not in the space.
    pub fn start_with(&mut self, configuration: &[i64]) -> bool {
        let valid = self.space.contains(configuration);
        if valid {
            self.first.push_back(configuration.into());
        }
        valid
    }

    /// Remembers a result from elsewhere, for example an interrupted search. When the
    /// configuration's turn comes it is evaluated from memory instead of being handed out, and
    /// counts towards the budget.
    pub fn know(&mut self, configuration: &[i64], score: Score) {
        self.tell(configuration, score);
    }

    /// What to do next.
    pub fn step(&mut self) -> Step {
        loop {
            if self.is_over() {
                return Step::Done;
            }
            if !self.pass_on() {
                return Step::Wait;
            }
            match self.next_proposal() {
                Proposal::Wait => return Step::Wait,
                Proposal::Done => {
                    self.ended = true;
                    return Step::Done;
                }
                Proposal::New(configuration) => {
                    self.repetitions = 0;
                    let score = self.known.remove(&configuration);
                    let position = self.trials.len();
                    self.positions.insert(Arc::clone(&configuration), position);
                    self.trials.push(Trial {
                        configuration: Arc::clone(&configuration),
                        score: None,
                    });
                    match score {
                        Some(score) => self.settle(position, score),
                        None => return Step::Measure(configuration.to_vec()),
                    }
                }
            }
        }
    }

    /// Up to `n` configurations to measure at once; fewer, or none, where results are needed first
    /// or the search is [over](Self::is_done).
    pub fn ask(&mut self, n: usize) -> Vec<Vec<i64>> {
        let mut configurations = Vec::new();
        while configurations.len() < n
            && let Step::Measure(configuration) = self.step()
        {
            configurations.push(configuration);
        }
        configurations
    }

    /// What became of a configuration. Of one that was not handed out it is
    /// [remembered](Self::know); a second result of the same configuration is ignored.
    pub fn tell(&mut self, configuration: &[i64], score: Score) {
        let score = Score::of(score.time());
        match self.positions.get(configuration) {
            Some(position) => self.settle(*position, score),
            None => drop(self.known.insert(configuration.into(), score)),
        }
    }

    /// Whether nothing more will be handed out.
    pub fn is_done(&self) -> bool {
        self.ended || self.is_over()
    }

    /// How many configurations have a result.
    pub fn evaluated(&self) -> usize {
        self.evaluated
    }

    /// How many configurations were handed out and have no result yet.
    pub fn outstanding(&self) -> usize {
        self.trials.len() - self.evaluated
    }

    /// The fastest configuration and its time; of equals the one handed out first.
    pub fn best(&self) -> Option<(&[i64], f64)> {
        let trial = &self.trials[self.best?];
        Some((&*trial.configuration, trial.score?.time()?))
    }

    /// The mean relative error of the times that the strategy predicted last, on results that the
    /// predictions were not learned from; `None` where it predicts none.
    pub fn held_out_error(&self) -> Option<f64> {
        self.strategy.held_out_error()
    }

    /// What the strategy was asked to do and cannot do in this space, and what it does instead.
    pub fn limitation(&self) -> Option<String> {
        self.strategy.limitation()
    }

    /// Every result, in the order in which configurations were handed out.
    pub fn results(&self) -> impl Iterator<Item = (&[i64], Score)> {
        self.trials
            .iter()
            .filter_map(|trial| Some((&*trial.configuration, trial.score?)))
    }

    fn is_over(&self) -> bool {
        let trials = self.trials.len();
        self.ended
            || self.budget.is_some_and(|budget| trials as u64 >= budget)
            || trials as u128 >= self.space.count()
    }

    fn settle(&mut self, position: usize, score: Score) {
        let trial = &mut self.trials[position];
        if trial.score.is_some() {
            return;
        }
        trial.score = Some(score);
        self.evaluated += 1;
        let key = |position: usize| {
            let time = self.trials[position].score.and_then(Score::time);
            time.map(|time| (time, position))
        };
        if let Some(new) = key(position)
            && self.best.and_then(key).is_none_or(|best| new < best)
        {
            self.best = Some(position);
        }
    }

    /// Tells the strategy what it must know before the next proposal, and no more. `false` where a
    /// result is missing.
    fn pass_on(&mut self) -> bool {
        let needed = self
            .needed
            .max((self.trials.len() + 1).saturating_sub(self.in_flight));
        while self.told < needed {
            let trial = &self.trials[self.told];
            let Some(score) = trial.score else {
                return false;
            };
            self.strategy.tell(&trial.configuration, score);
            self.told += 1;
        }
        true
    }

    fn next_proposal(&mut self) -> Proposal {
        while let Some(configuration) = self.first.pop_front() {
            if !self.positions.contains_key(&configuration) {
                return Proposal::New(configuration);
            }
        }
        while self.repetitions < MOST_REPETITIONS {
            if let Some(position) = self.repeated.take() {
                let trial = &self.trials[position];
                if let Some(score) = trial.score {
                    self.strategy.tell(&trial.configuration, score);
                }
            }
            let Some(configuration) = self.strategy.propose() else {
                if self.told == self.trials.len() {
                    return Proposal::Done;
                }
                self.needed = self.told + 1;
                if self.pass_on() {
                    continue;
                }
                return Proposal::Wait;
            };
            self.repetitions += 1;
            if let Some(position) = self.positions.get(configuration.as_slice()) {
                self.repeated = Some(*position);
                self.needed = position + 1;
                if self.pass_on() {
                    continue;
                }
                return Proposal::Wait;
            }
            if self.space.contains(&configuration) {
                return Proposal::New(configuration.into());
            }
        }
        match self.substitute.pick(&self.positions) {
            Some(configuration) => Proposal::New(configuration),
            None => Proposal::Done,
        }
    }
}

impl fmt::Debug for Search {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Search")
            .field("name", &self.name)
            .field("trials", &self.trials.len())
            .field("told", &self.told)
            .field("best", &self.best())
            .finish_non_exhaustive()
    }
}

/// Configurations at random, none twice.
struct Substitute {
    space: Arc<Space>,
    generator: Generator,
    order: Permutation,
}

impl Substitute {
    fn new(setting: &Setting) -> Self {
        Self {
            space: Arc::clone(&setting.space),
            // Not the sequence that the strategy starts with.
            generator: Generator::new(!setting.seed),
            order: Permutation::new(setting.space.count()),
        }
    }

    fn pick(&mut self, seen: &HashMap<Arc<[i64]>, usize>) -> Option<Arc<[i64]>> {
        loop {
            let index = self.order.draw(&mut self.generator)?;
            let configuration = self.space.get(index)?;
            if !seen.contains_key(configuration.as_slice()) {
                return Some(configuration.into());
            }
        }
    }
}
