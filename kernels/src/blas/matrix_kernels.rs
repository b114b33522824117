//! The tunables of level 2: products are statements, and a kernel of its own copies matrices, with
//! padding and transposed.

use cltune::{Buffer, Event, Queue, Result, fused, tunable};

macro_rules! level2 {
    (
        $(#[$attribute:meta])* $module:ident, $real:ident, $size:literal, $names:tt, [$($clause:tt)*], $condition:expr,
        [$($option:literal),*]
    ) => {
        $(#[$attribute])*
        pub(super) mod $module {
            use super::*;

            level2!(@ $real, $size, $names, [$($clause)*], $condition, [$($option),*]);
        }
    };
    (@
        $real:ident, $size:literal,
        { $gemv:literal, $gemv_t:literal, $ger:literal, $copy:literal, $transpose:literal },
        [$($clause:tt)*], $condition:expr, [$($option:literal),*]
    ) => {
        /// y ← α A x + β y.
        #[fused(
            name = $gemv,
            tune(m = 256, n = 256, lda = 256),
            tune(m = 1023, n = 1023, lda = 1023),
            tune(m = 3162, n = 3162, lda = 3162),
            tune(m = 4096, n = 4096, lda = 4096),
            $($clause)*
        )]
        pub(crate) fn gemv(
            queue: &Queue,
            m: u64,
            n: u64,
            alpha: $real,
            beta: $real,
            #[arg(matrix = [m, n], ld = lda, offset = offa)] a: &Buffer<$real>,
            offa: u64,
            lda: u64,
            #[arg(len = n, offset = offx, stride = incx)] x: &Buffer<$real>,
            offx: u64,
            incx: i64,
            #[arg(len = m, offset = offy, stride = incy)] y: &mut Buffer<$real>,
            offy: u64,
            incy: i64,
        ) -> Result<Event> {
            // What is multiplied by 0 counts as 0, also where it is no number.
            y = (if alpha == 0.0 { 0.0 } else { alpha * (a * x) }) + (if beta == 0.0 { 0.0 } else { beta * y });
        }

        /// y ← α Aᵀ x + β y.
        #[fused(
            name = $gemv_t,
            tune(m = 256, n = 256, lda = 256),
            tune(m = 1023, n = 1023, lda = 1023),
            tune(m = 3162, n = 3162, lda = 3162),
            tune(m = 4096, n = 4096, lda = 4096),
            $($clause)*
        )]
        pub(crate) fn gemv_transposed(
            queue: &Queue,
            m: u64,
            n: u64,
            alpha: $real,
            beta: $real,
            #[arg(matrix = [m, n], ld = lda, offset = offa)] a: &Buffer<$real>,
            offa: u64,
            lda: u64,
            #[arg(len = m, offset = offx, stride = incx)] x: &Buffer<$real>,
            offx: u64,
            incx: i64,
            #[arg(len = n, offset = offy, stride = incy)] y: &mut Buffer<$real>,
            offy: u64,
            incy: i64,
        ) -> Result<Event> {
            y = (if alpha == 0.0 { 0.0 } else { alpha * (a.t() * x) })
                + (if beta == 0.0 { 0.0 } else { beta * y });
        }

        /// A ← α x yᵀ + A.
        #[fused(
            name = $ger,
            tune(m = 256, n = 256, lda = 256),
            tune(m = 1023, n = 1023, lda = 1023),
            tune(m = 3162, n = 3162, lda = 3162),
            tune(m = 4096, n = 4096, lda = 4096),
            $($clause)*
        )]
        pub(crate) fn ger(
            queue: &Queue,
            m: u64,
            n: u64,
            alpha: $real,
            #[arg(len = m, offset = offx, stride = incx)] x: &Buffer<$real>,
            offx: u64,
            incx: i64,
            #[arg(len = n, offset = offy, stride = incy)] y: &Buffer<$real>,
            offy: u64,
            incy: i64,
            #[arg(matrix = [m, n], ld = lda, offset = offa)] a: &mut Buffer<$real>,
            offa: u64,
            lda: u64,
        ) -> Result<Event> {
            a += alpha * outer(x, y);
        }

        /// B ← A in the upper left corner and the fill elsewhere; `copy.cl` says how they lie.
        #[tunable(
            name = $copy,
            source = "src/blas/copy.cl",
            kernel = "matrix_copy",
            params(WX = [16, 32, 64, 128, 256], WY = [1, 2, 4, 8], EACH = [1, 2, 4, 8, 16]),
            global(div_ceil(length, WX * EACH) * div_ceil(lines, WY) * WX * WY), local(WX * WY),
            options($($option),*),
            tune(of_lines = 256, of_length = 256, lines = 256, length = 256),
            tune(of_lines = 1000, of_length = 1001, lines = 1024, length = 1024),
            tune(of_lines = 4096, of_length = 4096, lines = 4096, length = 4096),
            tune_if($condition),
            defaults(WX = 32, WY = 2, EACH = 4),
            reference(kernel = "matrix_copy_reference", global(lines * length)),
            tolerance(rel = 0, abs = 0),
            bytes($size * (of_lines * of_length + lines * length)),
        )]
        pub(crate) fn copy(
            queue: &Queue,
            of_lines: u64,
            of_length: u64,
            lines: u64,
            length: u64,
            #[arg(len = of_lines * of_length)] a: &Buffer<$real>,
            #[arg(value = 0)] offa: u64,
            #[arg(value = 0)] lda: u64,
            #[arg(out, len = lines * length)] b: &mut Buffer<$real>,
            #[arg(value = 0)] offb: u64,
            #[arg(value = 0)] ldb: u64,
            #[arg(value = 7)] fill: $real,
        ) -> Result<Event>;

        /// B ← Aᵀ in the upper left corner and the fill elsewhere; `copy.cl` says how they lie.
        #[tunable(
            name = $transpose,
            source = "src/blas/copy.cl",
            kernel = "matrix_transpose",
            params(
                TILE = [8, 16, 32, 64, 128], ROWS = [1, 2, 4, 8, 16, 32], BLOCK = [1, 2, 4, 8, 16],
                LOCAL = [false, true],
            ),
            constraints(TILE % (BLOCK * ROWS) == 0, BLOCK == 1 || !LOCAL),
            global(div_ceil(length, TILE) * div_ceil(lines, TILE) * (TILE / BLOCK * ROWS)),
            local(TILE / BLOCK * ROWS),
            local_memory(if LOCAL { TILE * (TILE + 1) * $size } else { 0 }),
            options($($option),*),
            tune(of_lines = 256, of_length = 256, lines = 256, length = 256),
            tune(of_lines = 1001, of_length = 1000, lines = 1024, length = 1024),
            tune(of_lines = 3162, of_length = 3162, lines = 3162, length = 3162),
            tune(of_lines = 4096, of_length = 4096, lines = 4096, length = 4096),
            tune_if($condition),
            defaults(TILE = 16, ROWS = 4, BLOCK = 1, LOCAL = true),
            reference(kernel = "matrix_transpose_reference", global(lines * length)),
            tolerance(rel = 0, abs = 0),
            bytes($size * (of_lines * of_length + lines * length)),
        )]
        pub(crate) fn transpose(
            queue: &Queue,
            of_lines: u64,
            of_length: u64,
            lines: u64,
            length: u64,
            #[arg(len = of_lines * of_length)] a: &Buffer<$real>,
            #[arg(value = 0)] offa: u64,
            #[arg(value = 0)] lda: u64,
            #[arg(out, len = lines * length)] b: &mut Buffer<$real>,
            #[arg(value = 0)] offb: u64,
            #[arg(value = 0)] ldb: u64,
            #[arg(value = 7)] fill: $real,
        ) -> Result<Event>;
    };
}

level2!(
    /// Those of single precision.
    single,
    f32,
    4,
    {
        "blas_gemv", "blas_gemv_t", "blas_ger", "blas_copy_matrix", "blas_transpose"
    },
    [],
    1 == 1,
    ["-DREAL=float"]
);
level2!(
    /// Those of double precision.
    double,
    f64,
    8,
    {
        "blas_gemv_f64", "blas_gemv_t_f64", "blas_ger_f64", "blas_copy_matrix_f64",
        "blas_transpose_f64"
    },
    [tune_if(device.fp64 == 1)],
    device.fp64 == 1,
    ["-DREAL=double"]
);
