use cltune::{Buffer, Event, Queue, Result, tunable};

#[tunable(
    params(WG = [32, 64]),
    scratch(count: [u32; 1] = 1),
    local_args(tile: [u32; WG] = 0),
    stages(stage(first(n, x), global(n), local(WG))),
    tune(n = 1024),
)]
fn k(queue: &Queue, n: u32, #[arg(len = n)] x: &mut Buffer<f32>) -> Result<Event> {
    "__kernel void first(uint n, __global float* x) {}"
}

fn main() {}
