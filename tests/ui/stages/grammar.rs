use cltune::{Buffer, Event, Queue, Result, tunable};

#[tunable(
    params(WG = [32, 64]),
    scratch(parts: [f32]),
    stages(
        copy(x),
        swap(x, parts, when(WG == 32)),
        swop(x, parts),
        clear(x, when(WG == 32, n == 1)),
        stage(first(x), global(n), glob(n)),
        stage(first(x), global(n), global(n)),
        repeat(1..n, stage(first(x, 0 as u32), global(n))),
        repeat(round in 1..n, stage(first(x, 0 as u32), global(n))),
        repeat(round in 0..n),
        stage(first, global(n)),
    ),
    tune(n = 1024),
)]
fn k(queue: &Queue, n: u32, #[arg(len = n)] x: &mut Buffer<f32>) -> Result<Event> {
    "__kernel void first() {}"
}

fn main() {}
