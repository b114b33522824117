//! L⁻¹ K, by which a Gaussian process predicts every configuration of the pool: L is the factor of
//! the observations' covariances, and K has their covariances with the pool (Rasmussen & Williams
//! 2006, algorithm 2.1).

use super::factor::Factor;
use super::pool::Pool;
use std::ops::Range;

/// So many configurations are caught up with at a time: all rows' parts fit into a processor's
/// caches.
const BLOCK: usize = 256;

/// L⁻¹ K, with a row for each observation and a column for each configuration of the pool.
#[derive(Default)]
pub(in crate::search) struct Whitened {
    rows: Vec<Vec<f32>>,
}

impl Whitened {
    /// Forgets all observations from `len` on.
    pub(in crate::search) fn truncate(&mut self, len: usize) {
        self.rows.truncate(len);
    }

    /// Adds rows for those of the factor's points that it has none of yet. `weights` are 1 / length
    /// scale for each coordinate, and `covariance` is a function of the scaled squared distance.
    pub(in crate::search) fn catch_up(
        &mut self,
        points: &[&[f64]],
        weights: &[f64],
        factor: &Factor,
        pool: &Pool,
        covariance: impl Fn(f32) -> f32,
    ) {
        let known = self.rows.len();
        self.rows
            .resize_with(factor.len(), || vec![0.0; pool.len()]);
        for begin in (0..pool.len()).step_by(BLOCK) {
            let block = begin..pool.len().min(begin + BLOCK);
            for (at, point) in points.iter().enumerate().skip(known) {
                let row = &mut self.rows[at][block.clone()];
                pool.add_squared_distances(point, weights, begin, row);
                for element in row {
                    *element = covariance(*element);
                }
                self.whiten(at, factor.row(at), block.clone());
            }
        }
    }

    /// Makes covariances in a part of a row its part of L⁻¹ K, where those before it are.
    fn whiten(&mut self, at: usize, factors: &[f64], block: Range<usize>) {
        let (earlier, rest) = self.rows.split_at_mut(at);
        let row = &mut rest[0][block.clone()];
        // Four rows at a time, so that the element is loaded and stored once for all of them.
        let (fours, rest) = earlier.as_chunks::<4>();
        for (four, factors) in fours.iter().zip(factors.chunks(4)) {
            let factors: [f32; 4] = std::array::from_fn(|i| factors[i] as f32);
            let [a, b, c, d] = four.each_ref().map(|row| &row[block.clone()]);
            let columns = row.iter_mut().zip(a).zip(b).zip(c).zip(d);
            for ((((element, a), b), c), d) in columns {
                *element -= factors[0] * a + factors[1] * b + factors[2] * c + factors[3] * d;
            }
        }
        for (factor, earlier) in factors[4 * fours.len()..].iter().zip(rest) {
            let factor = *factor as f32;
            for (element, earlier) in row.iter_mut().zip(&earlier[block.clone()]) {
                *element -= factor * earlier;
            }
        }
        let scale = 1.0 / factors[at] as f32;
        for element in row {
            *element *= scale;
        }
    }

    /// Adds to each configuration's mean what the observations say, which are given as L⁻¹ (y -
    /// mean); subtracts from its variance what they explain.
    pub(in crate::search) fn predict(
        &self,
        whitened: &[f64],
        mean: &mut [f32],
        variance: &mut [f32],
    ) {
        // Four rows at a time, as above.
        let (fours, rest) = self.rows.as_chunks::<4>();
        for (four, whitened) in fours.iter().zip(whitened.chunks(4)) {
            let factors: [f32; 4] = std::array::from_fn(|i| whitened[i] as f32);
            let [a, b, c, d] = four;
            let columns = mean.iter_mut().zip(&mut *variance);
            for (((((mean, variance), a), b), c), d) in columns.zip(a).zip(b).zip(c).zip(d) {
                *mean += factors[0] * a + factors[1] * b + factors[2] * c + factors[3] * d;
                *variance -= a * a + b * b + c * c + d * d;
            }
        }
        for (row, whitened) in rest.iter().zip(&whitened[4 * fours.len()..]) {
            let whitened = *whitened as f32;
            for ((mean, variance), element) in mean.iter_mut().zip(&mut *variance).zip(row) {
                *mean += whitened * element;
                *variance -= element * element;
            }
        }
    }
}

/// e to the power of `x`, which is at most 0, with an error of at most 3e-7 of it; below -87, near
/// where normal numbers of single precision end, that of -87. Unlike `f32::exp` it is computed for
/// several numbers at a time. That function took a seventh of the time of searches on recorded
/// spaces.
pub(in crate::search) fn exp(x: f32) -> f32 {
    // Added to a number, it leaves the nearest integer in the lowest bits.
    const INTEGER: f32 = 12_582_912.0;
    // The coefficients of Taylor's series, from the highest on.
    const TAYLOR: [f32; 7] = [
        1.0 / 720.0,
        1.0 / 120.0,
        1.0 / 24.0,
        1.0 / 6.0,
        0.5,
        1.0,
        1.0,
    ];
    // ln 2 in two parts, of which the first times an integer is exact.
    const LN_2: (f32, f32) = (0.693_359_4, -2.121_944_4e-4);
    let x = x.max(-87.0);
    let shifted = x * std::f32::consts::LOG2_E + INTEGER;
    let exponent = shifted - INTEGER;
    let rest = x - exponent * LN_2.0 - exponent * LN_2.1;
    let power = TAYLOR.iter().fold(0.0, |sum, c| sum * rest + c);
    // The exponent is added to that of the floating-point number.
    f32::from_bits(power.to_bits().wrapping_add(shifted.to_bits() << 23))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn powers_of_e_are_those_of_the_library() {
        for x in (0..87_000).map(|step| step as f32 * -0.001) {
            let (ours, theirs) = (f64::from(exp(x)), f64::from(x).exp());
            assert!((ours / theirs - 1.0).abs() < 3e-7, "{x}: {ours} {theirs}");
        }
        assert_eq!(exp(0.0), 1.0);
        assert_eq!(exp(f32::NEG_INFINITY), exp(-87.0));
    }
}
