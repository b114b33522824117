//! One draw of hyper-parameters, with what it predicts for every configuration of the pool.

use super::super::generator::Generator;
use super::factor::Factor;
use super::model::{Evidence, Hyperparameters, Observed, between, walk};
use super::pool::Pool;
use super::whitened::{Whitened, exp};
use std::f64::consts::{PI, SQRT_2};

/// A draw of hyper-parameters.
pub(super) struct Particle {
    hyperparameters: Hyperparameters,
    generator: Generator,
    weights: Vec<f64>,
    factor: Factor,
    whitened: Whitened,
}

impl Particle {
    pub(super) fn new(dimensions: usize, priors: usize, mut generator: Generator) -> Self {
        let hyperparameters = Hyperparameters::draw(dimensions, priors, &mut generator);
        Self {
            weights: hyperparameters.weights(),
            hyperparameters,
            generator,
            factor: Factor::default(),
            whitened: Whitened::default(),
        }
    }

    /// Other hyper-parameters, after so many steps through their distribution.
    pub(super) fn walk(&mut self, observed: &Observed<'_>, steps: usize) {
        let generator = &mut self.generator;
        walk(&mut self.hyperparameters, observed, steps, generator);
        self.reset();
    }

    /// Starts anew, without prior results.
    pub(super) fn forget_lessons(&mut self, dimensions: usize) {
        self.hyperparameters = Hyperparameters::draw(dimensions, 0, &mut self.generator);
        self.reset();
    }

    /// Forgets what was computed for observations and pool.
    pub(super) fn reset(&mut self) {
        self.weights = self.hyperparameters.weights();
        self.truncate(0);
    }

    /// Forgets all observations from `len` on.
    pub(super) fn truncate(&mut self, len: usize) {
        self.factor.truncate(len);
        self.whitened.truncate(len);
    }

    /// Takes in the observations it does not know yet.
    pub(super) fn catch_up(&mut self, points: &[&[f64]], pool: &Pool) {
        while self.factor.len() < points.len() {
            let at = self.factor.len();
            let covariances = points[..at]
                .iter()
                .map(|other| between(points[at], other, &self.weights))
                .collect();
            let variance = self.hyperparameters.variance();
            if !self.factor.extend(covariances, variance) {
                // Two observations that are too alike for so little noise.
                self.hyperparameters = self.hyperparameters.clone().with_more_noise();
                self.reset();
            }
        }
        self.whitened
            .catch_up(points, &self.weights, &self.factor, pool, |squared| {
                let r = (5.0 * squared).sqrt();
                (1.0 + r + r * r / 3.0) * exp(-r)
            });
    }

    /// For each configuration of the pool the improvement to expect over `best` (Jones, Schonlau &
    /// Welch 1998, equation 15), where the values observed are those without what evenness gains:
    /// `even` for each factor of two.
    pub(super) fn improvements(
        &self,
        observed: &Observed<'_>,
        best: f64,
        even: f64,
        pool: &Pool,
    ) -> Vec<f64> {
        self.predict(observed, even, pool, |mean, deviation| {
            expected_improvement(best - mean, deviation)
        })
    }

    /// For each configuration of the pool the probability of a value below a threshold.
    pub(super) fn below(&self, observed: &Observed<'_>, threshold: f64, pool: &Pool) -> Vec<f64> {
        self.predict(observed, 0.0, pool, |mean, deviation| {
            normal_distribution((threshold - mean) / deviation)
        })
    }

    /// What a function makes of each prediction's mean and standard deviation. Points that it has
    /// caught up with beyond those observed are being measured: they count as average, so that
    /// nothing near them is chosen.
    fn predict(
        &self,
        observed: &Observed<'_>,
        even: f64,
        pool: &Pool,
        of: impl Fn(f64, f64) -> f64,
    ) -> Vec<f64> {
        let known = &self.hyperparameters;
        let mut residuals = known.residuals(observed.values, observed.prior);
        let average = residuals.iter().sum::<f64>() / residuals.len().max(1) as f64;
        residuals.resize(self.factor.len(), average);
        let evidence = Evidence::of(&self.factor, &residuals);
        let (level, even) = (evidence.mean as f32, even as f32);
        let evenness = pool.evenness().iter();
        let mut mean: Vec<f32> = evenness.map(|factors| level - even * factors).collect();
        for (transfer, prior) in known.transfers().iter().zip(pool.prior()) {
            let transfer = *transfer as f32;
            for (mean, prior) in mean.iter_mut().zip(prior) {
                *mean += transfer * prior;
            }
        }
        let mut variance = vec![1.0_f32; pool.len()];
        self.whitened
            .predict(&evidence.whitened, &mut mean, &mut variance);
        let deviation = |variance: f32| (evidence.amplitude * f64::from(variance.max(1e-9))).sqrt();
        mean.iter()
            .zip(&variance)
            .map(|(mean, variance)| of(f64::from(*mean), deviation(*variance)))
            .collect()
    }
}

/// The expected improvement of a normal variable that is better by `gain` on average.
pub(in crate::search) fn expected_improvement(gain: f64, deviation: f64) -> f64 {
    let z = gain / deviation;
    if z < -6.0 {
        // Beyond the precision of the formula; its order still matters.
        return 1e-12 * z.exp();
    }
    let density = (-0.5 * z * z).exp() / (2.0 * PI).sqrt();
    gain * normal_distribution(z) + deviation * density
}

/// The probability that a standard normal variable is below `z`.
fn normal_distribution(z: f64) -> f64 {
    0.5 * (1.0 + error_function(z / SQRT_2))
}

/// Abramowitz & Stegun 1964, formula 7.1.26; the error is below 1.5e-7.
fn error_function(x: f64) -> f64 {
    let t = 1.0 / (1.0 + 0.327_591_1 * x.abs());
    let coefficients = [
        0.254_829_592,
        -0.284_496_736,
        1.421_413_741,
        -1.453_152_027,
        1.061_405_429,
    ];
    let polynomial = coefficients.iter().rev().fold(0.0, |sum, c| (sum + c) * t);
    (1.0 - polynomial * (-x * x).exp()).copysign(x)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_error_function_has_its_known_values() {
        for (x, value) in [
            (0.0, 0.0),
            (0.5, 0.520_499_88),
            (1.0, 0.842_700_79),
            (3.0, 0.999_977_91),
        ] {
            assert!((error_function(x) - value).abs() < 2e-7, "{x}");
            assert!((error_function(-x) + value).abs() < 2e-7, "-{x}");
        }
    }

    #[test]
    fn improvement_is_expected_from_gain_and_from_uncertainty() {
        assert!((expected_improvement(1.0, 1e-6) - 1.0).abs() < 1e-6);
        assert!((expected_improvement(0.0, 1.0) - 0.398_942_28).abs() < 1e-6);
        assert!(expected_improvement(-1.0, 1.0) > expected_improvement(-2.0, 1.0));
        assert!(expected_improvement(-7.0, 1.0) > expected_improvement(-8.0, 1.0));
        assert!(expected_improvement(-1.0, 2.0) > expected_improvement(-1.0, 1.0));
    }
}
