//! The kernel for CPUs: a tile of sums in vector registers, operands in panels.

use cltune::{Buffer, Event, Queue, Result, bf16, f16, tunable};

/// The rows of a panel of A. Small, so that the height of a tile can be tuned without packing anew.
pub(crate) const PANEL_M: i32 = 2;
/// The highest tile, to which A is filled up: `MR`'s greatest value, to whole panels.
pub(crate) const HIGHEST: i32 = 14;
/// The columns of a panel of B, and those of the widest tile, to which B is filled up: `NR`'s
/// greatest value.
pub(crate) const OF_B: (i32, i32) = (16, 64);
/// Those of double precision: twice its bytes.
pub(crate) const OF_B_F64: (i32, i32) = (8, 32);

macro_rules! panels {
    (
        $name:ident, $real:ident, $stored:ident, $size:tt, [$($widths:tt),*], $width:tt, $panels:tt,
        [$($option:tt),*]
    ) => {
        panels! {
            $name, $real, $stored, $size, [$($widths),*], $width, $panels, [$($option),*],
            "src/gemm/kernels/cl/panels.cl", "src/gemm/kernels/cl/panels_reference.cl", (accumulates = k)
        }
    };
    (
        $name:ident, $real:ident, $stored:ident, $size:tt, [$($widths:tt),*], $width:tt,
        (NR = $columns:tt, PANEL_N = $panel_n:tt, len = $len:tt), [$($option:tt),*],
        $source:tt, $reference:tt, $tolerance:tt
    ) => {
        /// C ← α A B + β C, and what `epilogue.cl` does then;
        /// `panels.cl` says how the matrices lie.
        ///
        /// # Errors
        /// A buffer is too short, no configuration suits the sizes, or OpenCL fails.
        #[tunable(
            source = $source,
            kernel = "gemm_panels",
            params(
                MR = [2, 4, 6, 8, 10, 12, 14], NR = $columns, VW = [$($widths),*],
                TILES_M = [1, 2, 4, 8, 16, 32], TILES_N = [1, 2, 4, 8, 16, 32],
                KWG = [64, 128, 256, 512],
            ),
            // The widest registers there are: 32 of 64 bytes.
            constraints(MR * NR * $size <= 32 * 64),
            global(
                (m + TILES_M * MR - 1) / (TILES_M * MR), (n + TILES_N * NR - 1) / (TILES_N * NR),
            ),
            local(1, 1),
            local_memory(TILES_M * MR * TILES_N * NR * $size),
            defines(PANEL_M = 2, PANEL_N = $panel_n, EPILOGUE = epilogue),
            options($($option),*),
            tune(m = 256, n = 256, k = 256, epilogue = 0),
            tune(m = 1024, n = 1024, k = 1024, epilogue = 0),
            tune(m = 2048, n = 2048, k = 2048, epilogue = 0),
            tune(m = 2048, n = 64, k = 2048, epilogue = 0),
            tune(m = 64, n = 2048, k = 2048, epilogue = 0),
            tune_if(device.is_cpu == 1 && ($size == 4 || device.fp64 == 1)),
            defaults(
                MR = 4, NR = $panel_n, VW = $width, TILES_M = 4, TILES_N = 4, KWG = 256,
            ),
            reference(
                kernel = "gemm_reference", source = $reference,
                global(n, m),
            ),
            tolerance $tolerance,
            flops(2 * m * n * k), bytes($size * (m * k + n * k + m * n)),
        )]
        pub(crate) fn $name(
            queue: &Queue,
            m: i32,
            n: i32,
            k: i32,
            #[arg(value = 1)] alpha: $real,
            #[arg(value = 0)] beta: $real,
            #[arg(len = (m + 14) / 2 * 2 * k)] a: &Buffer<$real>,
            #[arg(len = $len * k)] b: &Buffer<$real>,
            #[arg(out, len = m * n)] c: &mut Buffer<$stored>,
            #[arg(value = 0)] offset_c: i32,
            #[arg(value = 0)] ldc: i32,
            #[arg(host_only)] epilogue: i32,
            #[arg(len = if epilogue % 4 == 1 { n } else if epilogue % 4 == 2 { m } else { 1 })]
            bias: &Buffer<$stored>,
        ) -> Result<Event>;
    };
}

panels!(
    gemm_panels,
    f32,
    f32,
    4,
    [4, 8, 16],
    8,
    (
        NR = [16, 32, 48, 64],
        PANEL_N = 16,
        len = ((n + 78) / 16 * 16)
    ),
    ["-w", "-DREAL=float", "-DREAL_SIZE=4"]
);
panels!(
    gemm_panels_f64,
    f64,
    f64,
    8,
    [2, 4, 8],
    4,
    (NR = [8, 16, 24, 32], PANEL_N = 8, len = ((n + 38) / 8 * 8)),
    ["-w", "-DREAL=double", "-DREAL_SIZE=8"]
);
panels!(
    gemm_panels_f16,
    f32,
    f16,
    4,
    [4, 8, 16],
    8,
    (
        NR = [16, 32, 48, 64],
        PANEL_N = 16,
        len = ((n + 78) / 16 * 16)
    ),
    ["-w", "-DREAL=float", "-DREAL_SIZE=4", "-DC_HALF"]
);
// Kernel and reference sum alike and round once: the same numbers but for a few neighbours.
panels!(
    gemm_panels_bf16,
    f32,
    bf16,
    4,
    [4, 8, 16],
    8,
    (
        NR = [16, 32, 48, 64],
        PANEL_N = 16,
        len = ((n + 78) / 16 * 16)
    ),
    ["-w", "-DREAL=float", "-DREAL_SIZE=4", "-DC_HALF"],
    "src/gemm/kernels/cl/bf16/panels.cl",
    "src/gemm/kernels/cl/bf16/panels_reference.cl",
    (rel = 0.01, abs = 0.01, l2 = 2e-3)
);
