//! `--score-over-time`: the community's score, of our strategies and of runs of other tuners.

use super::{SimulateArgs, SimulateError, save};
use crate::commands::{Exit, Format};
use crate::replay::{Clock, Traced, read_traces, write_trace};
use crate::statistics::moments;
use cltune_search::PriorResults;
use cltune_search::recorded::{Recording, Run, TimeScale, replay_over_time};
use std::io::{self, Write};
use std::sync::Arc;

/// The results of one strategy.
struct StrategyScores<'a> {
    strategy: String,
    spaces: Vec<SpaceScores<'a>>,
}

/// The results of one strategy on one space.
struct SpaceScores<'a> {
    scale: &'a TimeScale<'a>,
    /// Of each run.
    scores: Vec<f64>,
    /// The mean over runs of the time that the strategy itself took, seconds.
    strategy_s: f64,
}

/// A score with its standard deviation over runs, of the sample.
#[derive(Clone, Copy, serde::Serialize)]
struct Figures {
    mean: f64,
    deviation: f64,
}

/// Replays, prints, writes the trace.
pub(super) fn run(
    args: &SimulateArgs,
    recordings: &[Recording],
    priors: &[Arc<[PriorResults]>],
    stdout: &mut dyn Write,
) -> Result<Exit, SimulateError> {
    let scales = recordings.iter().map(TimeScale::of);
    let scales = scales.collect::<Result<Vec<_>, _>>()?;
    // Before the replays, which take long: a file may be unreadable.
    let others = args.runs.iter().map(|path| read_traces(path, recordings));
    let others = others.collect::<Result<Vec<_>, _>>()?;
    let mut trace = Vec::new();
    let mut results = replayed(args, &scales, priors, &mut trace)?;
    results.extend(read(&scales, others.into_iter().flatten()));
    match args.format {
        Format::Text => text(&scales, &results, stdout)?,
        Format::Json => json(args, &results, stdout)?,
    }
    stdout.flush()?;
    if let Some(path) = &args.trace {
        save(path, &trace)?;
    }
    Ok(Exit::Done)
}

/// The scores of our strategies, each once.
fn replayed<'a>(
    args: &SimulateArgs,
    scales: &'a [TimeScale<'a>],
    priors: &[Arc<[PriorResults]>],
    trace: &mut Vec<u8>,
) -> Result<Vec<StrategyScores<'a>>, SimulateError> {
    let mut results: Vec<StrategyScores<'_>> = Vec::new();
    for strategy in &args.strategies {
        let name = strategy.name();
        if results.iter().any(|known| known.strategy == name) {
            continue;
        }
        let mut spaces = Vec::with_capacity(scales.len());
        for (scale, priors) in scales.iter().zip(priors) {
            let seeds = (0..args.repeats).map(|repeat| args.seed.wrapping_add(repeat));
            // One after the other: the time that a strategy takes counts.
            let runs = seeds.map(|seed| replay_over_time(scale, strategy, priors, seed));
            let runs: Vec<Run> = runs.collect();
            if args.trace.is_some() {
                write_trace(trace, scale.recording(), &name, &runs, Clock::Written)?;
            }
            spaces.push(SpaceScores::of(scale, &runs));
        }
        results.push(StrategyScores {
            strategy: name,
            spaces,
        });
    }
    Ok(results)
}

/// The scores of runs that files have, the strategies in the order of their first runs.
fn read<'a>(
    scales: &'a [TimeScale<'a>],
    runs: impl Iterator<Item = Traced>,
) -> Vec<StrategyScores<'a>> {
    let mut by_strategy: Vec<(String, Vec<Vec<Run>>)> = Vec::new();
    for traced in runs {
        let mut names = by_strategy.iter().map(|(name, _)| name);
        let at = names.position(|name| *name == traced.strategy);
        let at = at.unwrap_or_else(|| {
            by_strategy.push((traced.strategy, scales.iter().map(|_| Vec::new()).collect()));
            by_strategy.len() - 1
        });
        let (_, spaces) = &mut by_strategy[at];
        spaces[traced.space].push(traced.run);
    }
    let scores = |(strategy, runs): (String, Vec<Vec<Run>>)| StrategyScores {
        strategy,
        spaces: scales
            .iter()
            .zip(&runs)
            .filter(|(_, runs)| !runs.is_empty())
            .map(|(scale, runs)| SpaceScores::of(scale, runs))
            .collect(),
    };
    by_strategy.into_iter().map(scores).collect()
}

impl<'a> SpaceScores<'a> {
    fn of(scale: &'a TimeScale<'a>, runs: &[Run]) -> Self {
        let strategy_ms: f64 = runs.iter().flat_map(|run| &run.strategy_ms).sum();
        Self {
            scale,
            scores: runs.iter().map(|run| scale.score(run)).collect(),
            strategy_s: strategy_ms / 1e3 / runs.len().max(1) as f64,
        }
    }

    fn figures(&self) -> Figures {
        Figures::of(&self.scores)
    }
}

impl Figures {
    fn of(scores: &[f64]) -> Self {
        let (mean, deviation) = moments(scores);
        Self { mean, deviation }
    }
}

impl StrategyScores<'_> {
    /// Over spaces, each weighing the same. A run is then one on every space; of as many as each
    /// space has.
    fn over_spaces(&self) -> Figures {
        let runs = self.spaces.iter().map(|on| on.scores.len()).min();
        let run = |run: usize| {
            let scores = self.spaces.iter().map(|on| on.scores[run]);
            scores.sum::<f64>() / self.spaces.len() as f64
        };
        let scores: Vec<f64> = (0..runs.unwrap_or_default()).map(run).collect();
        Figures::of(&scores)
    }
}

/// The budgets, then a line for each strategy and space.
fn text(
    scales: &[TimeScale<'_>],
    results: &[StrategyScores<'_>],
    stdout: &mut dyn Write,
) -> io::Result<()> {
    writeln!(
        stdout,
        "score over time: 0 is random search, 1 the optimum at once; mean (standard deviation of runs)"
    )?;
    let names = scales.iter().map(|scale| scale.recording().name.len());
    let width = names.max().unwrap_or_default().max("mean".len());
    for scale in scales {
        let recording = scale.recording();
        let left_out = if recording.has_compile_times {
            ""
        } else {
            ", without compiling, whose times are not recorded"
        };
        writeln!(
            stdout,
            "{:width$}   budget {:.1} s, {} evaluations of random search{left_out}",
            recording.name,
            scale.budget_ms() / 1e3,
            scale.evaluations(),
        )?;
    }
    for scores in results {
        let runs = scores.spaces.iter().map(|on| on.scores.len());
        let runs = runs.max().unwrap_or_default();
        writeln!(stdout, "\n{}, {runs} runs", scores.strategy)?;
        for on in &scores.spaces {
            let Figures { mean, deviation } = on.figures();
            writeln!(
                stdout,
                "{:width$}   {mean:.3} ({deviation:.3})   the strategy's own time {:.2} s",
                on.scale.recording().name,
                on.strategy_s,
            )?;
        }
        if scores.spaces.len() > 1 {
            let Figures { mean, deviation } = scores.over_spaces();
            writeln!(stdout, "{:width$}   {mean:.3} ({deviation:.3})", "mean")?;
        }
    }
    Ok(())
}

/// An object for each strategy, on a line of its own.
fn json(
    args: &SimulateArgs,
    results: &[StrategyScores<'_>],
    stdout: &mut dyn Write,
) -> io::Result<()> {
    for scores in results {
        let spaces = scores.spaces.iter().map(|on| {
            let recording = on.scale.recording();
            serde_json::json!({
                "space": recording.name,
                "configurations": crate::json::count(recording.space.count()),
                "best_ms": recording.best,
                "compile_times": recording.has_compile_times,
                "budget_s": on.scale.budget_ms() / 1e3,
                "random_evaluations": on.scale.evaluations(),
                "runs": on.scores.len(),
                "score": on.figures(),
                "strategy_s": on.strategy_s,
            })
        });
        let all = serde_json::json!({
            "strategy": scores.strategy,
            "seed": args.seed,
            "spaces": spaces.collect::<Vec<_>>(),
            "score": scores.over_spaces(),
        });
        writeln!(stdout, "{all}")?;
    }
    Ok(())
}
