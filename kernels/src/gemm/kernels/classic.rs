//! The kernel of Nugteren & Codreanu 2015, section VI.

use cltune::{Buffer, Event, Queue, Result, tunable};

/// C ← A B in single precision.
///
/// `a` has `k` rows of `m` elements, `b` has `k` rows of `n`, `c` has `n` rows of `m`: with
/// matrices in rows, C is the transpose of Aᵀ B. All sizes are multiples of a tile: of 128 (`m`,
/// `n`) and 32 (`k`) every configuration is possible, of 16 some are.
///
/// The parameters and their values are those of the published space, which has 241,600 valid
/// configurations on a device with work-groups of 1024 work-items and 48 KiB of local memory.
///
/// # Errors
/// A buffer is too short, no configuration suits the sizes, or OpenCL fails.
#[tunable(
    source = "src/gemm/kernels/cl/classic.cl",
    params(
        MWG = [16, 32, 64, 128], NWG = [16, 32, 64, 128], KWG = [16, 32],
        MDIMC = [8, 16, 32], NDIMC = [8, 16, 32], MDIMA = [8, 16, 32], NDIMB = [8, 16, 32],
        KWI = [2, 8],
        VWM = [1, 2, 4, 8], VWN = [1, 2, 4, 8],
        STRM = [0, 1], STRN = [0, 1],
        SA = [0, 1], SB = [0, 1],
    ),
    constraints(
        KWG % KWI == 0,
        MWG % (MDIMC * VWM) == 0,
        NWG % (NDIMC * VWN) == 0,
        MWG % (MDIMA * VWM) == 0,
        NWG % (NDIMB * VWN) == 0,
        KWG % ((MDIMC * NDIMC) / MDIMA) == 0,
        KWG % ((MDIMC * NDIMC) / NDIMB) == 0,
        m % MWG == 0,
        n % NWG == 0,
        k % KWG == 0,
    ),
    global(m / MWG * MDIMC, n / NWG * NDIMC), local(MDIMC, NDIMC),
    local_memory((SA * MWG + SB * NWG) * KWG * 4),
    tune(m = 512, n = 512, k = 512),
    tune(m = 2048, n = 2048, k = 2048),
    tune_if(device.is_gpu == 1 || m <= 512),
    defaults(
        MWG = 64, NWG = 64, KWG = 16, MDIMC = 16, NDIMC = 16, MDIMA = 16, NDIMB = 16, KWI = 2,
        VWM = 1, VWN = 1, STRM = 1, STRN = 1, SA = 1, SB = 1,
    ),
    reference(kernel = "gemm_reference", source = "src/gemm/kernels/cl/classic_reference.cl", global(m, n)),
    tolerance(accumulates = k),
    flops(2 * m * n * k), bytes(4 * (m * k + n * k + m * n)), even_work = true,
)]
pub fn gemm_classic(
    queue: &Queue,
    m: i32,
    n: i32,
    k: i32,
    #[arg(len = m * k)] a: &Buffer<f32>,
    #[arg(len = n * k)] b: &Buffer<f32>,
    #[arg(out, len = m * n)] c: &mut Buffer<f32>,
) -> Result<Event>;
