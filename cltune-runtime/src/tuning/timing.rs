//! The number of launches that are timed of a configuration, and the median.

use std::time::Duration;

/// The median: of an even number of values the mean of the middle two. `None` for no values.
pub fn median(values: &[f64]) -> Option<f64> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    middle(&sorted)
}

fn middle(sorted: &[f64]) -> Option<f64> {
    let middle = sorted.len() / 2;
    match sorted.len() {
        0 => None,
        len if len % 2 == 1 => Some(sorted[middle]),
        _ => Some(f64::midpoint(sorted[middle - 1], sorted[middle])),
    }
}

/// Between which values the median lies, whatever the distribution: with a probability of 95 % or
/// more from six values on, of fewer between the least and the largest. `None` for no values.
///
/// The interval of order statistics (Conover 1999, section 3.2): the number of values below the
/// true median has a binomial distribution.
pub fn median_interval(values: &[f64]) -> Option<(f64, f64)> {
    let mut sorted = values.to_vec();
    sorted.sort_by(f64::total_cmp);
    let outside = outside(sorted.len());
    let (low, high) = (sorted.get(outside)?, sorted.iter().rev().nth(outside)?);
    Some((*low, *high))
}

/// The number of `n` sorted values on each side that are outside the interval: as many as at most
/// 2.5 % of all samples would have beyond the median.
fn outside(n: usize) -> usize {
    let mut probability = 0.5_f64.powi(i32::try_from(n).unwrap_or(i32::MAX));
    let mut below = probability;
    let mut count = 0;
    while below <= 0.025 && 2 * (count + 1) < n {
        count += 1;
        probability *= (n + 1 - count) as f64 / count as f64;
        below += probability;
    }
    // `below` has reached what is too much, or the middle: the last value added must stay inside.
    if below > 0.025 {
        count.saturating_sub(1)
    } else {
        count
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
    /// Repeating ends where the median's interval reaches so far to both sides, a part of it.
    pub(super) precision: f64,
}

impl Repeats {
    /// Whether another sample is worth its time. `passed` is the time since the first one, where
    /// what is done between samples takes long: then that counts, and not the samples alone.
    pub(super) fn more(
        &self,
        samples_us: &[f64],
        best_us: Option<f64>,
        passed: Option<Duration>,
    ) -> bool {
        if let (Some(first), Some(best)) = (samples_us.first(), best_us)
            && *first > best * self.hopeless
        {
            return false;
        }
        if samples_us.len() < self.least {
            return true;
        }
        let spent: f64 = samples_us.iter().sum();
        let many = samples_us.len() >= self.most;
        let is_over = passed.is_some_and(|passed| passed >= self.time);
        if many || is_over || spent >= self.time.as_secs_f64() * 1e6 {
            return false;
        }
        let Some(((low, high), median)) = median_interval(samples_us).zip(median(samples_us))
        else {
            return true;
        };
        if best_us.is_some_and(|best| low > best * SLOWER) {
            return false;
        }
        samples_us.len() < CERTAIN || (high - low) / 2.0 > median * self.precision
    }
}

/// A configuration surely slower than the best by this factor needs no better precision: it will
/// not be among the finalists.
const SLOWER: f64 = 1.1;
/// From so many samples on the interval has its 95 %.
const CERTAIN: usize = 6;

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
    fn the_interval_has_the_known_order_statistics() {
        // From tables of the sign test: the numbers of values to leave out on each side at 95 %.
        for (n, expected) in [
            (1, 0),
            (3, 0),
            (5, 0),
            (6, 0),
            (8, 0),
            (9, 1),
            (12, 2),
            (20, 5),
            (30, 9),
            (50, 17),
        ] {
            assert_eq!(outside(n), expected, "{n}");
        }
        assert_eq!(median_interval(&[]), None);
        assert_eq!(median_interval(&[3.0, 1.0, 2.0]), Some((1.0, 3.0)));
        let values: Vec<f64> = (1..=12).map(f64::from).collect();
        assert_eq!(median_interval(&values), Some((3.0, 10.0)));
    }

    const REPEATS: Repeats = Repeats {
        least: 3,
        most: 9,
        time: Duration::from_millis(1),
        hopeless: 3.0,
        precision: 0.01,
    };

    #[test]
    fn slow_configurations_are_not_repeated_and_quick_ones_up_to_a_cap() {
        assert!(!REPEATS.more(&[301.0], Some(100.0), None));
        assert!(REPEATS.more(&[299.0], Some(100.0), None));
        assert!(REPEATS.more(&[299.0], None, None));
        assert!(
            !REPEATS.more(&[400.0, 300.0, 500.0], None, None),
            "the time is spent"
        );
        assert!(
            REPEATS.more(&[4000.0; 2], None, None),
            "too few samples for a median"
        );
        let noisy = [10.0, 11.0, 9.0, 10.0, 12.0, 9.0, 10.0, 11.0, 10.0];
        assert!(REPEATS.more(&noisy[..8], Some(10.0), None));
        assert!(!REPEATS.more(&noisy, Some(10.0), None), "the cap");
    }

    #[test]
    fn what_is_done_between_samples_counts_where_it_takes_long() {
        let noisy = [10.0, 11.0, 9.0, 10.0, 12.0, 9.0];
        let passed = |microseconds| Some(Duration::from_micros(microseconds));
        assert!(REPEATS.more(&noisy, Some(10.0), passed(999)));
        assert!(!REPEATS.more(&noisy, Some(10.0), passed(1000)));
        assert!(
            REPEATS.more(&noisy[..2], Some(10.0), passed(1000)),
            "too few samples for a median"
        );
    }

    #[test]
    fn repeating_ends_when_the_median_is_known_well_enough() {
        let steady = [10.0, 10.05, 9.95, 10.0, 10.1, 10.0];
        assert!(!REPEATS.more(&steady, Some(10.0), None));
        assert!(
            REPEATS.more(&steady[..5], Some(10.0), None),
            "too few to be certain"
        );
        assert!(REPEATS.more(&[10.0, 10.5, 9.5, 10.0, 10.1, 10.0], Some(10.0), None));
        // Noisy, but certainly slower than the best.
        assert!(!REPEATS.more(&[20.0, 25.0, 15.0], Some(10.0), None));
    }
}
