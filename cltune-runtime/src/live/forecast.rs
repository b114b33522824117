//! What the next build and the next check will cost the calls, before that is known.
//!
//! A step is only begun when its cost has been saved up, so that the very first is paid before it is made. What
//! is expected is half as much again as the last cost, or half of what was expected of that, whichever is
//! more: one that is cheap by chance does not make the next seem so.

use std::time::Duration;

/// The next may cost so many times what the last did.
const SAFETY: f64 = 1.5;
/// The first build costs the calls such a part of what building the default took. That may have loaded the
/// driver's compiler as well (0.4 s on an H200 whose disk was cold, for a kernel of 0.05 s). Calls were seen to
/// be late by a quarter of a build's time with NVIDIA's driver, by up to 0.6 of it with PoCL on two cores.
const WAITING: f64 = 0.6;
/// The first build costs so much at least. The default's may have been served from a cache of the driver,
/// so that it tells nothing; building a small kernel takes 35 ms (rusticl) to 270 ms (Intel's runtime)
/// where nothing is cached (BENCHMARKS.md, "First launch").
const FIRST_BUILD: Duration = Duration::from_millis(100);
/// The first check costs so much at least: copies are made, results are read.
const FIRST_CHECK: Duration = Duration::from_millis(1);
/// What the first check takes for each byte that the kernel writes: copying, reading and comparing.
const CHECK_BYTE: Duration = Duration::from_nanos(10);

/// Times are in microseconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Forecast {
    build_us: f64,
    check_us: f64,
}

impl Forecast {
    /// Of a first build and a first check.
    pub(super) fn new(build_us: f64, check_us: f64) -> Self {
        Self { build_us, check_us }
    }

    /// From how long it took to build the default, and how many bytes a check compares; `None`: nothing is
    /// checked.
    pub(super) fn of(default: Duration, compared: Option<usize>) -> Self {
        let build = default.mul_f64(WAITING).max(FIRST_BUILD);
        let check = compared.map_or(0.0, |bytes| {
            micros(FIRST_CHECK) + micros(CHECK_BYTE) * bytes as f64
        });
        Self::new(micros(build), check)
    }

    /// What the next build will cost at most. What is in that for safety is given up where it would be all
    /// that makes it cost more than `most_us`.
    pub(super) fn build_us(&self, most_us: f64) -> f64 {
        if self.build_us <= SAFETY * most_us {
            self.build_us.min(most_us)
        } else {
            self.build_us
        }
    }

    /// What the next check will cost at most, apart from its launches.
    pub(super) fn check_us(&self) -> f64 {
        self.check_us
    }

    /// A build has cost so much.
    pub(super) fn built(&mut self, cost_us: f64) {
        self.build_us = next(self.build_us, cost_us);
    }

    /// A check has cost so much, apart from its launches.
    pub(super) fn checked(&mut self, cost_us: f64) {
        self.check_us = next(self.check_us, cost_us);
    }
}

fn next(expected_us: f64, cost_us: f64) -> f64 {
    (SAFETY * cost_us).max(expected_us / 2.0)
}

fn micros(time: Duration) -> f64 {
    time.as_secs_f64() * 1e6
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_default_that_was_cached_tells_nothing() {
        let cached = Forecast::of(Duration::from_millis(2), None);
        assert_eq!((cached.build_us(1e9), cached.check_us()), (1e5, 0.0));
        let built = Forecast::of(Duration::from_millis(300), Some(1 << 20));
        assert_eq!(built.build_us(1e9), 1.8e5);
        assert!(built.check_us() > 1e4);
    }

    #[test]
    fn what_was_dear_stays_dear_for_a_while() {
        let mut forecast = Forecast::new(100.0, 8.0);
        forecast.built(10.0);
        forecast.checked(50.0);
        assert_eq!((forecast.build_us(1e9), forecast.check_us()), (50.0, 75.0));
        for _ in 0..10 {
            forecast.built(10.0);
        }
        assert_eq!(forecast.build_us(1e9), 15.0);
    }

    #[test]
    fn safety_is_given_up_before_the_build() {
        let forecast = Forecast::new(15.0, 0.0);
        for (most_us, expected_us) in [(20.0, 15.0), (12.0, 12.0), (10.0, 10.0), (9.9, 15.0)] {
            assert_eq!(forecast.build_us(most_us), expected_us);
        }
    }
}
