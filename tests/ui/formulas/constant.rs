use cltune::{Buffer, Event, Queue, Result, tunable};

#[tunable(
    constraints(1 > 2, true),
    global(n / 0),
    flops(9223372036854775807 + 1),
    tune(n = 1024),
    tune_if(1 > 2),
)]
fn k(queue: &Queue, n: u32, #[arg(len = n)] x: &mut Buffer<f32>) -> Result<Event> { "" }

fn main() {}
