use cltune::{Buffer, Event, Queue, Result, tunable};

#[tunable(
    params(WG = [32, 64]),
    kernel = "first",
    global(n), local(WG), offset(0), local_memory(4),
    local_args(tile: [f32; WG] before x),
    split(n = WG),
    even_work = true,
    stages(stage(first(n, x, tile), global(n), local(WG))),
    tune(n = 1024),
)]
fn k(
    queue: &Queue,
    n: u32,
    #[arg(len = n, split(n))] x: &mut Buffer<f32>,
) -> Result<Event> {
    "__kernel void first() {}"
}

fn main() {}
