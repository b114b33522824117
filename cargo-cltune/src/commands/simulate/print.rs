//! The results of strategies, for people and for tools.

use super::{OnSpace, Outlook, SimulateArgs};
use crate::json;
use crate::replay::Figures;
use cltune_search::Confidence;
use cltune_search::recorded::End;
use std::io::{self, Write};

/// An object for each strategy, on a line of its own.
pub(super) fn json(
    args: &SimulateArgs,
    results: &[Outlook<'_>],
    stdout: &mut dyn Write,
) -> io::Result<()> {
    for outlook in results {
        let spaces = outlook.spaces.iter().map(|on| {
            serde_json::json!({
                "space": on.recording.name,
                "configurations": json::count(on.recording.space.count()),
                "best_ms": on.recording.best,
                "figures": on.figures,
                "held_out_error": on.held_out_error,
            })
        });
        let all = serde_json::json!({
            "strategy": outlook.strategy,
            "repeats": args.repeats,
            "seed": args.seed,
            "spaces": spaces.collect::<Vec<_>>(),
        });
        writeln!(stdout, "{all}")?;
    }
    Ok(())
}

/// A block for each strategy, with an empty line between two.
pub(super) fn text(
    args: &SimulateArgs,
    results: &[Outlook<'_>],
    stdout: &mut dyn Write,
) -> io::Result<()> {
    for (number, outlook) in results.iter().enumerate() {
        if number > 0 {
            writeln!(stdout)?;
        }
        block(args, &outlook.strategy, &outlook.spaces, stdout)?;
        if let Some(confidence) = args.stop_when_stagnant {
            print_ends(&outlook.ends, confidence, stdout)?;
        }
    }
    Ok(())
}

fn block(
    args: &SimulateArgs,
    strategy: &str,
    results: &[OnSpace<'_>],
    stdout: &mut dyn Write,
) -> io::Result<()> {
    writeln!(
        stdout,
        "{strategy}, {} runs; fraction of the optimum: mean (standard deviation), 10th percentile",
        args.repeats
    )?;
    let width = results.iter().map(|on| on.recording.name.len());
    let width = width.max().unwrap_or_default().max("mean".len());
    for on in results {
        line(stdout, &on.recording.name, width, &on.figures)?;
    }
    if let [first, _, ..] = results {
        // Over spaces: the plain mean of their figures, each space weighing the same.
        let mean = |of: &dyn Fn(&Figures) -> f64, at: usize| {
            results.iter().map(|on| of(&on.figures[at])).sum::<f64>() / results.len() as f64
        };
        let means: Vec<Figures> = (0..first.figures.len())
            .map(|at| Figures {
                evaluations: first.figures[at].evaluations,
                mean: mean(&|figures| figures.mean, at),
                deviation: mean(&|figures| figures.deviation, at),
                percentile10: mean(&|figures| figures.percentile10, at),
            })
            .collect();
        line(stdout, "mean", width, &means)?;
    }
    print_held_out_errors(results, stdout)
}

/// The errors of predictions, where the strategy makes any.
fn print_held_out_errors(results: &[OnSpace<'_>], stdout: &mut dyn Write) -> io::Result<()> {
    let errors = results.iter().filter_map(|on| {
        let percent = 100.0 * on.held_out_error?;
        Some(format!("{} {percent:.1} %", on.recording.name))
    });
    let errors: Vec<String> = errors.collect();
    if errors.is_empty() {
        return Ok(());
    }
    let errors = errors.join(", ");
    writeln!(
        stdout,
        "mean relative error of predicted times, held out: {errors}"
    )
}

/// The savings of stopping at stagnation, and how often it was wrong.
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
