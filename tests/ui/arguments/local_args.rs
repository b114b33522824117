use cltune::{Buffer, Event, Queue, Result, tunable};

#[tunable(
    params(WG = [32, 64]),
    global(n), local(WG),
    tune(n = 1024),
    local_args(a: [bool; WG], b: [f32; WG] before z, c: [f32; WG] after x, x: [f32; 4], d: f32),
)]
fn k(queue: &Queue, n: u32, #[arg(len = n)] x: &mut Buffer<f32>) -> Result<Event> { "" }

fn main() {}
