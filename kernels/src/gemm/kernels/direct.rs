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
                MWG = [8, 16, 32, 48, 64, 96, 128, 192, 256], NWG = [8, 16, 32, 64, 128, 256],
                KWG = [8, 16, 32, 64, 128, 256],
                MDIMC = [1, 2, 4, 8, 16, 32], NDIMC = [1, 2, 4, 8, 16, 32],
                LOCAL = [false, true], VECTORS = [0, 4, 8, 16],
            ),
            constraints(
                MWG % MDIMC == 0, NWG % NDIMC == 0,
                // What a work-item sums up at a time has to fit into its registers: of vectors, 32 of 64
                // bytes, the widest that there are.
                (MWG / MDIMC) * (NWG / NDIMC) <= if VECTORS > 0 { 2048 / $size } else { 64 },
                VECTORS == 0 || device.is_cpu == 1 && LOCAL && NWG % (VECTORS * NDIMC) == 0,
                // These are worth it with vectors only.
                VECTORS > 0
                    || MWG <= 64 && MWG != 48 && NWG <= 64 && KWG <= 32 && MDIMC <= 16 && NDIMC != 2,
            ),
            global(
                (n + NWG - 1) / NWG * if VECTORS > 0 { 1 } else { NDIMC },
                (m + MWG - 1) / MWG * if VECTORS > 0 { 1 } else { MDIMC },
            ),
            local(if VECTORS > 0 { 1 } else { NDIMC }, if VECTORS > 0 { 1 } else { MDIMC }),
            local_memory(
                if VECTORS > 0 { ((MWG + KWG) * NWG + KWG * (MWG / MDIMC)) * $size }
                else if LOCAL { (MWG + NWG + 2) * KWG * $size }
                else { 0 }
            ),
            defines(EPILOGUE = epilogue),
            options($($option),*),
            tune(m = 64, n = 64, k = 64, epilogue = 0),
            tune(m = 256, n = 256, k = 256, epilogue = 0),
            tune(m = 1024, n = 16, k = 1024, epilogue = 0),
            tune(m = 16, n = 1024, k = 1024, epilogue = 0),
            tune_if($size == 4 || device.fp64 == 1),
            defaults(
                MWG = 32, NWG = 32, KWG = 16, MDIMC = 8, NDIMC = 8,
                LOCAL = true, VECTORS = 0,
            ),
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

direct!(
    gemm_direct,
    f32,
    f32,
    4,
    ["-w", "-DREAL=float", "-DREAL_SIZE=4"]
);
direct!(
    gemm_direct_f64,
    f64,
    f64,
    8,
    ["-w", "-DREAL=double", "-DREAL_SIZE=8"]
);
direct!(
    gemm_direct_f16,
    f32,
    f16,
    4,
    ["-w", "-DREAL=float", "-DREAL_SIZE=4", "-DC_HALF"]
);
// Kernel and reference sum alike and round once: the same numbers but for a few neighbours.
direct!(
    gemm_direct_bf16,
    f32,
    bf16,
    4,
    ["-w", "-DREAL=float", "-DREAL_SIZE=4", "-DC_HALF"],
    "src/gemm/kernels/cl/bf16/direct.cl",
    "src/gemm/kernels/cl/bf16/direct_reference.cl",
    (rel = 0.01, abs = 0.01, l2 = 2e-3)
);

#[cfg(test)]
mod tests {
    use super::{gemm_direct, gemm_direct_bf16, gemm_direct_f16, gemm_direct_f64};
    use cltune::{Buffer, Queue, bf16, f16};

    /// A matrix as BLAS has it: rows of op(A), where they begin, and how far its lines are apart.
    struct Lying {
        values: Vec<i32>,
        offset: usize,
        leading: usize,
        is_transposed: bool,
    }

    impl Lying {
        /// Of -1, 0 and 1, with 7 outside.
        fn new([rows, columns]: [usize; 2], is_transposed: bool, seed: usize) -> Self {
            let [lines, length] = if is_transposed {
                [columns, rows]
            } else {
                [rows, columns]
            };
            let (offset, leading) = (seed % 4, length + seed % 3);
            let mut values = vec![7; offset + lines * leading];
            for line in 0..lines {
                for at in 0..length {
                    let number = (line * 31 + at * 17 + seed).wrapping_mul(0x9e37_79b9) >> 7;
                    values[offset + line * leading + at] = (number % 3) as i32 - 1;
                }
            }
            Self {
                values,
                offset,
                leading,
                is_transposed,
            }
        }

        fn place(&self, row: usize, column: usize) -> usize {
            let [line, at] = if self.is_transposed {
                [column, row]
            } else {
                [row, column]
            };
            self.offset + line * self.leading + at
        }
    }

    /// With vectors, against sums of integers, which every type holds exactly.
    macro_rules! vectors_are_right {
        ($name:ident, $direct:ident, $real:ty, $stored:ty, $of:expr) => {
            #[test]
            fn $name() {
                let queue = Queue::default_device().expect("these tests need an OpenCL device");
                let limits = &queue.device().info().limits;
                if limits.is_cpu == 0 || (size_of::<$real>() == 8 && limits.fp64 == 0) {
                    cltune_tests::skip("the device is no CPU that computes in this type");
                    return;
                }
                let buffer = |values: &[i32]| {
                    let values: Vec<$stored> = values.iter().map(|&value| $of(value)).collect();
                    Buffer::from_slice(&queue, &values).unwrap()
                };
                let sizes = [[1, 1, 1], [37, 45, 70], [96, 64, 64], [70, 133, 129]];
                let tiles = [
                    [32, 16, 32, 8, 1, 16],
                    [48, 64, 64, 8, 2, 8],
                    [96, 32, 16, 16, 4, 4],
                ];
                for (case, (size, tile)) in sizes.iter().zip(tiles.iter().cycle()).enumerate() {
                    for turned in 0..4 {
                        let ([m, n, k], [mwg, nwg, kwg, mdimc, ndimc, vectors]) = (*size, *tile);
                        let seed = 4 * case + turned;
                        let a = Lying::new([m, k], turned % 2 == 1, seed);
                        let b = Lying::new([k, n], turned > 1, seed + 1);
                        let mut c = Lying::new([m, n], false, seed + 2);
                        let bias: Vec<i32> = (0..n as i32).map(|at| at % 5 - 2).collect();
                        let (beta, epilogue) = (turned as i32 % 2, [0, 5][seed % 2]);
                        let params = $direct::Params {
                            MWG: mwg,
                            NWG: nwg,
                            KWG: kwg,
                            MDIMC: mdimc,
                            NDIMC: ndimc,
                            LOCAL: true,
                            VECTORS: vectors,
                        };
                        let mut of_c = buffer(&c.values);
                        let [sm, sn, sk] = [m, n, k].map(|size| size as i32);
                        let int = |size: usize| size as i32;
                        let event = $direct::launch_with(
                            &params,
                            &queue,
                            sm,
                            sn,
                            sk,
                            2.0,
                            beta as $real,
                            &buffer(&a.values),
                            int(a.offset),
                            int(a.leading),
                            i32::from(a.is_transposed),
                            &buffer(&b.values),
                            int(b.offset),
                            int(b.leading),
                            i32::from(b.is_transposed),
                            &mut of_c,
                            int(c.offset),
                            int(c.leading),
                            epilogue,
                            &buffer(&bias),
                        );
                        event.unwrap().wait().unwrap();
                        for row in 0..m {
                            for column in 0..n {
                                let products = (0..k).map(|p| {
                                    a.values[a.place(row, p)] * b.values[b.place(p, column)]
                                });
                                let at = c.place(row, column);
                                let sum = 2 * products.sum::<i32>() + beta * c.values[at];
                                c.values[at] = match epilogue {
                                    0 => sum,
                                    _ => (sum + bias[column]).max(0),
                                };
                            }
                        }
                        let expected: Vec<$stored> =
                            c.values.iter().map(|&value| $of(value)).collect();
                        assert_eq!(of_c.read(&queue).unwrap(), expected, "{size:?}, {turned}");
                    }
                }
            }
        };
    }

    vectors_are_right!(vectors_of_f32, gemm_direct, f32, f32, |it| it as f32);
    vectors_are_right!(vectors_of_f64, gemm_direct_f64, f64, f64, f64::from);
    vectors_are_right!(vectors_of_f16, gemm_direct_f16, f32, f16, |it| {
        f16::from_f32(it as f32)
    });
    vectors_are_right!(vectors_of_bf16, gemm_direct_bf16, f32, bf16, |it| {
        bf16::from_f32(it as f32)
    });
}
