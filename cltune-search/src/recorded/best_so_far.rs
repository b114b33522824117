//! The best-so-far curve of a run: how near to the optimum it is after each evaluation.

use super::run::Run;

/// The fraction of the optimum after each evaluation: the best time of the space over the best time
/// found so far, from 0 to 1; 0 while nothing has succeeded. It never falls.
#[derive(Clone, Debug, PartialEq)]
pub struct BestSoFar(Vec<f64>);

impl BestSoFar {
    /// The curve of a run on a space with this best time, in milliseconds.
    pub fn of(run: &Run, best: f64) -> Self {
        let mut found = f64::INFINITY;
        let fractions = run.evaluations.iter().map(|(_, time)| {
            found = time.map_or(found, |time| found.min(time));
            // Over infinity, so while nothing has succeeded, this is 0.
            best / found
        });
        Self(fractions.collect())
    }

    /// How many evaluations the run made.
    pub fn evaluations(&self) -> usize {
        self.0.len()
    }

    /// The fraction after `count` evaluations; of a run that ended before, the last one.
    pub fn after(&self, count: usize) -> f64 {
        let last = count.min(self.0.len());
        last.checked_sub(1).map_or(0.0, |last| self.0[last])
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_course_never_falls_and_goes_on_after_the_end() {
        let times = [None, Some(4.0), Some(8.0), None, Some(2.0)];
        let run = Run {
            held_out_error: None,
            strategy_ms: Vec::new(),
            seed: 0,
            evaluations: times.iter().map(|time| (Vec::new(), *time)).collect(),
        };
        let curve = BestSoFar::of(&run, 2.0);
        assert_eq!(curve, BestSoFar(vec![0.0, 0.5, 0.5, 0.5, 1.0]));
        let after = [0, 1, 2, 5, 100].map(|count| curve.after(count));
        assert_eq!(after, [0.0, 0.0, 0.5, 1.0, 1.0]);
        assert_eq!(curve.evaluations(), 5);
    }
}
