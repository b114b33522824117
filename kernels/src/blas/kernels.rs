//! The tunables: each function is a statement.

use cltune::{Buffer, Event, Queue, Result, fused};

macro_rules! level1 {
    (
        $(#[$attribute:meta])* $module:ident, $real:ident, $names:tt, [$($clause:tt)*]
    ) => {
        $(#[$attribute])*
        pub(super) mod $module {
            use super::*;

            level1!(@ $real, $names, [$($clause)*]);
        }
    };
    (@
        $real:ident,
        {
            $axpy:literal, $scal:literal, $copy:literal, $swap:literal, $rot:literal, $dot:literal,
            $nrm2:literal, $asum:literal, $iamax:literal
        },
        [$($clause:tt)*]
    ) => {
        /// y ← α x + y.
        #[fused(name = $axpy, tune(n = [1 << 12, 1 << 18, 1 << 24]), $($clause)*)]
        pub(crate) fn axpy(
            queue: &Queue,
            n: u64,
            alpha: $real,
            #[arg(len = n, offset = offx, stride = incx)] x: &Buffer<$real>,
            offx: u64,
            incx: i64,
            #[arg(len = n, offset = offy, stride = incy)] y: &mut Buffer<$real>,
            offy: u64,
            incy: i64,
        ) -> Result<Event> {
            y += alpha * x;
        }

        /// x ← α x.
        #[fused(name = $scal, tune(n = [1 << 12, 1 << 18, 1 << 24]), $($clause)*)]
        pub(crate) fn scal(
            queue: &Queue,
            n: u64,
            alpha: $real,
            #[arg(len = n, offset = offx, stride = incx)] x: &mut Buffer<$real>,
            offx: u64,
            incx: i64,
        ) -> Result<Event> {
            x *= alpha;
        }

        /// y ← x.
        #[fused(name = $copy, tune(n = [1 << 12, 1 << 18, 1 << 24]), $($clause)*)]
        pub(crate) fn copy(
            queue: &Queue,
            n: u64,
            #[arg(len = n, offset = offx, stride = incx)] x: &Buffer<$real>,
            offx: u64,
            incx: i64,
            #[arg(out, len = n, offset = offy, stride = incy)] y: &mut Buffer<$real>,
            offy: u64,
            incy: i64,
        ) -> Result<Event> {
            y = x;
        }

        /// x ↔ y.
        #[fused(name = $swap, tune(n = [1 << 12, 1 << 18, 1 << 24]), $($clause)*)]
        pub(crate) fn swap(
            queue: &Queue,
            n: u64,
            #[arg(len = n, offset = offx, stride = incx)] x: &mut Buffer<$real>,
            offx: u64,
            incx: i64,
            #[arg(len = n, offset = offy, stride = incy)] y: &mut Buffer<$real>,
            offy: u64,
            incy: i64,
        ) -> Result<Event> {
            (x, y) = (y, x);
        }

        /// x ← c x + s y and y ← c y − s x.
        #[fused(name = $rot, tune(n = [1 << 12, 1 << 18, 1 << 24]), $($clause)*)]
        pub(crate) fn rot(
            queue: &Queue,
            n: u64,
            c: $real,
            s: $real,
            #[arg(len = n, offset = offx, stride = incx)] x: &mut Buffer<$real>,
            offx: u64,
            incx: i64,
            #[arg(len = n, offset = offy, stride = incy)] y: &mut Buffer<$real>,
            offy: u64,
            incy: i64,
        ) -> Result<Event> {
            (x, y) = (c * x + s * y, c * y - s * x);
        }

        /// Σ xᵢ yᵢ.
        #[fused(name = $dot, tune(n = [1 << 12, 1 << 18, 1 << 24]), $($clause)*)]
        pub(crate) fn dot(
            queue: &Queue,
            n: u64,
            #[arg(len = n, offset = offx, stride = incx)] x: &Buffer<$real>,
            offx: u64,
            incx: i64,
            #[arg(len = n, offset = offy, stride = incy)] y: &Buffer<$real>,
            offy: u64,
            incy: i64,
            #[arg(out, len = 1, offset = at)] result: &mut Buffer<$real>,
            at: u64,
        ) -> Result<Event> {
            result = dot(x, y);
        }

        /// √(Σ xᵢ²).
        #[fused(name = $nrm2, tune(n = [1 << 12, 1 << 18, 1 << 24]), $($clause)*)]
        pub(crate) fn nrm2(
            queue: &Queue,
            n: u64,
            #[arg(len = n, offset = offx, stride = incx)] x: &Buffer<$real>,
            offx: u64,
            incx: i64,
            #[arg(out, len = 1, offset = at)] result: &mut Buffer<$real>,
            at: u64,
        ) -> Result<Event> {
            result = norm2(x);
        }

        /// Σ |xᵢ|.
        #[fused(name = $asum, tune(n = [1 << 12, 1 << 18, 1 << 24]), $($clause)*)]
        pub(crate) fn asum(
            queue: &Queue,
            n: u64,
            #[arg(len = n, offset = offx, stride = incx)] x: &Buffer<$real>,
            offx: u64,
            incx: i64,
            #[arg(out, len = 1, offset = at)] result: &mut Buffer<$real>,
            at: u64,
        ) -> Result<Event> {
            result = norm1(x);
        }

        /// The first index of the largest |xᵢ|.
        #[fused(name = $iamax, tune(n = [1 << 12, 1 << 18, 1 << 24]), $($clause)*)]
        pub(crate) fn iamax(
            queue: &Queue,
            n: u64,
            #[arg(len = n, offset = offx, stride = incx)] x: &Buffer<$real>,
            offx: u64,
            incx: i64,
            #[arg(out, len = 1, offset = at)] result: &mut Buffer<u64>,
            at: u64,
        ) -> Result<Event> {
            result = index_of_max_abs(x);
        }
    };
}

level1!(
    /// Those of single precision.
    single,
    f32,
    {
        "blas_axpy", "blas_scal", "blas_copy", "blas_swap", "blas_rot", "blas_dot", "blas_nrm2",
        "blas_asum", "blas_iamax"
    },
    []
);
level1!(
    /// Those of double precision.
    double,
    f64,
    {
        "blas_axpy_f64", "blas_scal_f64", "blas_copy_f64", "blas_swap_f64", "blas_rot_f64",
        "blas_dot_f64", "blas_nrm2_f64", "blas_asum_f64", "blas_iamax_f64"
    },
    [tune_if(device.fp64 == 1)]
);
