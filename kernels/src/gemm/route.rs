//! The choice of the kernel that multiplies matrices of a size on a device: the one that takes the
//! least time, with what it needs before, by what tuning has measured.

use super::real::{Measured, Orders, Real, Size};
use cltune::Device;

/// A way to multiply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Route {
    /// As the matrices lie.
    Direct,
    /// In tiles; operands that lie otherwise are transposed first.
    Pipelined,
    /// On tensor cores, three products for one; operands as for `Pipelined`.
    Tensor,
    /// The same on Hopper GPUs, which read A row after row and B column after column.
    Warpgroup,
    /// In vectors, from panels that both operands are copied to first.
    Panels,
}

/// What must not be chosen, or has to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arithmetic {
    /// Whatever is fastest of what is as precise as plain arithmetic in the type. On tensor cores
    /// single precision is split into three products; its error is at most twice that of plain
    /// sums.
    Automatic,
    /// The ordinary units only.
    Plain,
}

/// Without measurements: the least m n k for which packing pays. Its cost grows with the square of
/// the size and what it saves with the cube.
const WORTH_PACKING: f64 = 192.0 * 192.0 * 192.0;

/// The least k for which tensor cores are as precise as plain arithmetic: what is left out of one
/// product is more than the rounding of a short sum.
const PRECISE_FROM: i32 = 16;

/// What is known of a device's speed.
#[derive(Debug)]
pub(super) struct Speeds {
    direct: Vec<Measured>,
    pipelined: Vec<Measured>,
    panels: Vec<Measured>,
    tensor: Vec<Measured>,
    warpgroup: Vec<Measured>,
    /// Copying an operand, to lines of the other direction and to panels.
    to_lines: Vec<Measured>,
    to_panels: Vec<Measured>,
    is_cpu: bool,
}

/// Which operands, A and B, have to be copied before kernels can read them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Copies {
    /// For `Pipelined` and `Tensor`: to k lines.
    pub(super) to_k_lines: [bool; 2],
    /// For `Warpgroup`: to lines of k.
    pub(super) to_lines_of_k: [bool; 2],
}

impl Speeds {
    pub(super) fn of<T: Real>(device: &Device) -> Self {
        Self {
            direct: T::direct_times(device),
            pipelined: T::pipelined_times(device),
            panels: T::panels_times(device),
            tensor: T::tensor_times(device, Orders::Warp),
            warpgroup: T::tensor_times(device, Orders::Warpgroup),
            to_lines: T::pack_times(device, true),
            to_panels: T::pack_times(device, false),
            is_cpu: device.info().limits.is_cpu == 1,
        }
    }

    /// The route for a size.
    pub(super) fn route(&self, size: Size, copies: Copies, arithmetic: Arithmetic) -> Route {
        let known = self.fastest(size, copies, arithmetic);
        known.map_or_else(
            || self.unmeasured([size.m, size.n, size.k].map(i64::from)),
            |(route, _)| route,
        )
    }

    /// The fastest route by what tuning has measured, and its time in microseconds.
    pub(super) fn fastest<'a>(
        &'a self,
        size: Size,
        copies: Copies,
        arithmetic: Arithmetic,
    ) -> Option<(Route, f64)> {
        let problem = [size.m, size.n, size.k].map(i64::from);
        // Copying, in microseconds, of those operands that need it.
        let copying = |times: &[Measured], needed: [bool; 2]| {
            let sides = needed.into_iter().zip([size.m, size.n]);
            let copied = sides.filter_map(|(needed, side)| needed.then_some(side));
            let copies = copied.map(|side| [i64::from(side), i64::from(size.k), 1]);
            copies.filter_map(|copy| estimate(times, copy)).sum::<f64>()
        };
        let k_lines = copying(&self.to_lines, copies.to_k_lines);
        let is_precise = arithmetic == Arithmetic::Automatic && size.k >= PRECISE_FROM;
        let tensor = |times: &'a [Measured]| if is_precise { times } else { &[] };
        let choices = [
            (Route::Direct, self.direct.as_slice(), 0.0),
            (Route::Pipelined, &self.pipelined, k_lines),
            (Route::Tensor, tensor(&self.tensor), k_lines),
            (
                Route::Warpgroup,
                tensor(&self.warpgroup),
                copying(&self.to_lines, copies.to_lines_of_k),
            ),
            (
                Route::Panels,
                &self.panels,
                copying(&self.to_panels, [true; 2]),
            ),
        ];
        choices
            .into_iter()
            .filter_map(|(route, times, before)| Some((route, estimate(times, problem)? + before)))
            .min_by(|a, b| a.1.total_cmp(&b.1))
    }

    /// The route where nothing is known of this device.
    fn unmeasured(&self, problem: [i64; 3]) -> Route {
        if volume(problem) < WORTH_PACKING {
            Route::Direct
        } else if self.is_cpu {
            Route::Panels
        } else {
            Route::Pipelined
        }
    }
}

/// How much longer a problem is taken to need for each unit of its [`distance`] from the one whose
/// time is known. A kernel is seldom as fast for another shape: on the H200 128 x 4096 x 4096 took
/// 189 us by `Tensor`, where its time at 1024, which is 8 away, and that of copying let expect 118
/// (BENCHMARKS.md).
const DOUBT: f64 = 0.1;

/// The time, in microseconds, by that of the most similar problem: as much more as there is to do,
/// and more where that problem is another.
fn estimate(times: &[Measured], problem: [i64; 3]) -> Option<f64> {
    let (away, nearest) = times
        .iter()
        .map(|of| (distance(of.size, problem), of))
        .min_by(|a, b| a.0.total_cmp(&b.0))?;
    let doubt = DOUBT.mul_add(away, 1.0);
    Some(nearest.micros * volume(problem) / volume(nearest.size) * doubt)
}

fn volume(size: [i64; 3]) -> f64 {
    size.iter().map(|&side| side.max(1) as f64).product()
}

/// The distance that the selection rule uses: squared logarithms of ratios.
fn distance(a: [i64; 3], b: [i64; 3]) -> f64 {
    let ratios = a
        .iter()
        .zip(b)
        .map(|(&a, b)| (a.max(1) as f64 / b.max(1) as f64).ln());
    ratios.map(|log| log * log).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn measured(side: i64, micros: f64) -> Measured {
        Measured {
            size: [side; 3],
            micros,
        }
    }

    fn cube(side: i32) -> Size {
        Size {
            m: side,
            n: side,
            k: side,
        }
    }

    const NO_COPIES: Copies = Copies {
        to_k_lines: [false; 2],
        to_lines_of_k: [false; 2],
    };

    #[test]
    fn the_least_time_with_copies_decides() {
        let speeds = Speeds {
            direct: vec![measured(100, 10.0)],
            pipelined: vec![measured(1000, 1000.0)],
            panels: Vec::new(),
            tensor: vec![measured(1000, 500.0)],
            warpgroup: vec![measured(1000, 450.0)],
            to_panels: Vec::new(),
            to_lines: vec![Measured {
                size: [1000, 1000, 1],
                micros: 100.0,
            }],
            is_cpu: false,
        };
        let route = |side, copies| speeds.route(cube(side), copies, Arithmetic::Automatic);
        assert_eq!(route(1000, NO_COPIES), Route::Warpgroup);
        let b_is_by_rows = Copies {
            to_k_lines: [false; 2],
            to_lines_of_k: [false, true],
        };
        assert_eq!(route(1000, b_is_by_rows), Route::Tensor);
        let plain = speeds.route(cube(1000), NO_COPIES, Arithmetic::Plain);
        assert_eq!(plain, Route::Pipelined);
        // At 20, far from all that was measured: direct takes 0.14 us, tensor 0.017 and copying
        // both operands 0.33.
        let copies = Copies {
            to_k_lines: [true; 2],
            to_lines_of_k: [true; 2],
        };
        assert_eq!(route(20, copies), Route::Direct);
        assert_eq!(route(20, NO_COPIES), Route::Warpgroup);
        // Too short sums for tensor cores.
        assert_eq!(route(15, NO_COPIES), Route::Pipelined);
    }

    #[test]
    fn what_was_measured_for_the_very_shape_is_believed_rather_than_what_another_lets_expect() {
        let skinny = [128, 4096, 4096];
        let near = Measured {
            size: skinny,
            micros: 120.0,
        };
        // As much work as 104 us at 1024.
        let far = measured(1024, 52.0);
        let expected = estimate(&[far], skinny).unwrap();
        assert!((180.0..200.0).contains(&expected), "{expected}");
        let exact = estimate(&[far, near], skinny).unwrap();
        assert!((exact - 120.0).abs() < 1e-9, "{exact}");
    }

    #[test]
    fn unknown_devices_go_by_type_and_size() {
        let mut speeds = Speeds {
            direct: Vec::new(),
            pipelined: Vec::new(),
            panels: Vec::new(),
            tensor: Vec::new(),
            warpgroup: Vec::new(),
            to_lines: Vec::new(),
            to_panels: Vec::new(),
            is_cpu: true,
        };
        let route =
            |speeds: &Speeds, side| speeds.route(cube(side), NO_COPIES, Arithmetic::Automatic);
        assert_eq!(route(&speeds, 50), Route::Direct);
        assert_eq!(route(&speeds, 500), Route::Panels);
        speeds.is_cpu = false;
        assert_eq!(route(&speeds, 500), Route::Pipelined);
    }
}
