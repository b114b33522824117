//! The exploration policy on made-up programs, thousands of them.

use super::super::overhead::{BuildCost, CostForecast, RESERVE};
use super::*;
use crate::policy::Overhead;
use cltune_search::space::{Space, SpaceParameter};
use cltune_search::{Setting, find};
use proptest::prelude::*;
use std::collections::VecDeque;
use std::sync::Arc;
use std::time::Duration;

/// A program that calls a kernel with one parameter of `times.len()` values, whose default is 0; a
/// time of infinity is a configuration that fails. Builds take `build` calls.
struct Program {
    times: Vec<f64>,
    policy: ExplorationPolicy,
    /// Codes that are being built, and at which call they are ready.
    building: VecDeque<(Codes, usize)>,
    /// By which part calls are slower while something is being built.
    disturbance: f64,
    /// How long each build makes a call wait; all that follow, as long as the last.
    waits: Vec<f64>,
    /// For how long the next call waits.
    waiting: f64,
    /// What measures it.
    build_cost: Option<BuildCost>,
    orders: usize,
    now: f64,
    /// What each call took.
    took: Vec<f64>,
}

impl Program {
    fn new(times: &[f64], overhead: Overhead) -> Self {
        let codes = || (0..times.len() as i64).map(|code| vec![code]);
        let parameter = SpaceParameter::listed("A", codes().map(|codes| codes[0]).collect());
        let all: Vec<Vec<i64>> = codes().collect();
        let space = Space::from_configurations(vec![parameter], &all).unwrap();
        let setting = Setting::new(Arc::new(space)).first(&[0]);
        let search = Search::new(find("random").unwrap(), &setting);
        let budget = OverheadBudget::new(overhead, CostForecast::new(0.0, 0.0));
        Self {
            times: times.to_vec(),
            policy: ExplorationPolicy::new(search, [0].into(), budget),
            building: VecDeque::new(),
            disturbance: 0.0,
            waits: Vec::new(),
            waiting: 0.0,
            build_cost: None,
            orders: 0,
            now: 0.0,
            took: Vec::new(),
        }
    }

    /// Building makes calls slower, and some wait for it; the first build is expected to cost so
    /// much.
    fn disturbed(mut self, disturbance: f64, waits: &[f64], expected: f64) -> Self {
        self.disturbance = disturbance;
        self.waits = waits.to_vec();
        self.build_cost = Some(BuildCost::default());
        self.policy.budget.expect_build(expected);
        self
    }

    /// What a call with a configuration takes now.
    fn time(&self, codes: &[i64]) -> f64 {
        let disturbance = if self.policy.is_building() {
            self.disturbance
        } else {
            0.0
        };
        self.times[codes[0] as usize] * (1.0 + disturbance)
    }

    fn order(&mut self, build: usize) {
        if self
            .build_cost
            .as_ref()
            .is_some_and(|cost| !cost.is_known())
        {
            return;
        }
        while let Some(codes) = self.policy.next_to_build() {
            self.building.push_back((codes, self.took.len() + build));
            let last = self.waits.len().saturating_sub(1);
            let wait = self.waits.get(self.orders.min(last));
            self.waiting += wait.copied().unwrap_or_default();
            self.orders += 1;
        }
    }

    fn call(&mut self, build: usize) {
        if let Some(cost) = &mut self.build_cost {
            cost.call(self.now);
        }
        while self
            .building
            .front()
            .is_some_and(|(_, at)| *at <= self.took.len())
        {
            let (codes, _) = self.building.pop_front().unwrap();
            if let Some(cost) = &mut self.build_cost {
                self.policy.build_cost(cost.take(f64::INFINITY));
            }
            self.policy.built(codes);
        }
        if let (Some(cost), Some(incumbent)) = (&mut self.build_cost, self.policy.incumbent_us()) {
            cost.incumbent(incumbent);
        }
        self.order(build);
        let incumbent = self.policy.incumbent().map_or([0].into(), Codes::clone);
        let incumbent = self.time(&incumbent);
        let took = match self.policy.next_call() {
            NextCall::Incumbent => {
                if let Some(cost) = &mut self.build_cost {
                    cost.is_ordinary(self.now, self.policy.is_building());
                }
                self.policy.served();
                incumbent + std::mem::take(&mut self.waiting)
            }
            NextCall::Fresh(codes) if self.time(&codes).is_infinite() => {
                self.policy.failed(&codes);
                self.policy.served();
                incumbent
            }
            NextCall::Fresh(codes) | NextCall::Timed(codes) => {
                let time = self.time(&codes);
                self.policy.took(&codes, time);
                time
            }
        };
        self.now += took;
        self.took.push(took);
    }

    /// By how many default times the worst window of so many calls or more is slower than the
    /// overhead allows; not above 0 where it is kept.
    fn worst_window(&self, overhead: f64, calls: f64) -> f64 {
        let window = calls.ceil() as usize;
        let mut sums = vec![0.0];
        for took in &self.took {
            sums.push(sums[sums.len() - 1] + took / self.times[0] - (1.0 + overhead));
        }
        let mut least = f64::INFINITY;
        let mut worst = f64::NEG_INFINITY;
        for end in window..sums.len() {
            least = least.min(sums[end - window]);
            worst = worst.max(sums[end] - least);
        }
        worst
    }

    /// Calls until something is result.
    fn run(&mut self, build: usize) -> TuningResult {
        for _ in 0..1_000_000 {
            self.call(build);
            if let Some(result) = self.policy.result() {
                return result;
            }
        }
        panic!("it does not converge: {:?}", self.policy);
    }
}

/// Windows as short as they can be.
fn narrow(fraction: f64) -> Overhead {
    Overhead::Fraction {
        fraction,
        window: Duration::ZERO,
    }
}

#[test]
fn it_finds_the_fastest_and_says_by_how_much() {
    let mut program = Program::new(&[10.0, f64::INFINITY, 4.0, 80.0, 12.0], narrow(0.2));
    let result = program.run(3);
    assert_eq!(*result.codes, [2]);
    assert_eq!(
        (result.time_us, result.default_us, result.evaluated),
        (4.0, 10.0, 5)
    );
    assert_eq!(program.policy.next_call(), NextCall::Incumbent);
}

#[test]
fn the_default_wins_ties_and_stays_where_all_else_fails() {
    for others in [9.9, f64::INFINITY] {
        let result = Program::new(&[10.0, others, others], narrow(0.5)).run(0);
        assert_eq!(*result.codes, [0]);
    }
}

#[test]
fn a_time_that_is_spent_ends_the_search_with_what_was_found() {
    let times = [10.0, 60.0, 12.0, 60.0, 11.0, 60.0, 60.0, 5.0, 60.0, 12.0];
    for milliseconds in 0..8 {
        let time = Duration::from_micros(120 + 50 * milliseconds);
        let mut program = Program::new(&times, Overhead::Time(time));
        let result = program.run(0);
        assert!(result.time_us <= 10.0);
        let excess: f64 = program.took.iter().map(|took| took - 10.0).sum();
        assert!(excess <= time.as_secs_f64() * 1e6, "{excess}");
    }
    let nothing = Duration::from_micros(1);
    let result = Program::new(&times, Overhead::Time(nothing)).run(0);
    assert_eq!((*result.codes).to_vec(), [0]);
}

/// A program that was stopped after so many calls, and what it had tried.
fn stopped(times: &[f64], calls: usize) -> Vec<Tried> {
    let mut program = Program::new(times, narrow(0.5));
    let mut tried = Vec::new();
    for _ in 0..calls {
        program.call(0);
        tried.extend(program.policy.take_tried());
    }
    tried
}

#[test]
fn the_next_run_tries_only_the_best_again() {
    let times = [10.0, 8.0, f64::INFINITY, 30.0, 5.0, 9.0, 7.0, 12.0, 20.0];
    let tried = stopped(&times, 2000);
    assert_eq!(tried.len(), times.len() - 1);
    // The machine is slower by now; parts of the default's time are what they were.
    let slower: Vec<f64> = times.iter().map(|time| 3.0 * time).collect();
    let mut program = Program::new(&slower, narrow(0.5));
    program.policy.resume(tried);
    let result = program.run(0);
    assert_eq!((*result.codes).to_vec(), [4]);
    assert_eq!((result.time_us, result.evaluated), (15.0, 9));
    let mut again: Vec<i64> = program
        .policy
        .take_tried()
        .iter()
        .map(|one| one.codes[0])
        .collect();
    again.sort_unstable();
    assert_eq!(again, [1, 4, 6]);
    assert!(
        program.took.iter().all(|took| *took <= 30.0),
        "30 us is the default"
    );
}

#[test]
fn what_was_best_and_fails_now_is_left_out() {
    let tried = stopped(&[10.0, 5.0, 8.0, 9.0], 1000);
    let mut program = Program::new(&[10.0, f64::INFINITY, 8.0, 9.0], narrow(0.5));
    program.policy.resume(tried);
    let result = program.run(2);
    assert_eq!(((*result.codes).to_vec(), result.time_us), (vec![2], 8.0));
}

#[test]
fn what_is_not_in_the_space_any_more_is_ignored() {
    let tried = vec![Tried {
        codes: [77].into(),
        part: Some(0.1),
    }];
    let mut program = Program::new(&[10.0, 5.0], narrow(0.5));
    program.policy.resume(tried);
    assert_eq!((*program.run(0).codes).to_vec(), [1]);
}

#[test]
fn what_was_best_and_failed_is_never_found() {
    let mut program = Program::new(&[10.0, 5.0, 7.0], narrow(0.5));
    while program
        .policy
        .incumbent()
        .is_none_or(|codes| **codes != [1])
    {
        program.call(0);
    }
    program.policy.failed(&[1]);
    // What the next run knows last is that it failed.
    let tried = program.policy.take_tried();
    let last = tried.iter().rfind(|one| *one.codes == [1]);
    assert_eq!(last.unwrap().part, None);
    assert_eq!((*program.run(0).codes).to_vec(), [2]);
}

#[test]
fn finalists_that_fail_are_followed_by_the_next_best() {
    let mut program = Program::new(&[10.0, 5.0, 6.0, 7.0], narrow(0.5));
    while program.policy.finals.is_none() {
        program.call(0);
    }
    program.policy.failed(&[1]);
    assert_eq!(program.policy.incumbent().map(|codes| codes[0]), Some(2));
    program.policy.failed(&[2]);
    assert_eq!((*program.run(0).codes).to_vec(), [3]);
    program.policy.failed(&[3]);
    assert_eq!((*program.run(0).codes).to_vec(), [0]);
}

#[test]
fn what_fails_later_is_no_longer_used() {
    let mut program = Program::new(&[10.0, 5.0], narrow(0.5));
    while program.policy.incumbent().is_none() {
        program.call(0);
    }
    program.policy.failed(&[1]);
    assert_eq!(program.policy.incumbent(), None);
}

proptest! {
    #[test]
    fn runs_that_are_stopped_find_the_same_together(
        factors in proptest::collection::vec(
            prop_oneof![4 => 0.2_f64..9.9, 1 => Just(f64::INFINITY)], 1..20,
        ),
        calls in proptest::collection::vec(1_usize..400, 0..6),
    ) {
        let mut times = vec![10.0];
        times.extend(factors.iter().map(|factor| factor * 10.0));
        let mut kept: Vec<Tried> = Vec::new();
        for calls in calls {
            let mut program = Program::new(&times, narrow(0.5));
            program.policy.resume(kept.clone());
            for _ in 0..calls {
                program.call(3);
                for one in program.policy.take_tried() {
                    kept.retain(|known| known.codes != one.codes);
                    kept.push(one);
                }
            }
        }
        let mut program = Program::new(&times, narrow(0.5));
        program.policy.resume(kept);
        let result = program.run(3);
        let fastest = times.iter().copied().fold(f64::INFINITY, f64::min);
        let expected = if fastest <= IMPROVEMENT * 10.0 { fastest } else { 10.0 };
        prop_assert_eq!(result.time_us, expected);
    }

    #[test]
    fn it_converges_to_the_fastest_and_no_window_exceeds_the_overhead(
        default in 1.0_f64..1e4,
        factors in proptest::collection::vec(
            prop_oneof![4 => 0.2_f64..9.9, 1 => Just(f64::INFINITY)], 1..30,
        ),
        overhead in 0.05_f64..1.0, build in 0_usize..50,
    ) {
        let mut times = vec![default];
        times.extend(factors.iter().map(|factor| factor * default));
        let mut program = Program::new(&times, narrow(overhead));
        let result = program.run(build);
        let fastest = times.iter().copied().fold(f64::INFINITY, f64::min);
        let expected = if fastest <= IMPROVEMENT * default { fastest } else { default };
        prop_assert_eq!(result.time_us, expected);

        prop_assert!(program.worst_window(overhead, 2.0 * RESERVE / overhead) <= 1e-6);
    }

    #[test]
    fn where_builds_cost_the_calls_something_every_window_keeps_its_bound(
        default in 1.0_f64..1e4,
        factors in proptest::collection::vec(0.2_f64..9.9, 1..20),
        overhead in 0.05_f64..1.0, build in 1_usize..100, disturbance in 0.0_f64..0.5,
        expected in 0.0_f64..100.0, beyond in 0.1_f64..4.0,
        waits in proptest::collection::vec(0.0_f64..1.0, 0..10),
    ) {
        // In default times. The first build costs `beyond` times what was expected, which is less
        // or more; the others cost less than that.
        let slower = (build + 1) as f64 * disturbance;
        let first = (beyond * expected - slower).max(0.0);
        let mut all = vec![first * default];
        all.extend(waits.iter().map(|wait| wait * first * default));
        let dearest = first + slower;
        let saved = RESERVE.max(expected).max(1.5 * dearest);
        // A build that follows cheap ones may cost all that the dearest does beyond what is
        // expected.
        let calls = 2.0 * (saved + dearest) / overhead;

        let mut times = vec![default];
        times.extend(factors.iter().map(|factor| factor * default));
        let window = Duration::from_secs_f64((calls + 1.0) * default / 1e6);
        let allowed = Overhead::Fraction { fraction: overhead, window };
        let mut program = Program::new(&times, allowed).disturbed(disturbance, &all, expected * default);
        let result = program.run(build);
        prop_assert_eq!(program.policy.over_budget(), None);
        let fastest = times.iter().copied().fold(f64::INFINITY, f64::min);
        let expected = if fastest <= IMPROVEMENT * default { fastest } else { default };
        prop_assert_eq!(result.time_us, expected);
        prop_assert!(program.worst_window(overhead, calls) <= 1e-6);
    }
}

#[test]
fn the_first_build_begins_when_it_is_paid() {
    let mut program = Program::new(&[10.0, 5.0], Overhead::fraction(0.1)).disturbed(0.0, &[], 1e3);
    while program.orders == 0 {
        program.call(1);
    }
    // 1 ms is 2000 times the half of 10 % of 10 microseconds; the calls before the baseline pay
    // nothing.
    assert!(
        (2000..2020).contains(&program.took.len()),
        "{}",
        program.took.len()
    );
}

#[test]
fn a_build_that_no_window_allows_is_not_begun_and_reported() {
    let window = Duration::from_millis(1);
    let overhead = Overhead::Fraction {
        fraction: 0.5,
        window,
    };
    let mut program = Program::new(&[10.0, 5.0], overhead).disturbed(0.0, &[], 1e3);
    let result = program.run(1);
    assert_eq!(((*result.codes).to_vec(), program.orders), (vec![0], 0));
    let over_budget = program.policy.over_budget().unwrap();
    assert_eq!(
        (over_budget.expected_us, over_budget.allowed_us),
        (1e3, 250.0)
    );
    assert_eq!(over_budget.factor(), 4.0);
}
