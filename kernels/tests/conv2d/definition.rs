//! The convolution in double precision on the host.

use cltune_kernels::conv2d::Border;

/// The borders, in the order of the kernel's numbers.
pub(crate) const BORDERS: [Border; 4] =
    [Border::Zero, Border::Nearest, Border::Mirror, Border::Wrap];

/// A picture of `width` columns.
#[derive(Clone, Debug)]
pub(crate) struct Picture {
    pub(crate) width: usize,
    pub(crate) height: usize,
    pub(crate) pixels: Vec<f32>,
}

impl Picture {
    /// Pixels from -1 to 1 that look random, the same every time.
    pub(crate) fn random(width: usize, height: usize, seed: u32) -> Self {
        Self {
            width,
            height,
            pixels: random(width * height, seed),
        }
    }

    fn at(&self, x: i64, y: i64, border: Border) -> f64 {
        let column = inside(x, self.width, border);
        let row = inside(y, self.height, border);
        match (column, row) {
            (Some(column), Some(row)) => f64::from(self.pixels[row * self.width + column]),
            _ => 0.0,
        }
    }
}

/// Values from -1 to 1 that look random; the finaliser of `MurmurHash3` mixes the bits.
pub(crate) fn random(count: usize, seed: u32) -> Vec<f32> {
    let value = |i: usize| {
        let mut bits = (i as u32).wrapping_add(seed.wrapping_mul(0x9e37_79b1));
        bits = (bits ^ (bits >> 16)).wrapping_mul(0x85eb_ca6b);
        bits = (bits ^ (bits >> 13)).wrapping_mul(0xc2b2_ae35);
        (f64::from(bits ^ (bits >> 16)) / f64::from(u32::MAX) * 2.0 - 1.0) as f32
    };
    (0..count).map(value).collect()
}

/// The products of a column and a row, row by row.
pub(crate) fn products(column: &[f32], row: &[f32]) -> Vec<f32> {
    column
        .iter()
        .flat_map(|y| row.iter().map(move |x| y * x))
        .collect()
}

/// The position within a row or a column that stands for another one; `None` is a zero.
fn inside(position: i64, size: usize, border: Border) -> Option<usize> {
    let size = size as i64;
    let position = match border {
        Border::Zero => Some(position).filter(|position| (0..size).contains(position))?,
        Border::Nearest => position.clamp(0, size - 1),
        Border::Mirror => {
            // Walks, turning at the ends.
            let period = (2 * (size - 1)).max(1);
            let position = position.rem_euclid(period);
            position.min(period - position).min(size - 1)
        }
        Border::Wrap => position.rem_euclid(size),
        _ => unreachable!("the tests know all borders"),
    };
    Some(position as usize)
}

/// Every pixel of the filtered picture, and how large its products are: what rounding is relative
/// to.
pub(crate) fn convolved(
    picture: &Picture,
    size: usize,
    weights: &[f32],
    border: Border,
) -> Vec<(f64, f64)> {
    let radius = (size / 2) as i64;
    let mut results = Vec::with_capacity(picture.pixels.len());
    for y in 0..picture.height as i64 {
        for x in 0..picture.width as i64 {
            let (mut sum, mut magnitude) = (0.0, 0.0);
            for (weight, i) in weights.iter().zip(0_i64..) {
                let (column, row) = (i % size as i64, i / size as i64);
                let product =
                    f64::from(*weight) * picture.at(x + column - radius, y + row - radius, border);
                sum += product;
                magnitude += product.abs();
            }
            results.push((sum, magnitude));
        }
    }
    results
}

/// Fails where a result is farther from the definition than rounding in single precision explains,
/// or where only one of the two is no number.
pub(crate) fn compare(found: &[f32], expected: &[(f64, f64)], terms: usize, what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}");
    let roundoff = terms as f64 * f64::from(f32::EPSILON);
    for (i, (found, (expected, magnitude))) in found.iter().zip(expected).enumerate() {
        let found = f64::from(*found);
        let right = if expected.is_finite() {
            (found - expected).abs() <= roundoff * magnitude
        } else {
            found == *expected || found.is_nan() && expected.is_nan()
        };
        assert!(
            right,
            "{what}: element {i} is {found} instead of {expected}"
        );
    }
}
