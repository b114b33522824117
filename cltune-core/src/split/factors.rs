//! Factors from times, and the best time possible.

/// How large a part of the problem each device gets so that all need the same time, from the time
/// that each needs for the whole problem (equation 4 of the paper). The unit does not matter.
///
/// The factors are not negative and sum up to 1. A time that is not a positive finite number is
/// that of a device that cannot take part: its factor is 0, as are all when no device can.
pub fn factors(times: &[f64]) -> Vec<f64> {
    let speeds: Vec<f64> = times.iter().map(|time| speed(*time)).collect();
    // Relative to the fastest, so that the sum is finite for times of any magnitude.
    let fastest = speeds.iter().copied().fold(0.0, f64::max);
    if fastest == 0.0 {
        return vec![0.0; times.len()];
    }
    let sum: f64 = speeds.iter().map(|speed| speed / fastest).sum();
    let factor = |speed: f64| speed / fastest / sum;
    speeds.into_iter().map(factor).collect()
}

fn speed(time: f64) -> f64 {
    if time.is_finite() && time > 0.0 {
        (1.0 / time).min(f64::MAX)
    } else {
        0.0
    }
}

/// The time of all devices together without any overhead, from each device's factor and its time
/// for the whole problem: that of the last device to end (algorithm 1 of the paper).
pub fn theoretical_best(factors: &[f64], times: &[f64]) -> f64 {
    let shares = factors.iter().zip(times);
    shares
        // A device without a share may have no time either.
        .filter(|(factor, _)| **factor > 0.0)
        .map(|(factor, time)| factor * time)
        .fold(0.0, f64::max)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_of_a_third_of_the_time_gets_three_quarters() {
        let factors = factors(&[30.0, 10.0]);
        assert!((factors[0] - 0.25).abs() < 1e-12 && (factors[1] - 0.75).abs() < 1e-12);
        assert!((theoretical_best(&factors, &[30.0, 10.0]) - 7.5).abs() < 1e-9);
    }

    #[test]
    fn devices_without_a_time_get_nothing() {
        for missing in [0.0, -1.0, f64::INFINITY, f64::NAN] {
            assert_eq!(factors(&[missing, 10.0]), [0.0, 1.0], "{missing}");
            assert_eq!(factors(&[missing]), [0.0]);
            assert_eq!(theoretical_best(&[0.0, 1.0], &[missing, 10.0]), 10.0);
        }
        assert!(factors(&[]).is_empty());
    }

    #[test]
    fn times_of_any_magnitude_have_factors() {
        for times in [
            [f64::MIN_POSITIVE, f64::MAX],
            [5e-324, 5e-324],
            [1e308, 1e308],
        ] {
            let sum: f64 = factors(&times).iter().sum();
            assert!((sum - 1.0).abs() < 1e-12, "{times:?}: {sum}");
        }
    }
}
