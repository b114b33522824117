use cltune::{Buffer, Event, Queue, Result, tunable};

#[tunable(
    global(n, 1, 1, 1),
    tune(n = 1024),
)]
fn too_many(queue: &Queue, n: u32, #[arg(len = n)] x: &mut Buffer<f32>) -> Result<Event> { "" }

#[tunable(
    global(),
    tune(n = 1024),
)]
fn none(queue: &Queue, n: u32, #[arg(len = n)] x: &mut Buffer<f32>) -> Result<Event> { "" }

#[tunable(
    global(n, 1), local(64), offset(0, 0, 0),
    tune(n = 1024),
)]
fn other(queue: &Queue, n: u32, #[arg(len = n)] x: &mut Buffer<f32>) -> Result<Event> { "" }

fn main() {}
