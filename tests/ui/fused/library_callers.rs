//! Callers of a function with a mistake: they have none of their own.

use cltune::{Buffer, Event, Queue, Result, fused};

pub struct Gemm<T>(T);

#[fused(tune(m = 8))]
fn mistake(
    queue: &Queue,
    gemm: &mut Gemm<f32>,
    m: u32,
    #[arg(matrix = [m, m])] a: &Buffer<f32>,
    #[arg(matrix = [m, m])] c: &mut Buffer<f32>,
) -> Result<Event> {
    c = 2.0 * b;
    c = a * a + c;
}

fn calls(
    queue: &Queue,
    gemm: &mut Gemm<f32>,
    a: &Buffer<f32>,
    c: &mut Buffer<f32>,
) -> Result<Event> {
    mistake(queue, gemm, 1, a, c)
}

fn main() {}
