use cltune::{Buffer, Event, Queue, Result, tunable};

#[tunable(
    params(WG = [32, 64], WPT = 1..=8, U = [false, true]),
    global(n), local(WG),
    tune(n = 1024),
    defaults(WG = 32),
)]
fn k(queue: &Queue, n: u32, #[arg(len = n)] x: &mut Buffer<f32>) -> Result<Event> { "" }

fn main() {}
