use cltune::{Buffer, Event, Queue, Result, tunable};

#[tunable(
    params(WG = [32, 64]),
    scratch(numbers: [u32; n], same: [f32; n], none: [f32; 0], x: [f32; n], WG: [f32; n], h: [half; n]),
    stages(
        clear(x),
        copy(numbers, y),
        swap(n, y),
        swap(y, y),
        copy(same, same),
        stage(first(n, x, y, (n * 2) as f16, n as bf16, n as float, same, numbers), global(n), local(WG)),
    ),
    tune(n = 1024),
)]
fn k(
    queue: &Queue,
    n: u32,
    #[arg(len = n)] x: &Buffer<f32>,
    #[arg(len = n)] y: &mut Buffer<f32>,
) -> Result<Event> {
    "__kernel void first() {}"
}

fn main() {}
