//! A Cholesky factor that grows row by row.
//!
//! Observations arrive one by one, and a factor of n rows is extended in n²/2 steps where factoring
//! anew takes n³/6. Linear-algebra crates factor whole matrices and would have to be fed anew; at a
//! few hundred rows these loops are not what a proposal spends its time on.

/// The lower-triangular L of a positive-definite matrix L·Lᵀ.
#[derive(Clone, Debug, Default)]
pub(in crate::search) struct Factor {
    /// Row `i` has `i + 1` elements.
    rows: Vec<Vec<f64>>,
}

impl Factor {
    /// The number of rows.
    pub(in crate::search) fn len(&self) -> usize {
        self.rows.len()
    }

    /// Row `row`, up to its diagonal element.
    pub(in crate::search) fn row(&self, row: usize) -> &[f64] {
        &self.rows[row]
    }

    /// Adds a row of the matrix: `covariances` with the earlier ones, and its diagonal element.
    /// `false`, and nothing happens, where the matrix would not be positive definite.
    pub(in crate::search) fn extend(&mut self, covariances: Vec<f64>, variance: f64) -> bool {
        let mut row = covariances;
        for i in 0..row.len() {
            let earlier = &self.rows[i];
            let sum = dot(&row[..i], &earlier[..i]);
            row[i] = (row[i] - sum) / earlier[i];
        }
        let rest = variance - dot(&row, &row);
        if rest <= 1e-10 {
            return false;
        }
        row.push(rest.sqrt());
        self.rows.push(row);
        true
    }

    /// Forgets all rows from `len` on.
    pub(in crate::search) fn truncate(&mut self, len: usize) {
        self.rows.truncate(len);
    }

    /// The solution x of L·x = b.
    pub(in crate::search) fn solve(&self, b: &[f64]) -> Vec<f64> {
        let mut x = Vec::with_capacity(b.len());
        for (row, b) in self.rows.iter().zip(b) {
            let known = x.len();
            x.push((b - dot(&row[..known], &x)) / row[known]);
        }
        x
    }

    /// The solution x of Lᵀ·x = b.
    pub(super) fn solve_transposed(&self, b: Vec<f64>) -> Vec<f64> {
        let mut x = b;
        for (at, row) in self.rows.iter().enumerate().rev() {
            x[at] /= row[at];
            let (known, element) = x.split_at_mut(at);
            for (known, factor) in known.iter_mut().zip(row) {
                *known -= element[0] * factor;
            }
        }
        x
    }

    /// Half the logarithm of the matrix's determinant.
    pub(in crate::search) fn half_log_determinant(&self) -> f64 {
        let diagonal = self.rows.iter().filter_map(|row| row.last());
        diagonal.map(|element| element.ln()).sum()
    }
}

/// In several sums at a time: each addition of a single one waits for the one before.
fn dot(a: &[f64], b: &[f64]) -> f64 {
    const SUMS: usize = 8;
    let (a, a_rest) = a.as_chunks::<SUMS>();
    let (b, b_rest) = b.as_chunks::<SUMS>();
    let mut sums = [0.0; SUMS];
    for (a, b) in a.iter().zip(b) {
        for ((sum, a), b) in sums.iter_mut().zip(a).zip(b) {
            *sum += a * b;
        }
    }
    let rest = a_rest.iter().zip(b_rest).map(|(a, b)| a * b);
    sums.into_iter().chain(rest).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_factors_and_solves() {
        let matrix = [[4.0, 2.0, 0.6], [2.0, 5.0, 1.0], [0.6, 1.0, 3.0]];
        let mut factor = Factor::default();
        for (i, row) in matrix.iter().enumerate() {
            assert!(factor.extend(row[..i].to_vec(), row[i]));
        }
        for (i, row) in matrix.iter().enumerate() {
            for (j, element) in row[..=i].iter().enumerate() {
                let product = dot(&factor.row(i)[..=j], factor.row(j));
                assert!((product - element).abs() < 1e-12);
            }
        }
        let x = factor.solve(&[2.0, 3.0, 4.0]);
        assert!((x[0] * factor.row(0)[0] - 2.0).abs() < 1e-12);
        assert!((dot(&x, factor.row(2)) - 4.0).abs() < 1e-12);
        // L Lᵀ x = b makes x the solution for the matrix itself.
        let x = factor.solve_transposed(x);
        for (row, b) in matrix.iter().zip([2.0, 3.0, 4.0]) {
            assert!((dot(row, &x) - b).abs() < 1e-12);
        }
        let determinant: f64 = 4.0 * 14.0 - 2.0 * 5.4 + 0.6 * (2.0 - 3.0);
        assert!((factor.half_log_determinant() - determinant.ln() / 2.0).abs() < 1e-12);
    }

    #[test]
    fn what_is_not_positive_definite_is_refused() {
        let mut factor = Factor::default();
        assert!(factor.extend(Vec::new(), 1.0));
        assert!(!factor.extend(vec![1.0], 1.0));
        assert_eq!(factor.len(), 1);
        assert!(factor.extend(vec![0.5], 1.0));
    }
}
