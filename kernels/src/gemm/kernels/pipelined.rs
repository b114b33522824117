//! The kernel for GPUs: copies ahead on three levels (Lin et al. 2025, section III), with the
//! paper's eleven parameters and four of this library.
//!
//! `LANES`, `COPY`, `STAGES` and `SWIZZLE` are not the paper's: which work-items of an execution
//! unit lie side by side decides how often local memory has to be read; copies that the hardware
//! makes need no registers, and then more than two tiles may be on their way.

use cltune::{Buffer, Event, Queue, Result, bf16, f16, tunable};

macro_rules! pipelined {
    ($name:ident, $real:ident, $stored:ident, $width:tt, $vector:tt, [$($vectors:tt),*], [$($option:tt),*]) => {
        pipelined! {
            $name, $real, $stored, $width, $vector, [$($vectors),*], [$($option),*],
            "src/gemm/kernels/cl/pipelined.cl", "src/gemm/kernels/cl/pipelined_reference.cl", (accumulates = k)
        }
    };
    (
        $name:ident, $real:ident, $stored:ident, $width:tt, $vector:tt, [$($vectors:tt),*], [$($option:tt),*],
        $source:tt, $reference:tt, $tolerance:tt
    ) => {
        /// C ← α A B + β C, and what `epilogue.cl` does then;
        /// `pipelined.cl` says how the matrices lie.
        ///
        /// # Errors
        /// A buffer is too short, no configuration suits the sizes, or OpenCL fails.
        #[tunable(
            source = $source,
            kernel = "gemm_pipelined",
            params(
                MWG = [32, 64, 128, 256], NWG = [32, 64, 128, 256], KWG = [8, 16, 32],
                MDIMC = [4, 8, 16, 32], NDIMC = [4, 8, 16, 32],
                MDIMA = [8, 16, 32, 64], NDIMB = [8, 16, 32, 64],
                STRM = [0, 1], STRN = [0, 1],
                VWM = [$($vectors),*], VWN = [$($vectors),*],
                LANES = [4, 8, 16, 32],
                COPY = ["registers", "async"], STAGES = [2, 3, 4], SWIZZLE = [1, 8],
                ORDER = ["rows", "blocks"],
            ),
            constraints(
                // What a work-item sums up has to fit into its registers.
                (MWG / MDIMC) * (NWG / NDIMC) <= 128,
                MWG % (MDIMC * VWM) == 0,
                NWG % (NDIMC * VWN) == 0,
                MDIMC % LANES == 0,
                NDIMC % (32 / LANES) == 0,
                MWG % (MDIMA * $width) == 0,
                NWG % (NDIMB * $width) == 0,
                (MDIMC * NDIMC) % MDIMA == 0,
                (MDIMC * NDIMC) % NDIMB == 0,
                KWG % (MDIMC * NDIMC / MDIMA) == 0,
                KWG % (MDIMC * NDIMC / NDIMB) == 0,
                // Halves of a row are whole numbers of vectors.
                ORDER == "rows" || MWG % (2 * MDIMC * VWM) == 0 && NWG % (2 * NDIMC * VWN) == 0,
                COPY == "async" || STAGES == 2,
                COPY == "registers" || device.nv_compute_capability >= 80,
                // NVIDIA's GPUs have more local memory than they tell of: 99 KiB and more since
                // 8.0.
                STAGES * KWG * (MWG + NWG) * (16 / $width)
                    <= if device.nv_compute_capability >= 80 { 98304 } else { device.local_mem_size },
            ),
            global((m + MWG - 1) / MWG * ((n + NWG - 1) / NWG) * (MDIMC * NDIMC)),
            local(MDIMC * NDIMC),
            defines(
                EDGE_M = (m % MWG).min(1), EDGE_N = (n % NWG).min(1), EDGE_K = (k % KWG).min(1),
                EPILOGUE = epilogue,
            ),
            options($($option),*),
            tune(m = 512, n = 512, k = 512, epilogue = 0),
            tune(m = 1024, n = 1024, k = 1024, epilogue = 0),
            tune(m = 2048, n = 2048, k = 2048, epilogue = 0),
            tune(m = 4096, n = 4096, k = 4096, epilogue = 0),
            tune(m = 8192, n = 8192, k = 8192, epilogue = 0),
            tune(m = 4096, n = 128, k = 4096, epilogue = 0),
            tune(m = 128, n = 4096, k = 4096, epilogue = 0),
            tune_if(device.is_gpu == 1),
            defaults(
                MWG = 64, NWG = 64, KWG = 16, MDIMC = 16, NDIMC = 16, MDIMA = 16, NDIMB = 16,
                STRM = 1, STRN = 1, VWM = $vector, VWN = $vector, LANES = 8, COPY = "registers",
                STAGES = 2, SWIZZLE = 8, ORDER = "rows",
            ),
            reference(
                kernel = "gemm_reference", source = $reference,
                global(n, m),
            ),
            tolerance $tolerance,
            flops(2 * m * n * k), bytes((16 / $width) * (m * k + n * k + m * n)),
        )]
        pub(crate) fn $name(
            queue: &Queue,
            m: i32,
            n: i32,
            k: i32,
            #[arg(value = 1)] alpha: $real,
            #[arg(value = 0)] beta: $real,
            #[arg(len = m * k)] a: &Buffer<$real>,
            #[arg(value = 0)] offset_a: i32,
            #[arg(value = 0)] lda: i32,
            #[arg(len = n * k)] b: &Buffer<$real>,
            #[arg(value = 0)] offset_b: i32,
            #[arg(value = 0)] ldb: i32,
            #[arg(out, len = m * n)] c: &mut Buffer<$stored>,
            #[arg(value = 0)] offset_c: i32,
            #[arg(value = 0)] ldc: i32,
            #[arg(host_only)] epilogue: i32,
            #[arg(len = if epilogue % 4 == 1 { n } else if epilogue % 4 == 2 { m } else { 1 })]
            bias: &Buffer<$stored>,
        ) -> Result<Event>;
    };
}

pipelined!(
    gemm_pipelined,
    f32,
    f32,
    4,
    4,
    [1, 2, 4],
    ["-DREAL=float", "-DREAL_SIZE=4"]
);
pipelined!(
    gemm_pipelined_f64,
    f64,
    f64,
    2,
    2,
    [1, 2],
    ["-DREAL=double", "-DREAL_SIZE=8"]
);
pipelined!(
    gemm_pipelined_f16,
    f32,
    f16,
    4,
    4,
    [1, 2, 4],
    ["-DREAL=float", "-DREAL_SIZE=4", "-DC_HALF"]
);
// Kernel and reference sum alike and round once: the same numbers but for a few neighbours.
pipelined!(
    gemm_pipelined_bf16,
    f32,
    bf16,
    4,
    4,
    [1, 2, 4],
    ["-DREAL=float", "-DREAL_SIZE=4", "-DC_HALF"],
    "src/gemm/kernels/cl/bf16/pipelined.cl",
    "src/gemm/kernels/cl/bf16/pipelined_reference.cl",
    (rel = 0.01, abs = 0.01, l2 = 2e-3)
);
