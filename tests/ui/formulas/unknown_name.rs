use cltune::{Buffer, Event, Queue, Result, tunable};

#[tunable(
    params(WG = [32, 64], WPT = 1..=8),
    constraints(WGS % 2 == 0, n % threads == 0, local_mem_size > 4, device.local_memory > 4),
    global(n / WG), local(WG),
    tune(n = 1024),
)]
fn k(queue: &Queue, n: u32, #[arg(len = n)] x: &mut Buffer<f32>) -> Result<Event> { "" }

fn main() {}
