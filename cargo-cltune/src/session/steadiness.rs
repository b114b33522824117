//! The steadiness of a device during a search: clocks fall when it gets hot, and others use it too.

use super::evaluation::Evaluation;
use std::time::{Duration, Instant};

/// How often the control configuration is measured: after this time, and after so many times what
/// measuring it takes, so that it costs 2 % at most.
const EVERY: (Duration, u32) = (Duration::from_secs(5), 50);
/// A ratio of the slowest to the fastest from which on a device was not steady.
const STEADY: f64 = 1.1;

/// The configuration that is measured now and then: the default, or the first that works.
pub(super) struct Control {
    default: Vec<i64>,
    codes: Option<Vec<i64>>,
    times_us: Vec<f64>,
    next: Instant,
}

/// Between which times the same configuration was measured.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Steadiness {
    /// Microseconds.
    pub(crate) fastest_us: f64,
    /// Microseconds.
    pub(crate) slowest_us: f64,
    /// The number of times.
    pub(crate) count: usize,
}

impl Steadiness {
    /// Whether differences are so small that they mean nothing.
    pub(crate) fn is_steady(&self) -> bool {
        self.slowest_us <= self.fastest_us * STEADY
    }
}

impl Control {
    pub(super) fn new(default: Vec<i64>) -> Self {
        Self {
            default,
            codes: None,
            times_us: Vec::new(),
            next: Instant::now() + EVERY.0,
        }
    }

    /// Takes a result in; the configuration to measure again, if it is time to.
    pub(super) fn due(&mut self, codes: &[i64], measured: &Evaluation) -> Option<Vec<i64>> {
        let time = measured.time_us();
        if let Some(time) = time
            && (self.codes.is_none() || codes == self.default)
        {
            self.codes = Some(codes.to_vec());
            self.times_us = vec![time];
        }
        self.codes.clone().filter(|_| Instant::now() >= self.next)
    }

    /// Takes in what it took this time.
    pub(super) fn note(&mut self, measured: &Evaluation, took: Duration) {
        self.times_us.extend(measured.time_us());
        self.next = Instant::now() + EVERY.0.max(took * EVERY.1);
    }

    /// `None` when it was measured once only.
    pub(super) fn steadiness(&self) -> Option<Steadiness> {
        (self.times_us.len() > 1).then(|| Steadiness {
            fastest_us: self.times_us.iter().copied().fold(f64::MAX, f64::min),
            slowest_us: self.times_us.iter().copied().fold(0.0, f64::max),
            count: self.times_us.len(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use cltune_runtime::tuning::{Measurement, Outcome};

    fn took(time_us: f64) -> Evaluation {
        Evaluation::Answered(Outcome::Ok(Measurement {
            time_us,
            samples_us: vec![time_us],
            stages: Vec::new(),
            build_seconds: 0.0,
            conversion_us: None,
            energy: None,
        }))
    }

    #[test]
    fn the_default_is_preferred_as_control_and_a_slow_device_is_noticed() {
        let mut control = Control::new(vec![1]);
        assert_eq!(control.due(&[2], &took(5.0)), None);
        assert_eq!(control.steadiness(), None);
        control.next = Instant::now();
        assert_eq!(control.due(&[3], &took(4.0)), Some(vec![2]));
        // The default comes later, and works.
        assert_eq!(control.due(&[1], &took(10.0)), Some(vec![1]));
        control.note(&took(10.5), Duration::ZERO);
        assert_eq!(control.due(&[3], &took(4.0)), None, "not again so soon");
        assert!(control.steadiness().unwrap().is_steady());
        control.note(&took(12.0), Duration::ZERO);
        let steadiness = control.steadiness().unwrap();
        assert!(!steadiness.is_steady());
        assert_eq!((steadiness.fastest_us, steadiness.count), (10.0, 3));
    }
}
