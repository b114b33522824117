//! The kernel for the tensor cores of NVIDIA's Hopper GPUs in single precision: as
//! [`split`](super::split), with the instructions that only these have.

use cltune::{Buffer, Event, Queue, Result, tunable};

/// C ← α A B + β C, and what `epilogue.cl` does then;
/// `warpgroup.cl` says how, and how the matrices lie.
///
/// # Errors
/// A buffer is too short, the device is no Hopper GPU, or OpenCL fails.
#[tunable(
    source = "src/gemm/kernels/cl/warpgroup.cl",
    kernel = "gemm_warpgroup",
    params(
        WARPGROUPS = [1, 2, 4], NWG = [64, 96, 128], STAGES = 3..=6, TILES_AHEAD = [1, 2],
        SWIZZLE = [1, 4, 8, 16],
    ),
    constraints(
        // Not 90 and later: these instructions have no successor of the same name.
        device.nv_compute_capability == 90,
        // What a work-group can have, which is more than OpenCL tells of: 226 KiB.
        (STAGES * (64 * WARPGROUPS + NWG) + 3 * NWG) * 128 <= 231424,
        NWG % (16 * WARPGROUPS) == 0,
        // Registers: the sums, and what else is needed, of 65,536.
        (NWG + 80) * WARPGROUPS * 128 <= 65536,
    ),
    // Where B is k lines of n, tiles are of the product of the transposes.
    global(
        ((if b_of_k == 1 { m } else { n }) + 64 * WARPGROUPS - 1) / (64 * WARPGROUPS)
            * (((if b_of_k == 1 { n } else { m }) + NWG - 1) / NWG) * (128 * WARPGROUPS),
    ),
    local(128 * WARPGROUPS),
    defines(
        B_OF_K = b_of_k,
        EDGE_M = ((if b_of_k == 1 { m } else { n }) % (64 * WARPGROUPS)).min(1),
        EDGE_N = ((if b_of_k == 1 { n } else { m }) % NWG).min(1), EDGE_K = (k % 32).min(1),
        EPILOGUE = epilogue,
    ),
    tune(m = 256, n = 256, k = 256, b_of_k = [1, 0], epilogue = 0),
    tune(m = 512, n = 512, k = 512, b_of_k = [1, 0], epilogue = 0),
    tune(m = 1024, n = 1024, k = 1024, b_of_k = [1, 0], epilogue = 0),
    tune(m = 1536, n = 1536, k = 1536, b_of_k = [1, 0], epilogue = 0),
    tune(m = 2048, n = 2048, k = 2048, b_of_k = [1, 0], epilogue = 0),
    tune(m = 3000, n = 3000, k = 3000, b_of_k = [1, 0], epilogue = 0),
    tune(m = 4096, n = 4096, k = 4096, b_of_k = [1, 0], epilogue = 0),
    tune(m = 8192, n = 8192, k = 8192, b_of_k = [1, 0], epilogue = 0),
    tune(m = 4096, n = 128, k = 4096, b_of_k = [1, 0], epilogue = 0),
    tune(m = 128, n = 4096, k = 4096, b_of_k = [1, 0], epilogue = 0),
    tune_if(device.nv_compute_capability == 90),
    defaults(WARPGROUPS = 2, NWG = 128, STAGES = 4, TILES_AHEAD = 1, SWIZZLE = 8),
    reference(
        kernel = "gemm_reference", source = "src/gemm/kernels/cl/warpgroup_reference.cl", global(n, m),
    ),
    tolerance(accumulates = k),
    flops(2 * m * n * k), bytes(4 * (m * k + n * k + m * n)),
)]
pub(crate) fn gemm_warpgroup(
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
    #[arg(host_only)] b_of_k: i32,
    #[arg(host_only)] epilogue: i32,
    #[arg(len = if epilogue % 4 == 1 { n } else if epilogue % 4 == 2 { m } else { 1 })]
    bias: &Buffer<f32>,
) -> Result<Event>;
