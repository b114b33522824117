//! The filters' weights, and the definition of a convolution on the host.

use crate::picture::Plane;

/// The sizes this program filters with.
pub(crate) const SIZES: [u32; 3] = [3, 7, 11];

/// A square filter.
#[derive(Clone, Debug)]
pub(crate) struct Filter {
    /// The number of rows and of columns, odd.
    pub(crate) size: u32,
    /// The weights, row by row; their sum is 1.
    pub(crate) weights: Vec<f32>,
}

impl Filter {
    /// An unsharp mask: twice the picture less a Gaussian blur of it, which sharpens structures of
    /// about the filter's size.
    pub(crate) fn unsharp_mask(size: u32) -> Self {
        let radius = f64::from(size / 2);
        let sigma = f64::from(size) / 6.0;
        let gauss = |i: u32| {
            let distance = f64::from(i) - radius;
            (-distance * distance / (2.0 * sigma * sigma)).exp()
        };
        let sum: f64 = (0..size).map(gauss).sum();
        let middle = size * size / 2;
        let weight = |i: u32| {
            let blur = gauss(i / size) * gauss(i % size) / (sum * sum);
            let picture = if i == middle { 2.0 } else { 0.0 };
            (picture - blur) as f32
        };
        Self {
            size,
            weights: (0..size * size).map(weight).collect(),
        }
    }

    /// One pixel of the filtered plane, computed in double precision on the host.
    pub(crate) fn pixel(&self, plane: &Plane, x: u32, y: u32) -> f64 {
        let radius = i64::from(self.size / 2);
        let nearest = |position: u32, offset: u32, end: u32| {
            let position = i64::from(position) + i64::from(offset) - radius;
            position.clamp(0, i64::from(end) - 1) as usize
        };
        self.weights
            .iter()
            .zip(0..)
            .map(|(weight, i)| {
                let column = nearest(x, i % self.size, plane.width);
                let row = nearest(y, i / self.size, plane.height);
                f64::from(*weight) * f64::from(plane.values[row * plane.width as usize + column])
            })
            .sum()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_even_area_stays_as_it_is() {
        let plane = Plane {
            width: 5,
            height: 4,
            values: vec![0.25; 20],
        };
        for size in SIZES {
            let filter = Filter::unsharp_mask(size);
            assert!((filter.pixel(&plane, 0, 3) - 0.25).abs() < 1e-6, "{size}");
        }
    }

    #[test]
    fn a_lone_bright_pixel_shows_the_weights() {
        let mut values = vec![0.0; 25];
        values[12] = 1.0;
        let plane = Plane {
            width: 5,
            height: 5,
            values,
        };
        let filter = Filter::unsharp_mask(3);
        assert!(filter.pixel(&plane, 2, 2) > 1.0);
        assert!(filter.pixel(&plane, 1, 2) < 0.0);
        assert_eq!(filter.pixel(&plane, 0, 0), 0.0);
    }
}
