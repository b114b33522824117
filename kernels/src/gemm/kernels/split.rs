//! The kernels for the tensor cores of NVIDIA's GPUs: TF32, and a product of three TF32 products
//! that is as precise as single precision.

use cltune::{Buffer, Event, Queue, Result, tunable};

macro_rules! split {
    ($name:ident, $products:literal, [$($tolerance:tt)*]) => {
        /// C ← α A B + β C, and what `epilogue.cl` does then;
        /// `split.cl` says how, and `pipelined.cl` how the matrices lie.
        ///
        /// # Errors
        /// A buffer is too short, the device is none of NVIDIA's since compute capability 8.0, or
        /// OpenCL fails.
        #[tunable(
            source = "src/gemm/kernels/cl/split.cl",
            kernel = "gemm_split",
            params(
                MWG = [64, 128, 256], NWG = [64, 128, 256], KWG = [8, 16, 32],
                WM = [32, 64], WN = [32, 64, 128],
                MDIMA = [16, 32, 64], NDIMB = [16, 32, 64],
                STAGES = [2, 3, 4], STEPS_AHEAD = [1, 2, 4], SWIZZLE = [1, 8],
            ),
            constraints(
                device.nv_compute_capability >= 80,
                // These GPUs have more local memory than they tell of: 99 KiB and more.
                STAGES * KWG * (MWG + NWG + 16) * 4 <= 98304,
                MWG % WM == 0,
                NWG % WN == 0,
                WM * WN <= 64 * 64,
                KWG % (8 * STEPS_AHEAD) == 0,
                MWG % (MDIMA * 4) == 0,
                NWG % (NDIMB * 4) == 0,
                (MWG / WM * (NWG / WN) * 32) % MDIMA == 0,
                (MWG / WM * (NWG / WN) * 32) % NDIMB == 0,
                KWG % (MWG / WM * (NWG / WN) * 32 / MDIMA) == 0,
                KWG % (MWG / WM * (NWG / WN) * 32 / NDIMB) == 0,
            ),
            global((m + MWG - 1) / MWG * ((n + NWG - 1) / NWG) * (MWG / WM * (NWG / WN) * 32)),
            local(MWG / WM * (NWG / WN) * 32),
            defines(
                PRODUCTS = $products,
                EDGE_M = (m % MWG).min(1), EDGE_N = (n % NWG).min(1), EDGE_K = (k % KWG).min(1),
                EPILOGUE = epilogue,
            ),
            tune(m = 512, n = 512, k = 512, epilogue = 0),
            tune(m = 1024, n = 1024, k = 1024, epilogue = 0),
            tune(m = 2048, n = 2048, k = 2048, epilogue = 0),
            tune(m = 4096, n = 4096, k = 4096, epilogue = 0),
            tune(m = 4096, n = 128, k = 4096, epilogue = 0),
            tune(m = 128, n = 4096, k = 4096, epilogue = 0),
            tune_if(device.nv_compute_capability >= 80),
            defaults(
                MWG = 128, NWG = 128, KWG = 16, WM = 64, WN = 64, MDIMA = 32, NDIMB = 32,
                STAGES = 2, STEPS_AHEAD = 2, SWIZZLE = 8,
            ),
            reference(
                kernel = "gemm_reference", source = "src/gemm/kernels/cl/split_reference.cl", global(n, m),
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
            #[arg(host_only)] epilogue: i32,
            #[arg(len = if epilogue % 4 == 1 { n } else if epilogue % 4 == 2 { m } else { 1 })]
            bias: &Buffer<f32>,
        ) -> Result<Event>;
    };
}

split!(gemm_split, 3, [accumulates = k]);
// Two factors rounded to 11 bits each; the sum of k products of either sign is as wrong as one of
// them.
split!(gemm_tf32, 1, [l2 = 1e-3]);
