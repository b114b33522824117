use cltune::{Buffer, Event, Queue, Result, tunable};

#[tunable(
    params(A = powers_of_two(3..=128), B = powers_of_two(8..=100), C = powers_of_two(8..128), D = powers_of_two(8)),
    global(n),
    tune(n = 1024),
)]
fn k(queue: &Queue, n: u32, #[arg(len = n)] x: &mut Buffer<f32>) -> Result<Event> { "" }

fn main() {}
