//! The repeatability of a choice: what another comparison of the finalists would choose.
//!
//! The rounds in which they were timed are drawn again, with replacement (the bootstrap: B. Efron,
//! "Bootstrap methods: another look at the jackknife", 1979), and the choice is made from each
//! draw. All finalists get the same rounds, since whatever the machine does in a round meets all
//! alike. A draw has half as many rounds: another comparison differs from the truth as this one
//! does, so that the two differ from each other by twice the variance that draws of all rounds
//! have around this one.

use cltune_runtime::tuning::{median, median_interval};
use rand::{RngExt, SeedableRng};
use rand_pcg::Pcg64Mcg;
use serde::{Deserialize, Serialize};

/// How often the rounds are drawn.
const DRAWS: u32 = 1000;

/// What repeating the comparison of the finalists would change.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize, Serialize)]
pub(crate) struct Repeatability {
    /// Half the width of the interval that holds the choice's median with 95 % probability, as a
    /// part of its time.
    pub(crate) spread: f64,
    /// The share of repetitions that would choose another configuration.
    pub(crate) flip_rate: f64,
    /// The time (or what the objective wants least of) that the choices of repetitions take beyond
    /// that of this choice, on average and by all rounds, as a part of it. One that is faster
    /// counts as equal.
    pub(crate) regret: f64,
}

impl Repeatability {
    /// Of the choice `chosen` between finalists with these times of each round, microseconds.
    /// `choose` is given a time for each and says which it would choose. `None` where one has no
    /// times.
    pub(super) fn of(
        chosen: usize,
        samples_us: &[Vec<f64>],
        choose: impl Fn(&[f64]) -> Option<usize>,
    ) -> Option<Self> {
        let all_us = samples_us.iter().map(|samples| median(samples));
        let all_us = all_us.collect::<Option<Vec<f64>>>()?;
        let rounds = samples_us.iter().map(Vec::len).max()?.div_ceil(2);
        let time_us = all_us[chosen];
        let (low, high) = median_interval(&samples_us[chosen])?;
        let mut random = Pcg64Mcg::seed_from_u64(0);
        let (mut flips, mut beyond_us) = (0, 0.0);
        for _ in 0..DRAWS {
            let drawn: Vec<f64> = (0..rounds).map(|_| random.random()).collect();
            let again_us = samples_us.iter().map(|samples| of_draw(samples, &drawn));
            let again_us = again_us.collect::<Option<Vec<f64>>>()?;
            if let Some(other) = choose(&again_us).filter(|other| *other != chosen) {
                flips += 1;
                beyond_us += (all_us[other] - time_us).max(0.0);
            }
        }
        Some(Self {
            spread: (high - low) / 2.0 / time_us,
            flip_rate: f64::from(flips) / f64::from(DRAWS),
            regret: beyond_us / f64::from(DRAWS) / time_us,
        })
    }
}

/// The median of the samples that the numbers from 0 to 1 stand for, half as many as there are
/// samples.
fn of_draw(samples: &[f64], drawn: &[f64]) -> Option<f64> {
    let drawn = drawn.iter().take(samples.len().div_ceil(2));
    let drawn = drawn.map(|part| samples[(part * samples.len() as f64) as usize]);
    median(&drawn.collect::<Vec<f64>>())
}

#[cfg(test)]
#[path = "../../tests/unit/repeatability.rs"]
mod tests;
