//! The kernels for the tensor cores of NVIDIA's Hopper GPUs: as [`split`](super::split), with the
//! instructions that only these have.

use cltune::{Buffer, Event, Queue, Result, tunable};

macro_rules! warpgroup {
    (
        $name:ident, $products:literal, columns = $columns:tt, tiles_ahead = $ahead:tt, sets = $sets:literal,
        low_tiles = $low_tiles:literal, [$($tolerance:tt)*]
    ) => {
        /// C ← α A B + β C; `warpgroup.cl` says how, and how the matrices lie.
        ///
        /// # Errors
        /// A buffer is too short, the device is no Hopper GPU, or OpenCL fails.
        #[tunable(
            source = "src/gemm/kernels/cl/warpgroup.cl",
            kernel = "gemm_warpgroup",
            params(
                WARPGROUPS = [1, 2, 4], NWG = $columns, STAGES = 3..=6, TILES_AHEAD = $ahead,
                SWIZZLE = [1, 4, 8, 16],
            ),
            constraints(
                // Not 90 and later: these instructions have no successor of the same name.
                device.nv_compute_capability == 90,
                // What a work-group can have, which is more than OpenCL tells of: 226 KiB.
                (STAGES * (64 * WARPGROUPS + NWG) + $low_tiles * NWG) * 128 <= 231424,
                NWG % (16 * WARPGROUPS) == 0,
                // Registers: the sums, and what else is needed, of 65,536.
                (NWG / 2 * $sets + 80) * WARPGROUPS * 128 <= 65536,
            ),
            global(
                (m + 64 * WARPGROUPS - 1) / (64 * WARPGROUPS) * ((n + NWG - 1) / NWG) * (128 * WARPGROUPS),
            ),
            local(128 * WARPGROUPS),
            defines(
                PRODUCTS = $products,
                EDGE_M = (m % (64 * WARPGROUPS)).min(1), EDGE_N = (n % NWG).min(1), EDGE_K = (k % 32).min(1),
            ),
            tune(m = 256, n = 256, k = 256),
            tune(m = 512, n = 512, k = 512),
            tune(m = 1024, n = 1024, k = 1024),
            tune(m = 2048, n = 2048, k = 2048),
            tune(m = 4096, n = 4096, k = 4096),
            tune(m = 8192, n = 8192, k = 8192),
            tune(m = 4096, n = 128, k = 4096),
            tune(m = 128, n = 4096, k = 4096),
            tune_if(device.nv_compute_capability == 90),
            defaults(WARPGROUPS = 2, NWG = 128, STAGES = 4, TILES_AHEAD = 1, SWIZZLE = 8),
            reference(
                kernel = "gemm_reference", source = "src/gemm/kernels/cl/warpgroup_reference.cl", global(n, m),
            ),
            tolerance($($tolerance)*),
            flops(2 * m * n * k), bytes(4 * (m * k + n * k + m * n)),
        )]
        pub(crate) fn $name(
            queue: &Queue,
            m: i32,
            n: i32,
            k: i32,
            #[arg(value = 1)] alpha: f32,
            #[arg(value = 0)] beta: f32,
            #[arg(len = m * k)] a: &Buffer<f32>,
            #[arg(value = 0)] offset_a: i32,
            #[arg(value = 0)] lda: i32,
            #[arg(len = n * k)] b: &Buffer<f32>,
            #[arg(value = 0)] offset_b: i32,
            #[arg(value = 0)] ldb: i32,
            #[arg(out, len = m * n)] c: &mut Buffer<f32>,
            #[arg(value = 0)] offset_c: i32,
            #[arg(value = 0)] ldc: i32,
        ) -> Result<Event>;
    };
}

warpgroup!(
    gemm_warpgroup,
    3,
    columns = [64, 128],
    tiles_ahead = [1, 2],
    sets = 2,
    low_tiles = 3,
    [accumulates = k]
);
// Two factors rounded to 11 bits each; the sum of k products of either sign is as wrong as one of
// them.
warpgroup!(
    gemm_warpgroup_tf32,
    1,
    columns = [64, 128, 256],
    tiles_ahead = [1],
    sets = 1,
    low_tiles = 0,
    [l2 = 1e-3]
);
