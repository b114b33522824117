use cltune::{Buffer, Event, Queue, Result, tunable};

#[tunable(
    global(n),
    tune(n = 1024),
    global(n / 2),
)]
fn k(queue: &Queue, n: u32, #[arg(len = n)] x: &mut Buffer<f32>) -> Result<Event> { "" }

fn main() {}
