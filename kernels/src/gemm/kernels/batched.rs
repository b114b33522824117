//! The kernel for many small products in one launch.

use cltune::{Buffer, Event, Queue, Result, bf16, f16, tunable};

macro_rules! batched {
    (
        $name:ident, $real:ident, $stored:ident, $size:tt, $bytes:tt, [$($width:tt),*], $widest:tt, [$($option:tt),*],
        $source:tt, $reference:tt, $tolerance:tt
    ) => {
        /// C ← α op(A) op(B) + β C for `count` products; `batched.cl` says how the matrices lie.
        /// `shared_a` is 1 where the products' matrices A have elements in common, `shared_b`
        /// likewise.
        ///
        /// # Errors
        /// A buffer is too short, no configuration suits the sizes, or OpenCL fails.
        #[tunable(
            source = $source,
            kernel = "gemm_batched",
            params(
                MWG = [4, 8, 16, 32, 64, 128], NWG = [4, 8, 16, 32, 64, 128],
                KWG = [8, 16, 32, 64],
                MWI = [1, 2, 4, 8], NWI = [1, 2, 4, 8, 16, 32],
                VM = [1, 2, 4], VN = [1, 2, 4, 8, 16],
                PRODUCTS = [1, 2, 4, 8, 16, 32, 64],
                LOCAL = [false, true], VW = [$($width),*], PAD = [0, 4], AHEAD = [false, true],
                UNROLL = [1, 4, 16],
            ),
            constraints(
                MWG % MWI == 0, NWG % NWI == 0, MWI % VM == 0, NWI % VN == 0,
                // What a work-item sums up has to fit into its registers.
                MWI * NWI * $size <= if device.is_cpu == 1 { 2048 } else { 512 },
                // Tiles of which more than half is outside are as good as smaller ones. The defaults
                // are valid for all sizes.
                MWG <= 16 || MWG < 2 * m, NWG <= 16 || NWG < 2 * n, KWG <= 16 || KWG < 2 * k,
                MWG % VW == 0, NWG % VW == 0, KWG % VW == 0,
                // What means something for tiles in local memory only.
                LOCAL || KWG == 16 && VM == 1 && VW == 1 && PAD == 0 && !AHEAD && UNROLL <= 4,
                !AHEAD || k > KWG && (MWG + NWG) * KWG * MWI * NWI <= 64 * MWG * NWG,
            ),
            global(
                (count + PRODUCTS - 1) / PRODUCTS * ((m + MWG - 1) / MWG) * ((n + NWG - 1) / NWG)
                    * (PRODUCTS * (MWG / MWI) * (NWG / NWI)),
            ),
            local(PRODUCTS * (MWG / MWI) * (NWG / NWI)),
            local_memory(
                if LOCAL {
                    (if AHEAD { 2 } else { 1 }) * PRODUCTS * KWG * (MWG + NWG + 2 * PAD) * $size
                } else { 0 }
            ),
            defines(
                TRANS_A = trans_a, TRANS_B = trans_b,
                EDGE_M = (m % MWG).min(1), EDGE_N = (n % NWG).min(1), EDGE_K = (k % KWG).min(1),
                EDGE_COUNT = (count % PRODUCTS).min(1),
                ONE_TILE = if m <= MWG && n <= NWG { 1 } else { 0 },
                ONE_STEP = if k <= KWG { 1 } else { 0 },
            ),
            options($($option),*),
            // 16 MiB for each matrix of single precision on GPUs, 1 MiB on CPUs.
            tune(m = 8, n = 8, k = 8, count = [65536, 4096], trans_a = 0, trans_b = 0, shared_a = 0, shared_b = 0),
            tune(m = 16, n = 16, k = 16, count = [16384, 1024], trans_a = 0, trans_b = 0, shared_a = 0, shared_b = 0),
            tune(m = 32, n = 32, k = 32, count = [4096, 256], trans_a = 0, trans_b = 0, shared_a = 0, shared_b = 0),
            tune(m = 64, n = 64, k = 64, count = [1024, 64], trans_a = 0, trans_b = 0, shared_a = 0, shared_b = 0),
            tune(m = 128, n = 128, k = 128, count = [256, 16], trans_a = 0, trans_b = 0, shared_a = 0, shared_b = 0),
            tune_if(
                (device.is_cpu == 1) == (count * m * n <= 1 << 18) && ($size == 4 || device.fp64 == 1)
            ),
            defaults(
                MWG = 16, NWG = 16, KWG = 16, MWI = 4, NWI = 4, VM = 4, VN = 4, PRODUCTS = 8, LOCAL = true,
                VW = $widest, PAD = 0, AHEAD = false, UNROLL = 4,
            ),
            reference(
                kernel = "gemm_batched_reference", source = $reference,
                global(count * m * n),
            ),
            tolerance $tolerance,
            flops(2 * m * n * k * count), bytes($bytes * (m * k + n * k + m * n) * count),
        )]
        pub(crate) fn $name(
            queue: &Queue,
            m: i32,
            n: i32,
            k: i32,
            count: i32,
            #[arg(host_only)] trans_a: i32,
            #[arg(host_only)] trans_b: i32,
            #[arg(host_only)] shared_a: i32,
            #[arg(host_only)] shared_b: i32,
            #[arg(value = 1)] alpha: $real,
            #[arg(value = 0)] beta: $real,
            #[arg(len = m * k * if shared_a == 1 { 1 } else { count })] a: &Buffer<$stored>,
            #[arg(value = 0)] offset_a: i32,
            #[arg(value = 0)] lda: i32,
            #[arg(value = -1)] stride_a: i32,
            #[arg(len = n * k * if shared_b == 1 { 1 } else { count })] b: &Buffer<$stored>,
            #[arg(value = 0)] offset_b: i32,
            #[arg(value = 0)] ldb: i32,
            #[arg(value = -1)] stride_b: i32,
            #[arg(out, len = count * m * n)] c: &mut Buffer<$stored>,
            #[arg(value = 0)] offset_c: i32,
            #[arg(value = 0)] ldc: i32,
            #[arg(value = -1)] stride_c: i32,
        ) -> Result<Event>;
    };
}

batched!(
    gemm_batched,
    f32,
    f32,
    4,
    4,
    [1, 2, 4],
    4,
    ["-DREAL=float", "-DREAL_SIZE=4"],
    "src/gemm/kernels/cl/batched.cl",
    "src/gemm/kernels/cl/batched_reference.cl",
    (accumulates = k)
);
batched!(
    gemm_batched_f64,
    f64,
    f64,
    8,
    8,
    [1, 2],
    2,
    ["-DREAL=double", "-DREAL_SIZE=8"],
    "src/gemm/kernels/cl/batched.cl",
    "src/gemm/kernels/cl/batched_reference.cl",
    (accumulates = k)
);
batched!(
    gemm_batched_f16,
    f32,
    f16,
    4,
    2,
    [1, 2, 4, 8],
    8,
    ["-DREAL=float", "-DREAL_SIZE=4", "-DC_HALF"],
    "src/gemm/kernels/cl/batched.cl",
    "src/gemm/kernels/cl/batched_reference.cl",
    (accumulates = k)
);
// Kernel and reference sum alike and round once: the same numbers but for a few neighbours.
batched!(
    gemm_batched_bf16,
    f32,
    bf16,
    4,
    2,
    [1, 2, 4, 8],
    8,
    ["-DREAL=float", "-DREAL_SIZE=4", "-DC_HALF"],
    "src/gemm/kernels/cl/bf16/batched.cl",
    "src/gemm/kernels/cl/bf16/batched_reference.cl",
    (rel = 0.01, abs = 0.01, l2 = 2e-3)
);
