//! A picture made of nothing: a landscape with what photographs have, smooth gradients, texture on
//! all scales, and hard edges. The same on every machine.

use crate::picture::Plane;

/// Pixels along each side of the landscape.
pub(crate) const SIZE: u32 = 2048;

/// The landscape: a sky with a sun and clouds, four mountain ranges, and a lake.
pub(crate) fn landscape(width: u32, height: u32) -> Plane {
    let pixels = (0..height).flat_map(|y| (0..width).map(move |x| (x, y)));
    let values = pixels
        .map(|(x, y)| {
            let x = f64::from(x) / f64::from(width);
            let y = f64::from(y) / f64::from(height);
            brightness(x, y).clamp(0.0, 1.0) as f32
        })
        .collect();
    Plane {
        width,
        height,
        values,
    }
}

/// Where the lake begins, as a part of the height.
const SHORE: f64 = 0.82;

fn brightness(x: f64, y: f64) -> f64 {
    if y < SHORE {
        return land(x, y);
    }
    // The lake mirrors what is above the shore, darker and torn by waves.
    let depth = y - SHORE;
    let wave = 0.02 * depth.sqrt() * (noise(x * 12.0, y * 160.0, 90) - 0.5);
    0.15 + 0.6 * land(x + wave, SHORE - 3.0 * depth + wave)
}

fn land(x: f64, y: f64) -> f64 {
    // From the nearest range to the farthest: darker and rougher the nearer.
    for range in (0..4_u32).rev() {
        let near = f64::from(range);
        let roughness = 3.0 + near * 1.5;
        let ridge =
            0.38 + 0.11 * near - 0.22 * (fractal(x * roughness, near, 8, range * 16) - 0.35);
        if y > ridge {
            let texture = fractal(x * 40.0, y * 40.0 + near, 3, 7 + range) - 0.5;
            let haze = 0.1 * ((y - ridge) / 0.2).min(1.0);
            return 0.58 - 0.13 * near + haze + (0.04 + 0.03 * near) * texture;
        }
    }
    sky(x, y)
}

fn sky(x: f64, y: f64) -> f64 {
    let distance = (x - 0.71).hypot(y - 0.17);
    if distance < 0.045 {
        return 1.0;
    }
    let clouds = (fractal(x * 3.0, y * 9.0, 5, 60) - 0.5).max(0.0);
    0.55 + 0.35 * y + 0.1 * (-distance * 9.0).exp() + 0.5 * clouds
}

/// Value noise on several scales, each twice as fine and half as strong as the one before; about
/// 0 to 1.
fn fractal(x: f64, y: f64, scales: u32, seed: u32) -> f64 {
    let layer = |scale| {
        let fine = f64::from(1_u32 << scale);
        noise(x * fine, y * fine, seed + scale) / (2.0 * fine)
    };
    (0..scales).map(layer).sum()
}

/// Random values on the integer grid, smoothly interpolated; 0 to 1.
fn noise(x: f64, y: f64, seed: u32) -> f64 {
    let smooth = |t: f64| t * t * (3.0 - 2.0 * t);
    let mix = |a: f64, b: f64, t: f64| a + (b - a) * t;
    let (column, row) = (x.floor(), y.floor());
    let (s, t) = (smooth(x - column), smooth(y - row));
    let at = |i: i64, j: i64| random(column as i64 + i, row as i64 + j, seed);
    mix(mix(at(0, 0), at(1, 0), s), mix(at(0, 1), at(1, 1), s), t)
}

/// A value from 0 to 1 which looks random; the finaliser of `MurmurHash3` mixes the bits.
fn random(x: i64, y: i64, seed: u32) -> f64 {
    let mut bits = (x as u32).wrapping_mul(0x9e37_79b1)
        ^ (y as u32).wrapping_mul(0x85eb_ca77)
        ^ seed.wrapping_mul(0xc2b2_ae3d);
    bits = (bits ^ (bits >> 16)).wrapping_mul(0x85eb_ca6b);
    bits = (bits ^ (bits >> 13)).wrapping_mul(0xc2b2_ae35);
    f64::from(bits ^ (bits >> 16)) / f64::from(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_landscape_has_dark_and_bright_places_and_edges() {
        let plane = landscape(64, 48);
        assert_eq!(plane.values.len(), 64 * 48);
        let (low, high) = plane
            .values
            .iter()
            .fold((1.0_f32, 0.0_f32), |(low, high), v| {
                (low.min(*v), high.max(*v))
            });
        assert!(low < 0.3 && high > 0.95, "{low} to {high}");
        let edge = plane
            .values
            .windows(2)
            .any(|pair| (pair[0] - pair[1]).abs() > 0.1);
        assert!(edge);
    }

    #[test]
    fn it_is_the_same_every_time() {
        assert_eq!(landscape(32, 32), landscape(32, 32));
    }
}
