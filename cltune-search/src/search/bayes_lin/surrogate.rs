//! The Gaussian process: mean 0, the squared exponential kernel with one length scale for all
//! coordinates (Lin et al. 2025, equations 9 to 11).

use super::super::bayes::factor::Factor;
use super::super::bayes::particle::expected_improvement;
use super::super::bayes::pool::Pool;
use super::super::bayes::whitened::{Whitened, exp};

/// The length scales among which the most likely one is chosen: 0.1 · 2^(i/2), so up to 4.5 on
/// coordinates from 0 to 1.
const LENGTHS: i32 = 12;
/// The noise's part of the variance: repeated measurements differ a little, and without it the
/// matrix of so smooth a kernel is not positive definite in floating point.
const NOISE: f64 = 1e-4;

/// The process, with what it knows of every configuration of the pool.
pub(super) struct Surrogate {
    dimensions: usize,
    length: f64,
    /// Whether the length scale was given and stays.
    fixed: bool,
    factor: Factor,
    whitened: Whitened,
}

impl Surrogate {
    /// Before anything was observed, with a length scale or with one to be found.
    pub(super) fn new(dimensions: usize, length: Option<f64>) -> Self {
        Self {
            dimensions,
            length: length.unwrap_or(1.0),
            fixed: length.is_some(),
            factor: Factor::default(),
            whitened: Whitened::default(),
        }
    }

    /// Finds the most likely length scale (Rasmussen & Williams 2006, equation 5.8, with the σ that
    /// is best for each), and forgets what was computed with another or for another pool.
    pub(super) fn fit(&mut self, points: &[&[f64]], values: &[f64]) {
        self.truncate(0);
        if self.fixed {
            return;
        }
        let mut likeliest = f64::NEG_INFINITY;
        for length in (0..LENGTHS).map(|i| 0.1 * 2.0_f64.powf(f64::from(i) / 2.0)) {
            let mut factor = Factor::default();
            let fits = points
                .iter()
                .enumerate()
                .all(|(at, point)| extend(&mut factor, &points[..at], point, length));
            if !fits {
                continue;
            }
            let log_likelihood = -0.5 * values.len() as f64 * variance(&factor, values).ln()
                - factor.half_log_determinant();
            if log_likelihood > likeliest {
                likeliest = log_likelihood;
                self.length = length;
            }
        }
    }

    /// Takes in the observations that it does not know yet.
    pub(super) fn catch_up(&mut self, points: &[&[f64]], pool: &Pool) {
        for at in self.factor.len()..points.len() {
            if !extend(&mut self.factor, &points[..at], points[at], self.length) {
                // Cannot happen with this much noise; the model then knows less.
                break;
            }
        }
        let weights = vec![1.0 / self.length; self.dimensions];
        let known = &points[..self.factor.len()];
        self.whitened
            .catch_up(known, &weights, &self.factor, pool, |squared| {
                exp(-0.5 * squared)
            });
    }

    /// Forgets all observations from `len` on.
    pub(super) fn truncate(&mut self, len: usize) {
        self.factor.truncate(len);
        self.whitened.truncate(len);
    }

    /// For each configuration of the pool the improvement to expect over `best` (equation 12;
    /// Jones, Schonlau & Welch 1998, equation 15). Observations beyond `values` count as the mean.
    pub(super) fn improvements(&self, values: &[f64], best: f64, pool: &Pool) -> Vec<f64> {
        let mut all = values.to_vec();
        all.resize(self.factor.len(), 0.0);
        let whitened = self.factor.solve(&all);
        let mut mean = vec![0.0_f32; pool.len()];
        let mut rest = vec![1.0_f32; pool.len()];
        self.whitened.predict(&whitened, &mut mean, &mut rest);
        let variance = variance(&self.factor, values);
        let improvement = |(mean, rest): (f32, f32)| {
            let deviation = (variance * f64::from(rest.max(1e-9))).sqrt();
            expected_improvement(f64::from(mean) - best, deviation)
        };
        mean.into_iter().zip(rest).map(improvement).collect()
    }
}

/// Adds a point's row to the factor of the points' covariance matrix.
fn extend(factor: &mut Factor, earlier: &[&[f64]], point: &[f64], length: f64) -> bool {
    let covariances = earlier.iter().map(|other| kernel(point, other, length));
    factor.extend(covariances.collect(), 1.0 + NOISE)
}

/// Equation 10, with σ = 1.
fn kernel(a: &[f64], b: &[f64], length: f64) -> f64 {
    let pairs = a.iter().zip(b);
    let squared: f64 = pairs.map(|(a, b)| (a - b).powi(2)).sum();
    (-0.5 * squared / (length * length)).exp()
}

/// The most likely σ² for the observations at the first rows of the factor.
fn variance(factor: &Factor, values: &[f64]) -> f64 {
    let squares: f64 = factor.solve(values).iter().map(|x| x * x).sum();
    // Values that are all equal leave no variance, and no improvement could be computed.
    (squares / values.len().max(1) as f64).max(1e-6)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_finds_how_smooth_a_curve_is() {
        let points: Vec<Vec<f64>> = (0..20).map(|at| vec![f64::from(at) / 19.0]).collect();
        let points: Vec<&[f64]> = points.iter().map(Vec::as_slice).collect();
        let length = |waves: f64| {
            let curve = points.iter().map(|point| (waves * point[0]).sin());
            let mut surrogate = Surrogate::new(1, None);
            surrogate.fit(&points, &curve.collect::<Vec<f64>>());
            surrogate.length
        };
        assert!(length(3.0) > 2.0 * length(20.0));
        let mut given = Surrogate::new(1, Some(0.25));
        given.fit(&points, &[0.0; 20]);
        assert_eq!(given.length, 0.25);
    }

    #[test]
    fn the_kernel_is_one_at_a_point_and_falls_with_distance() {
        assert_eq!(kernel(&[0.5], &[0.5], 0.3), 1.0);
        let one_length = kernel(&[0.2, 0.0], &[0.5, 0.0], 0.3);
        assert!((one_length - (-0.5_f64).exp()).abs() < 1e-12);
    }
}
