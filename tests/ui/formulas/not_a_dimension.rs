use cltune::{Buffer, Event, Queue, Result, tunable};

#[tunable(
    params(WG = [32, 64]),
    constraints(m % WG == 0, a > 1, x.len() == n),
    global(n / WG), local(WG),
    tune(n = 1024),
)]
fn k(queue: &Queue, n: u32, #[arg(value = 3)] m: u32, a: f32, #[arg(len = n)] x: &mut Buffer<f32>) -> Result<Event> { "" }

fn main() {}
