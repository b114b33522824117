//! The tunables: statements on the elements of blocks.

use cltune::{Buffer, Event, Queue, Result, fused};

macro_rules! statements {
    ($(#[$attribute:meta])* $module:ident, $real:ident, $names:tt, [$($clause:tt)*]) => {
        $(#[$attribute])*
        pub(super) mod $module {
            use super::*;

            statements!(@ $real, $names, [$($clause)*]);
        }
    };
    (@
        $real:ident,
        {
            $sum:literal, $difference:literal, $scaled:literal, $dot:literal, $more_dot:literal,
            $total:literal, $more_total:literal
        },
        [$($clause:tt)*]
    ) => {
        /// c ← a + b.
        #[fused(name = $sum, tune(n = [1 << 18, 1 << 24]), $($clause)*)]
        pub(crate) fn sum(
            queue: &Queue,
            n: u64,
            #[arg(len = n)] a: &Buffer<$real>,
            #[arg(len = n)] b: &Buffer<$real>,
            #[arg(out, len = n)] c: &mut Buffer<$real>,
        ) -> Result<Event> {
            c = a + b;
        }

        /// c ← a − b.
        #[fused(name = $difference, tune(n = [1 << 18, 1 << 24]), $($clause)*)]
        pub(crate) fn difference(
            queue: &Queue,
            n: u64,
            #[arg(len = n)] a: &Buffer<$real>,
            #[arg(len = n)] b: &Buffer<$real>,
            #[arg(out, len = n)] c: &mut Buffer<$real>,
        ) -> Result<Event> {
            c = a - b;
        }

        /// c ← α a.
        #[fused(name = $scaled, tune(n = [1 << 18, 1 << 24]), $($clause)*)]
        pub(crate) fn scaled(
            queue: &Queue,
            n: u64,
            alpha: $real,
            #[arg(len = n)] a: &Buffer<$real>,
            #[arg(out, len = n)] c: &mut Buffer<$real>,
        ) -> Result<Event> {
            c = alpha * a;
        }

        /// s ← Σ xᵢ yᵢ.
        #[fused(name = $dot, tune(n = [1 << 18, 1 << 24]), $($clause)*)]
        pub(crate) fn dot(
            queue: &Queue,
            n: u64,
            #[arg(len = n)] x: &Buffer<$real>,
            #[arg(len = n)] y: &Buffer<$real>,
            #[arg(out, len = 1)] s: &mut Buffer<$real>,
        ) -> Result<Event> {
            s = dot(x, y);
        }

        /// s ← s + Σ xᵢ yᵢ.
        #[fused(name = $more_dot, tune(n = [1 << 18, 1 << 24]), $($clause)*)]
        pub(crate) fn more_dot(
            queue: &Queue,
            n: u64,
            #[arg(len = n)] x: &Buffer<$real>,
            #[arg(len = n)] y: &Buffer<$real>,
            #[arg(len = 1)] s: &mut Buffer<$real>,
        ) -> Result<Event> {
            s = s + dot(x, y);
        }

        /// s ← Σ xᵢ.
        #[fused(name = $total, tune(n = [1 << 18, 1 << 24]), $($clause)*)]
        pub(crate) fn total(
            queue: &Queue,
            n: u64,
            #[arg(len = n)] x: &Buffer<$real>,
            #[arg(out, len = 1)] s: &mut Buffer<$real>,
        ) -> Result<Event> {
            s = sum(x);
        }

        /// s ← s + Σ xᵢ.
        #[fused(name = $more_total, tune(n = [1 << 18, 1 << 24]), $($clause)*)]
        pub(crate) fn more_total(
            queue: &Queue,
            n: u64,
            #[arg(len = n)] x: &Buffer<$real>,
            #[arg(len = 1)] s: &mut Buffer<$real>,
        ) -> Result<Event> {
            s = s + sum(x);
        }
    };
}

statements! {
    /// Those of single precision.
    single, f32,
    {
        "scheduled_sum", "scheduled_difference", "scheduled_scaled", "scheduled_dot",
        "scheduled_more_dot", "scheduled_total", "scheduled_more_total"
    },
    []
}

statements! {
    /// Those of double precision.
    double, f64,
    {
        "scheduled_sum_f64", "scheduled_difference_f64", "scheduled_scaled_f64",
        "scheduled_dot_f64", "scheduled_more_dot_f64", "scheduled_total_f64",
        "scheduled_more_total_f64"
    },
    [tune_if(device.fp64 == 1)]
}
