//! The results of strategies, for people and for tools.

use super::{Outlook, SimulateArgs};
use crate::json;
use crate::replay::Figures;
use cltune_search::Confidence;
use cltune_search::recorded::{End, Recording};
use std::io::{self, Write};

/// An object for each strategy, on a line of its own.
pub(super) fn json(
    args: &SimulateArgs,
    results: &[Outlook<'_>],
    stdout: &mut dyn Write,
) -> io::Result<()> {
    for outlook in results {
        let spaces = outlook.spaces.iter().map(|(recording, figures)| {
            serde_json::json!({
                "space": recording.name,
                "configurations": json::count(recording.space.count()),
                "best_ms": recording.best,
                "figures": figures,
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
    results: &[(&Recording, Vec<Figures>)],
    stdout: &mut dyn Write,
) -> io::Result<()> {
    writeln!(
        stdout,
        "{strategy}, {} runs; fraction of the optimum: mean (standard deviation), 10th percentile",
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
