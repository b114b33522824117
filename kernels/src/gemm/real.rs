//! The types of numbers that are multiplied, and the kernels of each.

use super::kernels::direct::{gemm_direct, gemm_direct_f16, gemm_direct_f64};
use super::kernels::pack::{gemm_pack, gemm_pack_f16, gemm_pack_f64};
use super::kernels::panels::{gemm_panels, gemm_panels_f16, gemm_panels_f64};
use super::kernels::pipelined::{gemm_pipelined, gemm_pipelined_f16, gemm_pipelined_f64};
use super::kernels::split::{gemm_split, gemm_tf32};
use super::kernels::warpgroup::{gemm_warpgroup, gemm_warpgroup_tf32};
use cltune::{Buffer, Device, Element, Event, Queue, Result, f16};

/// The size of a product: C has m rows and n columns, and sums of k products.
#[derive(Clone, Copy, Debug)]
pub struct Size {
    pub(super) m: i32,
    pub(super) n: i32,
    pub(super) k: i32,
}

/// An operand as kernels take it.
#[derive(Clone, Copy, Debug)]
pub struct Operand<'a, T: Element> {
    pub(super) buffer: &'a Buffer<T>,
    pub(super) offset: i32,
    pub(super) leading: i32,
}

/// C as kernels take it.
#[derive(Debug)]
pub struct Target<'a, T: Element> {
    pub(super) buffer: &'a mut Buffer<T>,
    pub(super) offset: i32,
    pub(super) leading: i32,
}

/// α and β.
#[derive(Clone, Copy, Debug)]
pub struct Factors<R> {
    pub(super) alpha: R,
    pub(super) beta: R,
}

/// What was measured of a kernel: a problem and the time of a launch, in microseconds.
#[derive(Clone, Copy, Debug)]
pub struct Measured {
    pub(super) size: [i64; 3],
    pub(super) micros: f64,
}

/// The kernels of a type. Not for use outside: it keeps [`Real`] sealed.
pub trait Kernels: Element {
    /// What is computed in.
    type Real: Element + PartialEq;

    /// Whether the device has to support `double`.
    const NEEDS_FP64: bool;
    /// Whether there is a kernel for tensor cores.
    const ON_TENSOR_CORES: bool = false;
    /// Zero.
    const ZERO: Self::Real;

    /// An operand as what is computed in; `None` where it has to be converted.
    fn as_stored(buffer: &Buffer<Self>) -> Option<&Buffer<Self::Real>>;

    /// Brings rows of length k into panels; see `pack.cl`.
    fn pack(
        queue: &Queue,
        rows: (i32, i32, i32, i32),
        transposed: bool,
        from: Operand<'_, Self>,
        to: &mut Buffer<Self::Real>,
    ) -> Result<Event>;

    /// See `pipelined.cl`.
    fn pipelined(
        queue: &Queue,
        size: Size,
        factors: Factors<Self::Real>,
        a: Operand<'_, Self::Real>,
        b: Operand<'_, Self::Real>,
        c: Target<'_, Self>,
    ) -> Result<Event>;

    /// See `panels.cl`.
    fn panels(
        queue: &Queue,
        size: Size,
        factors: Factors<Self::Real>,
        a: &Buffer<Self::Real>,
        b: &Buffer<Self::Real>,
        c: Target<'_, Self>,
    ) -> Result<Event>;

    /// See `direct.cl`.
    fn direct(
        queue: &Queue,
        size: Size,
        factors: Factors<Self::Real>,
        a: (Operand<'_, Self>, bool),
        b: (Operand<'_, Self>, bool),
        c: Target<'_, Self>,
    ) -> Result<Event>;

    /// What is known of `direct` on this device.
    fn direct_times(device: &Device) -> Vec<Measured>;
    /// What is known of `pipelined` on this device.
    fn pipelined_times(device: &Device) -> Vec<Measured>;
    /// What is known of `panels` on this device.
    fn panels_times(device: &Device) -> Vec<Measured>;
    /// What is known of `pack` on this device, with a single panel or with several: rows, k, 1.
    fn pack_times(device: &Device, single: bool) -> Vec<Measured>;
    /// What is known of `tensor` on this device.
    fn tensor_times(_device: &Device, _orders: Orders) -> Vec<Measured> {
        Vec::new()
    }

    /// See `split.cl` and `warpgroup.cl`, which wants its operands otherwise. A type that tensor
    /// cores are not used for takes the ordinary units.
    fn tensor(
        queue: &Queue,
        _how: (Orders, Products),
        size: Size,
        factors: Factors<Self::Real>,
        a: Operand<'_, Self::Real>,
        b: Operand<'_, Self::Real>,
        c: Target<'_, Self>,
    ) -> Result<Event> {
        Self::pipelined(queue, size, factors, a, b, c)
    }
}

/// Who gives orders to tensor cores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Orders {
    /// 32 work-items: NVIDIA's GPUs since compute capability 8.0.
    Warp,
    /// 128 work-items, which do not wait for the end: compute capability 9.0.
    Warpgroup,
}

/// How many products of TF32 numbers stand for one product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Products {
    /// One: as precise as TF32.
    One,
    /// Three: as precise as single precision.
    Three,
}

/// A type of numbers that [`Gemm`](super::Gemm) multiplies: `f32`, `f64`, and `f16`, which is
/// computed in `f32` and rounded once.
pub trait Real: Kernels {}

impl Real for f32 {}
impl Real for f64 {}
impl Real for f16 {}

/// The rows of the lockfile for a device.
macro_rules! times {
    ($kernel:ident, $device:expr, |$problem:ident| $size:expr) => {
        times!($kernel, $device, |$problem| $size, true)
    };
    ($kernel:ident, $device:expr, |$problem:ident| $size:expr, $counts:expr) => {{
        let info = $device.info();
        $kernel::BAKED
            .iter()
            .filter(|row| row.platform == info.platform && row.device == info.name)
            .filter_map(|row| {
                let $problem = row.problem;
                ($counts).then_some(Measured {
                    size: $size,
                    micros: row.time_us,
                })
            })
            .collect()
    }};
}

macro_rules! kernels {
    (
        $stored:ident in $real:ident, $pack:ident, $pipelined:ident, $panels:ident, $direct:ident,
        $needs_fp64:literal, { $($more:tt)* }
    ) => {
        impl Kernels for $stored {
            type Real = $real;
            const NEEDS_FP64: bool = $needs_fp64;
            const ZERO: $real = 0.0;

            fn pack(
                queue: &Queue,
                (rows, k, padded, panel): (i32, i32, i32, i32),
                transposed: bool,
                from: Operand<'_, $stored>,
                to: &mut Buffer<$real>,
            ) -> Result<Event> {
                $pack(
                    queue, rows, k, padded, panel, i32::from(transposed), from.buffer, from.offset,
                    from.leading, to,
                )
            }

            fn pipelined(
                queue: &Queue,
                Size { m, n, k }: Size,
                Factors { alpha, beta }: Factors<$real>,
                a: Operand<'_, $real>,
                b: Operand<'_, $real>,
                c: Target<'_, $stored>,
            ) -> Result<Event> {
                $pipelined(
                    queue, m, n, k, alpha, beta, a.buffer, a.offset, a.leading, b.buffer, b.offset,
                    b.leading, c.buffer, c.offset, c.leading,
                )
            }

            fn panels(
                queue: &Queue,
                Size { m, n, k }: Size,
                Factors { alpha, beta }: Factors<$real>,
                a: &Buffer<$real>,
                b: &Buffer<$real>,
                c: Target<'_, $stored>,
            ) -> Result<Event> {
                $panels(queue, m, n, k, alpha, beta, a, b, c.buffer, c.offset, c.leading)
            }

            fn direct(
                queue: &Queue,
                Size { m, n, k }: Size,
                Factors { alpha, beta }: Factors<$real>,
                (a, trans_a): (Operand<'_, $stored>, bool),
                (b, trans_b): (Operand<'_, $stored>, bool),
                c: Target<'_, $stored>,
            ) -> Result<Event> {
                let (trans_a, trans_b) = (i32::from(trans_a), i32::from(trans_b));
                if k == 0 {
                    // Without barriers: where a loop with some is not entered, PoCL 3.1 lets the
                    // first work-item go on twice, and what it updates is scaled twice.
                    let params = $direct::Params {
                        MWG: 32,
                        NWG: 32,
                        KWG: 16,
                        MDIMC: 8,
                        NDIMC: 8,
                        LOCAL: false,
                    };
                    return $direct::launch_with(
                        &params, queue, m, n, k, alpha, beta, a.buffer, a.offset, a.leading, trans_a,
                        b.buffer, b.offset, b.leading, trans_b, c.buffer, c.offset, c.leading,
                    );
                }
                $direct(
                    queue, m, n, k, alpha, beta, a.buffer, a.offset, a.leading, trans_a, b.buffer, b.offset,
                    b.leading, trans_b, c.buffer, c.offset, c.leading,
                )
            }

            fn direct_times(device: &Device) -> Vec<Measured> {
                times!($direct, device, |of| [of.m, of.n, of.k])
            }

            fn pipelined_times(device: &Device) -> Vec<Measured> {
                times!($pipelined, device, |of| [of.m, of.n, of.k])
            }

            fn panels_times(device: &Device) -> Vec<Measured> {
                times!($panels, device, |of| [of.m, of.n, of.k])
            }

            fn pack_times(device: &Device, single: bool) -> Vec<Measured> {
                times!($pack, device, |of| [of.rows, of.k, 1], (of.panel == of.padded) == single)
            }

            $($more)*
        }
    };
}

kernels!(f32 in f32, gemm_pack, gemm_pipelined, gemm_panels, gemm_direct, false, {
    fn as_stored(buffer: &Buffer<f32>) -> Option<&Buffer<f32>> {
        Some(buffer)
    }

    const ON_TENSOR_CORES: bool = true;

    fn tensor_times(device: &Device, orders: Orders) -> Vec<Measured> {
        match orders {
            Orders::Warp => times!(gemm_split, device, |of| [of.m, of.n, of.k]),
            Orders::Warpgroup => times!(gemm_warpgroup, device, |of| [of.m, of.n, of.k]),
        }
    }

    fn tensor(
        queue: &Queue,
        how: (Orders, Products),
        Size { m, n, k }: Size,
        Factors { alpha, beta }: Factors<f32>,
        a: Operand<'_, f32>,
        b: Operand<'_, f32>,
        c: Target<'_, f32>,
    ) -> Result<Event> {
        let multiply = match how {
            (Orders::Warp, Products::One) => gemm_tf32,
            (Orders::Warp, Products::Three) => gemm_split,
            (Orders::Warpgroup, Products::One) => gemm_warpgroup_tf32,
            (Orders::Warpgroup, Products::Three) => gemm_warpgroup,
        };
        multiply(
            queue, m, n, k, alpha, beta, a.buffer, a.offset, a.leading, b.buffer, b.offset, b.leading,
            c.buffer, c.offset, c.leading,
        )
    }
});

kernels!(f64 in f64, gemm_pack_f64, gemm_pipelined_f64, gemm_panels_f64, gemm_direct_f64, true, {
    fn as_stored(buffer: &Buffer<f64>) -> Option<&Buffer<f64>> {
        Some(buffer)
    }
});

kernels!(f16 in f32, gemm_pack_f16, gemm_pipelined_f16, gemm_panels_f16, gemm_direct_f16, false, {
    fn as_stored(_buffer: &Buffer<f16>) -> Option<&Buffer<f32>> {
        None
    }
});
