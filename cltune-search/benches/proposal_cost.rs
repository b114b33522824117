//! The time that model-based strategies take to propose a configuration, on a space of 248,832
//! valid configurations (no constraint: what a proposal costs depends on their number alone).
//!
//! Prints, for proposals after 100 and after 200 observations, the mean, the median and the longest
//! of 20. Before that, how long `ann` takes between its two stages on a space of 2,359,296
//! configurations, the largest of Falch & Elster, table 2: it trains its networks and predicts every
//! configuration; and the most memory that the process had until then.

use cltune_search::space::{Space, SpaceParameter, SpaceSpec};
use cltune_search::{Score, Search, Setting, Step, find};
use std::sync::Arc;
use std::time::{Duration, Instant};

/// The proposals timed around each number of observations.
const TIMED: usize = 20;

fn main() {
    // `cargo bench` passes --bench; a smoke run by `cargo test` passes nothing and measures little.
    let measuring = std::env::args().any(|argument| argument == "--bench");
    // First: the most memory of a process is never less than it was before.
    costs_of_second_stages(measuring);
    let space = Arc::new(Space::build(&SpaceSpec {
        parameters: (0..5)
            .map(|number| SpaceParameter::listed(format!("P{number}"), (1..=12).collect()))
            .collect(),
        constraints: Vec::new(),
    }));
    println!(
        "{} configurations; milliseconds per proposal",
        space.count()
    );
    println!("strategy  observations     mean   median  longest");
    costs_of_proposals(measuring, &space);
}

fn costs_of_proposals(measuring: bool, space: &Arc<Space>) {
    let points: &[usize] = if measuring { &[100, 200] } else { &[20] };
    for name in ["bayes", "genetic", "local", "random"] {
        let Ok(entry) = find(name) else { continue };
        let setting = Setting::new(Arc::clone(space)).seed(1).budget(1000);
        let mut search = Search::new(entry, &setting);
        let mut times = Vec::new();
        while times.len() < points.last().copied().unwrap_or_default() + TIMED {
            let begin = Instant::now();
            let Step::Measure(codes) = search.step() else {
                break;
            };
            times.push(begin.elapsed());
            search.tell(&codes, Score::of(Some(time(&codes))));
        }
        for point in points {
            print(name, *point, &times[*point..point + TIMED]);
        }
    }
}

/// The stereo matcher's parameters: eight sizes, four memory spaces, three unroll factors.
fn costs_of_second_stages(measuring: bool) {
    let powers = |count: u32| (0..count).map(|exponent| 1 << exponent).collect();
    let values: Vec<Vec<i64>> = [8, 8, 8, 8, 2, 2, 2, 2, 4, 3, 3].map(powers).to_vec();
    let most = if measuring { usize::MAX } else { 3 };
    let parameters = values.into_iter().take(most).enumerate();
    let parameters =
        parameters.map(|(number, codes)| SpaceParameter::listed(format!("P{number}"), codes));
    let space = Arc::new(Space::build(&SpaceSpec {
        parameters: parameters.collect(),
        constraints: Vec::new(),
    }));
    println!(
        "{} configurations; seconds of ann between its stages",
        space.count()
    );
    println!("{:.1} MiB resident before", most_resident_mib());
    println!("    n  seconds  held-out error  most resident MiB");
    for training in [20, 500, 2000].map(|count: usize| count.min(most.saturating_mul(10))) {
        let setting = Setting::new(Arc::clone(&space)).seed(1);
        let strategy = find(&format!("ann:n={training},m=200")).expect("a strategy");
        let mut search = Search::new(strategy, &setting);
        let mut seconds = 0.0;
        for _ in 0..=training {
            let begin = Instant::now();
            let Step::Measure(codes) = search.step() else {
                break;
            };
            seconds = begin.elapsed().as_secs_f64();
            search.tell(&codes, Score::of(Some(powers_time(&codes))));
        }
        let error = search.held_out_error().unwrap_or_default();
        println!(
            "{training:5}  {seconds:7.2}  {:12.1} %  {:17.1}",
            100.0 * error,
            most_resident_mib()
        );
    }
}

/// The most memory that the process has had so far, in units of 2^20 bytes; NaN where the system
/// has no such file.
fn most_resident_mib() -> f64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"));
    let kib = line.and_then(|line| line.trim().strip_suffix("kB")?.trim().parse::<f64>().ok());
    kib.map_or(f64::NAN, |kib| kib / 1024.0)
}

/// A bowl with ripples, microseconds.
fn time(codes: &[i64]) -> f64 {
    let bowl = |(at, code): (usize, &i64)| (*code as f64 - 3.0 - at as f64).powi(2) / 20.0;
    let ripples = codes.iter().sum::<i64>() % 3;
    100.0 * (codes.iter().enumerate().map(bowl).sum::<f64>() + 0.1 * ripples as f64).exp()
}

/// The same over exponents.
fn powers_time(codes: &[i64]) -> f64 {
    let exponents: Vec<i64> = codes.iter().map(|code| code.ilog2().into()).collect();
    time(&exponents)
}

fn print(name: &str, observations: usize, times: &[Duration]) {
    let mut sorted: Vec<f64> = times.iter().map(|time| time.as_secs_f64() * 1e3).collect();
    sorted.sort_by(f64::total_cmp);
    let mean = sorted.iter().sum::<f64>() / sorted.len() as f64;
    let (median, longest) = (sorted[sorted.len() / 2], sorted[sorted.len() - 1]);
    println!("{name:8}  {observations:12}  {mean:7.2}  {median:7.2}  {longest:7.2}");
}
