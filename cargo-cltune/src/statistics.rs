//! Statistics of many numbers: of replayed runs, and of configurations in reports.

/// The mean, and the standard deviation of the sample.
pub(crate) fn moments(values: &[f64]) -> (f64, f64) {
    let count = values.len().max(1) as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (mean, (squares / (count - 1.0).max(1.0)).sqrt())
}

/// A percentile of sorted values, between the two nearest where it falls between them.
pub(crate) fn percentile(sorted: &[f64], part: f64) -> f64 {
    let at = part * sorted.len().saturating_sub(1) as f64;
    let below = sorted.get(at as usize).copied().unwrap_or_default();
    let above = sorted.get(at as usize + 1).copied().unwrap_or(below);
    below + (above - below) * at.fract()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_interpolate() {
        assert_eq!(percentile(&[1.0, 2.0, 3.0], 0.5), 2.0);
        assert_eq!(percentile(&[1.0, 2.0], 0.25), 1.25);
        assert_eq!(percentile(&[], 0.1), 0.0);
    }
}
