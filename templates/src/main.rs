//! Prints the values that the default device gets for the expressions of this package.

use cltune::{Queue, Result};

/// The length of the vectors, and the sides of the matrices.
const LENGTH: i64 = 1 << 20;
const SIDE: i64 = 1 << 10;

macro_rules! print_selections {
    ($queue:expr, $sizes:tt, $($name:ident),+) => {
        $({
            use cltune_templates::$name;
            let selection = $name::select($queue.device(), $name::Problem $sizes)?;
            println!("{}: {selection}", stringify!($name));
        })+
    };
}

fn main() -> Result<()> {
    let queue = Queue::default_device()?;
    println!("{}, n = {LENGTH}, or m = n = {SIDE}", queue.device());
    print_selections!(queue, { n: LENGTH }, axpy_f32, combine_f32, dot_f32, square_f32, step_f32);
    print_selections!(
        queue, { m: SIDE, n: SIDE },
        gemv_f32, row_sums_f32, softmax_f32, gemv_t_f32, column_sums_f32, product_f32, product_t_f32
    );
    if queue.device().info().limits.fp64 == 1 {
        print_selections!(queue, { n: LENGTH }, axpy_f64, combine_f64, dot_f64, square_f64, step_f64);
        print_selections!(
            queue, { m: SIDE, n: SIDE },
            gemv_f64, row_sums_f64, softmax_f64, gemv_t_f64, column_sums_f64, product_f64, product_t_f64
        );
    }
    Ok(())
}
