//! Choosing between configurations that are nearly alike.

use super::build::Built;
use super::measurer::Measurer;
use super::timing::{median, median_interval};
use serde::{Deserialize, Serialize};
use std::time::{Duration, Instant};

/// How long to compare, beyond the least number of rounds.
const TIME: Duration = Duration::from_secs(2);
/// The least and the most rounds.
const ROUNDS: (usize, usize) = (11, 101);

/// A configuration timed in turns with others.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Compared {
    /// The median time of one launch, microseconds.
    pub time_us: f64,
    /// Between which times the median is, with a probability of 95 %.
    pub interval_us: (f64, f64),
    /// How much local memory the kernel uses, bytes; 0 where the driver does not tell.
    pub local_mem: u64,
    /// The work-items of a work-group; 1 where the driver chooses.
    pub work_items: usize,
}

impl Measurer {
    /// Times several configurations in turns, so that whatever else the machine does meets all
    /// alike: 11 rounds, and more (up to 101, or 2 seconds) until the fastest is certain, or all are known to
    /// 0.2 %. `None` for
    /// one that failed. Each is verified on every draw first.
    pub fn compare(&mut self, configurations: &[Vec<i64>]) -> Vec<Option<Compared>> {
        self.compare_within(configurations, TIME)
    }

    /// As [`compare`](Self::compare), with another time than 2 seconds.
    pub(crate) fn compare_within(
        &mut self,
        configurations: &[Vec<i64>],
        time: Duration,
    ) -> Vec<Option<Compared>> {
        let built = configurations.iter().map(|codes| {
            let built = self.target().build(codes, None).ok()?;
            let mut rounds = 0..self.arguments.rounds();
            let right = rounds.all(|round| matches!(self.run_and_verify(&built, round), Ok(None)));
            right.then(|| (built, Vec::new()))
        });
        let mut contenders: Vec<Option<(Built, Vec<f64>)>> = built.collect();
        let begin = Instant::now();
        for round in 0..ROUNDS.1 {
            if round >= ROUNDS.0 && (begin.elapsed() > time || is_decided(&contenders)) {
                break;
            }
            for contender in &mut contenders {
                if let Some((built, samples)) = contender {
                    match self.sample(built, 0) {
                        Ok(sample) => samples.push(sample),
                        Err(_) => *contender = None,
                    }
                }
            }
        }
        let compared = contenders.iter().map(|contender| {
            let (built, samples) = contender.as_ref()?;
            Some(Compared {
                time_us: median(samples)?,
                interval_us: median_interval(samples)?,
                local_mem: built.kernel.needs(self.context.device().raw()).local_mem,
                work_items: built
                    .geometry
                    .local
                    .map_or(1, |local| local.iter().product()),
            })
        });
        compared.collect()
    }
}

/// What all are known to, at most, a part of the time.
const PRECISION: f64 = 0.002;

/// Whether one is faster than all others beyond doubt, or all are known well.
fn is_decided(contenders: &[Option<(Built, Vec<f64>)>]) -> bool {
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
