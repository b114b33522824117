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
