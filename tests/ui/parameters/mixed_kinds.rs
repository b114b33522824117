use cltune::{Buffer, Event, Queue, Result, tunable};

#[tunable(
    params(A = [1, true], B = ["float", 1], C = [false, 0]),
    global(n),
    tune(n = 1024),
)]
fn k(queue: &Queue, n: u32, #[arg(len = n)] x: &mut Buffer<f32>) -> Result<Event> { "" }

fn main() {}
