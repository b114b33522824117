use cltune::{Buffer, Event, Queue, Result, tunable};

#[tunable(
    global(n),
    tune(n = 1024),
)]
fn k(queue: &Queue, n: u32, #[arg(len = n, fill = random)] a: &Buffer<f32>, #[arg(len = n, fill = uniform(1))] b: &Buffer<f32>, #[arg(len = n, fill = uniform(2, 1))] c: &Buffer<f32>, #[arg(len = n, fill = constant(-1))] d: &Buffer<u8>, #[arg(len = n, out, fill = zeros)] e: &mut Buffer<f32>, #[arg(len = n, fill = file("/etc/data"))] f: &Buffer<f32>) -> Result<Event> { "" }

fn main() {}
