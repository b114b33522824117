//! Estimates for a configuration from prior results of another device or problem.
//!
//! A time's [`slowness`] here is modelled as a multiple of its slowness there, plus a process of
//! its own (Kennedy & O'Hagan 2000, equation 1, there for a fast and a slow version of a
//! simulation). Where the set has measured the configuration it says exactly that; elsewhere a
//! process learned from it does. The multiple is drawn along with the other hyper-parameters, so it
//! shrinks where devices disagree.

use super::super::generator::Generator;
use super::super::strategy::PriorResults;
use super::features::Features;
use super::model::{Evidence, Hyperparameters, Observed, between, factor, slowness, walk};
use std::collections::HashMap;

/// A set of fewer results has its best configurations to offer, and no model.
const FEWEST: usize = 20;
/// The most prior results that are modelled.
pub(super) const MOST_PRIORS: usize = 3;
/// How many results the process is learned from: of the fastest, and evenly from the rest.
const TRAINING: (usize, usize) = (100, 100);
/// The walk through the process's hyper-parameters.
const STEPS: usize = 60;

/// A model of prior results.
pub(super) struct PriorModel {
    /// The slowness, where it was measured.
    measured: HashMap<Vec<i64>, f64>,
    points: Vec<Vec<f64>>,
    weights: Vec<f64>,
    /// What each of the points adds to a prediction.
    coefficients: Vec<f64>,
    mean: f64,
}

impl PriorModel {
    /// Learns; `None` where there is too little. A failed configuration counts as slow as the part
    /// `slow` of those that succeeded.
    pub(super) fn of(
        prior: &PriorResults,
        slow: f64,
        features: &Features,
        generator: &mut Generator,
    ) -> Option<Self> {
        let timed = prior.by_time();
        if timed.len() < FEWEST {
            return None;
        }
        let best = timed[0].0;
        let failed = timed[((timed.len() - 1) as f64 * slow) as usize].0;
        let value = |time: Option<f64>| slowness(time.unwrap_or(failed), best);
        let results = prior.results.iter();
        let measured = results.map(|(codes, score)| (codes.clone(), value(score.time())));
        let (fast, rest) = timed.split_at(TRAINING.0.min(timed.len()));
        let every = rest.len().div_ceil(TRAINING.1).max(1);
        let training = || fast.iter().chain(rest.iter().step_by(every));
        let points: Vec<Vec<f64>> = training().map(|(_, codes)| features.point(codes)).collect();
        let values: Vec<f64> = training().map(|(time, _)| value(Some(*time))).collect();
        let rows: Vec<&[f64]> = points.iter().map(Vec::as_slice).collect();
        let mut hyperparameters = Hyperparameters::draw(features.dimensions(), 0, generator);
        let observed = Observed {
            points: &rows,
            values: &values,
            prior: &[],
        };
        walk(&mut hyperparameters, &observed, STEPS, generator);
        let factor = loop {
            match factor(&rows, &hyperparameters) {
                Some(factor) => break factor,
                None => hyperparameters = hyperparameters.with_more_noise(),
            }
        };
        let evidence = Evidence::of(&factor, &values);
        Some(Self {
            measured: measured.collect(),
            coefficients: factor.solve_transposed(evidence.whitened),
            weights: hyperparameters.weights(),
            mean: evidence.mean,
            points,
        })
    }

    /// The configuration's slowness there.
    pub(super) fn predict(&self, configuration: &[i64], point: &[f64]) -> f64 {
        if let Some(value) = self.measured.get(configuration) {
            return *value;
        }
        let terms = self.points.iter().zip(&self.coefficients);
        let terms = terms.map(|(other, factor)| factor * between(point, other, &self.weights));
        self.mean + terms.sum::<f64>()
    }
}

#[cfg(test)]
mod tests {
    use super::super::super::strategy::Score;
    use super::super::features::of_listed;
    use super::*;

    fn prior(count: i64) -> PriorResults {
        let results = (0..count).map(|x| {
            let time = (x != 7).then(|| ((x as f64 - 20.0) / 10.0).powi(2).exp());
            (vec![2 * x], Score::of(time))
        });
        PriorResults {
            results: results.collect(),
        }
    }

    #[test]
    fn what_was_measured_is_repeated_and_what_was_not_is_interpolated() {
        let codes: Vec<i64> = (0..100).collect();
        let features = of_listed(&[codes.as_slice()]);
        let prior = PriorModel::of(&prior(40), 0.7, &features, &mut Generator::new(0)).unwrap();
        let says = |code: i64| prior.predict(&[code], &features.point(&[code]));
        assert!(says(40).abs() < 1e-12 && (says(60) - 0.6).abs() < 1e-12);
        assert!((says(59) - 0.56).abs() < 0.03, "{}", says(59));
        // A failure is slow, and not forgotten.
        assert!(says(14) > 0.3, "{}", says(14));
    }

    #[test]
    fn a_handful_of_results_is_no_model() {
        let features = of_listed(&[&[1, 2]]);
        assert!(PriorModel::of(&prior(15), 0.7, &features, &mut Generator::new(0)).is_none());
    }
}
