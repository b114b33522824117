use cltune::{Buffer, Event, Queue, Result, tunable};

/// One kernel and steps; a parameter; memory that no stage takes; a result that it leaves out.
#[tunable(
    params(WG = [32, 64]),
    global(n), local(WG),
    tune(n = 64),
    reference(kernel = "plain", stage(plain(n, x, y), global(WG)), clear(x)),
)]
fn both(
    queue: &Queue,
    n: u32,
    #[arg(len = n)] x: &Buffer<u32>,
    #[arg(out, len = n)] y: &mut Buffer<u32>,
) -> Result<Event> {
    "__kernel void both() {} plain"
}

#[tunable(
    global(n),
    tune(n = 64),
    reference(scratch(own: [u32; n], x: [u32; n]), stage(plain(n, x, y), global(n))),
)]
fn memory(
    queue: &Queue,
    n: u32,
    #[arg(len = n)] x: &Buffer<u32>,
    #[arg(out, len = n)] y: &mut Buffer<u32>,
) -> Result<Event> {
    "__kernel void memory() {} plain"
}

#[tunable(global(n), tune(n = 64), reference(stage(plain(n, x, y), global(n))))]
fn leaves_out(
    queue: &Queue,
    n: u32,
    #[arg(len = n)] x: &Buffer<u32>,
    #[arg(out, len = n)] y: &mut Buffer<u32>,
    #[arg(len = n)] z: &mut Buffer<u32>,
) -> Result<Event> {
    "__kernel void leaves_out() {} plain"
}

#[tunable(global(n), tune(n = 64), reference(kernel = "plain", global(n), scratch(own: [u32; n])))]
fn memory_of_one(queue: &Queue, n: u32, #[arg(out, len = n)] y: &mut Buffer<u32>) -> Result<Event> {
    "__kernel void memory_of_one() {} plain"
}

#[tunable(global(n), tune(n = 64), reference(stage(plane(n, y), global(n))))]
fn no_kernel(queue: &Queue, n: u32, #[arg(out, len = n)] y: &mut Buffer<u32>) -> Result<Event> {
    "__kernel void no_kernel() {} __kernel void plain() {}"
}

fn main() {}
