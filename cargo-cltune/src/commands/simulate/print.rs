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
                "limitation": on.limitation,
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
        block(args.repeats, &outlook.strategy, &outlook.spaces, stdout)?;
        if let Some(confidence) = args.stop_when_stagnant {
            print_ends(&outlook.ends, confidence, stdout)?;
        }
    }
    Ok(())
}

fn block(
    repeats: u64,
    strategy: &str,
    results: &[OnSpace<'_>],
    stdout: &mut dyn Write,
) -> io::Result<()> {
    writeln!(
        stdout,
        "{strategy}, {repeats} runs; fraction of the optimum: mean (standard deviation), 10th percentile"
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
    for on in results {
        if let Some(limitation) = &on.limitation {
            writeln!(stdout, "{}: {limitation}", on.recording.name)?;
        }
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

#[cfg(test)]
mod tests {
    use super::super::read;
    use super::*;
    use cltune_search::recorded::Recording;

    /// A recording of so many configurations cannot be made here. What a strategy says of such a
    /// space is held by `cltune-search/tests/search.rs`.
    #[test]
    fn what_a_strategy_could_not_do_is_printed_beside_its_results() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("bowl.csv");
        std::fs::write(&path, "X,time_ms\n1,2\n2,1\n").unwrap();
        let recording: Recording = read(&path).unwrap();
        let outlook = |limitation: Option<&str>| Outlook {
            strategy: "ann:m=9".to_owned(),
            spaces: vec![OnSpace {
                recording: &recording,
                figures: Vec::new(),
                held_out_error: None,
                limitation: limitation.map(str::to_owned),
            }],
            ends: Vec::new(),
        };
        let text = |outlook: &Outlook<'_>| {
            let mut text = Vec::new();
            block(3, &outlook.strategy, &outlook.spaces, &mut text).unwrap();
            String::from_utf8(text).unwrap()
        };
        let limited = text(&outlook(Some("too many")));
        assert!(limited.ends_with("\nbowl: too many\n"), "{limited}");
        assert_eq!(
            limited.replace("bowl: too many\n", ""),
            text(&outlook(None))
        );
    }
}
