use cltune::{Buffer, Event, Queue, Result, tunable};

#[tunable(
    params(WG = [32, 64], PARTS = [4, 16]),
    scratch(parts: [f32; PARTS]),
    local_args(tile: [f32; WG]),
    stages(
        clear(part),
        stage(first(n, x, prats, tille), global(n), local(WG)),
        stage(second(PARTS, n + 1, WG as u32), global(n), offset(n * PART)),
        stage("third_{WGS}"(parts, tile), global(n)),
        stage("fourth_{WG"(parts), global(n)),
        swap(x, part),
    ),
    tune(n = 1024),
)]
fn k(queue: &Queue, n: u32, #[arg(len = n)] x: &mut Buffer<f32>) -> Result<Event> {
    "__kernel void first() {} __kernel void second() {}"
}

fn main() {}
