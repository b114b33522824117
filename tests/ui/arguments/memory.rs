use cltune::{Buffer, Event, Queue, Result, tunable};

#[tunable(
    params(MEM = ["buffer", "image"], SPACE = ["buffer", "constant"], N = [1, 2], T = ["float", "buffer"]),
    global(n),
    tune(n = 1024),
)]
fn parameters(queue: &Queue, n: u32, #[arg(len = n, memory = MEN)] a: &Buffer<f32>, #[arg(len = n, memory = N)] b: &Buffer<f32>, #[arg(len = n, memory = T)] c: &Buffer<f32>, #[arg(len = n, memory = MEM)] d: &Buffer<f32>, #[arg(len = n, memory = SPACE, image = [n, 1])] e: &Buffer<f32>, #[arg(len = n, image = [n, 1])] f: &Buffer<f32>) -> Result<Event> { "" }

#[tunable(
    params(MEM = ["buffer", "image"]),
    global(n),
    tune(n = 1024),
)]
fn sizes(queue: &Queue, n: u32, #[arg(len = n, memory = MEM, image = [n])] a: &Buffer<f32>, #[arg(len = n, memory = MEM, image = [n, 1])] b: &Buffer<f64>, #[arg(len = n, memory = MEM, image = [MEM, 1])] c: &Buffer<f32>, #[arg(len = n, memory = MEM, image = [n, 1])] d: &mut Buffer<f32>, #[arg(value = 1, memory = MEM)] e: u32) -> Result<Event> { "" }

#[tunable(
    params(MEM = ["buffer", "constant"]),
    global(n),
    split(n = 1),
    tune(n = 1024),
)]
fn divided(queue: &Queue, n: u32, #[arg(len = 4, memory = MEM)] a: &Buffer<f32>, #[arg(out, len = n, split(n))] b: &mut Buffer<f32>) -> Result<Event> { "" }

fn main() {}
