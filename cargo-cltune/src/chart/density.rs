//! Kernel density estimates of fractions.

use crate::statistics::{moments, percentile};

/// Of more values than this, as many quantiles stand for them: their density looks the same.
const MOST_VALUES: usize = 4096;
/// How far from the outermost values the estimate ends, in bandwidths.
const TAIL: f64 = 2.5;

/// How dense values are.
#[derive(Debug)]
pub(crate) struct Density {
    /// From the lowest value to the highest: a value, and the density there over the greatest one.
    pub(crate) levels: Vec<(f64, f64)>,
}

impl Density {
    /// The density of values from 0 to 1, the lowest first, by Gaussian kernels of two fifths of
    /// Silverman's bandwidth (Density Estimation, 1986, equation 3.31), which is meant for one heap
    /// where searches end in several; or of `least` where that is more: values that are all the
    /// same have a width, too.
    pub(crate) fn of(sorted: &[f64], least: f64) -> Self {
        let values: Vec<f64> = if sorted.len() > MOST_VALUES {
            let parts = (0..MOST_VALUES).map(|number| (number as f64 + 0.5) / MOST_VALUES as f64);
            parts.map(|part| percentile(sorted, part)).collect()
        } else {
            sorted.to_vec()
        };
        let (Some(first), Some(last)) = (values.first(), values.last()) else {
            return Self { levels: Vec::new() };
        };
        let bandwidth = bandwidth(sorted).max(least);
        let low = (first - TAIL * bandwidth).max(0.0);
        let high = (last + TAIL * bandwidth).min(1.0);
        // Half a bandwidth is fine enough for a smooth outline.
        let intervals = ((high - low) / bandwidth * 2.0).ceil().clamp(8.0, 96.0) as u32;
        let levels = (0..=intervals).map(|number| {
            let level = low + (high - low) * f64::from(number) / f64::from(intervals);
            (level, mass(&values, level, bandwidth))
        });
        let mut levels: Vec<(f64, f64)> = levels.collect();
        let greatest = levels.iter().map(|(_, mass)| *mass).fold(0.0, f64::max);
        for (_, mass) in &mut levels {
            *mass /= greatest;
        }
        Self { levels }
    }
}

/// The kernels' sum at a level. No fraction is below 0 or above 1, so what a kernel has there is
/// reflected; otherwise the density would sink where most values are: at the optimum.
fn mass(values: &[f64], level: f64, bandwidth: f64) -> f64 {
    let kernel = |distance: f64| (-0.5 * (distance / bandwidth).powi(2)).exp();
    let kernels = values
        .iter()
        .map(|value| kernel(level - value) + kernel(level + value) + kernel(2.0 - level - value));
    kernels.sum()
}

fn bandwidth(sorted: &[f64]) -> f64 {
    let (_, deviation) = moments(sorted);
    let quartiles = (percentile(sorted, 0.75) - percentile(sorted, 0.25)) / 1.34;
    let spread = if quartiles > 0.0 {
        deviation.min(quartiles)
    } else {
        deviation
    };
    0.4 * 0.9 * spread * (sorted.len() as f64).powf(-0.2)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn peaks(density: &Density) -> Vec<f64> {
        let levels = &density.levels;
        let is_peak = |at: usize| {
            let higher = |other: Option<&(f64, f64)>| other.is_none_or(|o| o.1 < levels[at].1);
            higher(at.checked_sub(1).and_then(|below| levels.get(below)))
                && higher(levels.get(at + 1))
        };
        let peaks = (0..levels.len()).filter(|at| is_peak(*at));
        peaks.map(|at| levels[at].0).collect()
    }

    #[test]
    fn two_heaps_have_two_peaks() {
        let mut values: Vec<f64> = (0..50).map(|i| 0.3 + 0.001 * f64::from(i)).collect();
        values.extend((0..25).map(|i| 0.9 + 0.001 * f64::from(i)));
        let density = Density::of(&values, 0.02);
        let peaks = peaks(&density);
        assert_eq!(peaks.len(), 2, "{peaks:?}");
        // Levels are half a bandwidth apart, which is 0.02 here.
        assert!(
            (peaks[0] - 0.325).abs() < 0.025 && (peaks[1] - 0.912).abs() < 0.025,
            "{peaks:?}"
        );
        let greatest = density.levels.iter().map(|(_, width)| *width);
        assert_eq!(greatest.fold(0.0, f64::max), 1.0);
    }

    #[test]
    fn values_at_the_optimum_are_densest_there() {
        let density = Density::of(&[0.9, 1.0, 1.0, 1.0], 0.01);
        assert_eq!(density.levels.last(), Some(&(1.0, 1.0)));
    }

    #[test]
    fn one_value_is_a_narrow_heap_and_no_value_is_none() {
        let density = Density::of(&[0.5], 0.01);
        assert_eq!(peaks(&density).len(), 1);
        assert_eq!(density.levels.first().unwrap().0, 0.475);
        assert_eq!(density.levels.last().unwrap().0, 0.525);
        assert!(Density::of(&[], 0.01).levels.is_empty());
    }

    #[test]
    fn many_values_look_as_their_quantiles() {
        let few: Vec<f64> = (0..=4000).map(|i| f64::from(i) / 4000.0).collect();
        let many: Vec<f64> = (0..=40_000).map(|i| f64::from(i) / 40_000.0).collect();
        let (few, many) = (Density::of(&few, 0.1), Density::of(&many, 0.1));
        for (few, many) in few.levels.iter().zip(&many.levels) {
            assert!((few.1 - many.1).abs() < 0.01, "{few:?} {many:?}");
        }
    }
}
