//! The shortest cltune program: one kernel, three parameters.

use cltune::{Buffer, Event, Queue, Result, tunable};

/// y <- a*x + y
#[tunable(
    source = "kernels/saxpy.cl",
    params(WG = [32, 64, 128, 256], WPT = [1, 2, 4, 8], VW = [1, 2, 4]),
    constraints(WPT % VW == 0, n % (WG * WPT) == 0),
    global(n / WPT), local(WG),
    tune(n = [1 << 20, 1 << 24]),
    defaults(WG = 64, WPT = 1, VW = 1),
    reference(kernel = "saxpy_reference", global(n)),
    bytes(12 * n), flops(2 * n),
)]
pub fn saxpy(
    queue: &Queue,
    n: u32,
    a: f32,
    #[arg(len = n)] x: &Buffer<f32>,
    #[arg(len = n)] y: &mut Buffer<f32>,
) -> Result<Event>;

fn main() -> Result<()> {
    let queue = Queue::default_device()?;
    let n = 1 << 20;
    let x = Buffer::from_slice(&queue, &vec![1.0; n as usize])?;
    let mut y = Buffer::from_slice(&queue, &vec![2.0; n as usize])?;

    saxpy(&queue, n, 3.0, &x, &mut y)?;

    let wrong = y.read(&queue)?.iter().filter(|y| **y != 5.0).count();
    let problem = saxpy::Problem { n: i64::from(n) };
    println!("{}", queue.device());
    println!("{}", saxpy::select(queue.device(), problem)?);
    println!("{wrong} of {n} results are wrong");
    Ok(())
}
