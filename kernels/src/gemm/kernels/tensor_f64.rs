//! The kernel for the tensor cores of NVIDIA's GPUs in double precision.

use cltune::{Buffer, Event, Queue, Result, tunable};

/// C ← α A B + β C, and what `epilogue.cl` does then;
/// `tensor_f64.cl` says how, and how the matrices lie.
///
/// # Errors
/// A buffer is too short, the device is none of NVIDIA's since compute capability 8.0, or OpenCL
/// fails.
#[tunable(
    source = "src/gemm/kernels/cl/tensor_f64.cl",
    params(
        MWG = [64, 96, 128, 192, 256], NWG = [64, 96, 128, 192, 256], KWG = [8, 16, 32],
        WM = [16, 32, 48, 64], WN = [16, 32, 48, 64], DEPTH = [4, 8, 16],
        PAIRS_OF_K = [0, 1], STAGES = 2..=6, SWIZZLE = [1, 4, 8, 16],
    ),
    constraints(
        device.nv_compute_capability >= 80,
        DEPTH == 4 || device.nv_compute_capability >= 90,
        KWG % (2 * DEPTH) == 0,
        PAIRS_OF_K == 0 || DEPTH > 4 && (a_of_k == 1 || b_of_k == 1),
        MWG % WM == 0,
        NWG % WN == 0,
        WM * WN <= 32 * 64,
        // Registers: the sums, and what else is needed, of 65,536.
        (WM * WN / 16 + 48) * (MWG / WM * (NWG / WN) * 32) <= 65536,
        // What is copied at once: whole lines.
        a_of_k == 1 || (MWG / WM * (NWG / WN) * 32) % (MWG / 2) == 0,
        b_of_k == 1 || (MWG / WM * (NWG / WN) * 32) % (NWG / 2) == 0,
        // These GPUs have more local memory than they tell of: 99 KiB and more, and Hopper's 226.
        STAGES * 8 * (
            (if a_of_k == 1 { (KWG + 4) * MWG } else { (MWG + 4) * KWG })
            + (if b_of_k == 1 { (KWG + 4) * NWG } else { (NWG + 4) * KWG })
        ) <= if device.nv_compute_capability == 90 { 231424 } else { 98304 },
    ),
    global((m + MWG - 1) / MWG * ((n + NWG - 1) / NWG) * (MWG / WM * (NWG / WN) * 32)),
    local(MWG / WM * (NWG / WN) * 32),
    defines(
        A_OF_K = a_of_k, B_OF_K = b_of_k, WIDTH = width,
        ROWS = if device.nv_compute_capability >= 90 { 16 } else { 8 },
        EDGE_M = (m % MWG).min(1), EDGE_N = (n % NWG).min(1), EDGE_K = (k % KWG).min(1),
        EPILOGUE = epilogue,
    ),
    tune(m = 512, n = 512, k = 512, a_of_k = 1, b_of_k = [0, 1], width = 2, epilogue = 0),
    tune(m = 1024, n = 1024, k = 1024, a_of_k = 1, b_of_k = [0, 1], width = 2, epilogue = 0),
    tune(m = 1536, n = 1536, k = 1536, a_of_k = 1, b_of_k = [0, 1], width = 2, epilogue = 0),
    tune(m = 2048, n = 2048, k = 2048, a_of_k = 1, b_of_k = [0, 1], width = 2, epilogue = 0),
    tune(m = 3000, n = 3000, k = 3000, a_of_k = 1, b_of_k = [0, 1], width = 2, epilogue = 0),
    tune(m = 4096, n = 4096, k = 4096, a_of_k = 1, b_of_k = [0, 1], width = 2, epilogue = 0),
    tune(m = 8192, n = 8192, k = 8192, a_of_k = 1, b_of_k = [0, 1], width = 2, epilogue = 0),
    tune(m = 4096, n = 128, k = 4096, a_of_k = 1, b_of_k = [0, 1], width = 2, epilogue = 0),
    tune(m = 128, n = 4096, k = 4096, a_of_k = 1, b_of_k = [0, 1], width = 2, epilogue = 0),
    tune(m = 515, n = 515, k = 515, a_of_k = 1, b_of_k = [0, 1], width = 1, epilogue = 0),
    tune(m = 1023, n = 1023, k = 1023, a_of_k = 1, b_of_k = [0, 1], width = 1, epilogue = 0),
    tune(m = 2047, n = 2047, k = 2047, a_of_k = 1, b_of_k = [0, 1], width = 1, epilogue = 0),
    tune(m = 4095, n = 4095, k = 4095, a_of_k = 1, b_of_k = [0, 1], width = 1, epilogue = 0),
    tune_if(device.nv_compute_capability >= 80),
    defaults(
        MWG = 64, NWG = 64, KWG = 16, WM = 32, WN = 32, DEPTH = 4, PAIRS_OF_K = 0, STAGES = 4,
        SWIZZLE = 8,
    ),
    reference(
        kernel = "gemm_reference", source = "src/gemm/kernels/cl/tensor_f64_reference.cl", global(n, m),
    ),
    tolerance(accumulates = k),
    flops(2 * m * n * k), bytes(8 * (m * k + n * k + m * n)),
)]
pub(crate) fn gemm_tensor_f64(
    queue: &Queue,
    m: i32,
    n: i32,
    k: i32,
    #[arg(value = 1)] alpha: f64,
    #[arg(value = 0)] beta: f64,
    #[arg(len = m * k)] a: &Buffer<f64>,
    #[arg(value = 0)] offset_a: i32,
    #[arg(value = 0)] lda: i32,
    a_of_k: i32,
    #[arg(len = n * k)] b: &Buffer<f64>,
    #[arg(value = 0)] offset_b: i32,
    #[arg(value = 0)] ldb: i32,
    b_of_k: i32,
    #[arg(host_only)] width: i32,
    #[arg(out, len = m * n)] c: &mut Buffer<f64>,
    #[arg(value = 0)] offset_c: i32,
    #[arg(value = 0)] ldc: i32,
    #[arg(host_only)] epilogue: i32,
    #[arg(len = if epilogue % 4 == 1 { n } else if epilogue % 4 == 2 { m } else { 1 })]
    bias: &Buffer<f64>,
) -> Result<Event>;
