use cltune::{Buffer, Event, Queue, Result, tunable};

#[tunable(
    params(WG = [32, 64]),
    global(n / WG), local(WG),
    bytes(4 * n * WG),
    reference(kernel = "plain", global(n / WG)),
    tune(n = 1024),
    tune_if(n > WG),
)]
fn k(queue: &Queue, n: u32, #[arg(len = n * WG)] x: &mut Buffer<f32>) -> Result<Event> { "" }

fn main() {}
