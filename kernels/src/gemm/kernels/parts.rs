//! Kernels whose work-groups have parts of k each, for products with fewer tiles than a device
//! computes at once: those of [`pipelined`](super::pipelined), [`tensor_f64`](super::tensor_f64) and
//! [`warpgroup`](super::warpgroup), and one that adds up. That of `tensor_f64` is for more tiles, too:
//! it divides those of the last round of work-groups only.
//!
//! `PARTS` is how many parts there are. An argument `parts` other than 0 stands for it, so that a
//! size that was not tuned gets as many as suit it, without being compiled for. A part is a whole
//! number of tiles deep; there may be fewer parts than were asked for, since none is empty.

use cltune::{Buffer, Event, Queue, Result, bf16, f16, tunable};

macro_rules! pipelined_parts {
    (
        $name:ident, $real:ident, $stored:ident, $width:tt, $vector:tt, [$($vectors:tt),*], [$($option:tt),*],
        $source:tt, $reference:tt, $tolerance:tt
    ) => {
        pipelined_parts! {
            $name, $real, $stored, $width, $vector, [$($vectors),*], [$($option),*], $source, $reference,
            $tolerance, (k.div_ceil(k.div_ceil(KWG * if parts == 0 { PARTS } else { parts }) * KWG))
        }
    };
    (
        $name:ident, $real:ident, $stored:ident, $width:tt, $vector:tt, [$($vectors:tt),*], [$($option:tt),*],
        $source:tt, $reference:tt, $tolerance:tt, $count:tt
    ) => {
        /// C ← α A B + β C, and what `epilogue.cl` does then; `parts.cl` says how, and
        /// `pipelined.cl` how the matrices lie.
        ///
        /// # Errors
        /// A buffer is too short, no configuration suits the sizes, or OpenCL fails.
        #[tunable(
            source = $source,
            params(
                MWG = [32, 64, 128, 256], NWG = [32, 64, 128, 256], KWG = [8, 16, 32],
                MDIMC = [4, 8, 16, 32], NDIMC = [4, 8, 16, 32],
                MDIMA = [8, 16, 32, 64], NDIMB = [8, 16, 32, 64],
                STRM = [0, 1], STRN = [0, 1],
                VWM = [$($vectors),*], VWN = [$($vectors),*],
                LANES = [4, 8, 16, 32],
                COPY = ["registers", "async"], STAGES = [2, 3, 4], SWIZZLE = [1, 8],
                ORDER = ["rows", "blocks"],
                PARTS = [2, 3, 4, 6, 8, 12, 16, 24, 32],
            ),
            constraints(
                // Those of `pipelined.rs`.
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
                ORDER == "rows" || MWG % (2 * MDIMC * VWM) == 0 && NWG % (2 * NDIMC * VWN) == 0,
                COPY == "async" || STAGES == 2,
                COPY == "registers" || device.nv_compute_capability >= 80,
                STAGES * KWG * (MWG + NWG) * (16 / $width)
                    <= if device.nv_compute_capability >= 80 { 98304 } else { device.local_mem_size },
            ),
            scratch(sums: [$real; $count * m * n]),
            stages(
                stage(
                    gemm_part(m, n, k, a, offset_a, lda, b, offset_b, ldb, sums),
                    global(m.div_ceil(MWG) * n.div_ceil(NWG) * (MDIMC * NDIMC), $count),
                    local(MDIMC * NDIMC, 1),
                ),
                stage(
                    sum_parts(m, n, $count as i32, alpha, beta, sums, c, offset_c, ldc, bias),
                    global((m * n).next_multiple_of(128)),
                    local(128),
                ),
            ),
            defines(
                EDGE_M = (m % MWG).min(1), EDGE_N = (n % NWG).min(1), EDGE_K = (k % KWG).min(1),
                EPILOGUE = epilogue,
            ),
            options($($option),*),
            tune(m = 256, n = 256, k = 4096, epilogue = 0, parts = 0),
            tune(m = 512, n = 512, k = 4096, epilogue = 0, parts = 0),
            tune(m = 4096, n = 128, k = 4096, epilogue = 0, parts = 0),
            tune(m = 128, n = 4096, k = 4096, epilogue = 0, parts = 0),
            tune_if(device.is_gpu == 1),
            defaults(
                MWG = 64, NWG = 64, KWG = 16, MDIMC = 16, NDIMC = 16, MDIMA = 16, NDIMB = 16,
                STRM = 1, STRN = 1, VWM = $vector, VWN = $vector, LANES = 8, COPY = "registers",
                STAGES = 2, SWIZZLE = 8, ORDER = "rows", PARTS = 8,
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
            #[arg(host_only)] parts: i32,
            #[arg(len = if epilogue % 4 == 1 { n } else if epilogue % 4 == 2 { m } else { 1 })]
            bias: &Buffer<$stored>,
        ) -> Result<Event>;
    };
}

pipelined_parts!(
    gemm_pipelined_parts,
    f32,
    f32,
    4,
    4,
    [1, 2, 4],
    ["-DREAL=float", "-DREAL_SIZE=4"],
    "src/gemm/kernels/cl/pipelined_parts.cl",
    "src/gemm/kernels/cl/pipelined_reference.cl",
    (accumulates = k)
);
pipelined_parts!(
    gemm_pipelined_parts_f64,
    f64,
    f64,
    2,
    2,
    [1, 2],
    ["-DREAL=double", "-DREAL_SIZE=8"],
    "src/gemm/kernels/cl/pipelined_parts.cl",
    "src/gemm/kernels/cl/pipelined_reference.cl",
    (accumulates = k)
);
pipelined_parts!(
    gemm_pipelined_parts_f16,
    f32,
    f16,
    4,
    4,
    [1, 2, 4],
    ["-DREAL=float", "-DREAL_SIZE=4", "-DC_HALF"],
    "src/gemm/kernels/cl/pipelined_parts.cl",
    "src/gemm/kernels/cl/pipelined_reference.cl",
    (accumulates = k)
);
// As for `gemm_pipelined_bf16`: both round once.
pipelined_parts!(
    gemm_pipelined_parts_bf16,
    f32,
    bf16,
    4,
    4,
    [1, 2, 4],
    ["-DREAL=float", "-DREAL_SIZE=4", "-DC_HALF"],
    "src/gemm/kernels/cl/bf16/pipelined_parts.cl",
    "src/gemm/kernels/cl/bf16/pipelined_reference.cl",
    (rel = 0.01, abs = 0.01, l2 = 2e-3)
);

/// C ← α A B + β C, and what `epilogue.cl` does then; `tensor_f64_parts.cl` says how, and
/// `tensor_f64.cl` how the matrices lie.
///
/// # Errors
/// A buffer is too short, the device is none of NVIDIA's since compute capability 8.0, or OpenCL
/// fails.
#[tunable(
    source = "src/gemm/kernels/cl/tensor_f64_parts.cl",
    params(
        MWG = [64, 96, 128, 192, 256], NWG = [64, 96, 128, 192, 256], KWG = [8, 16, 32],
        WM = [16, 32, 48, 64], WN = [16, 32, 48, 64], DEPTH = [4, 8, 16],
        PAIRS_OF_K = [0, 1], STAGES = 2..=6, SWIZZLE = [1, 4, 8, 16],
        PARTS = [2, 3, 4, 5, 6, 8, 12, 16, 24, 32],
    ),
    constraints(
        // Those of `tensor_f64.rs`.
        device.nv_compute_capability >= 80,
        DEPTH == 4 || device.nv_compute_capability >= 90,
        KWG % (2 * DEPTH) == 0,
        PAIRS_OF_K == 0 || DEPTH > 4 && (a_of_k == 1 || b_of_k == 1),
        MWG % WM == 0,
        NWG % WN == 0,
        WM * WN <= 32 * 64,
        (WM * WN / 16 + 48) * (MWG / WM * (NWG / WN) * 32) <= 65536,
        a_of_k == 1 || (MWG / WM * (NWG / WN) * 32) % (MWG / 2) == 0,
        b_of_k == 1 || (MWG / WM * (NWG / WN) * 32) % (NWG / 2) == 0,
        STAGES * 8 * (
            (if a_of_k == 1 { (KWG + 4) * MWG } else { (MWG + 4) * KWG })
            + (if b_of_k == 1 { (KWG + 4) * NWG } else { (NWG + 4) * KWG })
        ) <= if device.nv_compute_capability == 90 { 231424 } else { 98304 },
    ),
    // Tiles beyond whole rounds of work-groups, of one for each compute unit, are in parts.
    scratch(
        sums: [
            f64;
            (k.div_ceil(k.div_ceil(KWG * if parts == 0 { PARTS } else { parts }) * KWG)
                * (m.div_ceil(MWG) * n.div_ceil(NWG) % device.compute_units) * MWG * NWG).max(1)
        ],
    ),
    stages(
        stage(
            gemm_part(
                m, n, k,
                (m.div_ceil(MWG) * n.div_ceil(NWG) / device.compute_units * device.compute_units) as i32,
                k.div_ceil(k.div_ceil(KWG * if parts == 0 { PARTS } else { parts }) * KWG) as i32,
                alpha, beta, a, offset_a, lda, a_of_k, b, offset_b, ldb, b_of_k, c, offset_c, ldc, bias,
                sums,
            ),
            global(
                (m.div_ceil(MWG) * n.div_ceil(NWG)
                    + m.div_ceil(MWG) * n.div_ceil(NWG) % device.compute_units
                        * (k.div_ceil(k.div_ceil(KWG * if parts == 0 { PARTS } else { parts }) * KWG) - 1))
                    * (MWG / WM * (NWG / WN) * 32),
            ),
            local(MWG / WM * (NWG / WN) * 32),
        ),
        stage(
            sum_parts(
                m, n,
                (m.div_ceil(MWG) * n.div_ceil(NWG) / device.compute_units * device.compute_units) as i32,
                (m.div_ceil(MWG) * n.div_ceil(NWG) % device.compute_units) as i32,
                k.div_ceil(k.div_ceil(KWG * if parts == 0 { PARTS } else { parts }) * KWG) as i32,
                beta, sums, c, offset_c, ldc, bias,
            ),
            // Tiles are whole numbers of 128 elements.
            global((m.div_ceil(MWG) * n.div_ceil(NWG) % device.compute_units * MWG * NWG).max(128)),
            local(128),
        ),
    ),
    defines(
        A_OF_K = a_of_k, B_OF_K = b_of_k, WIDTH = width,
        ROWS = if device.nv_compute_capability >= 90 { 16 } else { 8 },
        EDGE_M = (m % MWG).min(1), EDGE_N = (n % NWG).min(1), EDGE_K = (k % KWG).min(1),
        EPILOGUE = epilogue,
    ),
    tune(m = 256, n = 256, k = 4096, a_of_k = 1, b_of_k = [0, 1], width = 2, epilogue = 0, parts = 0),
    tune(m = 512, n = 512, k = 4096, a_of_k = 1, b_of_k = [0, 1], width = 2, epilogue = 0, parts = 0),
    tune(m = 1024, n = 1024, k = 4096, a_of_k = 1, b_of_k = [0, 1], width = 2, epilogue = 0, parts = 0),
    tune(m = 1536, n = 1536, k = 1536, a_of_k = 1, b_of_k = [0, 1], width = 2, epilogue = 0, parts = 0),
    tune(m = 3000, n = 3000, k = 3000, a_of_k = 1, b_of_k = [0, 1], width = 2, epilogue = 0, parts = 0),
    tune(m = 4096, n = 4096, k = 4096, a_of_k = 1, b_of_k = [0, 1], width = 2, epilogue = 0, parts = 0),
    tune(m = 4096, n = 128, k = 4096, a_of_k = 1, b_of_k = [0, 1], width = 2, epilogue = 0, parts = 0),
    tune(m = 128, n = 4096, k = 4096, a_of_k = 1, b_of_k = [0, 1], width = 2, epilogue = 0, parts = 0),
    tune(m = 515, n = 515, k = 4095, a_of_k = 1, b_of_k = [0, 1], width = 1, epilogue = 0, parts = 0),
    tune(m = 4095, n = 129, k = 4095, a_of_k = 1, b_of_k = [0, 1], width = 1, epilogue = 0, parts = 0),
    tune_if(device.nv_compute_capability >= 80),
    defaults(
        MWG = 64, NWG = 64, KWG = 16, WM = 32, WN = 32, DEPTH = 4, PAIRS_OF_K = 0, STAGES = 4,
        SWIZZLE = 8, PARTS = 8,
    ),
    reference(
        kernel = "gemm_reference", source = "src/gemm/kernels/cl/tensor_f64_reference.cl", global(n, m),
    ),
    tolerance(accumulates = k),
    flops(2 * m * n * k), bytes(8 * (m * k + n * k + m * n)),
)]
pub(crate) fn gemm_tensor_f64_parts(
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
    #[arg(host_only)] parts: i32,
    #[arg(len = if epilogue % 4 == 1 { n } else if epilogue % 4 == 2 { m } else { 1 })]
    bias: &Buffer<f64>,
) -> Result<Event>;

/// C ← α A B + β C, and what `epilogue.cl` does then; `parts.cl` says how, and `warpgroup.cl` how
/// the matrices lie.
///
/// # Errors
/// A buffer is too short, the device is no Hopper GPU, or OpenCL fails.
#[tunable(
    source = "src/gemm/kernels/cl/warpgroup_parts.cl",
    params(
        WARPGROUPS = [1, 2, 4], NWG = [64, 96, 128], STAGES = 3..=6, TILES_AHEAD = [1, 2],
        SWIZZLE = [1, 4, 8, 16],
        PARTS = [2, 3, 4, 6, 8, 12, 16, 24, 32],
    ),
    constraints(
        // Those of `warpgroup.rs`.
        device.nv_compute_capability == 90,
        (STAGES * (64 * WARPGROUPS + NWG) + 3 * NWG) * 128 <= 231424,
        NWG % (16 * WARPGROUPS) == 0,
        (NWG + 80) * WARPGROUPS * 128 <= 65536,
    ),
    scratch(
        sums: [
            f32; k.div_ceil(k.div_ceil(32 * if parts == 0 { PARTS } else { parts }) * 32) * m * n
        ],
    ),
    stages(
        stage(
            gemm_part(m, n, k, a, offset_a, lda, b, offset_b, ldb, sums, bias),
            global(
                (if b_of_k == 1 { m } else { n }).div_ceil(64 * WARPGROUPS)
                    * (if b_of_k == 1 { n } else { m }).div_ceil(NWG) * (128 * WARPGROUPS),
                k.div_ceil(k.div_ceil(32 * if parts == 0 { PARTS } else { parts }) * 32),
            ),
            local(128 * WARPGROUPS, 1),
        ),
        stage(
            sum_parts(
                m, n, k.div_ceil(k.div_ceil(32 * if parts == 0 { PARTS } else { parts }) * 32) as i32,
                alpha, beta, sums, c, offset_c, ldc, bias,
            ),
            global((m * n).next_multiple_of(128)),
            local(128),
        ),
    ),
    defines(
        B_OF_K = b_of_k,
        EDGE_M = ((if b_of_k == 1 { m } else { n }) % (64 * WARPGROUPS)).min(1),
        EDGE_N = ((if b_of_k == 1 { n } else { m }) % NWG).min(1), EDGE_K = (k % 32).min(1),
        EPILOGUE = epilogue,
    ),
    tune(m = 256, n = 256, k = 4096, b_of_k = [1, 0], epilogue = 0, parts = 0),
    tune(m = 512, n = 512, k = 4096, b_of_k = [1, 0], epilogue = 0, parts = 0),
    tune(m = 1024, n = 1024, k = 4096, b_of_k = [1, 0], epilogue = 0, parts = 0),
    tune(m = 4096, n = 128, k = 4096, b_of_k = [1, 0], epilogue = 0, parts = 0),
    tune(m = 128, n = 4096, k = 4096, b_of_k = [1, 0], epilogue = 0, parts = 0),
    tune_if(device.nv_compute_capability == 90),
    defaults(WARPGROUPS = 1, NWG = 64, STAGES = 4, TILES_AHEAD = 1, SWIZZLE = 1, PARTS = 8),
    reference(
        kernel = "gemm_reference", source = "src/gemm/kernels/cl/warpgroup_reference.cl", global(n, m),
    ),
    tolerance(accumulates = k),
    flops(2 * m * n * k), bytes(4 * (m * k + n * k + m * n)),
)]
pub(crate) fn gemm_warpgroup_parts(
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
    #[arg(host_only)] parts: i32,
    #[arg(len = if epilogue % 4 == 1 { n } else if epilogue % 4 == 2 { m } else { 1 })]
    bias: &Buffer<f32>,
) -> Result<Event>;

#[cfg(test)]
mod tests {
    use super::*;

    /// Of ones, so that a sum says how many products are in it: with more parts than there are tiles
    /// of k, as many, and fewer.
    #[test]
    fn any_number_of_parts_has_each_product_once() {
        let queue = Queue::default_device().unwrap();
        for k in [1, 16, 100, 1000] {
            let side: i32 = 65;
            let len = |rows: i32| usize::try_from(rows * 68).unwrap();
            let ones = Buffer::from_slice(&queue, &vec![1.0_f32; len(k)]).unwrap();
            let bias = Buffer::new(queue.context(), 1).unwrap();
            for parts in [0, 1, 2, 3, 7, 32, 33] {
                let mut sums = Buffer::from_slice(&queue, &vec![f32::NAN; len(side)]).unwrap();
                let done = gemm_pipelined_parts(
                    &queue, side, side, k, 1.0, 0.0, &ones, 0, 68, &ones, 0, 68, &mut sums, 0,
                    side, 0, parts, &bias,
                );
                done.unwrap();
                let found = sums.read(&queue).unwrap();
                let elements = usize::try_from(side * side).unwrap();
                assert!(
                    found[..elements].iter().all(|&sum| sum == k as f32),
                    "k = {k}, {parts} parts"
                );
            }
        }
    }
}
