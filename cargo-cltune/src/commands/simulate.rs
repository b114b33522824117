//! `cargo cltune simulate`: strategies on recorded spaces.

use super::outputs::{OutputError, check_distinct, check_output};
use super::strategy_help::strategy_help;
use super::{Exit, Format};
use crate::exchange::{self, ReadError};
use crate::replay::{Clock, Figures, Panel, Plot, Series, TraceError, figures, write_trace};
use cltune_search::recorded::{BestSoFar, End, Recording, RecordingError, Run, replay};
use cltune_search::{Chosen, Confidence, PriorResults, Search, Setting, find, ready_threads};
use rayon::prelude::*;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::Arc;

mod over_time;
mod print;

/// What to replay.
#[derive(clap::Args)]
pub(crate) struct SimulateArgs {
    /// Recorded spaces: CSV with a column per parameter and then `time_ms`, Kernel Tuner caches, or
    /// T4 results; compressed where the name ends in .gz.
    #[arg(required = true, value_name = "SPACE")]
    spaces: Vec<PathBuf>,
    /// The strategy, `NAME` or `NAME:OPTION=VALUE,…`; may be repeated to compare several.
    #[arg(
        long = "strategy",
        value_name = "NAME",
        default_value = cltune_search::DEFAULT,
        value_parser = find,
        long_help = strategy_help()
    )]
    strategies: Vec<Chosen>,
    /// How many configurations each run evaluates.
    #[arg(
        long,
        value_name = "NUMBER",
        default_value_t = 200,
        value_parser = clap::value_parser!(u64).range(1..)
    )]
    budget: u64,
    /// End a run when a tenth more evaluations would not, with this confidence, improve the best by
    /// more than 1 %; says how often that was wrong.
    #[arg(
        long,
        value_name = "CONFIDENCE",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "0.95"
    )]
    stop_when_stagnant: Option<Confidence>,
    /// How many runs.
    #[arg(
        long,
        value_name = "NUMBER",
        default_value_t = 20,
        value_parser = clap::value_parser!(u64).range(1..=MOST_RUNS)
    )]
    repeats: u64,
    /// The first run's seed; the others' follow.
    #[arg(long, value_name = "NUMBER", default_value_t = 0)]
    seed: u64,
    /// Score as the auto-tuning community does (Willemsen et al. 2024): over the time that
    /// compiling, running and the strategy take, 0 is random search and 1 the optimum at once.
    ///
    /// A run lasts as long as random search needs, on average, for 95 % of the way from the median
    /// to the optimum; runs are made one after the other, so that each strategy has the machine.
    #[arg(long, conflicts_with_all = ["budget", "stop_when_stagnant", "plot"])]
    score_over_time: bool,
    /// Score runs of other tuners as well, in the form that `--trace` writes; may be repeated.
    #[arg(long, value_name = "RUNS.jsonl", requires = "score_over_time")]
    runs: Vec<PathBuf>,
    /// Start from the same kernel's recording on another device; may be repeated.
    #[arg(long, value_name = "OTHER")]
    warm_start: Vec<PathBuf>,
    /// Write every evaluation of every run, a JSON object per run and line.
    #[arg(long, value_name = "OUT.jsonl")]
    trace: Option<PathBuf>,
    /// Draw how the runs progress and how their results are distributed.
    #[arg(long, value_name = "OUT.svg")]
    plot: Option<PathBuf>,
    /// What to print: with `json` an object for each strategy, on a line of its own.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

/// Why nothing was replayed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SimulateError {
    #[error(transparent)]
    Read(#[from] ReadError),
    #[error(transparent)]
    Recording(#[from] RecordingError),
    #[error(transparent)]
    Runs(#[from] TraceError),
    #[error("cannot write {}: {source}", path.display())]
    Save { path: PathBuf, source: io::Error },
    #[error("cannot write the result: {0}")]
    Print(#[from] io::Error),
    #[error(transparent)]
    Output(#[from] OutputError),
}

/// The largest `--repeats`: all runs are in memory.
const MOST_RUNS: u64 = 100_000;
/// The numbers of evaluations that figures are printed for.
const POINTS: [u64; 4] = [20, 50, 100, 200];

/// The results of one strategy.
struct Outlook<'a> {
    strategy: String,
    spaces: Vec<OnSpace<'a>>,
    /// How each run ended, and after how many evaluations, where stagnation is looked for.
    ends: Vec<(End, usize)>,
}

/// The results of one strategy on one space.
struct OnSpace<'a> {
    recording: &'a Recording,
    /// After each number of evaluations.
    figures: Vec<Figures>,
    /// The mean over runs, where the strategy predicts times.
    held_out_error: Option<f64>,
    /// What the strategy could not do in this space.
    limitation: Option<String>,
}

/// Replays, prints, writes files.
pub(crate) fn run(args: &SimulateArgs, stdout: &mut dyn Write) -> Result<Exit, SimulateError> {
    for (option, output) in [("--trace", &args.trace), ("--plot", &args.plot)] {
        let inputs = args.spaces.iter().chain(&args.warm_start);
        check_output(option, output.as_deref(), inputs.chain(&args.runs))?;
    }
    let (plot, trace) = (args.plot.as_deref(), args.trace.as_deref());
    check_distinct(("--plot", plot), ("--trace", trace))?;
    let recordings = args.spaces.iter().map(|path| read(path));
    let recordings = recordings.collect::<Result<Vec<_>, _>>()?;
    let others = args.warm_start.iter().map(|path| read(path));
    let others = others.collect::<Result<Vec<_>, _>>()?;
    let priors = |recording: &Recording| -> Result<Arc<[PriorResults]>, RecordingError> {
        let priors = others.iter().map(|other| recording.prior_results(other));
        Ok(priors.collect::<Result<Vec<_>, _>>()?.into())
    };
    let priors = recordings
        .iter()
        .map(priors)
        .collect::<Result<Vec<_>, _>>()?;
    if args.score_over_time {
        return over_time::run(args, &recordings, &priors, stdout);
    }
    let largest = recordings.iter().map(|recording| recording.space.count());
    let points = points(args.budget, largest.max().unwrap_or_default());
    let mut trace = Vec::new();
    let mut panels: Vec<Panel> = recordings.iter().map(panel).collect();
    let mut results: Vec<Outlook> = Vec::new();
    for strategy in &args.strategies {
        let mut outlook = Outlook {
            strategy: strategy.name(),
            spaces: Vec::new(),
            ends: Vec::new(),
        };
        if results
            .iter()
            .any(|known| known.strategy == outlook.strategy)
        {
            continue;
        }
        for ((recording, priors), panel) in recordings.iter().zip(&priors).zip(&mut panels) {
            let runs = replays(args, strategy, recording, priors, &mut outlook.ends);
            if args.trace.is_some() {
                write_trace(
                    &mut trace,
                    recording,
                    &outlook.strategy,
                    &runs,
                    Clock::Ignored,
                )?;
            }
            let curves = runs.iter().map(|run| BestSoFar::of(run, recording.best));
            let curves: Vec<BestSoFar> = curves.collect();
            let figures = points.iter().map(|point| figures(&curves, *point));
            outlook.spaces.push(OnSpace {
                recording,
                figures: figures.collect(),
                held_out_error: held_out_error(&runs),
                limitation: limitation(strategy, recording),
            });
            panel.series.push(Series {
                strategy: outlook.strategy.clone(),
                curves,
            });
        }
        results.push(outlook);
    }
    // Before files are written: a full disk must not cost the result.
    match args.format {
        Format::Text => print::text(args, &results, stdout)?,
        Format::Json => print::json(args, &results, stdout)?,
    }
    stdout.flush()?;
    if let Some(path) = &args.trace {
        save(path, &trace)?;
    }
    if let Some(path) = &args.plot {
        let plot = Plot { points, panels };
        save(path, plot.to_string().as_bytes())?;
    }
    Ok(Exit::Done)
}

/// The runs of a strategy on a space. Where stagnation is looked for they end there, and how is
/// added to `ends`.
fn replays(
    args: &SimulateArgs,
    strategy: &Chosen,
    recording: &Recording,
    priors: &Arc<[PriorResults]>,
    ends: &mut Vec<(End, usize)>,
) -> Vec<Run> {
    ready_threads();
    let mut runs: Vec<Run> = (0..args.repeats)
        .into_par_iter()
        .map(|repeat| {
            let seed = args.seed.wrapping_add(repeat);
            replay(recording, strategy, priors, args.budget, seed)
        })
        .collect();
    if let Some(confidence) = args.stop_when_stagnant {
        let end = |run: &mut Run| (run.stop_when_stagnant(confidence), run.evaluations.len());
        ends.extend(runs.iter_mut().map(end));
    }
    runs
}

/// The numbers of evaluations that figures are printed for: none beyond what the largest space has,
/// where all figures stay as they are.
fn points(budget: u64, configurations: u128) -> Vec<usize> {
    let last = u64::try_from(configurations).map_or(budget, |count| count.min(budget));
    let before = POINTS.iter().filter(|point| **point < last);
    before.chain([&last]).map(|point| *point as usize).collect()
}

/// The mean error of predictions over the runs that have one.
fn held_out_error(runs: &[Run]) -> Option<f64> {
    let errors: Vec<f64> = runs.iter().filter_map(|run| run.held_out_error).collect();
    (!errors.is_empty()).then(|| errors.iter().sum::<f64>() / errors.len() as f64)
}

/// What the strategy cannot do in a space, which no seed changes.
fn limitation(strategy: &Chosen, recording: &Recording) -> Option<String> {
    let setting = Setting::new(Arc::clone(&recording.space));
    Search::new(strategy, &setting).limitation()
}

/// Reads a recording, compressed where its name ends in `.gz`.
fn read(path: &Path) -> Result<Recording, SimulateError> {
    Ok(Recording::new(&exchange::read(path)?)?)
}

fn panel(recording: &Recording) -> Panel {
    Panel {
        space: recording.name.clone(),
        best: recording.best,
        configurations: recording.fractions(),
        series: Vec::new(),
    }
}

fn save(path: &Path, bytes: &[u8]) -> Result<(), SimulateError> {
    fs::write(path, bytes).map_err(|source| SimulateError::Save {
        path: path.to_owned(),
        source,
    })
}

#[cfg(test)]
mod tests {
    use super::points;

    #[test]
    fn figures_are_for_numbers_of_evaluations_that_the_space_has() {
        assert_eq!(points(200, 1000), [20, 50, 100, 200]);
        assert_eq!(points(300, 1000), [20, 50, 100, 200, 300]);
        assert_eq!(points(70, 1000), [20, 50, 70]);
        assert_eq!(points(200, 50), [20, 50]);
        assert_eq!(points(200, 4), [4]);
    }
}
