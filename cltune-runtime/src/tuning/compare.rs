//! Comparison of configurations that are nearly alike, timed in turns.

use super::buffers::Round;
use super::build::{BuiltConfiguration, launch_failed};
use super::damage::unjudged;
use super::measurer::Measurer;
use super::options::Step;
use super::outcome::Outcome;
use super::timing::{median, median_interval};
use serde::{Deserialize, Serialize};
use std::time::{Duration, Instant};

/// The time to compare, beyond the least number of rounds.
const TIME: Duration = Duration::from_secs(2);
/// The least and the most rounds.
const ROUNDS: (usize, usize) = (11, 101);

/// A configuration timed in turns with others.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Compared {
    /// The median time of one launch, microseconds.
    pub time_us: f64,
    /// The time of each round, microseconds; in the same rounds as the others'.
    pub samples_us: Vec<f64>,
    /// The local memory that the kernel uses, bytes; 0 where the driver does not tell.
    pub local_mem: u64,
    /// The work-items of a work-group; 1 where the driver chooses.
    pub work_items: usize,
}

/// A configuration that is timed in turns, and its times so far; or why it is not any more.
type Contender = Result<(BuiltConfiguration, Vec<f64>), Outcome>;

impl Measurer {
    /// Times several configurations in turns, so that whatever else the machine does meets all
    /// alike: 11 rounds, and more (up to 101, or 2 seconds) until the fastest is certain, or all
    /// are known to 0.2 %. They are expected to have been [verified](Self::verify), which also has
    /// built them.
    ///
    /// For each its times, or why it failed: an outcome that is not [`Outcome::Ok`].
    pub fn compare(&mut self, configurations: &[Vec<i64>]) -> Vec<Result<Compared, Outcome>> {
        self.compare_within(configurations, TIME)
    }

    /// As [`compare`](Self::compare), with another time than 2 seconds.
    pub(crate) fn compare_within(
        &mut self,
        configurations: &[Vec<i64>],
        time: Duration,
    ) -> Vec<Result<Compared, Outcome>> {
        let built = configurations.iter();
        let built = built.map(|codes| Ok((self.take_built(codes, None)?, Vec::new())));
        let mut contenders: Vec<Contender> = built.collect();
        let (on, begin) = (Round::default(), Instant::now());
        for round in 0..ROUNDS.1 {
            if round >= ROUNDS.0 && (begin.elapsed() > time || is_decided(&contenders)) {
                break;
            }
            for contender in &mut contenders {
                if let Ok((built, samples)) = contender {
                    self.step(Step::Kernel);
                    let sample = if round == 0 {
                        let warm = self
                            .warm_up(built, on)
                            .map_err(|error| launch_failed(&error));
                        warm.and_then(|()| self.first_sample(built, on))
                    } else {
                        let sample = self.sample(built, on);
                        sample.map_err(|error| launch_failed(&error))
                    };
                    match sample {
                        Ok(sample) => samples.push(sample),
                        Err(outcome) => *contender = Err(outcome),
                    }
                }
            }
        }
        if let Some(touched) = self.touched_while_comparing(contenders.len()) {
            return vec![Err(touched); contenders.len()];
        }
        let contenders = configurations.iter().zip(contenders);
        let compared = contenders.map(|(codes, contender)| {
            let compared = contender.and_then(|(built, samples)| {
                self.check_work(&built, on, &samples)?;
                let compared = self.compared(&built, samples);
                self.keep_built(codes, built);
                Ok(compared)
            });
            compared.map_err(|outcome| self.of_configuration(codes, outcome))
        });
        compared.collect()
    }

    /// The outcome of all, where one of them has touched memory that none may touch. That one is
    /// not known, unless there is only one.
    fn touched_while_comparing(&self, contenders: usize) -> Option<Outcome> {
        match self.touched()? {
            Outcome::WrongResult(wrong) if contenders > 1 => Some(unjudged(&wrong)),
            touched => Some(touched),
        }
    }

    fn compared(&self, built: &BuiltConfiguration, samples_us: Vec<f64>) -> Compared {
        let device = self.context.device().raw();
        Compared {
            time_us: median(&samples_us).unwrap_or(f64::NAN),
            samples_us,
            local_mem: built.commands.local_mem(device),
            work_items: built.commands.work_items(),
        }
    }
}

/// The precision to which all are known at most, a part of the time.
const PRECISION: f64 = 0.002;

/// Whether one is faster than all others beyond doubt, or all are known well.
fn is_decided(contenders: &[Contender]) -> bool {
    let samples = contenders.iter().flatten().map(|(_, samples)| samples);
    let mut intervals: Vec<(f64, f64)> = samples.filter_map(|of| median_interval(of)).collect();
    if intervals
        .iter()
        .all(|(low, high)| high - low <= 2.0 * PRECISION * low)
    {
        return true;
    }
    intervals.sort_by(|a, b| a.1.total_cmp(&b.1));
    match intervals.as_slice() {
        [] => true,
        [fastest, others @ ..] => others.iter().all(|other| other.0 > fastest.1),
    }
}
