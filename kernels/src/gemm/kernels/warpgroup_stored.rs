//! The kernels for the tensor cores of NVIDIA's Hopper GPUs that read factors as they are stored:
//! half precision, bfloat16, and TF32.

use cltune::{Buffer, Event, Queue, Result, bf16, f16, tunable};

macro_rules! warpgroup_stored {
    (
        $name:ident, $stored:ident, $size:literal, $factors:literal, b_of_k = $b_of_k:tt,
        rows = $rows:tt, columns = $columns:tt, copied = $copied:tt, registers = $registers:tt,
        constraints($($constraint:tt)*), more_sizes = [$([$m:literal, $n:literal, $k:literal]),*],
        tolerance($($tolerance:tt)*)
    ) => {
        /// C ← α A B + β C, and what `epilogue.cl` does then;
        /// `warpgroup_stored.cl` says how, and how the matrices lie.
        ///
        /// # Errors
        /// A buffer is too short, the device is no Hopper GPU, or OpenCL fails.
        #[tunable(
            source = "src/gemm/kernels/cl/warpgroup_stored.cl",
            params(
                WARPGROUPS = 1..=4,
                NWG = [64, 80, 96, 112, 128, 144, 160, 176, 192, 208, 224, 240, 256],
                STAGES = 2..=8, SWIZZLE = [1, 4, 8, 16],
                // The work-groups for each compute unit, which share the parts of C.
                RESIDENT = [1, 2],
            ),
            constraints(
                // Not 90 and later: these instructions have no successor of the same name.
                device.nv_compute_capability == 90,
                // What a compute unit has for work-groups, which is more than OpenCL tells of: 226 KiB.
                RESIDENT * STAGES * ((64 * WARPGROUPS + $copied) * 128 + 16) <= 231424,
                // Registers: the sums, and what else is needed, of 65,536.
                RESIDENT * (NWG / 2 + $registers) * (128 * WARPGROUPS + 32) <= 65536,
                $($constraint)*
            ),
            scratch(maps: [u8; device.compute_units * RESIDENT * 256]),
            stages(stage(
                gemm_warpgroup_stored(
                    m, n, k, alpha, beta, a, offset_a, lda, a_of_k, b, offset_b, ldb, b_of_k, c, offset_c,
                    ldc, bias, maps,
                ),
                global(
                    (($rows + 64 * WARPGROUPS - 1) / (64 * WARPGROUPS) * (($columns + NWG - 1) / NWG))
                        .min(device.compute_units * RESIDENT) * (128 * WARPGROUPS + 32),
                ),
                local(128 * WARPGROUPS + 32),
            )),
            defines(
                A_OF_K = a_of_k, B_OF_K = b_of_k,
                EDGE_M = ($rows % (64 * WARPGROUPS)).min(1), EDGE_N = ($columns % NWG).min(1),
                EPILOGUE = epilogue,
            ),
            options($factors),
            tune(m = 512, n = 512, k = 512, a_of_k = 1, b_of_k = $b_of_k, epilogue = 0),
            tune(m = 1024, n = 1024, k = 1024, a_of_k = 1, b_of_k = $b_of_k, epilogue = 0),
            tune(m = 1536, n = 1536, k = 1536, a_of_k = 1, b_of_k = $b_of_k, epilogue = 0),
            tune(m = 2048, n = 2048, k = 2048, a_of_k = 1, b_of_k = $b_of_k, epilogue = 0),
            tune(m = 3000, n = 3000, k = 3000, a_of_k = 1, b_of_k = $b_of_k, epilogue = 0),
            tune(m = 4096, n = 4096, k = 4096, a_of_k = 1, b_of_k = $b_of_k, epilogue = 0),
            tune(m = 8192, n = 8192, k = 8192, a_of_k = 1, b_of_k = $b_of_k, epilogue = 0),
            tune(m = 4096, n = 128, k = 4096, a_of_k = 1, b_of_k = $b_of_k, epilogue = 0),
            tune(m = 128, n = 4096, k = 4096, a_of_k = 1, b_of_k = $b_of_k, epilogue = 0),
            $(tune(m = $m, n = $n, k = $k, a_of_k = 1, b_of_k = $b_of_k, epilogue = 0),)*
            tune_if(device.nv_compute_capability == 90),
            defaults(WARPGROUPS = 2, NWG = 128, STAGES = 4, SWIZZLE = 8, RESIDENT = 1),
            reference(
                kernel = "gemm_reference", source = "src/gemm/kernels/cl/warpgroup_stored_reference.cl",
                global(n, m),
            ),
            tolerance($($tolerance)*),
            flops(2 * m * n * k), bytes($size * (m * k + n * k + m * n)),
        )]
        pub(crate) fn $name(
            queue: &Queue,
            m: i32,
            n: i32,
            k: i32,
            #[arg(value = 1)] alpha: f32,
            #[arg(value = 0)] beta: f32,
            #[arg(len = m * k)] a: &Buffer<$stored>,
            #[arg(value = 0)] offset_a: i32,
            #[arg(value = 0)] lda: i32,
            a_of_k: i32,
            #[arg(len = n * k)] b: &Buffer<$stored>,
            #[arg(value = 0)] offset_b: i32,
            #[arg(value = 0)] ldb: i32,
            b_of_k: i32,
            #[arg(out, len = m * n)] c: &mut Buffer<$stored>,
            #[arg(value = 0)] offset_c: i32,
            #[arg(value = 0)] ldc: i32,
            #[arg(host_only)] epilogue: i32,
            #[arg(len = if epilogue % 4 == 1 { n } else if epilogue % 4 == 2 { m } else { 1 })]
            bias: &Buffer<$stored>,
        ) -> Result<Event>;
    };
}

warpgroup_stored!(
    gemm_warpgroup_f16,
    f16,
    2,
    "-DFACTORS_f16",
    b_of_k = 0,
    rows = m,
    columns = n,
    // Lines of n are copied in blocks of 64.
    copied = (if b_of_k == 1 {
        NWG
    } else {
        NWG.next_multiple_of(64)
    }),
    registers = 48,
    constraints(),
    // Those that tiles of 128 x 256 do not suit, and a layer of short sums.
    more_sizes = [
        [2064, 2064, 2064],
        [2560, 2560, 2560],
        [3096, 3096, 3096],
        [4096, 4096, 1024]
    ],
    tolerance(accumulates = k)
);
// With a tolerance of the multiple that the sum of k products has, bfloat16 would pass anything.
warpgroup_stored!(
    gemm_warpgroup_bf16,
    bf16,
    2,
    "-DFACTORS_bf16",
    b_of_k = 0,
    rows = m,
    columns = n,
    // Lines of n are copied in blocks of 64.
    copied = (if b_of_k == 1 {
        NWG
    } else {
        NWG.next_multiple_of(64)
    }),
    registers = 48,
    constraints(),
    // Those that tiles of 128 x 256 do not suit, and a layer of short sums.
    more_sizes = [
        [2064, 2064, 2064],
        [2560, 2560, 2560],
        [3096, 3096, 3096],
        [4096, 4096, 1024]
    ],
    tolerance(rel = 0.01, abs = 0.01, l2 = 2e-3)
);
// These instructions read TF32 from local memory in lines of k only. Where B has others, the
// product of the transposes is computed, of which B is the factor that a work-item has in
// registers. Two factors rounded to 11 bits each; the sum of k products of either sign is as wrong
// as one of them.
warpgroup_stored!(
    gemm_warpgroup_tf32,
    f32,
    4,
    "-DFACTORS_tf32",
    b_of_k = [1, 0],
    rows = (if b_of_k == 1 { m } else { n }),
    columns = (if b_of_k == 1 { n } else { m }),
    copied = NWG,
    registers = (if b_of_k == 1 { 48 } else { 80 }),
    constraints(a_of_k == 1),
    more_sizes = [],
    tolerance(l2 = 1e-3)
);
