//! The fraction of the optimum over many runs.

use super::course::Course;

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
pub(crate) fn figures(courses: &[Course], evaluations: usize) -> Figures {
    let fractions = sorted(courses, evaluations);
    let (mean, deviation) = moments(&fractions);
    Figures {
        evaluations,
        mean,
        deviation,
        percentile10: percentile(&fractions, 0.1),
    }
}

/// The fractions of the runs after so many evaluations, the lowest first.
pub(super) fn sorted(courses: &[Course], evaluations: usize) -> Vec<f64> {
    let fractions = courses.iter().map(|course| course.after(evaluations));
    let mut fractions: Vec<f64> = fractions.collect();
    fractions.sort_by(f64::total_cmp);
    fractions
}

/// The mean, and the standard deviation of the sample.
pub(super) fn moments(values: &[f64]) -> (f64, f64) {
    let count = values.len().max(1) as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (mean, (squares / (count - 1.0).max(1.0)).sqrt())
}

/// A percentile of sorted values, between the two nearest where it falls between them.
pub(super) fn percentile(sorted: &[f64], part: f64) -> f64 {
    let at = part * sorted.len().saturating_sub(1) as f64;
    let below = sorted.get(at as usize).copied().unwrap_or_default();
    let above = sorted.get(at as usize + 1).copied().unwrap_or(below);
    below + (above - below) * at.fract()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::replay::Run;

    #[test]
    fn figures_are_over_runs() {
        let courses = [&[None, Some(4.0), Some(2.0)][..], &[Some(8.0)]].map(|times| {
            let evaluations = times.iter().map(|time| (Vec::new(), *time)).collect();
            Course::of(
                &Run {
                    seed: 0,
                    evaluations,
                },
                2.0,
            )
        });
        let after = |evaluations| figures(&courses, evaluations);
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
