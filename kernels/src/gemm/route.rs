//! Which kernel multiplies matrices of a size on a device: the one that takes the least time, with what
//! it needs before, by what tuning has measured.

use super::real::{Measured, Real, Size};
use cltune_runtime::Device;

/// A way to multiply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Route {
    /// As the matrices lie.
    Direct,
    /// In tiles; operands that lie otherwise are transposed first.
    Pipelined,
    /// On tensor cores, three products for one; operands as for `Pipelined`.
    Tensor,
    /// In vectors, from panels that both operands are copied to first.
    Panels,
}

/// What must not be chosen, or has to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arithmetic {
    /// Whatever is fastest of what is as precise as plain arithmetic in the type. On tensor cores
    /// single precision is split into three products; its error is at most twice that of plain sums.
    Automatic,
    /// The ordinary units only.
    Plain,
}

/// Without measurements: the least m n k for which packing pays. Its cost grows with the square of the
/// size and what it saves with the cube.
const WORTH_PACKING: f64 = 192.0 * 192.0 * 192.0;

/// What is known of a device's speed.
#[derive(Debug)]
pub(super) struct Speeds {
    direct: Vec<Measured>,
    pipelined: Vec<Measured>,
    panels: Vec<Measured>,
    tensor: Vec<Measured>,
    pack: Vec<Measured>,
    is_cpu: bool,
}

/// Which operands have to be copied before `Pipelined` and `Tensor` can read them.
#[derive(Clone, Copy, Debug)]
pub(super) struct Copies {
    pub(super) a: bool,
    pub(super) b: bool,
}

impl Speeds {
    pub(super) fn of<T: Real>(device: &Device) -> Self {
        Self {
            direct: T::direct_times(device),
            pipelined: T::pipelined_times(device),
            panels: T::panels_times(device),
            tensor: T::tensor_times(device),
            pack: T::pack_times(device),
            is_cpu: device.info().limits.is_cpu == 1,
        }
    }

    /// The route for a size.
    pub(super) fn route(&self, size: Size, copies: Copies, arithmetic: Arithmetic) -> Route {
        let problem = [size.m, size.n, size.k].map(i64::from);
        let copy = |rows: i32| {
            estimate(&self.pack, [i64::from(rows), i64::from(size.k), 1]).unwrap_or(0.0)
        };
        let both = copy(size.m) + copy(size.n);
        let needed =
            if copies.a { copy(size.m) } else { 0.0 } + if copies.b { copy(size.n) } else { 0.0 };
        let tensor: &[Measured] = match arithmetic {
            Arithmetic::Automatic => &self.tensor,
            Arithmetic::Plain => &[],
        };
        let choices = [
            (Route::Direct, self.direct.as_slice(), 0.0),
            (Route::Pipelined, &self.pipelined, needed),
            (Route::Tensor, tensor, needed),
            (Route::Panels, &self.panels, both),
        ];
        choices
            .into_iter()
            .filter_map(|(route, times, before)| Some((route, estimate(times, problem)? + before)))
            .min_by(|a, b| a.1.total_cmp(&b.1))
            .map_or_else(|| self.unmeasured(problem), |(route, _)| route)
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

/// The time, in microseconds, by that of the most similar problem: as much more as there is to do.
fn estimate(times: &[Measured], problem: [i64; 3]) -> Option<f64> {
    times
        .iter()
        .min_by(|a, b| distance(a.size, problem).total_cmp(&distance(b.size, problem)))
        .map(|nearest| nearest.micros * volume(problem) / volume(nearest.size))
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

    const NO_COPIES: Copies = Copies { a: false, b: false };

    #[test]
    fn the_least_time_with_copies_decides() {
        let speeds = Speeds {
            direct: vec![measured(100, 10.0)],
            pipelined: vec![measured(1000, 1000.0)],
            panels: Vec::new(),
            tensor: vec![measured(1000, 500.0)],
            pack: vec![Measured {
                size: [1000, 1000, 1],
                micros: 100.0,
            }],
            is_cpu: false,
        };
        let route = |side, copies| speeds.route(cube(side), copies, Arithmetic::Automatic);
        assert_eq!(route(1000, NO_COPIES), Route::Tensor);
        let plain = speeds.route(cube(1000), NO_COPIES, Arithmetic::Plain);
        assert_eq!(plain, Route::Pipelined);
        // At 10 direct takes 0.01 us, tensor 0.0005 and copying both operands 0.02.
        let copies = Copies { a: true, b: true };
        assert_eq!(route(10, copies), Route::Direct);
        assert_eq!(route(10, NO_COPIES), Route::Tensor);
    }

    #[test]
    fn unknown_devices_go_by_type_and_size() {
        let mut speeds = Speeds {
            direct: Vec::new(),
            pipelined: Vec::new(),
            panels: Vec::new(),
            tensor: Vec::new(),
            pack: Vec::new(),
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
