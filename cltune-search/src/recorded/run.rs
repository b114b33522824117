//! A run of a strategy on a recorded space, and where it stagnates.

use crate::search::{Confidence, FURTHER, IMPROVEMENT, Score, Stagnation};

/// The configurations a strategy tried, in order, with their times in milliseconds.
#[derive(Debug)]
pub struct Run {
    /// The seed of the search.
    pub seed: u64,
    /// What was tried.
    pub evaluations: Vec<(Vec<i64>, Option<f64>)>,
    /// For each evaluation how long the strategy took to propose it, and to learn from the one
    /// before, milliseconds of this machine.
    pub strategy_ms: Vec<f64>,
    /// The mean relative error of the strategy's predictions at the end, on results that they were
    /// not learned from, where it predicts times.
    pub held_out_error: Option<f64>,
}

/// Recordings are in milliseconds, scores in microseconds.
pub(super) fn score(time: Option<f64>) -> Score {
    Score::of(time.map(|time| time * 1e3))
}

/// Why a run ended where it did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// Nothing was left to evaluate.
    Complete,
    /// It was stagnant.
    Stagnant {
        /// Whether it was wrong to end it: as many more evaluations as the rule speaks of improve
        /// the best by more than it allows.
        wrongly: bool,
    },
}

impl Run {
    /// Drops what comes after it is stagnant.
    pub fn stop_when_stagnant(&mut self, confidence: Confidence) -> End {
        let mut stagnation = Stagnation::new(confidence);
        let stagnant = self.evaluations.iter().position(|(_, time)| {
            stagnation.observe(score(*time));
            stagnation.is_reached()
        });
        let Some(last) = stagnant else {
            return End::Complete;
        };
        let evaluations = last + 1;
        let best = |count: usize| {
            let times = self.evaluations.iter().take(count);
            times.filter_map(|(_, time)| *time).fold(f64::MAX, f64::min)
        };
        let further = (evaluations as f64 * FURTHER).ceil() as usize;
        let wrongly = best(evaluations) > IMPROVEMENT * best(evaluations + further);
        self.evaluations.truncate(evaluations);
        self.strategy_ms.truncate(evaluations);
        End::Stagnant { wrongly }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_run_ends_where_it_is_stagnant_and_it_is_told_whether_that_was_wrong() {
        let run = |improved_at: usize, count: usize| Run {
            seed: 0,
            strategy_ms: vec![0.0; count],
            held_out_error: None,
            evaluations: (0..count)
                .map(|at| {
                    (
                        vec![at as i64],
                        Some(if at < improved_at { 2.0 } else { 1.0 }),
                    )
                })
                .collect(),
        };
        let confidence = Confidence::default();
        for (improved_at, count, end, left) in [
            (49, 49, End::Complete, 49),
            (0, 1000, End::Stagnant { wrongly: false }, 50),
            (54, 1000, End::Stagnant { wrongly: true }, 50),
            (55, 1000, End::Stagnant { wrongly: false }, 50),
            (20, 100, End::Complete, 100),
            (20, 1000, End::Stagnant { wrongly: false }, 129),
        ] {
            let mut run = run(improved_at, count);
            assert_eq!(run.stop_when_stagnant(confidence), end);
            assert_eq!(run.evaluations.len(), left);
        }
    }
}
