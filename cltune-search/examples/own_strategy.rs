//! A search strategy of one's own, run beside those that come with cltune.
//!
//!     cargo run -p cltune-search --example own_strategy
//!
//! The space and the times are made up, so no device is needed: `Search` only wants to be told what
//! became of each configuration it hands out.

use cltune_search::space::{Neighbourhood, Space, SpaceParameter, SpaceSpec};
use cltune_search::{
    Chosen, Generator, Score, Search, Setting, Step, Strategy, StrategyKind, StrategyOption,
    UnknownStrategy, find,
};
use std::sync::Arc;

/// What a registry would list. In cltune itself this is the one constant of a strategy's file.
const TABU: StrategyKind = StrategyKind {
    name: "tabu",
    summary: "the best neighbour that was not visited lately, even if it is slower",
    options: &[StrategyOption {
        key: "tenure",
        summary: "how many visits are remembered",
        default: Some(20.0),
        range: (1.0, 10_000.0),
        whole: true,
    }],
    learns: true,
    requirement: None,
    new: |setting, options| {
        Box::new(Tabu {
            space: Arc::clone(&setting.space),
            generator: Generator::new(setting.seed),
            tenure: options.number("tenure") as usize,
            visited: Vec::new(),
            round: Vec::new(),
            best_of_round: None,
        })
    },
};

/// Tabu search (Glover, Tabu Search, Part I, 1989): looks at some neighbours of where it is, goes
/// to the fastest of them, and does not come back for a while.
struct Tabu {
    space: Arc<Space>,
    /// The only source of chance, so that the seed decides the curve.
    generator: Generator,
    tenure: usize,
    /// Where it was, the latest last.
    visited: Vec<Vec<i64>>,
    /// Neighbours to look at in this round.
    round: Vec<Vec<i64>>,
    best_of_round: Option<(f64, Vec<i64>)>,
}

/// How many neighbours a round looks at.
const ROUND: usize = 6;

impl Strategy for Tabu {
    fn propose(&mut self) -> Option<Vec<i64>> {
        if let Some(next) = self.round.pop() {
            return Some(next);
        }
        // A new round, from the best of the last. Its last results may still be on their way when
        // several configurations are measured at once: then the best of those that are known.
        if let Some((_, place)) = self.best_of_round.take() {
            self.visited.push(place);
        }
        let Some(place) = self.visited.last() else {
            return self.space.sample(&mut self.generator);
        };
        // Neighbours are always valid configurations.
        self.round = self.space.neighbours(place, Neighbourhood::AnyValue);
        let lately = self.visited.iter().rev().take(self.tenure);
        for tabu in lately {
            self.round.retain(|neighbour| neighbour != tabu);
        }
        self.generator.shuffle(&mut self.round);
        self.round.truncate(ROUND);
        match self.round.pop() {
            Some(next) => Some(next),
            None => self.space.sample(&mut self.generator),
        }
    }

    fn tell(&mut self, configuration: &[i64], score: Score) {
        // It may propose what it proposed before: `Search` tells the known score again.
        if let Some(time) = score.time()
            && self.best_of_round.as_ref().is_none_or(|best| time < best.0)
        {
            self.best_of_round = Some((time, configuration.to_vec()));
        }
    }
}

/// 5 parameters of 16 values each: a million configurations.
fn space() -> Arc<Space> {
    let parameters =
        ["A", "B", "C", "D", "E"].map(|name| SpaceParameter::listed(name, (1..=16).collect()));
    Arc::new(Space::build(&SpaceSpec {
        parameters: parameters.into(),
        constraints: Vec::new(),
    }))
}

/// What a kernel could take, in microseconds: two parameters depend on each other, some fail.
fn time(codes: &[i64]) -> Option<f64> {
    let from = |at: usize, best: i64| (codes[at] - best).pow(2) as f64;
    let together = ((codes[3] * codes[4] - 64) as f64).abs();
    (codes[0] + codes[1] < 30)
        .then(|| 100.0 + from(0, 12) + from(1, 5) + 0.5 * from(2, 9) + together)
}

/// The mean over seeds of the best time after 200 evaluations.
fn mean_of_best(strategy: &Chosen, space: &Arc<Space>) -> f64 {
    const SEEDS: u64 = 20;
    let best = |seed| {
        let setting = Setting::new(Arc::clone(space)).seed(seed).budget(200);
        let mut search = Search::new(strategy, &setting);
        while let Step::Measure(codes) = search.step() {
            search.tell(&codes, Score::of(time(&codes)));
        }
        search.best().map_or(f64::INFINITY, |(_, time)| time)
    };
    (0..SEEDS).map(best).sum::<f64>() / SEEDS as f64
}

fn main() -> Result<(), UnknownStrategy> {
    let space = space();
    println!("mean of the best time after 200 evaluations, in us (the optimum takes 100)");
    let own = Chosen::from(&TABU);
    for strategy in [find("random")?, find("genetic")?, own.clone()] {
        println!(
            "{:10} {:6.1}",
            strategy.name(),
            mean_of_best(&strategy, &space)
        );
    }
    // Better than chance, or the example would be a bad one: this is run by the tests.
    assert!(mean_of_best(&own, &space) < mean_of_best(&find("random")?, &space));
    Ok(())
}
