//! Detection of kernels that skip work that an earlier launch has done.
//!
//! A kernel that looks first, and has nothing to do where an output holds the right results
//! already, would take no time in all launches but the first. The first timed launch of each
//! configuration therefore begins with empty (poisoned) outputs, and its result is verified.
//! Caches, which filling the outputs has displaced, or a hiccup may also make that launch longer
//! than the others. Before a kernel counts as one that skips work, launches with right and with
//! empty outputs are timed in turns, each after the same memory operation of the same size, so that
//! they differ in nothing else: on Intel's CPU runtime a fill leaves memory in other caches than a
//! copy, and a kernel that only stores takes twice as long after it.

use super::buffers::Round;
use super::build::{BuiltConfiguration, launch_failed};
use super::measurer::Measurer;
use super::outcome::{Outcome, SkipsWork};
use super::timing::median;
use crate::error::Result;

/// A launch takes longer than another where it takes this much longer,
const LONGER: f64 = 1.25;
/// and this much, microseconds: clocks of devices are not finer.
const TICKS_US: f64 = 2.0;
/// After so many turns the median of launches that find their work done is believed.
const FEW_TURNS: usize = 3;
/// So many turns are enough to reject a kernel: one that takes now one time, now another, for
/// whatever reason, has been fast once by then.
const TURNS: usize = 32;
/// So many are, where they have taken so long, microseconds: long launches differ less.
const LONG_TURNS: (usize, f64) = (20, 2e6);

/// The verdict of launches in turns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Verdict {
    /// It does its work.
    Works,
    /// It does not where it is done already.
    Skips,
    /// More turns will tell.
    Open,
}

impl Measurer {
    /// The time of a launch that begins with empty outputs, microseconds. Its results are verified:
    /// a kernel may be right in a first launch only.
    pub(super) fn first_sample(
        &self,
        built: &BuiltConfiguration,
        round: Round,
    ) -> Result<f64, Outcome> {
        let launched = self.arguments.empty_outputs(&self.queue, round);
        let sample = launched.and_then(|()| self.sample(built, round));
        let sample = sample.map_err(|error| launch_failed(&error))?;
        match self.arguments.verify(&self.queue, round) {
            Ok(None) => Ok(sample),
            Ok(Some(wrong)) => Err(Outcome::WrongResult(wrong)),
            Err(error) => Err(launch_failed(&error)),
        }
    }

    /// Whether a kernel whose first sample began with empty outputs, and the others with right
    /// ones, does its work in each.
    ///
    /// # Errors
    /// It does not, or fails.
    pub(super) fn check_work(
        &self,
        built: &BuiltConfiguration,
        round: Round,
        samples_us: &[f64],
    ) -> Result<(), Outcome> {
        let Some((first_us, others_us)) = samples_us.split_first() else {
            return Ok(());
        };
        let Some(usual_us) = usual(others_us) else {
            return Ok(());
        };
        if !is_longer(*first_us, usual_us) || !self.arguments.has_outputs() {
            return Ok(());
        }
        let (mut empty_us, mut done_us) = (vec![*first_us], Vec::new());
        for is_empty in [false, true].into_iter().cycle() {
            let sample = self.sample_of(built, round, is_empty);
            let sample = sample.map_err(|error| launch_failed(&error))?;
            if is_empty {
                empty_us.push(sample);
            } else {
                done_us.push(sample);
            }
            match verdict(&empty_us, &done_us, usual_us) {
                Verdict::Works => return Ok(()),
                Verdict::Open => {}
                Verdict::Skips => {
                    return Err(Outcome::SkipsWork(SkipsWork {
                        empty_us: median(&empty_us).unwrap_or(f64::NAN),
                        done_us: median(&done_us).unwrap_or(f64::NAN),
                    }));
                }
            }
        }
        Ok(())
    }

    /// The time of a launch whose outputs have just been emptied, or filled with the right results.
    fn sample_of(&self, built: &BuiltConfiguration, round: Round, is_empty: bool) -> Result<f64> {
        if is_empty {
            self.arguments.empty_outputs_as_filled(&self.queue, round)?;
        } else {
            self.arguments.fill_outputs(&self.queue, round)?;
        }
        let sample = self.sample(built, round)?;
        // Gaps between the launches of a group depend on what the driver did before.
        Ok(self.busy_us().unwrap_or(sample))
    }
}

fn is_longer(time_us: f64, other_us: f64) -> bool {
    time_us > other_us * LONGER + TICKS_US
}

/// The time that half of these do not exceed: of two the shorter, since one of few is easily
/// disturbed, and who skips work would pass for a kernel that takes as long each time.
fn usual(times_us: &[f64]) -> Option<f64> {
    let mut sorted = times_us.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted.into_iter().rev().nth(times_us.len() / 2)
}

/// The verdict of launches with empty and with right outputs, of which earlier ones mostly took
/// `usual_us`. Whatever disturbs a launch makes it longer, so the shortest say most: a launch with
/// empty outputs that is short shows at once that the kernel works, and one with right outputs
/// that is long may only have been disturbed, and says nothing before there are several.
fn verdict(empty_us: &[f64], done_us: &[f64], usual_us: f64) -> Verdict {
    let least = |times: &[f64]| times.iter().copied().fold(f64::INFINITY, f64::min);
    let turns = done_us.len();
    let done = if turns < FEW_TURNS {
        least(done_us).min(usual_us)
    } else {
        median(done_us).unwrap_or(f64::INFINITY)
    };
    if !is_longer(least(empty_us), done) {
        return Verdict::Works;
    }
    let spent: f64 = empty_us.iter().chain(done_us).sum();
    let (long_turns, long_us) = LONG_TURNS;
    if turns >= TURNS || (turns >= long_turns && spent >= long_us) {
        Verdict::Skips
    } else {
        Verdict::Open
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hiccup_costs_one_turn_or_a_few() {
        let verdict = |empty: &[f64], done: &[f64]| verdict(empty, done, 10.0);
        assert_eq!(verdict(&[10.0], &[10.1]), Verdict::Works);
        assert_eq!(verdict(&[13.0], &[9.0]), Verdict::Works, "within the ticks");
        assert_eq!(verdict(&[90.0], &[10.0]), Verdict::Open);
        assert_eq!(verdict(&[90.0, 11.0], &[10.0, 10.0]), Verdict::Works);
        // A launch that is faster than all others, for whatever reason.
        let done = [10.0, 4.0, 10.0];
        assert_eq!(verdict(&[90.0, 11.0], &done[..2]), Verdict::Open);
        assert_eq!(verdict(&[90.0, 11.0], &done), Verdict::Works);
        // A launch that found its work done, and was disturbed as long as work would take.
        assert_eq!(verdict(&[90.0], &[90.0]), Verdict::Open);
        assert_eq!(verdict(&[90.0, 90.0], &[90.0, 10.0]), Verdict::Open);
        assert_eq!(verdict(&[90.0; 3], &[90.0; 3]), Verdict::Works);
        assert_eq!(usual(&[]), None);
        assert_eq!(usual(&[9.0]), Some(9.0));
        assert_eq!(usual(&[9.0, 1.0]), Some(1.0));
        assert_eq!(usual(&[1.0, 9.0, 2.0]), Some(2.0));
        assert_eq!(usual(&[1.0, 9.0, 2.0, 3.0]), Some(2.0));
    }

    #[test]
    fn what_is_longer_each_time_is_blamed_sooner_where_it_takes_long() {
        let of =
            |empty: f64, done: f64, turns| verdict(&vec![empty; turns], &vec![done; turns], done);
        assert_eq!(of(1500.0, 6.5, 31), Verdict::Open);
        assert_eq!(of(1500.0, 6.5, 32), Verdict::Skips);
        assert_eq!(of(130.0, 100.0, 32), Verdict::Skips);
        assert_eq!(of(1e6, 10.0, 19), Verdict::Open);
        assert_eq!(of(1e6, 10.0, 20), Verdict::Skips);
        // Launches that find their work done and are disturbed now and then.
        let mut disturbed = vec![6.5; 32];
        for at in [1, 6, 7, 30] {
            disturbed[at] = 2000.0;
        }
        assert_eq!(verdict(&[1500.0; 32], &disturbed, 6.5), Verdict::Skips);
    }

    /// A random number of the two times that launches may take, whatever is in their outputs.
    #[test]
    fn who_takes_now_one_time_now_another_is_not_blamed() {
        use rand::{RngExt, SeedableRng};
        let mut random = rand_pcg::Pcg64Mcg::seed_from_u64(1);
        let mut turns = 0;
        for search in 0..20_000 {
            let often = f64::from(search % 9 + 1) / 10.0;
            let mut time = || {
                if random.random::<f64>() < often {
                    20e3
                } else {
                    100e3
                }
            };
            let (mut empty, mut done) = (vec![100e3], Vec::new());
            let verdict = loop {
                done.push(time());
                empty.push(time());
                match verdict(&empty, &done, 20e3) {
                    Verdict::Open => turns += 1,
                    other => break other,
                }
            };
            assert_eq!(verdict, Verdict::Works, "{often}");
        }
        assert!(turns < 60_000, "{turns} turns besides the first");
    }
}
