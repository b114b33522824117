//! The fraction of the optimum over many runs.

use crate::statistics::{moments, percentile};
use cltune_search::recorded::BestSoFar;

/// The figures after a number of evaluations.
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
pub(crate) fn figures(curves: &[BestSoFar], evaluations: usize) -> Figures {
    let fractions = sorted(curves, evaluations);
    let (mean, deviation) = moments(&fractions);
    Figures {
        evaluations,
        mean,
        deviation,
        percentile10: percentile(&fractions, 0.1),
    }
}

/// The fractions of the runs after so many evaluations, the lowest first.
pub(super) fn sorted(curves: &[BestSoFar], evaluations: usize) -> Vec<f64> {
    let fractions = curves.iter().map(|curve| curve.after(evaluations));
    let mut fractions: Vec<f64> = fractions.collect();
    fractions.sort_by(f64::total_cmp);
    fractions
}

#[cfg(test)]
mod tests {
    use super::*;
    use cltune_search::recorded::Run;

    #[test]
    fn figures_are_over_runs() {
        let curves = [&[None, Some(4.0), Some(2.0)][..], &[Some(8.0)]].map(|times| {
            let evaluations = times.iter().map(|time| (Vec::new(), *time)).collect();
            BestSoFar::of(
                &Run {
                    seed: 0,
                    held_out_error: None,
                    strategy_ms: Vec::new(),
                    evaluations,
                },
                2.0,
            )
        });
        let after = |evaluations| figures(&curves, evaluations);
        assert_eq!(after(1).mean, 0.125);
        let three = after(3);
        assert_eq!(three.mean, 0.625);
        assert!((three.deviation - 0.375 * 2.0_f64.sqrt()).abs() < 1e-12);
        assert!((three.percentile10 - 0.325).abs() < 1e-12);
        assert_eq!(after(100).mean, 0.625);
    }
}
