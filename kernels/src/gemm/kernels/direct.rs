//! The kernel for small matrices, which reads them as they lie.

use cltune::{Buffer, Event, Queue, Result, bf16, f16, tunable};

macro_rules! direct {
    ($name:ident, $real:ident, $stored:ident, $size:tt, [$($option:tt),*]) => {
        direct! {
            $name, $real, $stored, $size, [$($option),*],
            "src/gemm/kernels/cl/direct.cl", "src/gemm/kernels/cl/direct_reference.cl", (accumulates = k)
        }
    };
    (
        $name:ident, $real:ident, $stored:ident, $size:tt, [$($option:tt),*],
        $source:tt, $reference:tt, $tolerance:tt
    ) => {
        /// C ← α op(A) op(B) + β C, and what `epilogue.cl` does then;
        /// `direct.cl` says how the matrices lie.
        ///
        /// # Errors
        /// A buffer is too short, no configuration suits the sizes, or OpenCL fails.
        #[tunable(
            source = $source,
            kernel = "gemm_direct",
            params(
                MWG = [8, 16, 32, 64], NWG = [8, 16, 32, 64], KWG = [8, 16, 32],
                MDIMC = [1, 2, 4, 8, 16], NDIMC = [1, 4, 8, 16, 32], LOCAL = [false, true],
            ),
            constraints(
                MWG % MDIMC == 0, NWG % NDIMC == 0,
                // What a work-item sums up has to fit into its registers.
                (MWG / MDIMC) * (NWG / NDIMC) <= 64,
            ),
            global((n + NWG - 1) / NWG * NDIMC, (m + MWG - 1) / MWG * MDIMC),
            local(NDIMC, MDIMC),
            local_memory(if LOCAL { (MWG + NWG + 2) * KWG * $size } else { 0 }),
            defines(EPILOGUE = epilogue),
            options($($option),*),
            tune(m = 64, n = 64, k = 64, epilogue = 0),
            tune(m = 256, n = 256, k = 256, epilogue = 0),
            tune(m = 1024, n = 16, k = 1024, epilogue = 0),
            tune(m = 16, n = 1024, k = 1024, epilogue = 0),
            tune_if($size == 4 || device.fp64 == 1),
            defaults(MWG = 32, NWG = 32, KWG = 16, MDIMC = 8, NDIMC = 8, LOCAL = true),
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
            #[arg(len = m * k)] a: &Buffer<$stored>,
            #[arg(value = 0)] offset_a: i32,
            #[arg(value = 0)] lda: i32,
            #[arg(value = 0)] trans_a: i32,
            #[arg(len = n * k)] b: &Buffer<$stored>,
            #[arg(value = 0)] offset_b: i32,
            #[arg(value = 0)] ldb: i32,
            #[arg(value = 0)] trans_b: i32,
            #[arg(out, len = m * n)] c: &mut Buffer<$stored>,
            #[arg(value = 0)] offset_c: i32,
            #[arg(value = 0)] ldc: i32,
            #[arg(host_only)] epilogue: i32,
            #[arg(len = if epilogue % 4 == 1 { n } else if epilogue % 4 == 2 { m } else { 1 })]
            bias: &Buffer<$stored>,
        ) -> Result<Event>;
    };
}

direct!(gemm_direct, f32, f32, 4, ["-DREAL=float", "-DREAL_SIZE=4"]);
direct!(
    gemm_direct_f64,
    f64,
    f64,
    8,
    ["-DREAL=double", "-DREAL_SIZE=8"]
);
direct!(
    gemm_direct_f16,
    f32,
    f16,
    4,
    ["-DREAL=float", "-DREAL_SIZE=4", "-DC_HALF"]
);
// Kernel and reference sum alike and round once: the same numbers but for a few neighbours.
direct!(
    gemm_direct_bf16,
    f32,
    bf16,
    4,
    ["-DREAL=float", "-DREAL_SIZE=4", "-DC_HALF"],
    "src/gemm/kernels/cl/bf16/direct.cl",
    "src/gemm/kernels/cl/bf16/direct_reference.cl",
    (rel = 0.01, abs = 0.01, l2 = 2e-3)
);
