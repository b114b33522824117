//! The kernel that brings a matrix into panels, or transposes it, and makes single of half
//! precision or bfloat16 where that is asked for.

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
        /// Copies a matrix into panels; `pack.cl` says how they lie.
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
            defines(PANEL = if panel == padded { 0 } else { panel }),
            options($($option),*),
            // Transposed for GPUs, in panels of A and of B for CPUs.
            tune(rows = 512, k = 512, padded = 512, panel = 512, transposed = 0),
            tune(rows = 2048, k = 2048, padded = 2048, panel = 2048, transposed = 0),
            tune(rows = 4096, k = 4096, padded = 4096, panel = 4096, transposed = 0),
            tune(rows = 1024, k = 1024, padded = 1038, panel = 2, transposed = [0, 1]),
            tune(rows = 1024, k = 1024, padded = 1024, panel = 16, transposed = [0, 1]),
            tune_if((device.is_cpu == 1) == (panel < rows) && ($size < 8 || device.fp64 == 1)),
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
            panel: i32,
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
