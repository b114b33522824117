//! The kernels that copy a matrix in lines of k, for GPUs, or into panels, for CPUs, and make
//! single of half precision or bfloat16 where that is asked for.

use cltune::{Buffer, Event, Queue, Result, bf16, f16, tunable};

macro_rules! pack {
    ($name:ident, $stored:ident, $real:ident, $size:tt, [$($option:tt),*]) => {
        pack! {
            $name, $stored, $real, $size, [$($option),*],
            "src/gemm/kernels/cl/pack.cl", "src/gemm/kernels/cl/pack_reference.cl"
        }
    };
    (
        $name:ident, $stored:ident, $real:ident, $size:tt, [$($option:tt),*],
        $source:tt, $reference:tt
    ) => {
        /// Copies a matrix in lines; `pack.cl` says how they lie.
        ///
        /// # Errors
        /// A buffer is too short, no configuration suits the sizes, or OpenCL fails.
        #[tunable(
            source = $source,
            kernel = "gemm_pack",
            params(
                TILE_R = [16, 32, 64, 128], TILE_K = [8, 16, 32, 64],
                DIM_R = [1, 8, 16, 32, 64], DIM_K = [1, 4, 8, 16],
                LOCAL = [false, true],
            ),
            constraints(
                TILE_R % DIM_R == 0, TILE_K % DIM_K == 0,
            ),
            global(
                (padded + TILE_R - 1) / TILE_R * (DIM_R * DIM_K), (k + TILE_K - 1) / TILE_K,
            ),
            local(DIM_R * DIM_K, 1),
            local_memory(if LOCAL { (TILE_R + 1) * TILE_K * $size } else { 0 }),
            options($($option),*),
            tune(rows = 512, k = 512, padded = 512, transposed = 0),
            tune(rows = 2048, k = 2048, padded = 2048, transposed = 0),
            tune(rows = 4096, k = 4096, padded = 4096, transposed = 0),
            tune_if(device.is_cpu == 0 && ($size < 8 || device.fp64 == 1)),
            defaults(TILE_R = 32, TILE_K = 32, DIM_R = 32, DIM_K = 4, LOCAL = true),
            reference(
                kernel = "gemm_pack_reference", source = $reference,
                global(padded, k),
            ),
            tolerance(rel = 0, abs = 0),
            bytes($size * (rows * k + padded * k)),
        )]
        pub(crate) fn $name(
            queue: &Queue,
            rows: i32,
            k: i32,
            padded: i32,
            transposed: i32,
            #[arg(len = rows * k)] a: &Buffer<$stored>,
            #[arg(value = 0)] offset_a: i32,
            #[arg(value = 0)] lda: i32,
            #[arg(out, len = padded * k)] packed: &mut Buffer<$real>,
        ) -> Result<Event>;
    };
}

pack!(gemm_pack, f32, f32, 4, ["-DREAL=float", "-DREAL_SIZE=4"]);
pack!(
    gemm_pack_f64,
    f64,
    f64,
    8,
    ["-DREAL=double", "-DREAL_SIZE=8"]
);
pack!(
    gemm_pack_f16,
    f16,
    f32,
    4,
    ["-DREAL=float", "-DREAL_SIZE=4", "-DA_HALF"]
);
pack!(
    gemm_pack_bf16,
    bf16,
    f32,
    4,
    ["-DREAL=float", "-DREAL_SIZE=4", "-DA_HALF"],
    "src/gemm/kernels/cl/bf16/pack.cl",
    "src/gemm/kernels/cl/bf16/pack_reference.cl"
);
// For kernels that read 16 bits as they are stored.
pack!(
    gemm_transpose_f16,
    f16,
    f16,
    2,
    [],
    "src/gemm/kernels/cl/pack_16.cl",
    "src/gemm/kernels/cl/pack_16_reference.cl"
);
pack!(
    gemm_transpose_bf16,
    bf16,
    bf16,
    2,
    [],
    "src/gemm/kernels/cl/pack_16.cl",
    "src/gemm/kernels/cl/pack_16_reference.cl"
);

macro_rules! to_panels {
    ($name:ident, $stored:ident, $real:ident, $size:tt, $of_b:tt, [$($option:tt),*]) => {
        to_panels! {
            $name, $stored, $real, $size, $of_b, [$($option),*],
            "src/gemm/kernels/cl/to_panels.cl", "src/gemm/kernels/cl/to_panels_reference.cl"
        }
    };
    (
        $name:ident, $stored:ident, $real:ident, $size:tt, $of_b:tt, [$($option:tt),*],
        $source:tt, $reference:tt
    ) => {
        /// Copies a matrix into panels; `to_panels.cl` says how they lie.
        ///
        /// # Errors
        /// A buffer is too short, no configuration suits the sizes, or OpenCL fails.
        #[tunable(
            source = $source,
            kernel = "gemm_to_panels",
            params(TILE_R = [16, 32, 64, 128, 256], TILE_K = [16, 32, 64, 128, 256, 512]),
            global((padded + TILE_R - 1) / TILE_R, (k + TILE_K - 1) / TILE_K),
            local(1, 1),
            defines(PANEL = panel),
            options($($option),*),
            // Of A and of B.
            tune(rows = 1024, k = 1024, padded = 1038, panel = 2, transposed = [0, 1]),
            tune(rows = 1024, k = 1024, padded = 1088, panel = $of_b, transposed = [0, 1]),
            tune_if(device.is_cpu == 1 && ($size < 8 || device.fp64 == 1)),
            defaults(TILE_R = 64, TILE_K = 256),
            reference(
                kernel = "gemm_to_panels_reference", source = $reference,
                global(padded, k),
            ),
            tolerance(rel = 0, abs = 0),
            bytes($size * (rows * k + padded * k)),
        )]
        pub(crate) fn $name(
            queue: &Queue,
            rows: i32,
            k: i32,
            padded: i32,
            #[arg(host_only)] panel: i32,
            transposed: i32,
            #[arg(len = rows * k)] a: &Buffer<$stored>,
            #[arg(value = 0)] offset_a: i32,
            #[arg(value = 0)] lda: i32,
            #[arg(out, len = padded * k)] packed: &mut Buffer<$real>,
        ) -> Result<Event>;
    };
}

to_panels!(
    gemm_to_panels,
    f32,
    f32,
    4,
    16,
    ["-DREAL=float", "-DREAL_SIZE=4"]
);
to_panels!(
    gemm_to_panels_f64,
    f64,
    f64,
    8,
    8,
    ["-DREAL=double", "-DREAL_SIZE=8"]
);
to_panels!(
    gemm_to_panels_f16,
    f16,
    f32,
    4,
    16,
    ["-DREAL=float", "-DREAL_SIZE=4", "-DA_HALF"]
);
to_panels!(
    gemm_to_panels_bf16,
    bf16,
    f32,
    4,
    16,
    ["-DREAL=float", "-DREAL_SIZE=4", "-DA_HALF"],
    "src/gemm/kernels/cl/bf16/to_panels.cl",
    "src/gemm/kernels/cl/bf16/to_panels_reference.cl"
);
