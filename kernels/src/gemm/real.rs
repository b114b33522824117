//! The types of numbers that are multiplied, and the kernels of each.

use super::kernels::batched::{
    gemm_batched, gemm_batched_bf16, gemm_batched_f16, gemm_batched_f64,
};
use super::kernels::direct::{gemm_direct, gemm_direct_bf16, gemm_direct_f16, gemm_direct_f64};
use super::kernels::pack::{
    gemm_pack, gemm_pack_bf16, gemm_pack_f16, gemm_pack_f64, gemm_transpose_bf16,
    gemm_transpose_f16,
};
use super::kernels::panels::{gemm_panels, gemm_panels_bf16, gemm_panels_f16, gemm_panels_f64};
use super::kernels::pipelined::{
    gemm_pipelined, gemm_pipelined_bf16, gemm_pipelined_f16, gemm_pipelined_f64,
};
use super::kernels::split::{gemm_split, gemm_tf32};
use super::kernels::tensor_f64::gemm_tensor_f64;
use super::kernels::warpgroup::gemm_warpgroup;
use super::kernels::warpgroup_stored::{
    gemm_warpgroup_bf16, gemm_warpgroup_f16, gemm_warpgroup_tf32,
};
use cltune::{Buffer, Device, Element, Event, Queue, Result, bf16, f16};
use std::fmt::Debug;

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

/// C as kernels take it, and what becomes of its elements before they are written.
#[derive(Debug)]
pub struct Target<'a, T: Element> {
    pub(super) buffer: &'a mut Buffer<T>,
    pub(super) offset: i32,
    pub(super) leading: i32,
    /// See `epilogue.cl`; the kernel for batches has none.
    pub(super) epilogue: i32,
    /// One element, which is not read, where the epilogue adds none.
    pub(super) bias: &'a Buffer<T>,
}

/// α and β.
#[derive(Clone, Copy, Debug)]
pub struct Factors<R> {
    pub(super) alpha: R,
    pub(super) beta: R,
}

/// What was measured of a kernel: a problem, the rows and columns of C that a work-group computed
/// (none where the time does not go by rounds of work-groups), and the time of a launch, in
/// microseconds.
#[derive(Clone, Copy, Debug)]
pub struct Measured {
    pub(super) size: [i64; 3],
    pub(super) tile: Option<[i64; 2]>,
    pub(super) micros: f64,
}

/// A batch as kernels take it: how many products, and how far their matrices are apart.
#[derive(Clone, Copy, Debug)]
pub struct Steps {
    pub(super) count: i32,
    pub(super) a: i32,
    pub(super) b: i32,
    pub(super) c: i32,
    /// Whether matrices A, and matrices B, have elements in common.
    pub(super) shared: [bool; 2],
}

/// What was measured of a batch: how many products, and the time that each took.
#[derive(Clone, Copy, Debug)]
pub struct MeasuredBatch {
    pub(super) count: i64,
    pub(super) each: Measured,
}

/// The kernels of a type. Not for use outside: it keeps [`Real`] sealed.
pub trait Kernels: Element {
    /// What is computed in.
    type Real: Element + PartialEq;
    /// A configuration of `batched`.
    type BatchParams: Copy + Debug + Send + Sync;

    /// Whether the device has to support `double`.
    const NEEDS_FP64: bool;
    /// The least k for which tensor cores are as precise as plain arithmetic.
    const PRECISE_FROM: i32 = 0;
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

    /// Brings rows of length k into lines of the other direction, as they are stored; see
    /// `pack.cl`.
    fn transpose(
        queue: &Queue,
        rows: (i32, i32, i32, i32),
        transposed: bool,
        from: Operand<'_, Self>,
        to: &mut Buffer<Self>,
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

    /// The configuration of `batched` for so many products of operands that lie column after column
    /// or not.
    fn batch_params(
        device: &Device,
        size: Size,
        transposed: [bool; 2],
        count: i64,
    ) -> Result<Self::BatchParams>;

    /// See `batched.cl`. With a configuration, or the one that the launch itself chooses.
    fn batched(
        queue: &Queue,
        size: Size,
        how: (Steps, Option<Self::BatchParams>),
        factors: Factors<Self::Real>,
        a: (Operand<'_, Self>, bool),
        b: (Operand<'_, Self>, bool),
        c: Target<'_, Self>,
    ) -> Result<Event>;

    /// What is known of `batched` on this device.
    fn batched_times(device: &Device) -> Vec<MeasuredBatch>;
    /// What is known of `direct` on this device.
    fn direct_times(device: &Device) -> Vec<Measured>;
    /// What is known of `pipelined` on this device.
    fn pipelined_times(device: &Device) -> Vec<Measured>;
    /// What is known of `panels` on this device.
    fn panels_times(device: &Device) -> Vec<Measured>;
    /// What is known of `pack` on this device, with a single panel or with several: rows, k, 1.
    fn pack_times(device: &Device, single: bool) -> Vec<Measured>;
    /// How the kernel for tensor cores reads its operands; `None` where there is no such kernel.
    fn lines(orders: Orders) -> Option<Lines>;
    /// What is known of `tensor` on this device.
    fn tensor_times(device: &Device, orders: Orders) -> Vec<Measured>;
    /// See `split.cl`, `tensor_f64.cl`, `warpgroup.cl` and `warpgroup_stored.cl`. Where there is no
    /// kernel for these orders, it is that of the others.
    fn tensor(
        queue: &Queue,
        how: (Orders, Products),
        size: Size,
        factors: Factors<Self::Real>,
        a: OfLines<'_, Self>,
        b: OfLines<'_, Self>,
        c: Target<'_, Self>,
    ) -> Result<Event>;
}

/// An operand, and whether its lines are of k.
pub(super) type OfLines<'a, T> = (Operand<'a, T>, bool);

/// The lines of operands that a kernel reads.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Lines {
    /// Of k elements.
    OfK,
    /// Of m or n elements.
    Across,
    /// Both.
    Either,
}

/// Who gives orders to tensor cores.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Orders {
    /// 32 work-items: NVIDIA's GPUs since compute capability 8.0.
    Warp,
    /// 128 work-items, which do not wait for the end: compute capability 9.0.
    Warpgroup,
}

impl Orders {
    /// Whether a device has such tensor cores.
    pub(super) fn are_taken_by(self, device: &Device) -> bool {
        let capability = device.info().limits.nv_compute_capability;
        match self {
            Self::Warp => capability >= 80,
            // Not 90 and later: these instructions have no successor of the same name.
            Self::Warpgroup => capability == 90,
        }
    }
}

/// How many products of TF32 numbers stand for one product.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Products {
    /// One: as precise as TF32.
    One,
    /// Three: as precise as single precision.
    Three,
}

/// A type of numbers that [`Gemm`](super::Gemm) multiplies: `f32`, `f64`, and `f16` and `bf16`,
/// which are computed in `f32` and rounded once.
pub trait Real: Kernels {}

impl Real for f32 {}
impl Real for f64 {}
impl Real for f16 {}
impl Real for bf16 {}

/// The rows of the lockfile for a device.
macro_rules! times {
    ($kernel:ident, $device:expr, |$problem:ident, $values:ident| $size:expr, $tile:expr) => {
        times!($kernel, $device, |$problem, $values| $size, $tile, true)
    };
    (
        $kernel:ident, $device:expr, |$problem:ident, $values:ident| $size:expr, $tile:expr,
        $counts:expr
    ) => {{
        let info = $device.info();
        $kernel::BAKED
            .iter()
            .filter(|row| row.platform == info.platform && row.device == info.name)
            .filter_map(|row| {
                let ($problem, $values) = (row.problem, row.params);
                ($counts).then_some(Measured {
                    size: $size,
                    tile: $tile,
                    micros: row.time_us,
                })
            })
            .collect()
    }};
}

macro_rules! kernels {
    (
        $stored:ident in $real:ident, $pack:ident, $transpose:ident, $pipelined:ident,
        $panels:ident, $direct:ident, $batched:ident, $needs_fp64:literal; $($more:tt)*
    ) => {
        impl Kernels for $stored {
            type Real = $real;
            type BatchParams = $batched::Params;
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

            fn transpose(
                queue: &Queue,
                (rows, k, padded, panel): (i32, i32, i32, i32),
                transposed: bool,
                from: Operand<'_, $stored>,
                to: &mut Buffer<$stored>,
            ) -> Result<Event> {
                $transpose(
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
                    b.leading, c.buffer, c.offset, c.leading, c.epilogue, c.bias,
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
                $panels(
                    queue, m, n, k, alpha, beta, a, b, c.buffer, c.offset, c.leading, c.epilogue,
                    c.bias,
                )
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
                        c.epilogue, c.bias,
                    );
                }
                $direct(
                    queue, m, n, k, alpha, beta, a.buffer, a.offset, a.leading, trans_a, b.buffer, b.offset,
                    b.leading, trans_b, c.buffer, c.offset, c.leading, c.epilogue, c.bias,
                )
            }

            fn batch_params(
                device: &Device,
                Size { m, n, k }: Size,
                transposed: [bool; 2],
                count: i64,
            ) -> Result<$batched::Params> {
                let [m, n, k] = [m, n, k].map(i64::from);
                let [trans_a, trans_b] = transposed.map(i64::from);
                let problem = $batched::Problem {
                    m, n, k, count, trans_a, trans_b, shared_a: 0, shared_b: 0,
                };
                Ok($batched::select(device, problem)?.params)
            }

            fn batched(
                queue: &Queue,
                Size { m, n, k }: Size,
                (steps, params): (Steps, Option<$batched::Params>),
                Factors { alpha, beta }: Factors<$real>,
                (a, trans_a): (Operand<'_, $stored>, bool),
                (b, trans_b): (Operand<'_, $stored>, bool),
                c: Target<'_, $stored>,
            ) -> Result<Event> {
                let [trans_a, trans_b] = [trans_a, trans_b].map(i32::from);
                let [shared_a, shared_b] = steps.shared.map(i32::from);
                // Without barriers, as above.
                let params = if k > 0 { params } else {
                    Some($batched::Params {
                        MWG: 16, NWG: 16, KWG: 16, MWI: 4, NWI: 4, VM: 1, VN: 4, PRODUCTS: 1,
                        LOCAL: false, VW: 1, PAD: 0, AHEAD: false, UNROLL: 1,
                    })
                };
                match params {
                    Some(params) => $batched::launch_with(
                        &params, queue, m, n, k, steps.count, trans_a, trans_b, shared_a, shared_b, alpha,
                        beta, a.buffer, a.offset, a.leading, steps.a, b.buffer, b.offset, b.leading,
                        steps.b, c.buffer, c.offset, c.leading, steps.c,
                    ),
                    None => $batched(
                        queue, m, n, k, steps.count, trans_a, trans_b, shared_a, shared_b, alpha, beta,
                        a.buffer, a.offset, a.leading, steps.a, b.buffer, b.offset, b.leading, steps.b,
                        c.buffer, c.offset, c.leading, steps.c,
                    ),
                }
            }

            fn batched_times(device: &Device) -> Vec<MeasuredBatch> {
                let info = device.info();
                $batched::BAKED
                    .iter()
                    .filter(|row| row.platform == info.platform && row.device == info.name)
                    .map(|row| {
                        let of = row.problem;
                        let each = Measured {
                            size: [of.m, of.n, of.k],
                            tile: None,
                            micros: row.time_us / of.count.max(1) as f64,
                        };
                        MeasuredBatch { count: of.count, each }
                    })
                    .collect()
            }

            fn direct_times(device: &Device) -> Vec<Measured> {
                times!($direct, device, |of, by| [of.m, of.n, of.k], Some([by.MWG, by.NWG]))
            }

            fn pipelined_times(device: &Device) -> Vec<Measured> {
                times!($pipelined, device, |of, by| [of.m, of.n, of.k], Some([by.MWG, by.NWG]))
            }

            fn panels_times(device: &Device) -> Vec<Measured> {
                times!($panels, device, |of, by| [of.m, of.n, of.k], Some([by.MR, by.NR]))
            }

            fn pack_times(device: &Device, single: bool) -> Vec<Measured> {
                times!(
                    $pack,
                    device,
                    |of, _by| [of.rows, of.k, 1],
                    None,
                    (of.panel == of.padded) == single
                )
            }

            $($more)*
        }
    };
}

kernels! {
    f32 in f32,
    gemm_pack, gemm_pack, gemm_pipelined, gemm_panels, gemm_direct, gemm_batched, false;
    // What is left out of one product is more than the rounding of a short sum.
    const PRECISE_FROM: i32 = 16;

    fn as_stored(buffer: &Buffer<f32>) -> Option<&Buffer<f32>> {
        Some(buffer)
    }

    fn lines(orders: Orders) -> Option<Lines> {
        Some(match orders {
            Orders::Warp => Lines::Across,
            Orders::Warpgroup => Lines::OfK,
        })
    }

    fn tensor_times(device: &Device, orders: Orders) -> Vec<Measured> {
        match orders {
            Orders::Warp => times!(
                gemm_split,
                device,
                |of, by| [of.m, of.n, of.k],
                Some([by.MWG, by.NWG])
            ),
            Orders::Warpgroup => times!(
                gemm_warpgroup,
                device,
                |of, by| [of.m, of.n, of.k],
                Some([64 * by.WARPGROUPS, by.NWG])
            ),
        }
    }

    fn tensor(
        queue: &Queue,
        how: (Orders, Products),
        Size { m, n, k }: Size,
        Factors { alpha, beta }: Factors<f32>,
        (a, a_of_k): OfLines<'_, f32>,
        (b, b_of_k): OfLines<'_, f32>,
        c: Target<'_, f32>,
    ) -> Result<Event> {
        let multiply = match how {
            (Orders::Warp, Products::One) => gemm_tf32,
            (Orders::Warp, Products::Three) => gemm_split,
            (Orders::Warpgroup, Products::One) => {
                return gemm_warpgroup_tf32(
                    queue, m, n, k, alpha, beta, a.buffer, a.offset, a.leading, i32::from(a_of_k), b.buffer,
                    b.offset, b.leading, i32::from(b_of_k), c.buffer, c.offset, c.leading,
                    c.epilogue, c.bias,
                );
            }
            (Orders::Warpgroup, Products::Three) => gemm_warpgroup,
        };
        multiply(
            queue, m, n, k, alpha, beta, a.buffer, a.offset, a.leading, b.buffer, b.offset, b.leading,
            c.buffer, c.offset, c.leading, c.epilogue, c.bias,
        )
    }
}

/// A single kernel for tensor cores, which reads operands as they lie.
macro_rules! as_they_lie {
    ($stored:ident in $real:ident, $orders:ident, $kernel:ident, |$by:ident| $tile:expr) => {
        fn lines(orders: Orders) -> Option<Lines> {
            (orders == Orders::$orders).then_some(Lines::Either)
        }

        fn tensor_times(device: &Device, orders: Orders) -> Vec<Measured> {
            if orders != Orders::$orders {
                return Vec::new();
            }
            times!($kernel, device, |of, $by| [of.m, of.n, of.k], Some($tile))
        }

        fn tensor(
            queue: &Queue,
            _how: (Orders, Products),
            Size { m, n, k }: Size,
            Factors { alpha, beta }: Factors<$real>,
            (a, a_of_k): OfLines<'_, $stored>,
            (b, b_of_k): OfLines<'_, $stored>,
            c: Target<'_, $stored>,
        ) -> Result<Event> {
            let (a_of_k, b_of_k) = (i32::from(a_of_k), i32::from(b_of_k));
            $kernel(
                queue, m, n, k, alpha, beta, a.buffer, a.offset, a.leading, a_of_k, b.buffer,
                b.offset, b.leading, b_of_k, c.buffer, c.offset, c.leading, c.epilogue, c.bias,
            )
        }
    };
}

kernels! {
    f64 in f64,
    gemm_pack_f64, gemm_pack_f64, gemm_pipelined_f64, gemm_panels_f64, gemm_direct_f64,
    gemm_batched_f64, true;
    fn as_stored(buffer: &Buffer<f64>) -> Option<&Buffer<f64>> {
        Some(buffer)
    }

    as_they_lie!(f64 in f64, Warp, gemm_tensor_f64, |by| [by.MWG, by.NWG]);
}

kernels! {
    f16 in f32,
    gemm_pack_f16, gemm_transpose_f16, gemm_pipelined_f16, gemm_panels_f16, gemm_direct_f16,
    gemm_batched_f16, false;
    fn as_stored(_buffer: &Buffer<f16>) -> Option<&Buffer<f32>> {
        None
    }

    as_they_lie!(f16 in f32, Warpgroup, gemm_warpgroup_f16, |by| [64 * by.WARPGROUPS, by.NWG]);
}

kernels! {
    bf16 in f32,
    gemm_pack_bf16, gemm_transpose_bf16, gemm_pipelined_bf16, gemm_panels_bf16, gemm_direct_bf16,
    gemm_batched_bf16, false;
    fn as_stored(_buffer: &Buffer<bf16>) -> Option<&Buffer<f32>> {
        None
    }

    as_they_lie!(bf16 in f32, Warpgroup, gemm_warpgroup_bf16, |by| [64 * by.WARPGROUPS, by.NWG]);
}
