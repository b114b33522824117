//! `cargo cltune simulate`: strategies on recorded spaces.

use super::strategy_help::strategy_help;
use super::{Format, Outcome};
use crate::replay::{End, Figures, Recording, RecordingError, Run, figures, replay, write_trace};
use cltune_runtime::search::{Chosen, Confidence, Lesson, find};
use rayon::prelude::*;
use std::fs::File;
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;
use std::sync::Arc;

/// What to replay.
#[derive(clap::Args)]
pub(crate) struct SimulateArgs {
    /// Recorded spaces: CSV, or CSV.gz, with a column per parameter and `time_ms`
    #[arg(required = true, value_name = "SPACE.csv.gz")]
    spaces: Vec<PathBuf>,
    /// The strategy, `NAME` or `NAME:OPTION=VALUE,…`.
    #[arg(
        long,
        value_name = "NAME",
        default_value = cltune_runtime::search::DEFAULT,
        value_parser = find,
        long_help = strategy_help()
    )]
    strategy: Chosen,
    /// How many configurations each run evaluates.
    #[arg(long, default_value_t = 200, value_parser = clap::value_parser!(u64).range(1..))]
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
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u64).range(1..))]
    repeats: u64,
    /// The first run's seed; the others' follow.
    #[arg(long, default_value_t = 0)]
    seed: u64,
    /// Start from the same kernel's recording on another device; may be repeated
    #[arg(long, value_name = "OTHER.csv.gz")]
    warm_start: Vec<PathBuf>,
    /// Write every evaluation of every run, a JSON object per run and line.
    #[arg(long, value_name = "OUT.jsonl")]
    trace: Option<PathBuf>,
    /// What to print.
    #[arg(long, value_enum, default_value_t = Format::Text)]
    format: Format,
}

/// Why nothing was replayed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum SimulateError {
    #[error(transparent)]
    Recording(#[from] RecordingError),
    #[error("cannot write {}: {source}", path.display())]
    Trace { path: PathBuf, source: io::Error },
    #[error("cannot write the result: {0}")]
    Output(#[from] io::Error),
}

/// The numbers of evaluations that figures are printed for.
const POINTS: [u64; 4] = [20, 50, 100, 200];

/// Replays, prints.
pub(crate) fn run(args: &SimulateArgs, stdout: &mut dyn Write) -> Result<Outcome, SimulateError> {
    let recordings = args.spaces.iter().map(|path| Recording::read(path));
    let recordings = recordings.collect::<Result<Vec<_>, _>>()?;
    let others = args.warm_start.iter().map(|path| Recording::read(path));
    let others = others.collect::<Result<Vec<_>, _>>()?;
    let mut trace = args.trace.as_ref().map(|path| (path, Vec::new()));
    let mut results: Vec<(&Recording, Vec<Figures>)> = Vec::new();
    let mut ends: Vec<(End, usize)> = Vec::new();
    for recording in &recordings {
        let lessons = others.iter().map(|other| recording.lesson(other));
        let lessons: Arc<[Lesson]> = lessons.collect::<Result<Vec<_>, _>>()?.into();
        let mut runs: Vec<Run> = (0..args.repeats)
            .into_par_iter()
            .map(|repeat| {
                let seed = args.seed.wrapping_add(repeat);
                replay(recording, &args.strategy, &lessons, args.budget, seed)
            })
            .collect();
        if let Some(confidence) = args.stop_when_stagnant {
            let end = |run: &mut Run| (run.stop_when_stagnant(confidence), run.evaluations.len());
            ends.extend(runs.iter_mut().map(end));
        }
        if let Some((_, bytes)) = &mut trace {
            write_trace(bytes, recording, &args.strategy.name(), &runs)?;
        }
        let figures = POINTS
            .iter()
            .filter(|point| **point <= args.budget)
            .chain((!POINTS.contains(&args.budget)).then_some(&args.budget))
            .map(|point| figures(&runs, recording.best, *point as usize));
        let figures = figures.collect();
        results.push((recording, figures));
    }
    if let Some((path, bytes)) = trace {
        let save = || {
            let mut file = BufWriter::new(File::create(path)?);
            file.write_all(&bytes)?;
            file.flush()
        };
        save().map_err(|source| SimulateError::Trace {
            path: path.clone(),
            source,
        })?;
    }
    match args.format {
        Format::Text => {
            print(args, &results, stdout)?;
            if let Some(confidence) = args.stop_when_stagnant {
                print_ends(&ends, confidence, stdout)?;
            }
        }
        Format::Json => {
            let spaces = results.iter().map(|(recording, figures)| {
                serde_json::json!({
                    "space": recording.name,
                    "configurations": recording.space.count() as u64,
                    "best_ms": recording.best,
                    "figures": figures,
                })
            });
            let spaces: Vec<_> = spaces.collect();
            let strategy = args.strategy.name();
            let all = serde_json::json!({
                "strategy": strategy, "repeats": args.repeats, "seed": args.seed, "spaces": spaces,
            });
            writeln!(stdout, "{all}")?;
        }
    }
    Ok(Outcome::Done)
}

fn print(
    args: &SimulateArgs,
    results: &[(&Recording, Vec<Figures>)],
    stdout: &mut dyn Write,
) -> io::Result<()> {
    writeln!(
        stdout,
        "{}, {} runs; fraction of the optimum: mean (standard deviation), 10th percentile",
        args.strategy.name(),
        args.repeats
    )?;
    let width = results.iter().map(|(recording, _)| recording.name.len());
    let width = width.max().unwrap_or_default().max("mean".len());
    for (recording, figures) in results {
        line(stdout, &recording.name, width, figures)?;
    }
    if let [(_, first), _, ..] = results {
        // Over spaces: the plain mean of their figures, each space weighing the same.
        let mean = |of: &dyn Fn(&Figures) -> f64, at: usize| {
            results
                .iter()
                .map(|(_, figures)| of(&figures[at]))
                .sum::<f64>()
                / results.len() as f64
        };
        let means: Vec<Figures> = (0..first.len())
            .map(|at| Figures {
                evaluations: first[at].evaluations,
                mean: mean(&|figures| figures.mean, at),
                deviation: mean(&|figures| figures.deviation, at),
                percentile10: mean(&|figures| figures.percentile10, at),
            })
            .collect();
        line(stdout, "mean", width, &means)?;
    }
    Ok(())
}

/// What stopping at stagnation saved, and how often it was wrong.
fn print_ends(
    ends: &[(End, usize)],
    confidence: Confidence,
    stdout: &mut dyn Write,
) -> io::Result<()> {
    let count = |wanted: fn(&End) -> bool| ends.iter().filter(|(end, _)| wanted(end)).count();
    let spent: usize = ends.iter().map(|(_, evaluations)| evaluations).sum();
    writeln!(
        stdout,
        "stagnant with confidence {confidence}: {} of {} runs, {} of them wrongly; {:.0} evaluations \
         on average",
        count(|end| matches!(end, End::Stagnant { .. })),
        ends.len(),
        count(|end| matches!(end, End::Stagnant { wrongly: true })),
        spent as f64 / ends.len().max(1) as f64,
    )
}

fn line(to: &mut dyn Write, name: &str, width: usize, figures: &[Figures]) -> io::Result<()> {
    write!(to, "{name:width$}")?;
    for of in figures {
        write!(
            to,
            "   @{} {:.3} ({:.3}) {:.3}",
            of.evaluations, of.mean, of.deviation, of.percentile10
        )?;
    }
    writeln!(to)
}
