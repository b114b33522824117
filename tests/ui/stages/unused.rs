use cltune::{Buffer, Event, Queue, Result, tunable};

#[tunable(
    params(WG = [32, 64]),
    scratch(parts: [f32; n]),
    local_args(tile: [f32; WG]),
    stages(stage(first(n, x), global(n), local(WG))),
    tune(n = 1024),
)]
fn unused(
    queue: &Queue,
    n: u32,
    factor: f32,
    #[arg(len = n)] x: &mut Buffer<f32>,
    #[arg(len = n)] y: &mut Buffer<f32>,
) -> Result<Event> {
    "__kernel void first() {}"
}

#[tunable(scratch(parts: [f32; n]), global(n), tune(n = 1024))]
fn only_one_launch(queue: &Queue, n: u32, #[arg(len = n)] x: &mut Buffer<f32>) -> Result<Event> {
    "__kernel void only_one_launch() {}"
}

#[tunable(stages(clear(x)), tune(n = 1024))]
fn no_stage(queue: &Queue, n: u32, #[arg(len = n)] x: &mut Buffer<f32>) -> Result<Event> {
    ""
}

#[tunable(stages(stage(absent(x), global(n)), stage(present(x), global(n))), tune(n = 1024))]
fn no_such_kernel(queue: &Queue, n: u32, #[arg(len = n)] x: &mut Buffer<f32>) -> Result<Event> {
    "__kernel void present() {}"
}

fn main() {}
