use cltune::{Buffer, Event, Queue, Result, tunable};

#[tunable(
    params(WG = [32, 64]),
    constraints(WG as u64 == 32, WG == 32u64, WG == 1.5, matches!(WG, 32), { let a = 1; a == WG }, |a| a == WG, WG = 32, WG.count_ones() == 1),
    global(n), local(WG),
    tune(n = 1024),
)]
fn k(queue: &Queue, n: u32, #[arg(len = n)] x: &mut Buffer<f32>) -> Result<Event> { "" }

fn main() {}
