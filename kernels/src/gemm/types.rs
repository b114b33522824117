//! The kernels of each type of numbers.

use super::kernels::batched::{
    gemm_batched, gemm_batched_bf16, gemm_batched_f16, gemm_batched_f64,
};
use super::kernels::batched_tensor::{
    gemm_batched_tensor_bf16, gemm_batched_tensor_f16, gemm_batched_tensor_f64,
};
use super::kernels::direct::{gemm_direct, gemm_direct_bf16, gemm_direct_f16, gemm_direct_f64};
use super::kernels::pack::{
    gemm_pack, gemm_pack_bf16, gemm_pack_f16, gemm_pack_f64, gemm_to_panels, gemm_to_panels_bf16,
    gemm_to_panels_f16, gemm_to_panels_f64, gemm_transpose_bf16, gemm_transpose_f16,
};
use super::kernels::panels::{
    OF_B, OF_B_F64, gemm_panels, gemm_panels_bf16, gemm_panels_f16, gemm_panels_f64,
};
use super::kernels::parts::{
    gemm_pipelined_parts, gemm_pipelined_parts_bf16, gemm_pipelined_parts_f16,
    gemm_pipelined_parts_f64, gemm_tensor_f64_parts, gemm_warpgroup_parts,
};
use super::kernels::pipelined::{
    gemm_pipelined, gemm_pipelined_bf16, gemm_pipelined_f16, gemm_pipelined_f64,
};
use super::kernels::split::{gemm_split, gemm_tf32};
use super::kernels::tensor_f64::gemm_tensor_f64;
use super::kernels::warpgroup::gemm_warpgroup;
use super::kernels::warpgroup_stored::{
    gemm_warpgroup_bf16, gemm_warpgroup_f16, gemm_warpgroup_tf32,
};
use super::operands::width;
use super::real::{
    BatchLike, BatchParams, Factors, Kernels, Lines, MeasuredBatch, MeasuredTime, OfLines, Operand,
    Orders, Products, Size, Steps, Target, Values,
};
use cltune::{Buffer, Device, Event, Queue, Result, bf16, f16};

/// The rows of the lockfile for a device: of each what it measured, but for the time, or `None`
/// where it does not count.
macro_rules! times {
    ($kernel:ident, $device:expr, |$problem:ident, $values:ident| $known:expr) => {{
        let info = $device.info();
        $kernel::BAKED
            .iter()
            .enumerate()
            .filter(|(_, row)| row.platform == info.platform && row.device == info.name)
            .filter_map(|(row, of)| {
                let ($problem, $values) = (of.problem, of.params);
                let known: Option<MeasuredTime> = $known.into();
                let micros = of.time_us;
                known.map(|known| MeasuredTime {
                    row,
                    micros,
                    ..known
                })
            })
            .collect()
    }};
}

/// A launch with the given values. Those of a row that the device refuses are followed by what the
/// selection rule has.
macro_rules! launch {
    ($kernel:ident, $values:expr, $($argument:expr),* $(,)?) => {
        match $values.row.and_then(|row| $kernel::BAKED.get(row)) {
            Some(known) => $kernel::launch_with(&known.params, $($argument),*)
                .or_else(|_| $kernel($($argument),*)),
            None => $kernel($($argument),*),
        }
    };
}

/// What was measured of a product in tiles by warpgroups, in single precision: A is in lines of k.
/// Where B is not, tiles are of the product of the transposes.
macro_rules! of_warpgroups {
    ($of:ident, $by:ident) => {{
        let (rows, columns, b_of_k) = (64 * $by.WARPGROUPS, $by.NWG, $of.b_of_k == 1);
        let tile = if b_of_k {
            [rows, columns]
        } else {
            [columns, rows]
        };
        MeasuredTime {
            of_k: Some([true, b_of_k]),
            ..of_tiles!($of, tile)
        }
    }};
}

/// What was measured of a product in tiles; with `of_k`, of a kernel that reads either kind of
/// lines.
macro_rules! of_tiles {
    ($of:ident, $tile:expr) => {
        MeasuredTime {
            tile: Some($tile),
            ..MeasuredTime::of([$of.m, $of.n, $of.k])
        }
    };
    ($of:ident, $tile:expr, of_k) => {
        MeasuredTime {
            of_k: Some([$of.a_of_k == 1, $of.b_of_k == 1]),
            ..of_tiles!($of, $tile)
        }
    };
    ($of:ident, $tile:expr, of_k, width) => {
        MeasuredTime {
            is_aligned: Some($of.width == 2),
            ..of_tiles!($of, $tile, of_k)
        }
    };
}

/// How many elements are read at once, of a kernel that has such a number.
macro_rules! width_of {
    ($of:expr) => {
        1
    };
    ($of:expr, $width:ident) => {
        $of.$width
    };
}

/// How many elements of A and B can be copied at once.
fn width_of_lines<T: Kernels>(a: Operand<'_, T>, b: Operand<'_, T>) -> i32 {
    let numbers = [a.offset, a.leading, b.offset, b.leading];
    width::<T>(&numbers.map(|number| number.unsigned_abs() as usize))
}

/// The rows of the lockfile for a device, of a kernel for batches.
macro_rules! batch_times {
    ($kernel:ident, $device:expr $(, $width:ident)?) => {{
        let info = $device.info();
        $kernel::BAKED
            .iter()
            .filter(|row| row.platform == info.platform && row.device == info.name)
            .map(|row| {
                let (of, by) = (row.problem, row.params);
                let each = MeasuredTime {
                    micros: row.time_us / of.count.max(1) as f64,
                    ..of_tiles!(of, [by.MWG, by.NWG])
                };
                let like = BatchLike {
                    count: of.count,
                    width: width_of!(of $(, $width)?),
                };
                MeasuredBatch { like, each }
            })
            .collect()
    }};
}

/// The configuration of a kernel for a batch.
macro_rules! select_for_batch {
    ($kernel:ident, $device:expr, $size:expr, $transposed:expr, $like:expr $(, $width:ident)?) => {{
        let Size { m, n, k } = $size;
        let [m, n, k] = [m, n, k].map(i64::from);
        let [trans_a, trans_b] = $transposed.map(i64::from);
        let problem = $kernel::Problem {
            m,
            n,
            k,
            count: $like.count,
            trans_a,
            trans_b,
            shared_a: 0,
            shared_b: 0,
            $($width: $like.$width,)?
        };
        $kernel::select($device, problem)?.params
    }};
}

/// A launch of a kernel for batches.
macro_rules! launch_batch {
    ($launch:path, [$($params:expr)?], $call:expr $(, $width:ident)?) => {{
        let (queue, size, steps, factors, (a, trans_a), (b, trans_b), c) = $call;
        let (Size { m, n, k }, Factors { alpha, beta }) = (size, factors);
        let [trans_a, trans_b] = [trans_a, trans_b].map(i32::from);
        let [shared_a, shared_b] = steps.shared.map(i32::from);
        $launch(
            $(&$params,)? queue, m, n, k, steps.count, trans_a, trans_b, shared_a, shared_b,
            $(steps.$width,)? alpha, beta, a.buffer, a.offset, a.leading, steps.a, b.buffer,
            b.offset, b.leading, steps.b, c.buffer, c.offset, c.leading, steps.c,
        )
    }};
}

/// Whether there is a kernel.
macro_rules! is_given {
    () => {
        false
    };
    ($kernel:ident) => {
        true
    };
}

/// The configurations of a kernel; of none, what cannot be.
macro_rules! params_of {
    () => {
        std::convert::Infallible
    };
    ($kernel:ident) => {
        $kernel::Params
    };
}

macro_rules! kernels {
    (
        $stored:ident in $real:ident, $to_panels:ident of $of_b:ident,
        $pack:ident, $transpose:ident, $pipelined:ident, $pipelined_parts:ident, $panels:ident, $direct:ident,
        $batched:ident $(or $batched_tensor:ident)?,
        $needs_fp64:literal; $($more:tt)*
    ) => {
        impl Kernels for $stored {
            type Real = $real;
            type BatchParams = BatchParams<$batched::Params, params_of!($($batched_tensor)?)>;
            const BATCHES_ON_TENSOR_CORES: bool = is_given!($($batched_tensor)?);
            const NEEDS_FP64: bool = $needs_fp64;
            const ZERO: $real = 0.0;
            const PANELS_OF_B: (i32, i32) = $of_b;

            fn to_panels(
                queue: &Queue,
                (rows, k, padded): (i32, i32, i32),
                panel: i32,
                transposed: bool,
                from: Operand<'_, $stored>,
                to: &mut Buffer<$real>,
            ) -> Result<Event> {
                $to_panels(
                    queue, rows, k, padded, panel, i32::from(transposed), from.buffer, from.offset,
                    from.leading, to,
                )
            }

            fn pack(
                queue: &Queue,
                (rows, k, padded): (i32, i32, i32),
                transposed: bool,
                from: Operand<'_, $stored>,
                to: &mut Buffer<$real>,
            ) -> Result<Event> {
                $pack(
                    queue, rows, k, padded, i32::from(transposed), from.buffer, from.offset,
                    from.leading, to,
                )
            }

            fn transpose(
                queue: &Queue,
                (rows, k, padded): (i32, i32, i32),
                transposed: bool,
                from: Operand<'_, $stored>,
                to: &mut Buffer<$stored>,
            ) -> Result<Event> {
                $transpose(
                    queue, rows, k, padded, i32::from(transposed), from.buffer, from.offset,
                    from.leading, to,
                )
            }

            fn pipelined(
                queue: &Queue,
                values: Values,
                Size { m, n, k }: Size,
                Factors { alpha, beta }: Factors<$real>,
                a: Operand<'_, $real>,
                b: Operand<'_, $real>,
                c: Target<'_, $stored>,
            ) -> Result<Event> {
                launch!(
                    $pipelined, values, queue, m, n, k, alpha, beta, a.buffer, a.offset, a.leading,
                    b.buffer, b.offset, b.leading, c.buffer, c.offset, c.leading, c.epilogue,
                    c.bias,
                )
            }

            fn pipelined_parts(
                queue: &Queue,
                values: Values,
                Size { m, n, k }: Size,
                Factors { alpha, beta }: Factors<$real>,
                a: Operand<'_, $real>,
                b: Operand<'_, $real>,
                c: Target<'_, $stored>,
            ) -> Result<Event> {
                launch!(
                    $pipelined_parts, values, queue, m, n, k, alpha, beta, a.buffer, a.offset,
                    a.leading, b.buffer, b.offset, b.leading, c.buffer, c.offset, c.leading,
                    c.epilogue, values.parts, c.bias,
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
                    // first work-item go on twice, and what it updates is scaled twice. With vectors
                    // the first products begin the sums.
                    let params = $direct::Params {
                        MWG: 32,
                        NWG: 32,
                        KWG: 16,
                        MDIMC: 8,
                        NDIMC: 8,
                        LOCAL: false,
                        VECTORS: 0,
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
                size: Size,
                transposed: [bool; 2],
                like: BatchLike,
                on_tensor_cores: bool,
            ) -> Result<Self::BatchParams> {
                Ok(match on_tensor_cores {
                    $(true => BatchParams::Tensor(select_for_batch!(
                        $batched_tensor, device, size, transposed, like, width
                    )),)?
                    _ => BatchParams::Ordinary(select_for_batch!(
                        $batched, device, size, transposed, like
                    )),
                })
            }

            fn batched(
                queue: &Queue,
                size: Size,
                (steps, params): (Steps, Option<Self::BatchParams>),
                factors: Factors<$real>,
                a: (Operand<'_, $stored>, bool),
                b: (Operand<'_, $stored>, bool),
                c: Target<'_, $stored>,
            ) -> Result<Event> {
                // Without barriers, as above.
                let params = if size.k > 0 { params } else {
                    Some(BatchParams::Ordinary($batched::Params {
                        MWG: 16, NWG: 16, KWG: 16, MWI: 4, NWI: 4, VM: 1, VN: 4, PRODUCTS: 1,
                        LOCAL: false, VW: 1, PAD: 0, AHEAD: false, UNROLL: 1,
                    }))
                };
                let call = (queue, size, steps, factors, a, b, c);
                match params {
                    Some(BatchParams::Ordinary(params)) => {
                        launch_batch!($batched::launch_with, [params], call)
                    }
                    $(Some(BatchParams::Tensor(params)) => {
                        launch_batch!($batched_tensor::launch_with, [params], call, width)
                    })?
                    None => launch_batch!($batched, [], call),
                }
            }

            fn batched_times(device: &Device, on_tensor_cores: bool) -> Vec<MeasuredBatch> {
                match on_tensor_cores {
                    $(true => batch_times!($batched_tensor, device, width),)?
                    _ => batch_times!($batched, device),
                }
            }

            fn direct_times(device: &Device) -> Vec<MeasuredTime> {
                times!($direct, device, |of, by| of_tiles!(of, [by.MWG, by.NWG]))
            }

            fn pipelined_times(device: &Device) -> Vec<MeasuredTime> {
                times!($pipelined, device, |of, by| of_tiles!(of, [by.MWG, by.NWG]))
            }

            fn pipelined_parts_times(device: &Device) -> Vec<MeasuredTime> {
                times!($pipelined_parts, device, |of, by| MeasuredTime {
                    parts: by.PARTS,
                    ..of_tiles!(of, [by.MWG, by.NWG])
                })
            }

            fn panels_times(device: &Device) -> Vec<MeasuredTime> {
                times!($panels, device, |of, by| of_tiles!(of, [by.TILES_M * by.MR, by.TILES_N * by.NR]))
            }

            fn pack_times(device: &Device) -> Vec<MeasuredTime> {
                times!($pack, device, |of, _by| Some(MeasuredTime::of([of.rows, of.k, 1])))
            }

            fn to_panels_times(device: &Device) -> Vec<MeasuredTime> {
                times!($to_panels, device, |of, _by| Some(MeasuredTime::of([of.rows, of.k, 1])))
            }

            $($more)*
        }
    };
}

kernels! {
    f32 in f32,
    gemm_to_panels of OF_B,
    gemm_pack, gemm_pack, gemm_pipelined, gemm_pipelined_parts, gemm_panels, gemm_direct,
    gemm_batched, false;
    // What is left out of one product is more than the rounding of a short sum.
    const PRECISE_FROM: i32 = 16;
    const ORDERS_OF_PARTS: Option<Orders> = Some(Orders::Warpgroup);

    fn as_stored(buffer: &Buffer<f32>) -> Option<&Buffer<f32>> {
        Some(buffer)
    }

    fn lines(how: (Orders, Products)) -> Option<[Lines; 2]> {
        Some(match how {
            (Orders::Warp, _) => [Lines::Across; 2],
            (Orders::Warpgroup, _) => [Lines::OfK, Lines::Either],
        })
    }

    fn tensor_times(device: &Device, how: (Orders, Products)) -> Vec<MeasuredTime> {
        match how {
            (Orders::Warp, Products::Three) => {
                times!(gemm_split, device, |of, by| of_tiles!(of, [by.MWG, by.NWG]))
            }
            (Orders::Warp, Products::One) => {
                times!(gemm_tf32, device, |of, by| of_tiles!(of, [by.MWG, by.NWG]))
            }
            (Orders::Warpgroup, Products::Three) => times!(gemm_warpgroup, device, |of, by| {
                of_warpgroups!(of, by)
            }),
            (Orders::Warpgroup, Products::One) => times!(gemm_warpgroup_tf32, device, |of, by| {
                of_warpgroups!(of, by)
            }),
        }
    }

    fn tensor(
        queue: &Queue,
        (how, values): ((Orders, Products), Values),
        Size { m, n, k }: Size,
        Factors { alpha, beta }: Factors<f32>,
        (a, a_of_k): OfLines<'_, f32>,
        (b, b_of_k): OfLines<'_, f32>,
        c: Target<'_, f32>,
    ) -> Result<Event> {
        let (a_of_k, b_of_k) = (i32::from(a_of_k), i32::from(b_of_k));
        match how {
            (Orders::Warp, Products::One) => launch!(
                gemm_tf32, values, queue, m, n, k, alpha, beta, a.buffer, a.offset, a.leading,
                b.buffer, b.offset, b.leading, c.buffer, c.offset, c.leading, c.epilogue, c.bias,
            ),
            (Orders::Warp, Products::Three) => launch!(
                gemm_split, values, queue, m, n, k, alpha, beta, a.buffer, a.offset, a.leading,
                b.buffer, b.offset, b.leading, c.buffer, c.offset, c.leading, c.epilogue, c.bias,
            ),
            (Orders::Warpgroup, Products::One) => launch!(
                gemm_warpgroup_tf32, values, queue, m, n, k, alpha, beta, a.buffer, a.offset,
                a.leading, a_of_k, b.buffer, b.offset, b.leading, b_of_k, c.buffer, c.offset,
                c.leading, c.epilogue, c.bias,
            ),
            (Orders::Warpgroup, Products::Three) => launch!(
                gemm_warpgroup, values, queue, m, n, k, alpha, beta, a.buffer, a.offset, a.leading,
                b.buffer, b.offset, b.leading, c.buffer, c.offset, c.leading, b_of_k, c.epilogue,
                c.bias,
            ),
        }
    }

    fn tensor_parts(
        queue: &Queue,
        values: Values,
        Size { m, n, k }: Size,
        Factors { alpha, beta }: Factors<f32>,
        (a, _): OfLines<'_, f32>,
        (b, b_of_k): OfLines<'_, f32>,
        c: Target<'_, f32>,
    ) -> Result<Event> {
        launch!(
            gemm_warpgroup_parts, values, queue, m, n, k, alpha, beta, a.buffer, a.offset, a.leading,
            b.buffer, b.offset, b.leading, c.buffer, c.offset, c.leading, i32::from(b_of_k), c.epilogue,
            values.parts, c.bias,
        )
    }

    fn tensor_parts_times(device: &Device) -> Vec<MeasuredTime> {
        times!(gemm_warpgroup_parts, device, |of, by| MeasuredTime {
            parts: by.PARTS,
            ..of_warpgroups!(of, by)
        })
    }
}

/// A single kernel for tensor cores, which reads operands as they lie.
macro_rules! as_they_lie {
    (
        $stored:ident in $real:ident, $orders:ident, $kernel:ident, |$by:ident| $tile:expr
        $(, $width:ident)?
    ) => {
        fn lines((orders, _): (Orders, Products)) -> Option<[Lines; 2]> {
            (orders == Orders::$orders).then_some([Lines::Either; 2])
        }

        fn tensor_times(device: &Device, (orders, _): (Orders, Products)) -> Vec<MeasuredTime> {
            if orders != Orders::$orders {
                return Vec::new();
            }
            times!($kernel, device, |of, $by| of_tiles!(of, $tile, of_k $(, $width)?))
        }

        fn tensor(
            queue: &Queue,
            (_, values): ((Orders, Products), Values),
            Size { m, n, k }: Size,
            Factors { alpha, beta }: Factors<$real>,
            (a, a_of_k): OfLines<'_, $stored>,
            (b, b_of_k): OfLines<'_, $stored>,
            c: Target<'_, $stored>,
        ) -> Result<Event> {
            let (a_of_k, b_of_k) = (i32::from(a_of_k), i32::from(b_of_k));
            $(let $width = width_of_lines(a, b);)?
            launch!(
                $kernel, values, queue, m, n, k, alpha, beta, a.buffer, a.offset, a.leading,
                a_of_k, b.buffer, b.offset, b.leading, b_of_k, $($width,)? c.buffer, c.offset,
                c.leading, c.epilogue, c.bias,
            )
        }
    };
}

kernels! {
    f64 in f64,
    gemm_to_panels_f64 of OF_B_F64,
    gemm_pack_f64, gemm_pack_f64, gemm_pipelined_f64, gemm_pipelined_parts_f64,
    gemm_panels_f64, gemm_direct_f64,
    gemm_batched_f64 or gemm_batched_tensor_f64, true;
    const TENSOR_READS_ANY_LINES: bool = true;
    const ORDERS_OF_PARTS: Option<Orders> = Some(Orders::Warp);

    fn as_stored(buffer: &Buffer<f64>) -> Option<&Buffer<f64>> {
        Some(buffer)
    }

    as_they_lie!(f64 in f64, Warp, gemm_tensor_f64, |by| [by.MWG, by.NWG], width);

    fn tensor_parts(
        queue: &Queue,
        values: Values,
        Size { m, n, k }: Size,
        Factors { alpha, beta }: Factors<f64>,
        (a, a_of_k): OfLines<'_, f64>,
        (b, b_of_k): OfLines<'_, f64>,
        c: Target<'_, f64>,
    ) -> Result<Event> {
        let (a_of_k, b_of_k) = (i32::from(a_of_k), i32::from(b_of_k));
        launch!(
            gemm_tensor_f64_parts, values, queue, m, n, k, alpha, beta, a.buffer, a.offset, a.leading,
            a_of_k, b.buffer, b.offset, b.leading, b_of_k, width_of_lines(a, b), c.buffer,
            c.offset, c.leading, c.epilogue, values.parts, c.bias,
        )
    }

    fn tensor_parts_times(device: &Device) -> Vec<MeasuredTime> {
        times!(gemm_tensor_f64_parts, device, |of, by| MeasuredTime {
            parts: by.PARTS,
            whole_rounds: true,
            ..of_tiles!(of, [by.MWG, by.NWG], of_k, width)
        })
    }
}

kernels! {
    f16 in f32,
    gemm_to_panels_f16 of OF_B,
    gemm_pack_f16, gemm_transpose_f16, gemm_pipelined_f16, gemm_pipelined_parts_f16,
    gemm_panels_f16, gemm_direct_f16,
    gemm_batched_f16 or gemm_batched_tensor_f16, false;
    fn as_stored(_buffer: &Buffer<f16>) -> Option<&Buffer<f32>> {
        None
    }

    as_they_lie!(f16 in f32, Warpgroup, gemm_warpgroup_f16, |by| [64 * by.WARPGROUPS, by.NWG]);
}

kernels! {
    bf16 in f32,
    gemm_to_panels_bf16 of OF_B,
    gemm_pack_bf16, gemm_transpose_bf16, gemm_pipelined_bf16, gemm_pipelined_parts_bf16,
    gemm_panels_bf16, gemm_direct_bf16,
    gemm_batched_bf16 or gemm_batched_tensor_bf16, false;
    fn as_stored(_buffer: &Buffer<bf16>) -> Option<&Buffer<f32>> {
        None
    }

    as_they_lie!(bf16 in f32, Warpgroup, gemm_warpgroup_bf16, |by| [64 * by.WARPGROUPS, by.NWG]);
}
