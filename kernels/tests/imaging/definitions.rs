//! The three results on the host.

use cltune_kernels::conv2d::Border;

pub(crate) const BORDERS: [Border; 4] =
    [Border::Zero, Border::Nearest, Border::Mirror, Border::Wrap];

/// Numbers that look random, the same every time; the finaliser of `MurmurHash3` mixes the bits.
pub(crate) fn bits(count: usize, seed: u32) -> impl Iterator<Item = u32> {
    (0..count as u32).map(move |i| {
        let mut bits = i.wrapping_add(seed.wrapping_mul(0x9e37_79b1));
        bits = (bits ^ (bits >> 16)).wrapping_mul(0x85eb_ca6b);
        bits = (bits ^ (bits >> 13)).wrapping_mul(0xc2b2_ae35);
        bits ^ (bits >> 16)
    })
}

/// Numbers from -1 to 1.
pub(crate) fn random(count: usize, seed: u32) -> Vec<f32> {
    let number = |bits: u32| (f64::from(bits) / f64::from(u32::MAX) * 2.0 - 1.0) as f32;
    bits(count, seed).map(number).collect()
}

pub(crate) fn random_bytes(count: usize, seed: u32) -> Vec<u8> {
    bits(count, seed).map(|bits| bits as u8).collect()
}

/// The position within a row or a column that stands for another one; `None` is a zero.
fn inside(position: i64, size: i64, border: Border) -> Option<i64> {
    match border {
        Border::Zero => (0..size).contains(&position).then_some(position),
        Border::Nearest => Some(position.clamp(0, size - 1)),
        Border::Mirror => {
            let period = (2 * (size - 1)).max(1);
            let position = position.rem_euclid(period);
            Some(position.min(period - position).min(size - 1))
        }
        Border::Wrap => Some(position.rem_euclid(size)),
        _ => unreachable!("the tests know all borders"),
    }
}

/// The mean around each pixel, and the mean of the magnitudes, which rounding is relative to.
pub(crate) fn means(
    width: usize,
    height: usize,
    pixels: &[f32],
    size: usize,
    border: Border,
) -> Vec<(f64, f64)> {
    let (columns, rows, reach) = (width as i64, height as i64, (size / 2) as i64);
    let mut results = Vec::with_capacity(pixels.len());
    for y in 0..rows {
        for x in 0..columns {
            let (mut sum, mut magnitude) = (0.0, 0.0);
            for j in -reach..=reach {
                for i in -reach..=reach {
                    let column = inside(x + i, columns, border);
                    let row = inside(y + j, rows, border);
                    if let (Some(column), Some(row)) = (column, row) {
                        let value = f64::from(pixels[(row * columns + column) as usize]);
                        sum += value;
                        magnitude += value.abs();
                    }
                }
            }
            let terms = (size * size) as f64;
            results.push((sum / terms, magnitude / terms));
        }
    }
    results
}

/// Fails where a result is farther from the definition than rounding in single precision explains,
/// or where only one of the two is no number.
pub(crate) fn compare(found: &[f32], expected: &[(f64, f64)], terms: usize, what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}");
    let roundoff = (terms + 2) as f64 * f64::from(f32::EPSILON);
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

/// Two pictures to match.
pub(crate) struct Pair {
    pub(crate) width: usize,
    pub(crate) height: usize,
    pub(crate) left: Vec<u8>,
    pub(crate) right: Vec<u8>,
}

impl Pair {
    pub(crate) fn random(width: usize, height: usize, seed: u32) -> Self {
        Self {
            width,
            height,
            left: random_bytes(width * height, seed),
            right: random_bytes(width * height, seed + 1),
        }
    }

    /// The disparity of each pixel.
    pub(crate) fn disparities(&self, window: usize, count: usize) -> Vec<u16> {
        let (columns, rows, reach) = (self.width as i64, self.height as i64, (window / 2) as i64);
        let at = |picture: &[u8], x: i64, y: i64| {
            let place = y.clamp(0, rows - 1) * columns + x.clamp(0, columns - 1);
            i64::from(picture[place as usize])
        };
        let difference = |x: i64, y: i64, d: i64| -> i64 {
            let offsets = (-reach..=reach).flat_map(|j| (-reach..=reach).map(move |i| (i, j)));
            offsets
                .map(|(i, j)| {
                    (at(&self.left, x + i, y + j) - at(&self.right, x + i - d, y + j)).abs()
                })
                .sum()
        };
        let places = (0..rows).flat_map(|y| (0..columns).map(move |x| (x, y)));
        // `min_by_key` takes the first of several.
        let best = |(x, y)| {
            (0..count as i64)
                .min_by_key(|d| difference(x, y, *d))
                .unwrap_or_default()
        };
        places.map(|place| best(place) as u16).collect()
    }
}

/// Fails at the first element that is not the expected one.
pub(crate) fn compare_exactly(found: &[u16], expected: &[u16], what: &str) {
    assert_eq!(found.len(), expected.len(), "{what}");
    for (i, (found, expected)) in found.iter().zip(expected).enumerate() {
        assert_eq!(found, expected, "{what}: element {i}");
    }
}

/// A volume, its colours, and rays as four vectors: the origin, across, down, and along with the
/// number of samples.
pub(crate) struct Rays<'a> {
    pub(crate) size: [usize; 3],
    pub(crate) voxels: &'a [u8],
    pub(crate) colours: &'a [[f32; 4]; 256],
    pub(crate) view: [[f32; 4]; 4],
}

impl Rays<'_> {
    /// The picture. Positions are rounded to single precision, once for each multiply-add, since
    /// they decide which voxel counts; colours are added up in double precision.
    pub(crate) fn picture(&self, width: usize, height: usize) -> Vec<[f64; 4]> {
        let [origin, across, down, along] = self.view;
        let mut picture = Vec::with_capacity(width * height);
        for y in 0..height {
            for x in 0..width {
                let start = |axis: usize| {
                    let row = (y as f32).mul_add(down[axis], origin[axis]);
                    (x as f32).mul_add(across[axis], row)
                };
                let start = [start(0), start(1), start(2)];
                let (mut colour, mut transparency) = ([0.0; 4], 1.0);
                for i in 0..along[3] as usize {
                    let at = |axis: usize| (i as f32).mul_add(along[axis], start[axis]);
                    if let Some(voxel) = self.voxel([at(0), at(1), at(2)]) {
                        let sample = self.colours[usize::from(voxel)].map(f64::from);
                        for (sum, part) in colour.iter_mut().zip(sample) {
                            *sum += transparency * part;
                        }
                        transparency *= 1.0 - sample[3];
                    }
                }
                picture.push(colour);
            }
        }
        picture
    }

    fn voxel(&self, at: [f32; 3]) -> Option<u8> {
        let mut place = 0;
        for axis in [2, 1, 0] {
            if at[axis] < 0.0 || at[axis] >= self.size[axis] as f32 {
                return None;
            }
            place = place * self.size[axis] + at[axis] as usize;
        }
        Some(self.voxels[place])
    }

    /// Fails where a colour is farther from the definition than rounding explains: each sample
    /// rounds a few times.
    pub(crate) fn compare(&self, found: &[[f32; 4]], width: usize, height: usize, what: &str) {
        let expected = self.picture(width, height);
        assert_eq!(found.len(), expected.len(), "{what}");
        let roundoff = 3.0 * f64::from(self.view[3][3]) * f64::from(f32::EPSILON);
        for (i, (found, expected)) in found.iter().zip(&expected).enumerate() {
            for (found, expected) in found.iter().zip(expected) {
                let error = (f64::from(*found) - expected).abs();
                assert!(
                    error <= roundoff * expected.max(1e-3),
                    "{what}: pixel {i} has {found} instead of {expected}"
                );
            }
        }
    }
}
