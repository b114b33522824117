use cltune::{Buffer, Event, Queue, Result, fused};

#[fused(params(WG = [32]), global(n), tune(n = 1024), tolerence(rel = 1e-3))]
fn k(queue: &Queue, n: u32, #[arg(len = n)] x: &mut Buffer<f32>) -> Result<Event> {
    x = 2.0 * x;
}

#[fused(tune(n = 1024))]
fn text(queue: &Queue, n: u32, #[arg(len = n)] x: &mut Buffer<f32>) -> Result<Event> {
    "__kernel void text() {}"
}

#[fused(tune(n = 1024))]
fn no_body(queue: &Queue, n: u32, #[arg(len = n)] x: &mut Buffer<f32>) -> Result<Event>;

#[fused(tune(n = 1024))]
fn unknown_dimension(queue: &Queue, n: u32, #[arg(len = m)] x: &mut Buffer<f32>) -> Result<Event> {
    x = 2.0 * x;
}

#[fused]
fn no_sizes(queue: &Queue, n: u32, #[arg(len = n)] x: &mut Buffer<f32>) -> Result<Event> {
    x = 2.0 * x;
}

#[fused(tune(m = 1024, n = 1024))]
fn no_distance(
    queue: &Queue,
    m: u32,
    n: u32,
    lda: u32,
    #[arg(matrix = [m, n], ld = lda)] a: &mut Buffer<f32>,
) -> Result<Event> {
    a = 2.0 * a;
}

#[fused(tune(n = 1024))]
struct Wrong;

fn main() {}
