//! Whether a kernel does its work also where an earlier launch has done it.
//!
//! One that looks first, and has nothing to do where an output holds the right results already, would take no
//! time in all launches but the first. So the first timed launch of each configuration begins with empty
//! (poisoned) outputs, and its result is verified. Where it took longer than the others that may be the caches,
//! which filling the outputs has displaced, or a hiccup. Before a kernel is blamed, launches with empty and with
//! right outputs are timed in turns, after memory operations of the same sizes, so that they differ in
//! nothing else.

use super::build::{Built, launch_failed};
use super::measurer::Measurer;
use super::outcome::{Outcome, SkipsWork};
use super::timing::median;
use crate::error::Result;

/// A launch takes longer than another where it takes this much longer,
const LONGER: f64 = 1.25;
/// and this much, microseconds: clocks of devices are not finer.
const TICKS_US: f64 = 2.0;
/// A difference that nothing else makes.
const FAR_LONGER: f64 = 2.0;
/// The least number of turns before a kernel is blamed, and the most.
const TURNS: (usize, usize) = (3, 8);

/// What launches in turns say.
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
    /// The time of a launch that begins with empty outputs, microseconds. Its results are verified: a
    /// kernel may be right in a first launch only.
    pub(super) fn first_sample(&self, built: &Built, draw: usize) -> Result<f64, Outcome> {
        let launched = self.arguments.empty_outputs(&self.queue, draw);
        let sample = launched.and_then(|()| self.sample(built, draw));
        let sample = sample.map_err(|error| launch_failed(&error))?;
        match self.arguments.verify(&self.queue, draw) {
            Ok(None) => Ok(sample),
            Ok(Some(wrong)) => Err(Outcome::WrongResult(wrong)),
            Err(error) => Err(launch_failed(&error)),
        }
    }

    /// Whether a kernel whose first sample began with empty outputs, and the others with right ones, does its
    /// work in each.
    ///
    /// # Errors
    /// It does not, or fails.
    pub(super) fn check_work(
        &self,
        built: &Built,
        draw: usize,
        samples_us: &[f64],
    ) -> Result<(), Outcome> {
        let Some((first_us, others_us)) = samples_us.split_first() else {
            return Ok(());
        };
        let is_longer = median(others_us).is_some_and(|others_us| is_longer(*first_us, others_us));
        if !is_longer || !self.arguments.has_outputs() {
            return Ok(());
        }
        let (mut empty_us, mut done_us) = (Vec::new(), Vec::new());
        loop {
            for (samples, is_empty) in [(&mut empty_us, true), (&mut done_us, false)] {
                let sample = self.sample_of(built, draw, is_empty);
                samples.push(sample.map_err(|error| launch_failed(&error))?);
            }
            match verdict(&empty_us, &done_us) {
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
    }

    /// The time of a launch after the same memory operations, whether outputs are empty then or right.
    fn sample_of(&self, built: &Built, draw: usize, is_empty: bool) -> Result<f64> {
        let (arguments, queue) = (&self.arguments, &self.queue);
        if is_empty {
            arguments.fill_outputs(queue, draw)?;
            arguments.empty_outputs(queue, draw)?;
        } else {
            arguments.empty_outputs(queue, draw)?;
            arguments.fill_outputs(queue, draw)?;
        }
        self.sample(built, draw)
    }
}

fn is_longer(time_us: f64, other_us: f64) -> bool {
    time_us > other_us * LONGER + TICKS_US
}

/// What so many launches with empty and with right outputs say. Whatever disturbs a launch makes it longer, so
/// the shortest say most.
fn verdict(empty_us: &[f64], done_us: &[f64]) -> Verdict {
    let least = |times: &[f64]| times.iter().copied().fold(f64::INFINITY, f64::min);
    let most_done = done_us.iter().copied().fold(0.0, f64::max);
    let least_empty = least(empty_us);
    if !is_longer(least_empty, least(done_us)) {
        return Verdict::Works;
    }
    let turns = empty_us.len();
    if turns >= TURNS.0 && least_empty > most_done * FAR_LONGER + TICKS_US {
        return Verdict::Skips;
    }
    if turns < TURNS.1 {
        return Verdict::Open;
    }
    let usual_done = median(done_us).unwrap_or(f64::NAN);
    if is_longer(least_empty, usual_done) {
        Verdict::Skips
    } else {
        Verdict::Works
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_hiccup_costs_one_turn_or_a_few() {
        assert_eq!(verdict(&[10.0], &[10.1]), Verdict::Works);
        assert_eq!(verdict(&[13.0], &[9.0]), Verdict::Works, "within the ticks");
        assert_eq!(verdict(&[90.0], &[10.0]), Verdict::Open);
        assert_eq!(verdict(&[90.0, 11.0], &[10.0, 10.0]), Verdict::Works);
    }

    #[test]
    fn what_is_longer_each_time_is_blamed_sooner_the_more_it_is() {
        assert_eq!(verdict(&[1500.0; 2], &[6.5; 2]), Verdict::Open);
        assert_eq!(verdict(&[1500.0; 3], &[6.5; 3]), Verdict::Skips);
        assert_eq!(verdict(&[150.0; 7], &[100.0; 7]), Verdict::Open);
        assert_eq!(verdict(&[150.0; 8], &[100.0; 8]), Verdict::Skips);
        // Launches that find their work done and are disturbed now and then.
        let disturbed = [6.5, 900.0, 6.5];
        assert_eq!(verdict(&[1500.0; 3], &disturbed), Verdict::Open);
        let disturbed = [6.5, 900.0, 6.5, 7.0, 6.5, 6.4, 2000.0, 6.5];
        assert_eq!(verdict(&[1500.0; 8], &disturbed), Verdict::Skips);
    }

    #[test]
    fn in_doubt_it_does_its_work() {
        let noisy = [100.0, 180.0, 160.0, 170.0, 175.0, 190.0, 165.0, 180.0];
        assert_eq!(verdict(&[150.0; 8], &noisy), Verdict::Works);
    }
}
