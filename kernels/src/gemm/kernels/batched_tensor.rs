//! The kernels for many products in one launch on the tensor cores of NVIDIA's GPUs.

use cltune::{Buffer, Event, Queue, Result, bf16, f16, tunable};

macro_rules! batched_tensor {
    ($name:ident, $stored:ident, $factors:literal, $tolerance:tt) => {
        // Sides, counts and widths that are tuned.
        batched_tensor!(@ $name, $stored, $factors, $tolerance, [
            16 16384 8, 32 4096 8, 48 2048 8, 64 1024 8, 66 1024 2, 98 512 2, 99 512 1, 100 512 4, 128 256 8
        ]);
    };
    (@
        $name:ident, $stored:ident, $factors:literal, $tolerance:tt,
        [$($side:literal $count:literal $width:literal),*]
    ) => {
        /// C ← α op(A) op(B) + β C for `count` products; `batched_tensor.cl` says how the matrices
        /// lie. `shared_a` is 1 where the products' matrices A have elements in common, `shared_b`
        /// likewise. `width` is 1, 2, 4 or 8: how many elements of A and B are copied at once.
        ///
        /// # Errors
        /// A buffer is too short, the device is none of NVIDIA's since compute capability 8.0, or
        /// OpenCL fails.
        #[tunable(
            source = "src/gemm/kernels/cl/batched_tensor.cl",
            kernel = "gemm_batched_tensor",
            params(
                MWG = [16, 32, 48, 64, 96, 112, 128], NWG = [16, 32, 48, 64, 96, 112, 128],
                KWG = [16, 32, 48, 64, 96, 112, 128],
                WM = [16, 32, 48, 64, 112], WN = [16, 32, 48, 64, 112],
                PRODUCTS = [1, 2, 4, 8], STAGES = 1..=4,
            ),
            constraints(
                device.nv_compute_capability >= 80,
                MWG % WM == 0, NWG % WN == 0,
                // Tiles of which more than half is outside are as good as smaller ones. The defaults
                // are valid for all sizes.
                MWG <= 32 || MWG < 2 * m, NWG <= 32 || NWG < 2 * n, KWG <= 32 || KWG < 2 * k,
                PRODUCTS == 1 || m <= MWG && n <= NWG,
                // No more stages than there are tiles, but for the defaults.
                STAGES > 1 || k <= KWG,
                STAGES <= 2 || k > (STAGES - 1) * KWG,
                WM * WN <= 64 * 64,
                // Registers: the sums, and what else is needed, of 65,536.
                (WM * WN / 32 + 56) * (PRODUCTS * (MWG / WM) * (NWG / WN) * 32) <= 65536,
                // These GPUs have more local memory than they tell of: 99 KiB and more, and Hopper's 226.
                STAGES * PRODUCTS * 2 * (
                    (if trans_a == 1 { (MWG + 8) * KWG } else { (KWG + 8) * MWG })
                    + (if trans_b == 1 { (KWG + 8) * NWG } else { (NWG + 8) * KWG })
                ) <= if device.nv_compute_capability == 90 { 231424 } else { 98304 },
            ),
            global(
                (count + PRODUCTS - 1) / PRODUCTS * ((m + MWG - 1) / MWG) * ((n + NWG - 1) / NWG)
                    * (PRODUCTS * (MWG / WM) * (NWG / WN) * 32),
            ),
            local(PRODUCTS * (MWG / WM) * (NWG / WN) * 32),
            defines(
                TRANS_A = trans_a, TRANS_B = trans_b,
                EDGE_M = (m % MWG).min(1), EDGE_N = (n % NWG).min(1), EDGE_K = (k % KWG).min(1),
                EDGE_COUNT = (count % PRODUCTS).min(1), WIDTH = width,
            ),
            options($factors),
            $(tune(
                m = $side, n = $side, k = $side, count = $count,
                trans_a = 0, trans_b = 0, shared_a = 0, shared_b = 0, width = $width,
            ),)*
            tune_if(device.nv_compute_capability >= 80),
            defaults(MWG = 32, NWG = 32, KWG = 32, WM = 16, WN = 32, PRODUCTS = 1, STAGES = 2),
            reference(
                kernel = "gemm_batched_reference", source = "src/gemm/kernels/cl/batched_tensor_reference.cl",
                global(count * m * n),
            ),
            tolerance $tolerance,
            flops(2 * m * n * k * count), bytes(2 * (m * k + n * k + m * n) * count),
        )]
        #[expect(dead_code, reason = "batches are launched with a configuration that does not go by their count")]
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
            #[arg(host_only)] width: i32,
            #[arg(value = 1)] alpha: f32,
            #[arg(value = 0)] beta: f32,
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

batched_tensor!(
    gemm_batched_tensor_f16,
    f16,
    "-DFACTORS_f16",
    (accumulates = k)
);
// As gemm_batched_bf16: the multiple that the sum of k products has would let anything pass.
batched_tensor!(
    gemm_batched_tensor_bf16,
    bf16,
    "-DFACTORS_bf16",
    (rel = 0.01, abs = 0.01, l2 = 2e-3)
);

/// C ← α op(A) op(B) + β C for `count` products; `tensor_f64_batched.cl` says how, and how the
/// matrices lie. `shared_a` is 1 where the products' matrices A have elements in common, `shared_b`
/// likewise.
///
/// # Errors
/// A buffer is too short, the device is none of NVIDIA's since compute capability 8.0, or OpenCL
/// fails.
#[tunable(
    source = "src/gemm/kernels/cl/tensor_f64_batched.cl",
    kernel = "gemm_batched_tensor",
    params(
        MWG = [32, 48, 64, 96, 128], NWG = [32, 48, 64, 96, 128], KWG = [8, 16, 32, 64],
        WM = [16, 32, 48, 64], WN = [16, 32, 48, 64], DEPTH = [4, 8, 16],
        PAIRS_OF_K = [0, 1], STAGES = 2..=4,
    ),
    constraints(
        // Those of `tensor_f64.rs`.
        device.nv_compute_capability >= 80,
        DEPTH == 4 || device.nv_compute_capability >= 90,
        KWG % (2 * DEPTH) == 0,
        PAIRS_OF_K == 0 || DEPTH > 4 && (trans_a == 0 || trans_b == 1),
        MWG % WM == 0,
        NWG % WN == 0,
        WM * WN <= 32 * 64,
        (WM * WN / 16 + 48) * (MWG / WM * (NWG / WN) * 32) <= 65536,
        trans_a == 0 || (MWG / WM * (NWG / WN) * 32) % (MWG / 2) == 0,
        trans_b == 1 || (MWG / WM * (NWG / WN) * 32) % (NWG / 2) == 0,
        STAGES * 8 * (
            (if trans_a == 0 { (KWG + 4) * MWG } else { (MWG + 4) * KWG })
            + (if trans_b == 1 { (KWG + 4) * NWG } else { (NWG + 4) * KWG })
        ) <= if device.nv_compute_capability == 90 { 231424 } else { 98304 },
        // Tiles of which more than half is outside are as good as smaller ones. The defaults are
        // valid for all sizes.
        MWG <= 32 || MWG < 2 * m, NWG <= 32 || NWG < 2 * n, KWG <= 16 || KWG < 2 * k,
        // No more stages than there are tiles, but for the least number.
        STAGES == 2 || k > (STAGES - 1) * KWG,
    ),
    global(count * ((m + MWG - 1) / MWG) * ((n + NWG - 1) / NWG) * (MWG / WM * (NWG / WN) * 32)),
    local(MWG / WM * (NWG / WN) * 32),
    defines(
        TRANS_A = trans_a, TRANS_B = trans_b, WIDTH = width,
        ROWS = if device.nv_compute_capability >= 90 { 16 } else { 8 },
        EDGE_M = (m % MWG).min(1), EDGE_N = (n % NWG).min(1), EDGE_K = (k % KWG).min(1),
    ),
    tune(m = 32, n = 32, k = 32, count = 4096, trans_a = 0, trans_b = 0, shared_a = 0, shared_b = 0, width = 2),
    tune(m = 48, n = 48, k = 48, count = 2048, trans_a = 0, trans_b = 0, shared_a = 0, shared_b = 0, width = 2),
    tune(m = 64, n = 64, k = 64, count = 1024, trans_a = 0, trans_b = 0, shared_a = 0, shared_b = 0, width = 2),
    tune(m = 100, n = 100, k = 100, count = 512, trans_a = 0, trans_b = 0, shared_a = 0, shared_b = 0, width = 2),
    tune(m = 128, n = 128, k = 128, count = 256, trans_a = 0, trans_b = 0, shared_a = 0, shared_b = 0, width = 2),
    tune(m = 33, n = 33, k = 33, count = 4096, trans_a = 0, trans_b = 0, shared_a = 0, shared_b = 0, width = 1),
    tune(m = 65, n = 65, k = 65, count = 1024, trans_a = 0, trans_b = 0, shared_a = 0, shared_b = 0, width = 1),
    tune(m = 99, n = 99, k = 99, count = 512, trans_a = 0, trans_b = 0, shared_a = 0, shared_b = 0, width = 1),
    tune_if(device.nv_compute_capability >= 80),
    defaults(MWG = 32, NWG = 32, KWG = 16, WM = 16, WN = 16, DEPTH = 4, PAIRS_OF_K = 0, STAGES = 2),
    reference(
        kernel = "gemm_batched_reference", source = "src/gemm/kernels/cl/tensor_f64_batched_reference.cl",
        global(count * m * n),
    ),
    tolerance(accumulates = k),
    flops(2 * m * n * k * count), bytes(8 * (m * k + n * k + m * n) * count),
)]
pub(crate) fn gemm_batched_tensor_f64(
    queue: &Queue,
    m: i32,
    n: i32,
    k: i32,
    count: i32,
    #[arg(host_only)] trans_a: i32,
    #[arg(host_only)] trans_b: i32,
    #[arg(host_only)] shared_a: i32,
    #[arg(host_only)] shared_b: i32,
    #[arg(host_only)] width: i32,
    #[arg(value = 1)] alpha: f64,
    #[arg(value = 0)] beta: f64,
    #[arg(len = m * k * if shared_a == 1 { 1 } else { count })] a: &Buffer<f64>,
    #[arg(value = 0)] offset_a: i32,
    #[arg(value = 0)] lda: i32,
    #[arg(value = -1)] stride_a: i32,
    #[arg(len = n * k * if shared_b == 1 { 1 } else { count })] b: &Buffer<f64>,
    #[arg(value = 0)] offset_b: i32,
    #[arg(value = 0)] ldb: i32,
    #[arg(value = -1)] stride_b: i32,
    #[arg(out, len = count * m * n)] c: &mut Buffer<f64>,
    #[arg(value = 0)] offset_c: i32,
    #[arg(value = 0)] ldc: i32,
    #[arg(value = -1)] stride_c: i32,
) -> Result<Event>;
