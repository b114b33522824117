use cltune::{Buffer, Event, Queue, Result, tunable};

#[tunable(
    params(WG = [32, 64]),
    stages(
        repeat(round in 0..4, stage(first(x), global(n - round), local(WG), when(round < WG))),
        stage(first(x), global(n), when(round == 1)),
        repeat(WG in 0..n, stage(first(x), global(n))),
        repeat(a in 0..2, repeat(a in 0..3, stage(first(x), global(n)))),
        stage(first(x), local(8), when(1 > 2)),
    ),
    tune(n = 1024),
)]
fn k(queue: &Queue, n: u32, #[arg(len = n)] x: &mut Buffer<f32>) -> Result<Event> {
    "__kernel void first() {}"
}

fn main() {}
