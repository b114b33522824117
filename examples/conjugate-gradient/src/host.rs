//! The same equation on the host in double precision, to compare with.

use std::f64::consts::PI;

/// The solution, found directly: the sines of whole half-waves are the eigenvectors of the matrix
/// (Buzbee, Golub & Nielson, SIAM J. Numer. Anal. 7, 1970), and `sines` goes to their coordinates
/// and back.
pub(crate) fn solution(right: &[f32], side: usize) -> Vec<f64> {
    let parts = (side + 1) as f64;
    let angle = |at: usize, wave: usize| PI * ((at + 1) * (wave + 1)) as f64 / parts;
    let sines = (0..side * side).map(|i| (2.0 / parts).sqrt() * angle(i / side, i % side).sin());
    let sines: Vec<f64> = sines.collect();
    // Each row of the grid, then, since the product is transposed, each column.
    let turned = |values: &[f64]| {
        let once = transposed_product(values, &sines, side);
        transposed_product(&once, &sines, side)
    };
    let value = |wave: usize| 2.0 - 2.0 * angle(0, wave).cos();
    let right: Vec<f64> = right.iter().copied().map(f64::from).collect();
    let mut waves = turned(&right);
    for (at, wave) in waves.iter_mut().enumerate() {
        *wave /= value(at / side) + value(at % side);
    }
    turned(&waves)
}

/// (A S)^T of square matrices, of which S is its own transpose.
fn transposed_product(a: &[f64], sines: &[f64], side: usize) -> Vec<f64> {
    let mut product = Vec::with_capacity(side * side);
    for of_sines in sines.chunks(side) {
        for of_a in a.chunks(side) {
            product.push(of_a.iter().zip(of_sines).map(|(a, s)| a * s).sum());
        }
    }
    product
}

/// The length of `right` - A x as a part of that of `right`.
pub(crate) fn residual(x: &[f32], right: &[f32], side: usize) -> f64 {
    let value = |x_at: usize, y_at: usize| f64::from(x[y_at * side + x_at]);
    let mut squares = [0.0, 0.0];
    for y in 0..side {
        for x in 0..side {
            let mut product = 4.0 * value(x, y);
            if x > 0 {
                product -= value(x - 1, y);
            }
            if x + 1 < side {
                product -= value(x + 1, y);
            }
            if y > 0 {
                product -= value(x, y - 1);
            }
            if y + 1 < side {
                product -= value(x, y + 1);
            }
            let right = f64::from(right[y * side + x]);
            squares[0] += (right - product).powi(2);
            squares[1] += right * right;
        }
    }
    (squares[0] / squares[1]).sqrt()
}
