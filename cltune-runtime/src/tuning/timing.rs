//! How often a configuration is run, and what its time is.

use std::time::Duration;

/// The median: of an even number of values the mean of the middle two. `None` for no values.
pub fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => None,
        len if len % 2 == 1 => Some(sorted[middle]),
        _ => Some(f64::midpoint(sorted[middle - 1], sorted[middle])),
    }
}

/// When to stop repeating.
#[derive(Clone, Copy, Debug)]
pub(super) struct Repeats {
    /// At least so many samples, except of a clearly slower configuration.
    pub(super) least: usize,
    /// At most so many.
    pub(super) most: usize,
    /// No more samples than fit into this time, beyond the least.
    pub(super) time: Duration,
    /// A configuration whose first sample is slower than the best by more than this factor is
    /// not repeated.
    pub(super) hopeless: f64,
}

impl Repeats {
    /// Whether another sample is worth its time.
    pub(super) fn more(&self, samples_us: &[f64], best_us: Option<f64>) -> bool {
        if let (Some(first), Some(best)) = (samples_us.first(), best_us)
            && *first > best * self.hopeless
        {
            return false;
        }
        if samples_us.len() < self.least {
            return true;
        }
        let spent: f64 = samples_us.iter().sum();
        samples_us.len() < self.most && spent < self.time.as_secs_f64() * 1e6
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_median_is_the_middle() {
        assert_eq!(median(&[]), None);
        assert_eq!(median(&[3.0]), Some(3.0));
        assert_eq!(median(&[9.0, 1.0, 2.0]), Some(2.0));
        assert_eq!(median(&[4.0, 1.0, 2.0, 100.0]), Some(3.0));
    }

    #[test]
    fn slow_configurations_are_not_repeated_and_quick_ones_up_to_a_cap() {
        let repeats = Repeats {
            least: 3,
            most: 5,
            time: Duration::from_millis(1),
            hopeless: 3.0,
        };
        assert!(!repeats.more(&[301.0], Some(100.0)));
        assert!(repeats.more(&[299.0], Some(100.0)));
        assert!(repeats.more(&[299.0], None));
        assert!(repeats.more(&[10.0; 4], Some(10.0)));
        assert!(!repeats.more(&[10.0; 5], Some(10.0)));
        assert!(!repeats.more(&[400.0; 3], None), "the time is spent");
        assert!(
            repeats.more(&[4000.0; 2], None),
            "too few samples for a median"
        );
    }
}
