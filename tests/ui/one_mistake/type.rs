use cltune::{Buffer, Event, Queue, Result, tunable};

/// An argument's type is wrong; the formulas that use it are not reported as well.
#[tunable(
    global(n), tune(n = 1024),
)]
fn k(queue: &Queue, n: usize, #[arg(len = n)] x: &mut Buffer<f32>) -> Result<Event> { "" }

fn main() {}
