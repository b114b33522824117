//! Made-up programs, thousands of them.

use super::super::account::RESERVE;
use super::super::pace::Pace;
use super::*;
use crate::policy::Overhead;
use crate::search::{Setting, find};
use cltune_core::space::{Space, SpaceParameter};
use proptest::prelude::*;
use std::collections::VecDeque;
use std::sync::Arc;

/// A program that calls a kernel with one parameter of `times.len()` values, whose default is 0; a
/// time of infinity is a configuration that fails. Builds take `build` calls.
struct Program {
    times: Vec<f64>,
    explorer: Explorer,
    /// Codes that are being built, and at which call they are ready.
    building: VecDeque<(Codes, usize)>,
    /// By which part calls are slower while something is being built, and what notices.
    disturbance: f64,
    pace: Option<Pace>,
    now: f64,
    /// What each call took.
    took: Vec<f64>,
}

impl Program {
    fn new(times: &[f64], overhead: Overhead) -> Self {
        let codes = || (0..times.len() as i64).map(|code| vec![code]);
        let parameter = SpaceParameter {
            name: "A".into(),
            codes: codes().map(|codes| codes[0]).collect(),
        };
        let all: Vec<Vec<i64>> = codes().collect();
        let space = Space::from_configurations(vec![parameter], &all).unwrap();
        let setting = Setting::new(Arc::new(space)).first(&[0]);
        let search = Search::new(find("random").unwrap(), &setting);
        let account = Account::new(overhead);
        Self {
            times: times.to_vec(),
            explorer: Explorer::new(search, [0].into(), account),
            building: VecDeque::new(),
            disturbance: 0.0,
            pace: None,
            now: 0.0,
            took: Vec::new(),
        }
    }

    /// Building makes calls slower.
    fn disturbed(self, disturbance: f64) -> Self {
        Self {
            disturbance,
            pace: Some(Pace::default()),
            ..self
        }
    }

    /// What a call with a configuration takes now.
    fn time(&self, codes: &[i64]) -> f64 {
        let disturbance = if self.explorer.is_building() {
            self.disturbance
        } else {
            0.0
        };
        self.times[codes[0] as usize] * (1.0 + disturbance)
    }

    fn order(&mut self, build: usize) {
        if self.pace.as_ref().is_some_and(|pace| !pace.is_known()) {
            return;
        }
        while let Some(codes) = self.explorer.wants() {
            self.building.push_back((codes, self.took.len() + build));
        }
    }

    fn call(&mut self, build: usize) {
        let usual_us = self.explorer.usual_us();
        if let Some(pace) = &mut self.pace {
            pace.call(self.now);
        }
        self.order(build);
        while self
            .building
            .front()
            .is_some_and(|(_, at)| *at <= self.took.len())
        {
            let (codes, _) = self.building.pop_front().unwrap();
            if let Some(pace) = &mut self.pace {
                self.explorer.extra(pace.cost(f64::INFINITY));
            }
            self.explorer.built(codes);
        }
        if let (Some(pace), Some(before)) = (&mut self.pace, usual_us) {
            let after = self.explorer.usual_us().unwrap_or(before);
            pace.faster_by(before - after);
        }
        let usual = self.explorer.usual().map_or([0].into(), Codes::clone);
        let usual = self.time(&usual);
        let took = match self.explorer.turn() {
            Turn::Usual => {
                if let Some(pace) = &mut self.pace {
                    pace.is_ordinary(self.now, self.explorer.is_building());
                }
                self.explorer.served();
                usual
            }
            Turn::Fresh(codes) if self.time(&codes).is_infinite() => {
                self.explorer.failed(&codes);
                self.explorer.served();
                usual
            }
            Turn::Fresh(codes) | Turn::Timed(codes) => {
                let time = self.time(&codes);
                self.explorer.took(&codes, time);
                time
            }
        };
        self.now += took;
        self.took.push(took);
    }

    /// By how many default times the worst window is slower than the overhead allows; not above 0 where
    /// it is kept.
    fn worst_window(&self, overhead: f64) -> f64 {
        let window = (2.0 * RESERVE / overhead).ceil() as usize;
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

    /// Calls until something is found.
    fn run(&mut self, build: usize) -> Found {
        for _ in 0..1_000_000 {
            self.call(build);
            if let Some(found) = self.explorer.found() {
                return found;
            }
        }
        panic!("it does not converge: {:?}", self.explorer);
    }
}

#[test]
fn it_finds_the_fastest_and_says_by_how_much() {
    let mut program = Program::new(
        &[10.0, f64::INFINITY, 4.0, 80.0, 12.0],
        Overhead::Fraction(0.2),
    );
    let found = program.run(3);
    assert_eq!(*found.codes, [2]);
    assert_eq!(
        (found.time_us, found.default_us, found.evaluated),
        (4.0, 10.0, 5)
    );
    assert_eq!(program.explorer.turn(), Turn::Usual);
}

#[test]
fn the_default_wins_ties_and_stays_where_all_else_fails() {
    for others in [9.9, f64::INFINITY] {
        let found = Program::new(&[10.0, others, others], Overhead::Fraction(0.5)).run(0);
        assert_eq!(*found.codes, [0]);
    }
}

#[test]
fn a_time_that_is_spent_ends_the_search_with_what_was_found() {
    let times = [10.0, 60.0, 12.0, 60.0, 11.0, 60.0, 60.0, 5.0, 60.0, 12.0];
    for milliseconds in 0..8 {
        let time = std::time::Duration::from_micros(120 + 50 * milliseconds);
        let mut program = Program::new(&times, Overhead::Time(time));
        let found = program.run(0);
        assert!(found.time_us <= 10.0);
        let excess: f64 = program.took.iter().map(|took| took - 10.0).sum();
        assert!(excess <= time.as_secs_f64() * 1e6, "{excess}");
    }
    let nothing = std::time::Duration::from_micros(1);
    let found = Program::new(&times, Overhead::Time(nothing)).run(0);
    assert_eq!((*found.codes).to_vec(), [0]);
}

/// A program that was stopped after so many calls, and what it had tried.
fn stopped(times: &[f64], calls: usize) -> Vec<Tried> {
    let mut program = Program::new(times, Overhead::Fraction(0.5));
    let mut tried = Vec::new();
    for _ in 0..calls {
        program.call(0);
        tried.extend(program.explorer.take_tried());
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
    let mut program = Program::new(&slower, Overhead::Fraction(0.5));
    program.explorer.go_on(tried);
    let found = program.run(0);
    assert_eq!((*found.codes).to_vec(), [4]);
    assert_eq!((found.time_us, found.evaluated), (15.0, 9));
    let mut again: Vec<i64> = program
        .explorer
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
    let mut program = Program::new(&[10.0, f64::INFINITY, 8.0, 9.0], Overhead::Fraction(0.5));
    program.explorer.go_on(tried);
    let found = program.run(2);
    assert_eq!(((*found.codes).to_vec(), found.time_us), (vec![2], 8.0));
}

#[test]
fn what_is_not_in_the_space_any_more_is_ignored() {
    let tried = vec![Tried {
        codes: [77].into(),
        part: Some(0.1),
    }];
    let mut program = Program::new(&[10.0, 5.0], Overhead::Fraction(0.5));
    program.explorer.go_on(tried);
    assert_eq!((*program.run(0).codes).to_vec(), [1]);
}

#[test]
fn what_fails_later_is_no_longer_used() {
    let mut program = Program::new(&[10.0, 5.0], Overhead::Fraction(0.5));
    while program.explorer.usual().is_none() {
        program.call(0);
    }
    program.explorer.failed(&[1]);
    assert_eq!(program.explorer.usual(), None);
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
            let mut program = Program::new(&times, Overhead::Fraction(0.5));
            program.explorer.go_on(kept.clone());
            for _ in 0..calls {
                program.call(3);
                for one in program.explorer.take_tried() {
                    kept.retain(|known| known.codes != one.codes);
                    kept.push(one);
                }
            }
        }
        let mut program = Program::new(&times, Overhead::Fraction(0.5));
        program.explorer.go_on(kept);
        let found = program.run(3);
        let fastest = times.iter().copied().fold(f64::INFINITY, f64::min);
        let expected = if fastest <= IMPROVEMENT * 10.0 { fastest } else { 10.0 };
        prop_assert_eq!(found.time_us, expected);
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
        let mut program = Program::new(&times, Overhead::Fraction(overhead));
        let found = program.run(build);
        let fastest = times.iter().copied().fold(f64::INFINITY, f64::min);
        let expected = if fastest <= IMPROVEMENT * default { fastest } else { default };
        prop_assert_eq!(found.time_us, expected);

        prop_assert!(program.worst_window(overhead) <= 1e-6);
    }

    #[test]
    fn where_building_slows_calls_down_a_window_exceeds_by_one_build_at_most(
        default in 1.0_f64..1e4,
        factors in proptest::collection::vec(0.2_f64..4.9, 1..20),
        overhead in 0.05_f64..1.0, build in 1_usize..100, disturbance in 0.0_f64..1.0,
    ) {
        let mut times = vec![default];
        times.extend(factors.iter().map(|factor| factor * default));
        let mut program = Program::new(&times, Overhead::Fraction(overhead)).disturbed(disturbance);
        let found = program.run(build);
        prop_assert!(found.time_us <= default * (1.0 + disturbance));
        let one_build = (build + 1) as f64 * disturbance;
        prop_assert!(program.worst_window(overhead) <= one_build + 1e-6);
    }
}
