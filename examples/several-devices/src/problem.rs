//! The problems with their data, and whether results are right.

use crate::kernels::{conv1d, matmul};
use crate::memory::{Data, Memory};
use cltune::{DeviceSet, Result, SplitReport};

/// How many results are compared with the definition.
const SAMPLES: usize = 1000;

/// A problem with its data.
pub(crate) trait Problem {
    /// What it is, with its sizes.
    fn title(&self) -> String;

    /// The size of the divided dimension.
    fn positions(&self) -> u32;

    /// Computes the first `positions` of it.
    fn compute(&mut self, devices: &mut DeviceSet, positions: u32) -> Result<SplitReport>;

    /// How many of a sample of all results are wrong.
    fn wrong(&self) -> usize;
}

/// A 1-D convolution.
pub(crate) struct Convolution {
    x: Memory,
    w: Memory,
    y: Memory,
    data: Data,
}

impl Convolution {
    /// Of `n` elements with a mask of `mask`, in memory of the devices' host.
    pub(crate) fn new(devices: &DeviceSet, data: Data, n: usize, mask: usize) -> Result<Self> {
        Ok(Self {
            x: numbers(data.memory.zeros(devices, n + mask - 1)?),
            w: numbers(data.memory.zeros(devices, mask)?),
            y: unknown(data.memory.zeros(devices, n)?),
            data,
        })
    }
}

impl Problem for Convolution {
    fn title(&self) -> String {
        let (elements, mask) = (self.y.len(), self.w.len());
        let data = self.data;
        format!("1-D convolution, {elements} elements, mask {mask}, {data}")
    }

    fn positions(&self) -> u32 {
        self.y.len() as u32
    }

    fn compute(&mut self, devices: &mut DeviceSet, positions: u32) -> Result<SplitReport> {
        self.data.next_call([&mut self.x, &mut self.w]);
        let (n, mask) = (positions as usize, self.w.len());
        conv1d::split_n(
            devices,
            positions,
            mask as u32,
            &self.x[..n + mask - 1],
            &self.w,
            &mut self.y[..n],
        )
    }

    fn wrong(&self) -> usize {
        let expected = |i: usize| dot(self.w.iter().copied(), self.x[i..].iter().copied());
        wrong_of(&self.y, expected)
    }
}

/// Along which dimension of the result a matrix multiplication is divided.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Along {
    /// Every device computes rows.
    Rows,
    /// Every device computes columns.
    Columns,
}

/// A multiplication by a square matrix.
pub(crate) struct Multiplication {
    rows: usize,
    n: usize,
    along: Along,
    a: Memory,
    b: Memory,
    c: Memory,
    data: Data,
}

impl Multiplication {
    /// Of `rows` x `n` elements by `n` x `n`, in memory of the devices' host.
    pub(crate) fn new(
        devices: &DeviceSet,
        data: Data,
        [rows, n]: [usize; 2],
        along: Along,
    ) -> Result<Self> {
        Ok(Self {
            rows,
            n,
            along,
            a: numbers(data.memory.zeros(devices, rows * n)?),
            b: numbers(data.memory.zeros(devices, n * n)?),
            c: unknown(data.memory.zeros(devices, rows * n)?),
            data,
        })
    }
}

impl Problem for Multiplication {
    fn title(&self) -> String {
        let Self {
            rows,
            n,
            along,
            data,
            ..
        } = self;
        let along = match along {
            Along::Rows => "rows",
            Along::Columns => "columns",
        };
        format!("matrix multiplication, {rows} x {n}, divided by {along}, {data}")
    }

    fn positions(&self) -> u32 {
        self.rows as u32
    }

    fn compute(&mut self, devices: &mut DeviceSet, positions: u32) -> Result<SplitReport> {
        self.data.next_call([&mut self.a, &mut self.b]);
        let (n, rows) = (self.n as u32, positions as usize * self.n);
        if self.along == Along::Columns && positions == self.positions() {
            return matmul::split_n(devices, positions, n, n, &self.a, &self.b, &mut self.c);
        }
        let (a, c) = (&self.a[..rows], &mut self.c[..rows]);
        matmul::split_m(devices, positions, n, n, a, &self.b, c)
    }

    fn wrong(&self) -> usize {
        let n = self.n;
        let expected = |i: usize| {
            let row = self.a[i / n * n..].iter().take(n).copied();
            dot(row, self.b[i % n..].iter().step_by(n).copied())
        };
        wrong_of(&self.c, expected)
    }
}

/// The sum of products, and of their magnitudes, for the error that rounding may make.
fn dot(left: impl Iterator<Item = f32>, right: impl Iterator<Item = f32>) -> (f64, f64) {
    let products = left.zip(right).map(|(a, b)| f64::from(a) * f64::from(b));
    products.fold((0.0, 0.0), |(sum, size), product| {
        (sum + product, size + product.abs())
    })
}

fn wrong_of(results: &[f32], expected: impl Fn(usize) -> (f64, f64)) -> usize {
    // The ends are where shares overlap and halos end.
    let step = (results.len() / SAMPLES).max(1);
    let samples = (0..results.len()).step_by(step).chain([results.len() - 1]);
    let is_wrong = |i: &usize| {
        let (value, size) = expected(*i);
        let difference = (f64::from(results[*i]) - value).abs();
        difference.is_nan() || difference > 1e-5 * size
    };
    samples.filter(is_wrong).count()
}

/// Fills memory with numbers from -1 to 1 without a pattern that sums up to nothing.
fn numbers(mut memory: Memory) -> Memory {
    let mut state = 0x2545_F491_4F6C_DD1D_u64;
    let mut next = || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 40) as f32 / (1 << 23) as f32 - 1.0
    };
    memory.fill_with(&mut next);
    memory
}

/// Fills memory with what no result is.
fn unknown(mut memory: Memory) -> Memory {
    memory.fill(f32::NAN);
    memory
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::memory::{Changing, Kind};
    use cltune::{Device, Sharing};

    const CHANGING: [Changing; 3] = [Changing::All, Changing::First, Changing::None];

    /// All devices; one alone is two with a context each.
    fn set() -> DeviceSet {
        let mut devices = Device::all().expect("these tests need an OpenCL device");
        devices.push(devices[0].clone());
        DeviceSet::new(&devices).unwrap()
    }

    /// Two calls by all devices, with inputs that change in between, and with others.
    fn check(devices: &mut DeviceSet, problem: &mut dyn Problem, is_sent: bool) {
        let positions = problem.positions();
        problem.compute(devices, positions).unwrap();
        assert_eq!(problem.wrong(), 0, "{}", problem.title());
        let factors = vec![1.0; devices.devices().count()];
        devices.set_sharing(Sharing::Fixed(factors));
        for is_first in [true, false] {
            let report = problem.compute(devices, positions).unwrap();
            assert_eq!(problem.wrong(), 0, "{}\n{report}", problem.title());
            assert!(report.shares.len() > 1, "{report}");
            let sent: usize = report.shares.iter().map(|share| share.sent).sum();
            assert!(
                is_first || (sent > 0) == is_sent,
                "{}\n{report}",
                problem.title()
            );
        }
    }

    #[test]
    fn convolutions_are_right() {
        for memory in [Kind::Pageable, Kind::Pinned] {
            for changing in CHANGING {
                let data = Data { memory, changing };
                let mut devices = set();
                let mut problem = Convolution::new(&devices, data, 1 << 16, 625).unwrap();
                assert!(problem.wrong() >= SAMPLES);
                let stays = memory == Kind::Pinned && changing == Changing::None;
                check(&mut devices, &mut problem, !stays);
            }
        }
    }

    #[test]
    fn multiplications_are_right() {
        let along = [Along::Rows, Along::Columns, Along::Columns];
        for ((along, changing), rows) in along.into_iter().zip(CHANGING).zip([256, 128, 256]) {
            let mut devices = set();
            let memory = Kind::Pinned;
            let data = Data { memory, changing };
            let mut problem = Multiplication::new(&devices, data, [rows, 256], along).unwrap();
            check(&mut devices, &mut problem, changing != Changing::None);
        }
    }
}
