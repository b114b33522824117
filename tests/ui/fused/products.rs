//! Products of matrices that do not exist.

use cltune::{Buffer, Event, Queue, Result, fused};

#[fused]
fn mistakes(
    queue: &Queue,
    m: u32,
    n: u32,
    k: u32,
    #[arg(matrix = [m, k])] a: &Buffer<f32>,
    #[arg(matrix = [n, k])] b: &Buffer<f32>,
    #[arg(matrix = [k, n])] d: &Buffer<f64>,
    #[arg(matrix = [m, k])] i: &Buffer<i32>,
    #[arg(matrix = [k, n])] j: &Buffer<i32>,
    #[arg(out, matrix = [m, n])] c: &mut Buffer<f32>,
    #[arg(out, matrix = [m, n])] s: &mut Buffer<i32>,
    #[arg(out, len = m)] y: &mut Buffer<f32>,
) -> Result<Event> {
    c = a * b;
    c = a * d;
    s = i * j;
    y = a * b.t();
    c = (a * b.t()).t();
}

fn main() {}
