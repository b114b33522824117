use cltune::{Buffer, Event, Image2d, Image2dArray, Image3d, Normalized, Queue, Result, tunable};

#[tunable(
    global(n),
    tune(n = 64),
)]
fn sizes(queue: &Queue, n: u32, a: &Image2d<f32>, #[arg(size = [n])] b: &Image2d<f32>, #[arg(size = [n, n])] c: &Image3d<f32>, #[arg(size = [n, n], len = n)] d: &Image2d<f32>, #[arg(size = [n, n], out)] e: &Image2d<f32>, #[arg(len = n, size = [n, n])] f: &Buffer<f32>, #[arg(size = [k, n])] g: &Image2d<f32>) -> Result<Event> { "" }

#[tunable(
    global(n),
    tune(n = 64),
)]
fn pixels(queue: &Queue, n: u32, #[arg(size = [n, n])] a: &Image2d<f64>, #[arg(size = [n, n])] b: &Image2d<Normalized<f32>>, #[arg(size = [n, n])] c: &Image2d<[f32; 8]>, #[arg(size = [n, n])] d: &Image2d, #[arg(size = [n, n])] e: &Image2d<Normalized>, #[arg(size = [n, n])] f: Image2d<f32>, #[arg(size = [n, n])] g: &Image2d<cltune::bf16>, #[arg(size = [n, n])] h: &Image2d<Normalized<cltune::bf16>>) -> Result<Event> { "" }

#[tunable(
    stages(clear(a), stage(k(a, b), global(n)), swap(a, b)),
    tune(n = 64),
)]
fn steps(queue: &Queue, #[arg(host_only)] n: u32, #[arg(size = [n, n])] a: &mut Image2d<f32>, #[arg(size = [n, n])] b: &mut Image2d<f32>) -> Result<Event> { "__kernel void k(read_write image2d_t a, read_write image2d_t b) {}" }

#[tunable(
    global(n),
    split(n = 1),
    tune(n = 64),
)]
fn divided(queue: &Queue, n: u32, #[arg(size = [n, n, 2])] a: &Image2dArray<f32>, #[arg(size = [n, n])] b: &Image2d<f32>) -> Result<Event> { "" }

fn main() {}
