use cltune::{Buffer, Event, Queue, Result, tunable};

#[tunable(
    global(n),
    tune(n = 1024),
)]
fn words(queue: &Queue, n: u32, #[arg(lenght = n)] x: &Buffer<f32>, #[arg(len = n, len = 2)] y: &Buffer<f32>, #[arg] z: &Buffer<f32>, #[cfg(unix)] w: f32) -> Result<Event> { "" }

#[tunable(
    global(n),
    tune(n = 1024),
)]
fn scalars(queue: &Queue, #[arg(value = 4)] n: u32, m: u32, #[arg(value = 1.5)] k: u32, #[arg(value = 300)] l: u8, #[arg(len = n)] a: f32, #[arg(out)] b: f32, #[arg(host_only)] c: f32) -> Result<Event> { "" }

#[tunable(
    global(n),
    tune(n = 1024),
)]
fn buffers(queue: &Queue, n: u32, x: &Buffer<f32>, #[arg(len = n, out)] y: &Buffer<f32>, #[arg(len = n, value = 1)] z: &Buffer<f32>) -> Result<Event> { "" }

fn main() {}
