use cltune::{Buffer, Event, Queue, Result, tunable};

#[tunable(
    params(WG = [32, 64]),
    global(n), local(WG),
    tune(n = 1024),
    defaults(WG = 32, WGP = 1),
)]
fn k(queue: &Queue, n: u32, #[arg(len = n)] x: &mut Buffer<f32>) -> Result<Event> { "" }

fn main() {}
