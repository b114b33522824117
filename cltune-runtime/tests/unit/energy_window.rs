//! Repeating launches until a counter that advances now and then is precise enough.

use super::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// A clock that goes on when it is told to, nanoseconds.
#[derive(Clone, Debug, Default)]
struct Clock(Arc<AtomicU64>);

impl Clock {
    fn now(&self) -> Duration {
        Duration::from_nanos(self.0.load(Ordering::Relaxed))
    }

    fn pass(&self, time: Duration) {
        let nanoseconds = u64::try_from(time.as_nanos()).unwrap();
        self.0.fetch_add(nanoseconds, Ordering::Relaxed);
    }
}

/// The counter of a device that takes so many watts, which advances so often. Reading takes a
/// moment.
#[derive(Debug)]
struct Made {
    clock: Clock,
    every: Duration,
    watts: f64,
}

impl Counter for Made {
    fn joules(&mut self) -> Result<f64, EnergyError> {
        self.clock.pass(Duration::from_micros(10));
        let advances = self.clock.now().as_nanos() / self.every.as_nanos().max(1);
        Ok(advances as f64 * self.every.as_secs_f64() * self.watts)
    }

    fn resolution_j(&self) -> f64 {
        1e-3
    }
}

fn energy_of(every: Duration, launch: Duration, batch: u64, precision: f64) -> (Energy, Duration) {
    let clock = Clock::default();
    let mut counter = Made {
        clock: clock.clone(),
        every,
        watts: 200.0,
    };
    let mut watch = Watch {
        counter: &mut counter,
        period: every,
        clock: &|| clock.now(),
        source: "a made-up counter",
    };
    let energy = watch.energy(precision, || -> Result<u64, EnergyError> {
        clock.pass(launch * u32::try_from(batch).unwrap());
        Ok(batch)
    });
    (energy.unwrap(), clock.now())
}

#[test]
fn the_energy_is_within_its_uncertainty_whatever_the_launches_and_the_counter() {
    let micros = Duration::from_micros;
    // Counters of RAPL and of NVML; launches that are far shorter, about as long, and far longer.
    for every in [micros(976), micros(20_000), micros(100_000)] {
        for (launch, batch) in [
            (micros(5), 400),
            (micros(700), 3),
            (micros(2500), 1),
            (micros(61_000), 1),
            (micros(1_700_000), 1),
        ] {
            for precision in [0.02, 0.002] {
                let (energy, _) = energy_of(every, launch, batch, precision);
                assert!(energy.uncertainty <= precision, "{energy:?}");
                // The device also takes power while the counter is read.
                let read = micros(10).as_secs_f64() / batch as f64;
                let expected = 200.0 * (launch.as_secs_f64() + read);
                let error = (energy.joules - expected).abs() / expected;
                assert!(
                    error <= energy.uncertainty,
                    "{every:?} {launch:?}: {energy:?}, {expected} J"
                );
                assert!(energy.seconds > 0.0 && energy.launches >= batch);
            }
        }
    }
}

/// The integral of a power that is the average of the last second, on a device that took 100 W
/// until ten seconds have passed, and takes 300 W since.
#[derive(Debug)]
struct Averaged(Clock);

impl Counter for Averaged {
    fn joules(&mut self) -> Result<f64, EnergyError> {
        self.0.pass(Duration::from_micros(10));
        let since = self.0.now().as_secs_f64() - 10.0;
        let rising = since.clamp(0.0, 1.0);
        Ok(100.0 * (since + 10.0) + 200.0 * (rising * rising / 2.0 + (since - 1.0).max(0.0)))
    }

    fn resolution_j(&self) -> f64 {
        1e-3
    }

    fn least_period(&self) -> Duration {
        Duration::from_millis(100)
    }

    fn lag(&self) -> Duration {
        Duration::from_millis(1100)
    }
}

#[test]
fn what_a_device_did_before_is_no_part_of_a_power_that_is_an_average() {
    let clock = Clock::default();
    let mut counter = Averaged(clock.clone());
    let mut watch = Watch {
        counter: &mut counter,
        period: Duration::from_millis(100),
        clock: &|| clock.now(),
        source: "a made-up power",
    };
    let (watts, _) = watch
        .idle(Duration::from_secs(1), || {
            clock.pass(Duration::from_millis(1));
        })
        .unwrap();
    assert!((watts - 100.0).abs() < 1e-6, "{watts} W");
    clock.pass(Duration::from_secs(10).saturating_sub(clock.now()));
    let energy = watch.energy(0.02, || -> Result<u64, EnergyError> {
        clock.pass(Duration::from_millis(2));
        Ok(1)
    });
    let energy = energy.unwrap();
    let expected = 300.0 * 2.01e-3;
    let error = (energy.joules - expected).abs() / expected;
    assert!(error < 1e-6 && energy.uncertainty <= 0.02, "{energy:?}");
    // Its samples are so far apart that fewer of them tell less.
    assert!(energy.seconds > 0.1 / 0.02, "{energy:?}");
}

#[test]
fn readings_right_after_an_advance_need_less_time_than_others() {
    // Every 2 ms a reading: an advance of a slow counter is known to 2 ms, not to 100 ms.
    let (_, took) = energy_of(
        Duration::from_millis(100),
        Duration::from_micros(20),
        100,
        0.02,
    );
    assert!(took < Duration::from_millis(450), "{took:?}");
}

#[test]
fn a_counter_that_stands_still_is_an_error_and_no_energy() {
    let clock = Clock::default();
    let mut counter = Made {
        clock: clock.clone(),
        every: Duration::from_hours(1),
        watts: 1.0,
    };
    let mut watch = Watch {
        counter: &mut counter,
        period: Duration::from_millis(1),
        clock: &|| clock.now(),
        source: "a made-up counter",
    };
    let launched = watch.energy(0.02, || -> Result<u64, EnergyError> {
        clock.pass(Duration::from_millis(5));
        Ok(1)
    });
    let text = launched.unwrap_err().to_string();
    assert!(
        text.contains("a made-up counter does not advance"),
        "{text}"
    );
    let idle = watch.idle(Duration::from_secs(1), || {
        clock.pass(Duration::from_millis(1));
    });
    assert!(
        matches!(idle, Err(EnergyError::StandsStill { .. })),
        "{idle:?}"
    );
}

#[test]
fn idle_power_and_the_counters_period_are_found() {
    let clock = Clock::default();
    for every in [1, 25, 100].map(Duration::from_millis) {
        let mut counter = Made {
            clock: clock.clone(),
            every,
            watts: 71.0,
        };
        let mut watch = Watch {
            counter: &mut counter,
            period: Duration::ZERO,
            clock: &|| clock.now(),
            source: "a made-up counter",
        };
        let begin = clock.now();
        let wait = || clock.pass(Duration::from_micros(200));
        let (watts, period) = watch.idle(Duration::from_secs(1), wait).unwrap();
        assert!((watts - 71.0).abs() < 0.5, "{watts}");
        assert!(
            period >= every && period <= 3 * every,
            "{every:?}: {period:?}"
        );
        assert!(clock.now().saturating_sub(begin) >= Duration::from_secs(1));
    }
}

#[test]
fn a_launch_that_fails_ends_the_measurement() {
    let clock = Clock::default();
    let mut counter = Made {
        clock: clock.clone(),
        every: Duration::from_millis(1),
        watts: 1.0,
    };
    let mut watch = Watch {
        counter: &mut counter,
        period: Duration::from_millis(1),
        clock: &|| clock.now(),
        source: "a made-up counter",
    };
    let error = watch.energy(0.02, || Err(EnergyError::ColdCaches));
    assert!(matches!(error, Err(EnergyError::ColdCaches)));
}
