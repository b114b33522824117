//! The energy of launches that are repeated, from a counter that advances now and then: so many of
//! them that the counter's error is small.
//!
//! A reading is as old as the counter's last advance. Where the reading before had another value,
//! that is at most the time between the two, and otherwise at most the time between two advances.
//! An interval of which both ends are at most so old is measured to that part of its length.
//! Readings that are averages of the past are taken once all that they average is what is measured.

use super::counter::Counter;
use super::error::EnergyError;
use serde::{Deserialize, Serialize};
use std::time::Duration;

/// For so long launches are repeated while the counter does not advance.
const PATIENCE: Duration = Duration::from_secs(10);

/// The energy of a launch.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Energy {
    /// Of one launch, joules: all that the device took meanwhile, its idle power included.
    pub joules: f64,
    /// The number of launches that it is the mean of.
    pub launches: u64,
    /// Their time together with what was done between them, seconds.
    pub seconds: f64,
    /// The largest error that the counter may have made, a part of the energy.
    pub uncertainty: f64,
}

/// A counter, and when it is read.
pub(super) struct Watch<'a> {
    pub(super) counter: &'a mut dyn Counter,
    /// The largest time between two advances of the counter.
    pub(super) period: Duration,
    /// The time since some moment.
    pub(super) clock: &'a dyn Fn() -> Duration,
    /// What is read, for messages.
    pub(super) source: &'a str,
}

/// A reading of a counter.
#[derive(Clone, Copy)]
struct Reading {
    begin: Duration,
    end: Duration,
    joules: f64,
    /// The begin of the last reading with another value.
    other: Option<Duration>,
}

impl Reading {
    /// The time from an earlier moment to its end.
    fn since(&self, moment: Duration) -> Duration {
        self.end.saturating_sub(moment)
    }

    /// How long the counter may have had this value.
    fn age(&self, period: Duration) -> Duration {
        let most = period + self.since(self.begin);
        self.other.map_or(most, |other| most.min(self.since(other)))
    }
}

impl Watch<'_> {
    fn read(&mut self, last: Option<&Reading>) -> Result<Reading, EnergyError> {
        let begin = (self.clock)();
        let joules = self.counter.joules()?;
        let other = match last {
            Some(last) if last.joules != joules => Some(last.begin),
            Some(last) => last.other,
            None => None,
        };
        Ok(Reading {
            begin,
            end: (self.clock)(),
            joules,
            other,
        })
    }

    /// Repeats launches until the counter's error is at most `precision`, a part of their energy.
    /// `step` launches some more, and returns how many have ended in it.
    ///
    /// # Errors
    /// The counter cannot be read, or does not advance; or launching fails.
    pub(super) fn energy<E: From<EnergyError>>(
        &mut self,
        precision: f64,
        mut step: impl FnMut() -> Result<u64, E>,
    ) -> Result<Energy, E> {
        let begin = self.first_advance(&mut step)?;
        let (mut last, mut launches) = (begin, 0);
        loop {
            launches += step()?;
            let before = last;
            last = self.read(Some(&before))?;
            let seconds = last.since(begin.end).as_secs_f64();
            let joules = last.joules - begin.joules;
            let advanced = last.other.unwrap_or(begin.begin);
            if last.joules == before.joules && last.since(advanced) > PATIENCE {
                return Err(self.stands_still(last.since(advanced).as_secs_f64()).into());
            }
            if joules > 0.0 && launches > 0 {
                let age = begin.age(self.period).max(last.age(self.period));
                // Advances that are more frequent than the counter's own tell nothing of its age.
                let age = age.max(self.counter.least_period());
                let of_time = age.as_secs_f64() / seconds;
                let uncertainty = of_time + self.counter.resolution_j() / joules;
                if uncertainty <= precision {
                    return Ok(Energy {
                        joules: joules / launches as f64,
                        launches,
                        seconds,
                        uncertainty,
                    });
                }
            }
        }
    }

    /// Launches until readings are of nothing else, and the counter has just advanced, or should
    /// have.
    fn first_advance<E: From<EnergyError>>(
        &mut self,
        step: &mut impl FnMut() -> Result<u64, E>,
    ) -> Result<Reading, E> {
        step()?;
        let of_these = (self.clock)() + self.counter.lag();
        while (self.clock)() < of_these {
            step()?;
        }
        let first = self.read(None)?;
        let mut last = first;
        while last.other.is_none() && last.since(first.end) <= self.period {
            step()?;
            last = self.read(Some(&last))?;
        }
        Ok(last)
    }

    /// The power, watts, and the time between two advances of the counter while `wait` waits for a
    /// moment, again and again for a `time` at least.
    ///
    /// # Errors
    /// The counter cannot be read, or does not advance.
    pub(super) fn idle(
        &mut self,
        time: Duration,
        mut wait: impl FnMut(),
    ) -> Result<(f64, Duration), EnergyError> {
        /// So many advances tell their interval.
        const ADVANCES: usize = 5;
        let idle = (self.clock)() + self.counter.lag();
        while (self.clock)() < idle {
            wait();
        }
        let begin = self.read(None)?;
        let mut last = begin;
        let mut advances: Vec<(Duration, f64)> = Vec::new();
        while last.since(begin.end) < time || advances.len() < ADVANCES {
            wait();
            let next = self.read(Some(&last))?;
            if next.joules != last.joules {
                advances.push((next.end, next.joules));
            }
            last = next;
            let passed = last.since(begin.end);
            if passed > PATIENCE && advances.len() < ADVANCES {
                return Err(self.stands_still(passed.as_secs_f64()));
            }
        }
        let [(from, from_j), .., (to, to_j)] = advances[..] else {
            return Err(self.stands_still(time.as_secs_f64()));
        };
        let mut intervals: Vec<Duration> = advances
            .windows(2)
            .map(|of| of[1].0.saturating_sub(of[0].0))
            .collect();
        intervals.sort();
        // Twice the median: advances are regular, and a reading may be late.
        let period = 2 * intervals[intervals.len() / 2];
        Ok((
            (to_j - from_j) / to.saturating_sub(from).as_secs_f64(),
            period.max(self.counter.least_period()),
        ))
    }

    fn stands_still(&self, seconds: f64) -> EnergyError {
        EnergyError::StandsStill {
            source_name: self.source.to_owned(),
            seconds,
        }
    }
}

#[cfg(test)]
#[path = "../../../tests/unit/energy_window.rs"]
mod tests;
