//! The fraction of the optimum over many runs.

use super::run::Run;

/// What is said of a number of evaluations.
#[derive(Clone, Copy, Debug, PartialEq, serde::Serialize)]
pub(crate) struct Figures {
    pub(crate) evaluations: usize,
    /// The mean fraction of the optimum.
    pub(crate) mean: f64,
    /// Its standard deviation over the runs, of the sample.
    pub(crate) deviation: f64,
    /// Its 10th percentile, interpolated.
    pub(crate) percentile10: f64,
}

/// The figures after so many evaluations.
pub(crate) fn figures(runs: &[Run], best: f64, evaluations: usize) -> Figures {
    let mut fractions: Vec<f64> = runs
        .iter()
        .map(|run| run.fraction(best, evaluations))
        .collect();
    fractions.sort_by(f64::total_cmp);
    let count = fractions.len().max(1) as f64;
    let mean = fractions.iter().sum::<f64>() / count;
    let squares: f64 = fractions.iter().map(|f| (f - mean).powi(2)).sum();
    Figures {
        evaluations,
        mean,
        deviation: (squares / (count - 1.0).max(1.0)).sqrt(),
        percentile10: percentile(&fractions, 0.1),
    }
}

/// A percentile of sorted values, between the two nearest where it falls between them.
fn percentile(sorted: &[f64], part: f64) -> f64 {
    let at = part * sorted.len().saturating_sub(1) as f64;
    let below = sorted.get(at as usize).copied().unwrap_or_default();
    let above = sorted.get(at as usize + 1).copied().unwrap_or(below);
    below + (above - below) * at.fract()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(times: &[Option<f64>]) -> Run {
        let evaluations = times.iter().zip(0..);
        Run {
            seed: 0,
            evaluations: evaluations
                .map(|(time, code)| (vec![code], *time))
                .collect(),
        }
    }

    #[test]
    fn figures_count_failures_and_go_on_after_the_end() {
        let runs = [run(&[None, Some(4.0), Some(2.0)]), run(&[Some(8.0)])];
        let after = |evaluations| figures(&runs, 2.0, evaluations);
        assert_eq!(after(1).mean, 0.125);
        let three = after(3);
        assert_eq!(three.mean, 0.625);
        assert!((three.deviation - 0.375 * 2.0_f64.sqrt()).abs() < 1e-12);
        assert!((three.percentile10 - 0.325).abs() < 1e-12);
        assert_eq!(after(100).mean, 0.625);
    }

    #[test]
    fn percentiles_interpolate() {
        assert_eq!(percentile(&[1.0, 2.0, 3.0], 0.5), 2.0);
        assert_eq!(percentile(&[1.0, 2.0], 0.25), 1.25);
        assert_eq!(percentile(&[], 0.1), 0.0);
    }
}
