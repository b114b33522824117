//! The expressions that the database of template defaults is made from, each for both sizes of
//! scalars. `docs/database.md` has the commands.

use cltune::{Buffer, Event, Queue, Result, fused};

macro_rules! expressions {
    ($T:ident, $axpy:ident, $combine:ident, $dot:ident, $square:ident, $step:ident, $is_tuned:expr) => {
        /// y <- alpha x + y: a map of two vectors.
        #[fused(tune(n = [1 << 16, 1 << 22, 1 << 26]), tune_if($is_tuned))]
        pub fn $axpy(
            queue: &Queue,
            n: u32,
            alpha: $T,
            #[arg(len = n)] x: &Buffer<$T>,
            #[arg(len = n)] y: &mut Buffer<$T>,
        ) -> Result<Event> {
            y += alpha * x;
        }

        /// u <- x + y - z and v <- z u + w: a map of many vectors.
        #[fused(tune(n = [1 << 16, 1 << 22, 1 << 26]), tune_if($is_tuned))]
        pub fn $combine(
            queue: &Queue,
            n: u32,
            #[arg(len = n)] w: &Buffer<$T>,
            #[arg(len = n)] x: &Buffer<$T>,
            #[arg(len = n)] y: &Buffer<$T>,
            #[arg(len = n)] z: &Buffer<$T>,
            #[arg(out, len = n)] u: &mut Buffer<$T>,
            #[arg(out, len = n)] v: &mut Buffer<$T>,
        ) -> Result<Event> {
            u = x + y - z;
            v = z * u + w;
        }

        /// s <- x^T y: a reduction of two vectors.
        #[fused(tune(n = [1 << 16, 1 << 22, 1 << 26]), tune_if($is_tuned))]
        pub fn $dot(
            queue: &Queue,
            n: u32,
            #[arg(len = n)] x: &Buffer<$T>,
            #[arg(len = n)] y: &Buffer<$T>,
            #[arg(out, len = 1)] s: &mut Buffer<$T>,
        ) -> Result<Event> {
            s = dot(x, y);
        }

        /// s <- x^T x: a reduction of one vector.
        #[fused(tune(n = [1 << 16, 1 << 22, 1 << 26]), tune_if($is_tuned))]
        pub fn $square(
            queue: &Queue,
            n: u32,
            #[arg(len = n)] x: &Buffer<$T>,
            #[arg(out, len = 1)] s: &mut Buffer<$T>,
        ) -> Result<Event> {
            s = dot(x, x);
        }

        /// x <- alpha x + beta y - z and s <- x^T y: a reduction of what a map writes.
        #[fused(tune(n = [1 << 16, 1 << 22, 1 << 26]), tune_if($is_tuned))]
        pub fn $step(
            queue: &Queue,
            n: u32,
            alpha: $T,
            beta: $T,
            #[arg(len = n)] x: &mut Buffer<$T>,
            #[arg(len = n)] y: &Buffer<$T>,
            #[arg(len = n)] z: &Buffer<$T>,
            #[arg(out, len = 1)] s: &mut Buffer<$T>,
        ) -> Result<Event> {
            x = alpha * x + beta * y - z;
            s = dot(x, y);
        }
    };
}

// The longest vectors are for GPUs, and only some devices have numbers of 8 bytes.
expressions!(
    f32,
    axpy_f32,
    combine_f32,
    dot_f32,
    square_f32,
    step_f32,
    n <= 1 << 22 || device.is_gpu == 1
);
expressions!(
    f64,
    axpy_f64,
    combine_f64,
    dot_f64,
    square_f64,
    step_f64,
    device.fp64 == 1 && (n <= 1 << 22 || device.is_gpu == 1)
);

#[rustfmt::skip] // It indents the attribute further each time.
macro_rules! matrix_expressions {
    (
        $T:ident, $gemv:ident, $row_sums:ident, $softmax:ident, $gemv_t:ident, $column_sums:ident,
        $product:ident, $product_t:ident, $is_tuned:expr
    ) => {
        /// y <- alpha A x + y: rows that are folded, of two operands.
        #[fused(
            tune(m = [256, 2048, 8192, 1 << 15], n = [64, 256, 2048, 8192]),
            tune_if($is_tuned),
        )]
        pub fn $gemv(
            queue: &Queue,
            m: u32,
            n: u32,
            alpha: $T,
            #[arg(matrix = [m, n])] a: &Buffer<$T>,
            #[arg(len = n)] x: &Buffer<$T>,
            #[arg(len = m)] y: &mut Buffer<$T>,
        ) -> Result<Event> {
            y += alpha * (a * x);
        }

        /// y <- the sum of each row: rows that are folded, of one operand.
        #[fused(
            tune(m = [256, 2048, 8192, 1 << 15], n = [64, 256, 2048, 8192]),
            tune_if($is_tuned),
        )]
        pub fn $row_sums(
            queue: &Queue,
            m: u32,
            n: u32,
            #[arg(matrix = [m, n])] a: &Buffer<$T>,
            #[arg(out, len = m)] y: &mut Buffer<$T>,
        ) -> Result<Event> {
            y = row_sum(a);
        }

        /// The softmax of each row: rows that are folded and written.
        #[fused(
            tune(m = [256, 2048, 8192, 1 << 15], n = [64, 256, 2048, 8192]),
            tune_if($is_tuned),
        )]
        pub fn $softmax(
            queue: &Queue,
            m: u32,
            n: u32,
            #[arg(matrix = [m, n])] a: &Buffer<$T>,
            #[arg(out, matrix = [m, n])] b: &mut Buffer<$T>,
        ) -> Result<Event> {
            let e = exp(a - column(row_max(a)));
            b = e / column(row_sum(e));
        }

        /// y <- alpha A^T x + y: columns of two operands.
        #[fused(
            tune(m = [256, 2048, 8192, 1 << 15], n = [64, 256, 2048, 8192]),
            tune_if($is_tuned),
        )]
        pub fn $gemv_t(
            queue: &Queue,
            m: u32,
            n: u32,
            alpha: $T,
            #[arg(matrix = [m, n])] a: &Buffer<$T>,
            #[arg(len = m)] x: &Buffer<$T>,
            #[arg(len = n)] y: &mut Buffer<$T>,
        ) -> Result<Event> {
            y += alpha * (a.t() * x);
        }

        /// y <- the sum of each column: columns of one operand.
        #[fused(
            tune(m = [256, 2048, 8192, 1 << 15], n = [64, 256, 2048, 8192]),
            tune_if($is_tuned),
        )]
        pub fn $column_sums(
            queue: &Queue,
            m: u32,
            n: u32,
            #[arg(matrix = [m, n])] a: &Buffer<$T>,
            #[arg(out, len = n)] y: &mut Buffer<$T>,
        ) -> Result<Event> {
            y = column_sum(a);
        }

        /// C <- A B
        #[fused(tune(m = [256, 1024, 4096], n = [256, 1024, 4096]), tune_if($is_tuned))]
        pub fn $product(
            queue: &Queue,
            m: u32,
            n: u32,
            #[arg(matrix = [m, n])] a: &Buffer<$T>,
            #[arg(matrix = [n, n])] b: &Buffer<$T>,
            #[arg(out, matrix = [m, n])] c: &mut Buffer<$T>,
        ) -> Result<Event> {
            c = a * b;
        }

        /// C <- A^T B
        #[fused(tune(m = [256, 1024, 4096], n = [256, 1024, 4096]), tune_if($is_tuned))]
        pub fn $product_t(
            queue: &Queue,
            m: u32,
            n: u32,
            #[arg(matrix = [n, m])] a: &Buffer<$T>,
            #[arg(matrix = [n, n])] b: &Buffer<$T>,
            #[arg(out, matrix = [m, n])] c: &mut Buffer<$T>,
        ) -> Result<Event> {
            c = a.t() * b;
        }
    };
}

// Square matrices, and one of short rows.
matrix_expressions!(
    f32,
    gemv_f32,
    row_sums_f32,
    softmax_f32,
    gemv_t_f32,
    column_sums_f32,
    product_f32,
    product_t_f32,
    (m == n || m == 512 * n) && (m * n <= 1 << 22 || device.is_gpu == 1)
);
matrix_expressions!(
    f64,
    gemv_f64,
    row_sums_f64,
    softmax_f64,
    gemv_t_f64,
    column_sums_f64,
    product_f64,
    product_t_f64,
    device.fp64 == 1 && (m == n || m == 512 * n) && (m * n <= 1 << 22 || device.is_gpu == 1)
);
