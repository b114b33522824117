//! Properties that a search has with every strategy, on small spaces and without a device.

mod spaces;

use cltune_search::space::Space;
use cltune_search::{
    Generator, STRATEGIES, Score, Search, Setting, Step, Strategy, StrategyKind, find,
};
use proptest::prelude::*;
use std::collections::HashSet;
use std::sync::Arc;

/// `A` in 0..6 and `B` in 0..5 under a constraint.
fn space(constraint: &str) -> Arc<Space> {
    spaces::space(
        &[("A", (0..6).collect()), ("B", (0..5).collect())],
        constraint,
    )
}

/// A bowl with its best at (4, 1); the corner fails.
fn score(configuration: &[i64]) -> Score {
    let (a, b) = (configuration[0], configuration[1]);
    let time = 1.0 + ((a - 4).pow(2) + (b - 1).pow(2)) as f64;
    Score::of((a + b > 0).then_some(time))
}

fn all(search: &mut Search) -> Vec<Vec<i64>> {
    let mut handed_out = Vec::new();
    while let Step::Measure(configuration) = search.step() {
        search.tell(&configuration, score(&configuration));
        handed_out.push(configuration);
    }
    handed_out
}

/// Walks from where it is to better neighbours; falls back on random steps. Repeats itself, leaves
/// the space, and depends on every result.
struct Walk {
    at: Vec<i64>,
    time: f64,
    generator: Generator,
}

const WALK: StrategyKind = StrategyKind {
    name: "walk",
    summary: "a walk",
    options: &[],
    learns: true,
    requirement: None,
    new: |setting, _| {
        Box::new(Walk {
            at: vec![0, 0],
            time: f64::INFINITY,
            generator: Generator::new(setting.seed),
        })
    },
};

impl Strategy for Walk {
    fn propose(&mut self) -> Option<Vec<i64>> {
        let mut next = self.at.clone();
        next[self.generator.below(2) as usize] += self.generator.below(3) as i64 - 1;
        Some(next)
    }

    fn tell(&mut self, configuration: &[i64], score: Score) {
        if let Some(time) = score.time()
            && (time < self.time || self.generator.unit() < 0.2)
        {
            self.at = configuration.to_vec();
            self.time = time;
        }
    }
}

/// Always the same proposal.
struct Stuck;

const STUCK: StrategyKind = StrategyKind {
    name: "stuck",
    summary: "one configuration for ever",
    options: &[],
    learns: true,
    requirement: None,
    new: |_, _| Box::new(Stuck),
};

impl Strategy for Stuck {
    fn propose(&mut self) -> Option<Vec<i64>> {
        Some(vec![1, 1])
    }

    fn tell(&mut self, _: &[i64], _: Score) {}
}

/// Three at once, then waits for all three before it proposes the next.
struct Batches {
    proposed: usize,
    told: usize,
}

const BATCHES: StrategyKind = StrategyKind {
    name: "batches",
    summary: "three at a time",
    options: &[],
    learns: true,
    requirement: None,
    new: |_, _| {
        Box::new(Batches {
            proposed: 0,
            told: 0,
        })
    },
};

impl Strategy for Batches {
    fn propose(&mut self) -> Option<Vec<i64>> {
        if self.proposed == 9 || (self.proposed.is_multiple_of(3) && self.told < self.proposed) {
            return None;
        }
        self.proposed += 1;
        Some(vec![0, 0]).map(|mut configuration| {
            configuration[0] = (self.proposed % 6) as i64;
            configuration[1] = (self.proposed / 6) as i64;
            configuration
        })
    }

    fn tell(&mut self, _: &[i64], _: Score) {
        self.told += 1;
    }
}

#[test]
fn every_strategy_covers_a_space_without_repetition_and_finds_its_best() {
    let space = space("A != B");
    for entry in STRATEGIES.iter().chain([&WALK, &STUCK]) {
        let mut search = Search::new(entry, &Setting::new(Arc::clone(&space)).seed(1));
        let handed_out = all(&mut search);
        let distinct: HashSet<_> = handed_out.iter().collect();
        assert_eq!(distinct.len() as u128, space.count(), "{}", entry.name);
        assert_eq!(distinct.len(), handed_out.len(), "{}", entry.name);
        assert!(handed_out.iter().all(|codes| space.contains(codes)));
        assert_eq!(search.best(), Some((&[4, 1][..], 1.0)), "{}", entry.name);
        assert_eq!((search.evaluated(), search.outstanding()), (25, 0));
        assert_eq!(search.step(), Step::Done);
    }
}

#[test]
fn full_keeps_the_order_and_random_has_one_of_its_own_per_seed() {
    let space = space("A + B < 8");
    let order = |name, seed| {
        let setting = Setting::new(Arc::clone(&space)).seed(seed);
        all(&mut Search::new(find(name).unwrap(), &setting))
    };
    let in_order: Vec<_> = (0..space.count()).filter_map(|at| space.get(at)).collect();
    assert_eq!(order("full", 1), in_order);
    assert_ne!(order("random", 1), in_order);
    assert_eq!(order("random", 1), order("random", 1));
    assert_ne!(order("random", 1), order("random", 2));
}

#[test]
fn options_change_the_course_and_are_part_of_the_name() {
    let space = space("true");
    let order = |name: &str| {
        let setting = Setting::new(Arc::clone(&space)).budget(25);
        let mut search = Search::new(find(name).unwrap(), &setting);
        let order = all(&mut search);
        assert_eq!(search.name(), name);
        order
    };
    for (default, same, other) in [
        ("annealing", "annealing:t=0.3", "annealing:t=100"),
        // Times of the bowl are some microseconds: at 4 ms everything is accepted.
        (
            "annealing-cltune",
            "annealing-cltune:t=4",
            "annealing-cltune:t=0.001",
        ),
        ("pso", "pso:s=3,alpha=0.4,beta=0,gamma=0.4", "pso:s=6"),
        ("ann", "ann:n=20", "ann:n=5,m=3"),
    ] {
        assert_eq!(order(default), order(same));
        assert_ne!(order(default), order(other));
    }
}

#[test]
fn what_a_strategy_cannot_do_in_a_space_is_said() {
    let limitation = |name, values: i64| {
        let codes = || (0..values).collect();
        let parameters = [("A", codes()), ("B", codes()), ("C", codes())];
        let setting = Setting::new(spaces::space(&parameters, "true"));
        Search::new(find(name).unwrap(), &setting).limitation()
    };
    let said = limitation("ann:n=5,m=3", 500).expect("there are 125 million configurations");
    assert!(said.contains("there are 125000000"), "{said}");
    assert_eq!(limitation("ann:n=5,m=3", 400), None);
    assert_eq!(limitation("ann:n=5", 500), None);
}

#[test]
fn a_space_too_large_to_predict_whole_is_searched_all_the_same() {
    let codes = || (0..500).collect();
    let space = spaces::space(&[("A", codes()), ("B", codes()), ("C", codes())], "true");
    let time =
        |codes: &[i64]| 1.0 + codes.iter().map(|code| (code - 200).abs()).sum::<i64>() as f64;
    let (training, further) = (60, 40);
    let setting = Setting::new(space).budget(training + further);
    let mut search = Search::new(find("ann:n=60,m=10").unwrap(), &setting);
    let mut times = Vec::new();
    while let Step::Measure(codes) = search.step() {
        times.push(time(&codes));
        search.tell(&codes, Score::of(Some(times[times.len() - 1])));
    }
    assert_eq!(times.len() as u64, training + further);
    let (random, predicted) = times.split_at(training as usize);
    let least = |times: &[f64]| times.iter().copied().fold(f64::MAX, f64::min);
    assert!(least(predicted) < 0.5 * least(random), "{times:?}");
}

#[test]
fn auto_is_full_where_the_budget_covers_the_space() {
    let space = space("true");
    let order = |name, budget| {
        let setting = Setting::new(Arc::clone(&space)).budget(budget);
        let mut search = Search::new(find(name).unwrap(), &setting);
        let order = all(&mut search);
        assert_eq!(search.name(), name);
        order
    };
    assert_eq!(order("auto", 30), order("full", 30));
    assert_eq!(order("auto", 29), order("bayes", 29));
    assert_eq!(order("auto", 29).len(), 29);
}

#[test]
fn starting_configurations_come_first_and_once() {
    let space = space("A != B");
    let mut search = Search::new(find("full").unwrap(), &Setting::new(Arc::clone(&space)));
    assert!(search.start_with(&[3, 2]));
    assert!(search.start_with(&[5, 0]));
    assert!(search.start_with(&[3, 2]), "a second time has no effect");
    assert!(!search.start_with(&[3, 3]), "not in the space");
    assert!(!search.start_with(&[3]), "not a configuration");
    let order = all(&mut search);
    assert_eq!(order[..2], [vec![3, 2], vec![5, 0]]);
    assert_eq!(order.len() as u128, space.count());
}

#[test]
fn empty_spaces_and_spaces_of_one_end() {
    let mut none = Search::new(&WALK, &Setting::new(space("A < 0")));
    assert_eq!(none.step(), Step::Done);
    assert_eq!(none.best(), None);
    let mut one = Search::new(&WALK, &Setting::new(space("A == 5 && B == 4")));
    assert_eq!(all(&mut one), [vec![5, 4]]);
}

#[test]
fn a_search_in_which_everything_fails_ends_without_a_best() {
    let mut search = Search::new(&WALK, &Setting::new(space("true")));
    let failures = [f64::NAN, f64::INFINITY, -1.0, 0.0];
    for at in 0.. {
        let Step::Measure(configuration) = search.step() else {
            break;
        };
        search.tell(&configuration, Score::Time(failures[at % 4]));
    }
    assert_eq!((search.evaluated(), search.best()), (30, None));
}

#[test]
fn a_strategy_may_wait_for_results() {
    let mut search = Search::new(&BATCHES, &Setting::new(space("true")).in_flight(5));
    let first = search.ask(5);
    assert_eq!(first.len(), 3, "the strategy wants to see these three");
    assert_eq!(search.step(), Step::Wait);
    for configuration in [&first[2], &first[0]] {
        search.tell(configuration, score(configuration));
        assert_eq!(search.step(), Step::Wait);
    }
    search.tell(&first[1], score(&first[1]));
    assert!(matches!(search.step(), Step::Measure(_)));
    let mut search = Search::new(&BATCHES, &Setting::new(space("true")).in_flight(5));
    assert_eq!(all(&mut search).len(), 9, "then it has ended");
}

#[test]
fn a_second_result_is_ignored() {
    let mut search = Search::new(find("full").unwrap(), &Setting::new(space("true")));
    let Step::Measure(configuration) = search.step() else {
        panic!()
    };
    search.tell(&configuration, Score::Time(2.0));
    search.tell(&configuration, Score::Time(1.0));
    assert_eq!(search.best(), Some((configuration.as_slice(), 2.0)));
    assert_eq!(search.evaluated(), 1);
}

#[test]
fn of_equally_fast_configurations_the_first_stays_best() {
    let mut search = Search::new(
        find("full").unwrap(),
        &Setting::new(space("true")).in_flight(2),
    );
    let pair = search.ask(2);
    search.tell(&pair[1], Score::Time(1.0));
    search.tell(&pair[0], Score::Time(1.0));
    assert_eq!(search.best().map(|best| best.0), Some(pair[0].as_slice()));
}

/// The order in which configurations are handed out to `in_flight` workers that take turns as
/// `speeds` says.
fn with_workers(in_flight: usize, seed: u64, speeds: &[usize]) -> Vec<Vec<i64>> {
    let setting = Setting::new(space("A != B"))
        .seed(seed)
        .in_flight(in_flight);
    let mut search = Search::new(&WALK, &setting);
    let mut running: Vec<Vec<i64>> = Vec::new();
    let mut handed_out = Vec::new();
    for turn in 0.. {
        let new = search.ask(in_flight - running.len());
        handed_out.extend(new.iter().cloned());
        running.extend(new);
        if running.is_empty() {
            break;
        }
        let configuration = running.remove(speeds[turn % speeds.len()] % running.len());
        search.tell(&configuration, score(&configuration));
    }
    handed_out
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn the_order_in_which_results_arrive_changes_nothing(
        seed: u64,
        in_flight in 1_usize..6,
        speeds in proptest::collection::vec(0_usize..6, 1..20),
    ) {
        prop_assert_eq!(with_workers(in_flight, seed, &speeds), with_workers(in_flight, seed, &[0]));
    }

    #[test]
    fn an_interrupted_search_goes_on_as_if_nothing_had_happened(seed: u64, stopped_at in 0_usize..25) {
        let setting = Setting::new(space("A != B")).seed(seed);
        let whole = all(&mut Search::new(&WALK, &setting));
        let mut resumed = Search::new(&WALK, &setting);
        for configuration in &whole[..stopped_at] {
            resumed.know(configuration, score(configuration));
        }
        prop_assert_eq!(&all(&mut resumed), &whole[stopped_at..]);
        prop_assert_eq!(resumed.evaluated(), 25);
        let order: Vec<_> = resumed.results().map(|(codes, _)| codes.to_vec()).collect();
        prop_assert_eq!(order, whole);
    }
}
