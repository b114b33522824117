//! A search's time, by what it was spent on: starting, measuring, waiting for builds, comparing.

use std::fmt;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

/// Runs while a search does.
#[derive(Debug)]
pub(crate) struct Stopwatch {
    begin: Instant,
    /// The begin of the first measurement.
    first: OnceLock<Duration>,
    /// Nanoseconds, of all devices together.
    measuring: AtomicU64,
    /// Nanoseconds, of all processes together.
    building: AtomicU64,
}

/// Where the time of a search went. Its parts but for `building` follow each other.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Spent {
    /// Starting workers and making the device ready, until the first configuration was measured.
    pub(crate) starting: Duration,
    /// Running, verifying and timing configurations; the mean of equal devices.
    pub(crate) measuring: Duration,
    /// The device waited for programs to be built.
    pub(crate) waiting: Duration,
    /// Timing the best again.
    pub(crate) comparing: Duration,
    /// Checking the winner under a simulator.
    pub(crate) simulating: Duration,
    /// Building ahead: the sum of all processes, most of it while others measured.
    pub(crate) building: Duration,
}

impl Spent {
    /// The time from the begin of the search to its end.
    pub(crate) fn total(&self) -> Duration {
        self.starting + self.measuring + self.waiting + self.comparing + self.simulating
    }
}

/// `6.0 s: 1.1 starting, 1.9 measuring, 2.4 waiting for builds (37.1 in all processes), 0.6
/// comparing`.
impl fmt::Display for Spent {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let seconds = |of: Duration| of.as_secs_f64();
        write!(
            f,
            "{:.1} s: {:.1} starting, {:.1} measuring, {:.1} waiting for builds",
            seconds(self.total()),
            seconds(self.starting),
            seconds(self.measuring),
            seconds(self.waiting),
        )?;
        if self.building > Duration::ZERO {
            write!(f, " ({:.1} in all processes)", seconds(self.building))?;
        }
        write!(f, ", {:.1} comparing the best", seconds(self.comparing))?;
        if self.simulating > Duration::ZERO {
            write!(f, ", {:.1} under Oclgrind", seconds(self.simulating))?;
        }
        Ok(())
    }
}

impl Stopwatch {
    /// Of a search that begins now.
    pub(crate) fn start() -> Self {
        Self {
            begin: Instant::now(),
            first: OnceLock::new(),
            measuring: AtomicU64::new(0),
            building: AtomicU64::new(0),
        }
    }

    /// A configuration is measured.
    pub(super) fn measure<T>(&self, act: impl FnOnce() -> T) -> T {
        self.first.get_or_init(|| self.begin.elapsed());
        timed(&self.measuring, act)
    }

    /// A configuration is built ahead.
    pub(super) fn build<T>(&self, act: impl FnOnce() -> T) -> T {
        timed(&self.building, act)
    }

    /// So far, of a search on so many equal devices, which began to compare the best after
    /// `searched`, and has since been `simulating`.
    pub(crate) fn spent(&self, devices: usize, searched: Duration, simulating: Duration) -> Spent {
        let starting = self.first.get().copied().unwrap_or(searched);
        let devices = u32::try_from(devices.max(1)).unwrap_or(u32::MAX);
        let measuring = duration(&self.measuring) / devices;
        Spent {
            starting,
            measuring,
            waiting: searched.saturating_sub(starting + measuring),
            comparing: self.begin.elapsed().saturating_sub(searched + simulating),
            simulating,
            building: duration(&self.building),
        }
    }

    /// When the search began.
    pub(crate) fn begin(&self) -> Instant {
        self.begin
    }

    /// Since then.
    pub(crate) fn elapsed(&self) -> Duration {
        self.begin.elapsed()
    }
}

/// Adds what `act` takes.
fn timed<T>(total: &AtomicU64, act: impl FnOnce() -> T) -> T {
    let begin = Instant::now();
    let result = act();
    let took = u64::try_from(begin.elapsed().as_nanos()).unwrap_or(u64::MAX);
    total.fetch_add(took, Ordering::Relaxed);
    result
}

fn duration(nanoseconds: &AtomicU64) -> Duration {
    Duration::from_nanos(nanoseconds.load(Ordering::Relaxed))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_parts_follow_each_other_and_add_up() {
        let watch = Stopwatch::start();
        watch.build(|| ());
        watch.measure(|| ());
        for (counter, seconds) in [(&watch.measuring, 6), (&watch.building, 40)] {
            counter.store(
                Duration::from_secs(seconds).as_nanos() as u64,
                Ordering::Relaxed,
            );
        }
        let searched = Duration::from_secs(5);
        let spent = watch.spent(2, searched, Duration::ZERO);
        assert!(spent.starting <= watch.elapsed());
        assert_eq!(spent.measuring, Duration::from_secs(3), "of two devices");
        assert_eq!(spent.building, Duration::from_secs(40));
        assert_eq!(spent.starting + spent.measuring + spent.waiting, searched);
    }

    #[test]
    fn a_search_that_measured_nothing_was_starting_all_the_time() {
        let searched = Duration::from_secs(3);
        let spent = Stopwatch::start().spent(1, searched, Duration::ZERO);
        assert_eq!((spent.starting, spent.waiting), (searched, Duration::ZERO));
    }
}
