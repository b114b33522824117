//! Prints the values that the default device gets for the expressions of this package.

use cltune::{Queue, Result};

/// The length of the vectors.
const LENGTH: i64 = 1 << 20;

macro_rules! print_selections {
    ($queue:expr, $($name:ident),+) => {
        $({
            use cltune_templates::$name;
            let selection = $name::select($queue.device(), $name::Problem { n: LENGTH })?;
            println!("{}: {selection}", stringify!($name));
        })+
    };
}

fn main() -> Result<()> {
    let queue = Queue::default_device()?;
    println!("{}, n = {LENGTH}", queue.device());
    print_selections!(queue, axpy_f32, combine_f32, dot_f32, square_f32, step_f32);
    if queue.device().info().limits.fp64 == 1 {
        print_selections!(queue, axpy_f64, combine_f64, dot_f64, square_f64, step_f64);
    }
    Ok(())
}
