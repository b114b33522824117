//! The energy of a configuration's launches, back to back.

use super::super::buffers::Round;
use super::super::build::{BuiltConfiguration, launch_failed};
use super::super::measurer::Measurer;
use super::super::options::Step;
use super::super::outcome::Outcome;
use super::window::Watch;
use super::{Energy, EnergyError, Meter};
use crate::error::{Error, Result};
use crate::opencl::RawEvent;
use std::time::{Duration, Instant};

/// The counter's error is at most this part of a launch's energy.
const PRECISION: f64 = 0.02;
/// No interval is measured more precisely than this, to subtract it from another.
const BEST_PRECISION: f64 = 0.002;
/// Launches between two readings of the counter take about so long,
const BATCH: Duration = Duration::from_millis(2);
/// and as long as so many readings, so that the device has not done them before the next ones are
/// enqueued.
const READS: u32 = 3;
/// At most so many are enqueued at once.
const MOST: u64 = 2048;

/// A device that is measured, and how often its counter advances.
#[derive(Debug)]
pub(in super::super) struct Metering {
    pub(in super::super) meter: Meter,
    pub(in super::super) period: Duration,
}

impl Metering {
    /// How long reading the counter takes.
    fn reading(&mut self) -> Result<Duration, EnergyError> {
        let mut least = Duration::MAX;
        for _ in 0..3 {
            let begin = Instant::now();
            self.meter.counter.joules()?;
            least = least.min(begin.elapsed());
        }
        Ok(least)
    }
}

/// Why there is no energy.
enum Failure {
    Launch(Error),
    Energy(EnergyError),
}

impl From<Error> for Failure {
    fn from(error: Error) -> Self {
        Self::Launch(error)
    }
}

impl From<EnergyError> for Failure {
    fn from(error: EnergyError) -> Self {
        Self::Energy(error)
    }
}

impl Measurer {
    /// The energy of a launch that takes about `time_us`, where energy is measured.
    ///
    /// What restores the inputs that launches change takes energy as well: that is measured alone,
    /// and subtracted.
    ///
    /// # Errors
    /// A launch fails, or the counter does.
    pub(in super::super) fn energy(
        &mut self,
        built: &BuiltConfiguration,
        round: Round,
        time_us: f64,
    ) -> Result<Option<Energy>, Outcome> {
        let Some(mut metering) = self.metering.take() else {
            return Ok(None);
        };
        let energy = self.energy_by(&mut metering, built, round, time_us);
        self.metering = Some(metering);
        energy.map(Some).map_err(|failure| match failure {
            Failure::Launch(error) => launch_failed(&error),
            Failure::Energy(error) => Outcome::LaunchFailed {
                error: error.to_string(),
            },
        })
    }

    fn energy_by(
        &self,
        metering: &mut Metering,
        built: &BuiltConfiguration,
        round: Round,
        time_us: f64,
    ) -> Result<Energy, Failure> {
        let batch = BATCH.max(READS * metering.reading()?);
        let batch = batch.as_secs_f64() * 1e6 / time_us.max(1e-3);
        let batch = (batch as u64).clamp(1, MOST);
        if !self.arguments.has_read_write() {
            return self.launches(metering, built, round, batch, PRECISION);
        }
        let mut precision = PRECISION / 2.0;
        loop {
            let both = self.launches(metering, built, round, batch, precision)?;
            let restoring = self.restores(metering, round, batch, precision)?;
            let joules = both.joules - restoring.joules;
            let error_j = both.joules * both.uncertainty + restoring.joules * restoring.uncertainty;
            if joules > 0.0 && error_j <= PRECISION * joules {
                return Ok(Energy {
                    joules,
                    uncertainty: error_j / joules,
                    ..both
                });
            }
            if precision <= BEST_PRECISION {
                return Err(EnergyError::NotApart {
                    both_j: both.joules,
                    restoring_j: restoring.joules,
                }
                .into());
            }
            precision = (precision / 2.0).max(BEST_PRECISION);
        }
    }

    /// Launches back to back. The next ones are enqueued before the counter is read, so that the
    /// device does not wait for that.
    fn launches(
        &self,
        metering: &mut Metering,
        built: &BuiltConfiguration,
        round: Round,
        batch: u64,
        precision: f64,
    ) -> Result<Energy, Failure> {
        let enqueue = || -> Result<Option<RawEvent>> {
            let mut last = None;
            for _ in 0..batch {
                self.arguments.restore_read_write(&self.queue, round)?;
                let commands = &built.commands;
                let enqueued = self.arguments.enqueue(&self.queue, commands, round, None)?;
                last = Some(enqueued.last);
            }
            Ok(last)
        };
        self.arguments.make_scratch(&self.queue, &built.commands)?;
        let mut ahead = enqueue()?;
        let energy = self.watch(metering, precision, || {
            let next = enqueue()?;
            if let Some(last) = std::mem::replace(&mut ahead, next) {
                last.wait().map_err(Error::call("the kernel"))?;
            }
            Ok(batch)
        });
        self.queue.finish()?;
        energy
    }

    /// What puts inputs back between launches, alone.
    fn restores(
        &self,
        metering: &mut Metering,
        round: Round,
        batch: u64,
        precision: f64,
    ) -> Result<Energy, Failure> {
        self.watch(metering, precision, || {
            for _ in 0..batch {
                self.arguments.restore_read_write(&self.queue, round)?;
            }
            self.queue.finish()?;
            Ok(batch)
        })
    }

    fn watch(
        &self,
        metering: &mut Metering,
        precision: f64,
        mut step: impl FnMut() -> Result<u64, Failure>,
    ) -> Result<Energy, Failure> {
        let begin = Instant::now();
        let Metering { meter, period } = metering;
        Watch {
            counter: &mut *meter.counter,
            period: *period,
            clock: &|| begin.elapsed(),
            source: &meter.source,
        }
        .energy(precision, || {
            self.step(Step::Kernel);
            step()
        })
    }
}
