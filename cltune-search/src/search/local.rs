//! Iterated local search: climb, and when caught in a local optimum, jump a little from the best.

use super::generator::Generator;
use super::kind::StrategyKind;
use super::strategy::{Score, Setting, Strategy};
use crate::space::{Neighbourhood, Space};
use std::collections::HashSet;
use std::sync::Arc;

pub(super) const KIND: StrategyKind = StrategyKind {
    name: "local",
    summary: "greedy iterated local search over configurations that differ in one parameter",
    options: &[],
    learns: true,
    requirement: None,
    new: |setting, _| Box::new(Local::new(setting)),
};

/// The first jump changes so many parameters; every further one from the same best one more.
const FIRST_JUMP: usize = 2;

/// After so many jumps from the same best without a better one, the next climb starts anywhere.
const MOST_JUMPS: usize = 6;

/// Iterated local search with the acceptance criterion «better» (Lourenço, Martin and Stützle,
/// Iterated Local Search, 2003, section 3). A climb moves to the first better neighbour it meets;
/// neighbours differ in one parameter and are tried in random order.
pub(super) struct Local {
    space: Arc<Space>,
    generator: Generator,
    /// Where the climb is, and its time: infinite where it failed.
    current: Option<(Vec<i64>, f64)>,
    /// Where the best climb ended.
    best: Option<(Vec<i64>, f64)>,
    /// Neighbours of `current` to try, the next one last.
    queue: Vec<Vec<i64>>,
    /// Proposals without a result.
    open: HashSet<Vec<i64>>,
    /// A proposal from which the climb goes on even if it is slower.
    start: Option<Vec<i64>>,
    /// Jumps from `best` so far.
    jumps: usize,
}

impl Local {
    fn new(setting: &Setting) -> Self {
        Self {
            space: Arc::clone(&setting.space),
            generator: Generator::new(setting.seed),
            current: None,
            best: None,
            queue: Vec::new(),
            open: HashSet::new(),
            start: None,
            jumps: 0,
        }
    }

    fn climb_from(&mut self, configuration: &[i64], time: f64) {
        self.queue = self
            .space
            .neighbours(configuration, Neighbourhood::AnyValue);
        self.generator.shuffle(&mut self.queue);
        self.current = Some((configuration.to_vec(), time));
    }

    /// Ends a climb and chooses where the next one starts.
    fn next_start(&mut self) -> Option<Vec<i64>> {
        if let Some((configuration, time)) = self.current.take()
            && self.best.as_ref().is_none_or(|best| time < best.1)
        {
            self.best = Some((configuration, time));
            self.jumps = 0;
        }
        let jumps = self.jumps;
        self.jumps = (jumps + 1) % (MOST_JUMPS + 1);
        match &self.best {
            Some((best, time)) if time.is_finite() && jumps < MOST_JUMPS => {
                let mut place = best.clone();
                for _ in 0..FIRST_JUMP + jumps {
                    let near = self.space.neighbours(&place, Neighbourhood::AnyValue);
                    if let Some(next) = self.generator.pick(&near) {
                        place.clone_from(next);
                    }
                }
                Some(place)
            }
            _ => self.space.sample(&mut self.generator),
        }
    }
}

impl Strategy for Local {
    fn propose(&mut self) -> Option<Vec<i64>> {
        let next = match self.queue.pop() {
            Some(neighbour) => neighbour,
            // One of those under way may be better, and the climb go on.
            None if !self.open.is_empty() => return None,
            None => {
                let start = self.next_start()?;
                self.start = Some(start.clone());
                start
            }
        };
        self.open.insert(next.clone());
        Some(next)
    }

    fn tell(&mut self, configuration: &[i64], score: Score) {
        self.open.remove(configuration);
        let time = score.time().unwrap_or(f64::INFINITY);
        let starts = self.start.as_deref() == Some(configuration);
        if starts {
            self.start = None;
        }
        if starts || self.current.as_ref().is_none_or(|current| time < current.1) {
            self.climb_from(configuration, time);
        }
    }
}
