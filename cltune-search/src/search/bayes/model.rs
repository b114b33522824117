//! The Gaussian process: covariance, priors, and how well hyper-parameters explain what was seen.
//!
//! The covariance is Matérn's with smoothness 5/2 and a length scale for each coordinate (Rasmussen
//! & Williams 2006, equation 4.17, with automatic relevance determination, section 5.1). Mean and
//! amplitude are not hyper-parameters: for given length scales and noise the best ones have a
//! closed form (generalised least squares, and the profile of the likelihood).
//!
//! What prior results say (`transfer`) enters as a multiple, another hyper-parameter for each set
//! of prior results.

use super::super::generator::Generator;
use super::factor::Factor;

/// Of the logarithm of a length scale, on coordinates from 0 to 1: mean and standard deviation.
const LENGTH_PRIOR: (f64, f64) = (0.7, 1.0);
/// Of the logarithm of the noise's part of the variance.
const NOISE_PRIOR: (f64, f64) = (-6.0, 2.0);
/// Of how much of what all prior results say holds here. It is never negative: few observations can
/// make it look as if what is fast elsewhere were slow here, and a search led by that is lost.
const TRANSFER_PRIOR: (f64, f64) = (0.6, 0.4);

/// Slowness approaches this as times grow.
const MOST_SLOW: f64 = 1.5;

/// What the process learns of a time: near the best the logarithm of its ratio to the best; far
/// from it less, so that what is 10 and what is 30 times slower is nearly alike. Without this, the
/// differences between slow configurations, which are most of all, decide what the model takes the
/// fast ones for.
pub(super) fn slowness(time: f64, best: f64) -> f64 {
    let ratio = (time / best).ln();
    ratio / (1.0 + ratio / MOST_SLOW)
}

/// What the covariance depends on.
#[derive(Clone, Debug)]
pub(super) struct Hyperparameters {
    /// The logarithm of each coordinate's length scale.
    lengths: Vec<f64>,
    /// The logarithm of the noise's variance, relative to the signal's.
    noise: f64,
    /// For each set of prior results, how much of what it says holds.
    transfers: Vec<f64>,
}

/// What hyper-parameters have to explain.
pub(super) struct Observed<'a> {
    pub(super) points: &'a [&'a [f64]],
    pub(super) values: &'a [f64],
    /// For each set of prior results, what it says of each point.
    pub(super) prior: &'a [Vec<f64>],
}

impl Hyperparameters {
    /// A draw from about the prior.
    pub(super) fn draw(dimensions: usize, priors: usize, generator: &mut Generator) -> Self {
        Self {
            lengths: (0..dimensions).map(|_| 0.7 * generator.normal()).collect(),
            noise: NOISE_PRIOR.0,
            transfers: vec![TRANSFER_PRIOR.0 / priors.max(1) as f64; priors],
        }
    }

    /// A neighbour, near or far: one of them changed, or all length scales a little; of the
    /// transfers one in every other step.
    fn step(&self, number: usize, generator: &mut Generator) -> Self {
        let mut changed = self.clone();
        let scale = if number.is_multiple_of(2) { 0.8 } else { 0.3 };
        if !number.is_multiple_of(2) && !self.transfers.is_empty() {
            let one = generator.below(self.transfers.len() as u128) as usize;
            let moved = self.transfers[one] + 0.7 * scale * generator.normal();
            changed.transfers[one] = moved.abs();
            return changed;
        }
        if number.is_multiple_of(3) {
            for length in &mut changed.lengths {
                *length += 0.4 * scale * generator.normal();
            }
        } else {
            let one = generator.below(self.lengths.len() as u128 + 1) as usize;
            let value = changed.lengths.get_mut(one).unwrap_or(&mut changed.noise);
            *value += 1.5 * scale * generator.normal();
        }
        changed
    }

    /// More noise, for data that cannot be explained with this little.
    pub(super) fn with_more_noise(mut self) -> Self {
        self.noise += 1.0;
        self
    }

    /// How much of what each set of prior results says holds.
    pub(super) fn transfers(&self) -> &[f64] {
        &self.transfers
    }

    /// Values without what the sets explain.
    pub(super) fn residuals(&self, values: &[f64], prior: &[Vec<f64>]) -> Vec<f64> {
        let mut residuals = values.to_vec();
        for (transfer, prior) in self.transfers.iter().zip(prior) {
            for (residual, prior) in residuals.iter_mut().zip(prior) {
                *residual -= transfer * prior;
            }
        }
        residuals
    }

    /// 1 / length scale for each coordinate.
    pub(super) fn weights(&self) -> Vec<f64> {
        self.lengths.iter().map(|length| (-length).exp()).collect()
    }

    /// The variance of an observation, relative to the signal's.
    pub(super) fn variance(&self) -> f64 {
        1.0 + self.noise.exp()
    }

    fn log_prior(&self) -> f64 {
        let term =
            |value: f64, (mean, deviation): (f64, f64)| -0.5 * ((value - mean) / deviation).powi(2);
        let lengths: f64 = self.lengths.iter().map(|l| term(*l, LENGTH_PRIOR)).sum();
        let share = TRANSFER_PRIOR.0 / self.transfers.len().max(1) as f64;
        let prior = (share, TRANSFER_PRIOR.1);
        let transfers: f64 = self.transfers.iter().map(|t| term(*t, prior)).sum();
        lengths + transfers + term(self.noise, NOISE_PRIOR)
    }
}

/// Matérn's covariance of two points whose scaled squared distance this is.
pub(super) fn covariance(squared: f64) -> f64 {
    let r = (5.0 * squared).sqrt();
    (1.0 + r + r * r / 3.0) * (-r).exp()
}

/// The covariance of two points.
pub(super) fn between(a: &[f64], b: &[f64], weights: &[f64]) -> f64 {
    let squared = a.iter().zip(b).zip(weights);
    covariance(squared.map(|((a, b), w)| ((a - b) * w).powi(2)).sum())
}

/// The factor of the points' covariance matrix; `None` where it is not positive definite.
pub(super) fn factor(points: &[&[f64]], hyperparameters: &Hyperparameters) -> Option<Factor> {
    let weights = hyperparameters.weights();
    let variance = hyperparameters.variance();
    let mut factor = Factor::default();
    for (i, point) in points.iter().enumerate() {
        let earlier = points[..i].iter();
        let covariances = earlier
            .map(|other| between(point, other, &weights))
            .collect();
        if !factor.extend(covariances, variance) {
            return None;
        }
    }
    Some(factor)
}

/// What observations say, given the covariance.
pub(super) struct Evidence {
    /// The process's mean.
    pub(super) mean: f64,
    /// The signal's variance.
    pub(super) amplitude: f64,
    /// L⁻¹ (y - mean).
    pub(super) whitened: Vec<f64>,
    /// Up to a constant, the logarithm of the probability of the observations.
    log_likelihood: f64,
}

impl Evidence {
    pub(super) fn of(factor: &Factor, values: &[f64]) -> Self {
        let ones = factor.solve(&vec![1.0; values.len()]);
        let whitened = factor.solve(values);
        let products: f64 = ones.iter().zip(&whitened).map(|(a, b)| a * b).sum();
        let mean = products / ones.iter().map(|one| one * one).sum::<f64>().max(1e-12);
        let whitened: Vec<f64> = whitened
            .iter()
            .zip(&ones)
            .map(|(value, one)| value - mean * one)
            .collect();
        let squares: f64 = whitened.iter().map(|value| value * value).sum();
        // A weak prior keeps the amplitude away from zero while all values are alike.
        let count = values.len() as f64 + 2.0;
        let amplitude = (squares + 0.1) / count;
        Self {
            mean,
            amplitude,
            whitened,
            log_likelihood: -0.5 * count * amplitude.ln() - factor.half_log_determinant(),
        }
    }
}

/// A walk of `steps` Metropolis steps through the hyper-parameters' posterior distribution.
pub(super) fn walk(
    hyperparameters: &mut Hyperparameters,
    observed: &Observed<'_>,
    steps: usize,
    generator: &mut Generator,
) {
    let log_posterior = |h: &Hyperparameters| {
        let factor = factor(observed.points, h)?;
        let residuals = h.residuals(observed.values, observed.prior);
        Some(Evidence::of(&factor, &residuals).log_likelihood + h.log_prior())
    };
    let mut current = log_posterior(hyperparameters).unwrap_or(f64::MIN);
    for number in 0..steps {
        let proposed = hyperparameters.step(number, generator);
        let threshold = generator.unit().max(f64::MIN_POSITIVE).ln();
        if let Some(posterior) = log_posterior(&proposed)
            && (posterior > current || posterior - current > threshold)
        {
            current = posterior;
            *hyperparameters = proposed;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn covariance_falls_from_one_to_zero() {
        assert!((covariance(0.0) - 1.0).abs() < 1e-15);
        assert!(covariance(0.1) > covariance(0.2));
        assert!(covariance(100.0) < 1e-6);
    }

    #[test]
    fn a_walk_finds_out_which_coordinate_matters() {
        let mut generator = Generator::new(3);
        let points: Vec<Vec<f64>> = (0..40)
            .map(|_| vec![generator.unit(), generator.unit()])
            .collect();
        let values: Vec<f64> = points.iter().map(|point| (6.0 * point[0]).sin()).collect();
        let points: Vec<&[f64]> = points.iter().map(Vec::as_slice).collect();
        let mut hyperparameters = Hyperparameters::draw(2, 0, &mut generator);
        let observed = Observed {
            points: &points,
            values: &values,
            prior: &[],
        };
        walk(&mut hyperparameters, &observed, 200, &mut generator);
        let weights = hyperparameters.weights();
        assert!(weights[0] > 3.0 * weights[1], "{weights:?}");
    }

    #[test]
    fn a_walk_finds_out_which_lesson_holds() {
        let mut generator = Generator::new(5);
        let points: Vec<Vec<f64>> = (0..40).map(|_| vec![generator.unit()]).collect();
        let prior: Vec<Vec<f64>> = (0..2)
            .map(|_| points.iter().map(|_| generator.unit()).collect())
            .collect();
        let values: Vec<f64> = prior[1].iter().map(|value| 0.9 * value + 3.0).collect();
        let points: Vec<&[f64]> = points.iter().map(Vec::as_slice).collect();
        let mut hyperparameters = Hyperparameters::draw(1, 2, &mut generator);
        let observed = Observed {
            points: &points,
            values: &values,
            prior: &prior,
        };
        walk(&mut hyperparameters, &observed, 300, &mut generator);
        let transfers = hyperparameters.transfers();
        assert!(transfers[0] < 0.2 && transfers[1] > 0.7, "{transfers:?}");
    }

    #[test]
    fn the_mean_of_equal_values_is_that_value() {
        let points = [vec![0.1], vec![0.5], vec![0.9]];
        let points: Vec<&[f64]> = points.iter().map(Vec::as_slice).collect();
        let hyperparameters = Hyperparameters {
            lengths: vec![0.0],
            noise: -6.0,
            transfers: Vec::new(),
        };
        let factor = factor(&points, &hyperparameters).unwrap();
        let evidence = Evidence::of(&factor, &[2.0; 3]);
        assert!((evidence.mean - 2.0).abs() < 1e-9);
        assert!(evidence.whitened.iter().all(|value| value.abs() < 1e-9));
    }
}
