//! A rule for ending a search that no longer improves, from nothing but the scores so far.
//!
//! A search is stagnant when, with a stated confidence, a tenth more evaluations than were spent so
//! far would not bring an improvement of more than 1 %.
//!
//! # The rule
//! Among evaluations in random order, improvements of the best become rarer as 1 / n: on the scale
//! of the logarithm of n they are a Poisson process of rate 1, whatever the times' distribution
//! (Rényi, Théorie des éléments saillants d'une suite d'observations, 1962; Arnold, Balakrishnan &
//! Nagaraja, Records, 1998, chapter 2). Improvements of more than 1 % are rarer, and those of a
//! strategy that learns come at another rate, which is unknown: so the rate λ on the logarithmic
//! scale is estimated from how long there has been none. With the last at evaluation s and none
//! until n, that is for L = ln(n / s), a flat prior of λ gives it the density L·exp(-λL), and the
//! probability of none during the next l = ln(1.1) is
//!
//! ∫ L·exp(-λL) · exp(-λl) dλ = L / (L + l).
//!
//! That it reaches the confidence c is the same as n ≥ s · 1.1^(c / (1 - c)): 2.4 s for 0.9, 6.1 s
//! for 0.95, 22 s for 0.97. It is asked after every evaluation and the first yes counts, which no
//! probability for a fixed n covers; docs/strategies.md says how often it is wrong on recorded
//! spaces.

use super::strategy::Score;
use std::fmt;
use std::str::FromStr;

/// A longer search is asked about by this part of the evaluations so far.
pub const FURTHER: f64 = 0.1;
/// An improvement counts if the time was more than this many times as long.
pub const IMPROVEMENT: f64 = 1.01;
/// No search ends after fewer evaluations: the rule knows nothing of strategies that begin with
/// random configurations.
const LEAST: usize = 50;

/// How sure to be, from 0.5 to less than 1.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Confidence(f64);

impl Confidence {
    /// A confidence.
    ///
    /// # Errors
    /// [`ConfidenceError`] outside of its range.
    pub fn new(confidence: f64) -> Result<Self, ConfidenceError> {
        if (0.5..1.0).contains(&confidence) {
            Ok(Self(confidence))
        } else {
            Err(ConfidenceError)
        }
    }
}

impl Default for Confidence {
    /// 0.95.
    fn default() -> Self {
        Self(0.95)
    }
}

impl FromStr for Confidence {
    type Err = ConfidenceError;

    fn from_str(text: &str) -> Result<Self, ConfidenceError> {
        Self::new(text.parse().map_err(|_| ConfidenceError)?)
    }
}

impl fmt::Display for Confidence {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// Not a confidence.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
#[error("a confidence is a number from 0.5 to less than 1, for example 0.95")]
pub struct ConfidenceError;

/// Watches the scores of a search in the order in which its configurations were handed out.
#[derive(Clone, Debug)]
pub struct Stagnation {
    /// n / s from which a search is stagnant.
    ratio: f64,
    evaluated: usize,
    /// Improvements of the best: the evaluation's number from 1, and the time. Those that were
    /// overtaken by more than 1 % are dropped.
    improvements: Vec<(usize, f64)>,
}

impl Stagnation {
    /// Before the first score.
    pub fn new(Confidence(confidence): Confidence) -> Self {
        Self {
            ratio: (1.0 + FURTHER).powf(confidence / (1.0 - confidence)),
            evaluated: 0,
            improvements: Vec::new(),
        }
    }

    /// After these scores.
    pub fn of(confidence: Confidence, scores: impl IntoIterator<Item = Score>) -> Self {
        let mut stagnation = Self::new(confidence);
        for score in scores {
            stagnation.observe(score);
        }
        stagnation
    }

    /// The next score.
    pub fn observe(&mut self, score: Score) {
        self.evaluated += 1;
        let Some(time) = score.time() else { return };
        if self.improvements.last().is_some_and(|best| time >= best.1) {
            return;
        }
        self.improvements.push((self.evaluated, time));
        // Since the first of those that are left there was no improvement of more than 1 %.
        self.improvements
            .retain(|earlier| earlier.1 <= IMPROVEMENT * time);
    }

    /// Whether the search is stagnant. Never where everything failed: the first success would be an
    /// improvement beyond measure.
    pub fn is_reached(&self) -> bool {
        let Some((since, _)) = self.improvements.first() else {
            return false;
        };
        self.evaluated >= LEAST && self.evaluated as f64 >= self.ratio * *since as f64
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// After how many of these times a search is stagnant, of which the last is repeated for ever.
    fn stops_after(times: &[f64], confidence: f64) -> Option<usize> {
        let mut stagnation = Stagnation::new(Confidence::new(confidence).unwrap());
        let last = times.iter().skip(times.len() - 1).cycle();
        times
            .iter()
            .chain(last)
            .take(5000)
            .position(|time| {
                stagnation.observe(Score::of(Some(*time)));
                stagnation.is_reached()
            })
            .map(|at| at + 1)
    }

    #[test]
    fn it_waits_in_proportion_to_the_last_improvement() {
        // One per cent and a little is an improvement each time.
        let times: Vec<f64> = (0..100).map(|at| 1.011_f64.powi(-at)).collect();
        // 1.1^9 and 1.1^19, times 100.
        assert_eq!(stops_after(&times, 0.9), Some(236));
        assert_eq!(stops_after(&times, 0.95), Some(612));
        assert_eq!(stops_after(&times, 0.99), None);
    }

    #[test]
    fn it_never_ends_a_search_that_has_hardly_begun() {
        assert_eq!(stops_after(&[5.0], 0.95), Some(LEAST));
    }

    #[test]
    fn small_improvements_do_not_count_unless_they_add_up() {
        let mut times = vec![5.0; 100];
        times[9] = 4.0;
        times[59] = 3.98;
        assert_eq!(stops_after(&times[..60], 0.95), Some(62));
        // 4.0, 3.97, 3.94: more than 1 % below the first, less below the second.
        times[30] = 3.97;
        times[59] = 3.94;
        assert_eq!(stops_after(&times[..60], 0.95), Some(190));
    }

    #[test]
    fn failures_count_as_evaluations_but_never_end_a_search() {
        let confidence = Confidence::default();
        let failures = vec![Score::Failed; 1000];
        assert!(!Stagnation::of(confidence, failures.clone()).is_reached());
        let with_a_success = std::iter::once(Score::Time(1.0)).chain(failures);
        assert!(Stagnation::of(confidence, with_a_success).is_reached());
    }

    #[test]
    fn confidences_are_read() {
        assert_eq!("0.95".parse(), Ok(Confidence::default()));
        for wrong in ["", "1", "0.3", "95%", "NaN", "-1", "inf"] {
            let read: Result<Confidence, _> = wrong.parse();
            assert_eq!(read, Err(ConfidenceError), "{wrong}");
        }
    }
}
