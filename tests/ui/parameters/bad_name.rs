use cltune::{Buffer, Event, Queue, Result, tunable};

#[tunable(
    params(größe = 1..=8, device = 1..=8, float = 1..=8, self = 1..=8, T = ["float 4", "4float"]),
    global(n),
    tune(n = 1024),
)]
fn k(queue: &Queue, n: u32, #[arg(len = n)] x: &mut Buffer<f32>) -> Result<Event> { "" }

fn main() {}
