//! Violins: a density turned on its side and mirrored, with the mean as a circle and the standard
//! deviation as a rectangle, as in CLTune's figures 5 and 7 (Nugteren & Codreanu, 2015).

use super::axes::Scale;
use super::element::{Element, through};
use crate::statistics::{moments, percentile};

/// A density of values that are all the same is this high on both sides of them, pixels.
const LEAST_BANDWIDTH: f64 = 1.6;

/// The distribution of sorted fractions around `x`, at most `place` wide.
pub(crate) fn violin(x: f64, place: f64, fraction: Scale, sorted: &[f64]) -> Element {
    let half = (0.45 * place).min(26.0);
    let density = Density::of(sorted, fraction.per_pixels(LEAST_BANDWIDTH));
    let side = |sign: f64| {
        let levels = density.levels.iter();
        levels.map(move |(value, width)| (x + sign * half * width, fraction.at(*value)))
    };
    let outline = through(side(-1.0).chain(side(1.0).rev())) + "Z";
    let (mean, deviation) = moments(sorted);
    let top = fraction.at((mean + deviation).min(1.0));
    let bottom = fraction.at((mean - deviation).max(0.0));
    let thickness = (0.2 * place).clamp(2.5, 6.0);
    let spread = Element::new("rect").with("class", "spread").at([
        ("x", x - thickness / 2.0),
        ("y", top),
        ("width", thickness),
        ("height", bottom - top),
    ]);
    let radius = (0.14 * place).clamp(2.0, 4.0);
    let middle = [("cx", x), ("cy", fraction.at(mean)), ("r", radius)];
    Element::new("g")
        .child(
            Element::new("path")
                .with("class", "violin")
                .with("d", outline),
        )
        .child(spread)
        .child(Element::new("circle").with("class", "mean").at(middle))
}

/// Of more values than this, as many quantiles stand for them: their density looks the same.
const MOST_VALUES: usize = 4096;
/// The distance from the outermost values to the ends of the estimate, in bandwidths.
const TAIL: f64 = 2.5;

/// The density of values.
#[derive(Debug)]
struct Density {
    /// From the lowest value to the highest: a value, and the density there over the greatest one.
    levels: Vec<(f64, f64)>,
}

impl Density {
    /// The density of values from 0 to 1, the lowest first, by Gaussian kernels of two fifths of
    /// Silverman's bandwidth (Density Estimation, 1986, equation 3.31), which is meant for one heap
    /// where searches end in several; or of `least` where that is more: values that are all the
    /// same have a width, too.
    fn of(sorted: &[f64], least: f64) -> Self {
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
