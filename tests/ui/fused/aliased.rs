use cltune::{Buffer, Event, Queue, Result, fused};

#[fused(tune(n = 1024))]
fn k(
    queue: &Queue,
    n: u32,
    #[arg(len = n)] x: &Buffer<f32>,
    #[arg(len = n, offset = offy, stride = incy)] y: &mut Buffer<f32>,
    offy: u32,
    incy: i32,
) -> Result<Event> {
    y += 2.0 * x;
}

fn one_buffer(queue: &Queue, a: &mut Buffer<f32>) -> Result<Event> {
    k(queue, 4, &*a, a, 0, 1)
}

fn alternating(queue: &Queue, mut a: Buffer<f32>) -> Result<Event> {
    k(queue, 4, &a, &mut a, 1, 2)
}

fn overlapping_views(queue: &Queue, mut a: Buffer<f32>) -> Result<Event> {
    let x = a.slice(..5)?;
    let mut y = a.slice_mut(4..8)?;
    k(queue, 4, &x, &mut y, 0, 1)
}

fn views_of_what_is_written(queue: &Queue, mut a: Buffer<f32>) -> Result<Event> {
    let mut y = a.slice_mut(..8)?;
    k(queue, 4, &*a.slice(8..)?, &mut y, 0, 1)
}

fn main() {}
