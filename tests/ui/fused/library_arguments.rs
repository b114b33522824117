//! Arguments that are to multiply matrices, and cannot.

use cltune::{Buffer, Event, Queue, Result, fused};

pub struct Gemm<T>(T);

#[fused(tune(m = 8))]
fn mistakes(
    queue: &Queue,
    shared: &Gemm<f32>,
    integers: &mut Gemm<i32>,
    short: &mut Gemm<cltune::bf16>,
    #[arg(len = m)] with_attribute: &mut Gemm<f32>,
    one: &mut Gemm<f64>,
    two: &mut Gemm<f64>,
    m: u32,
    #[arg(matrix = [m, m])] a: &Buffer<f64>,
    #[arg(matrix = [m, m])] c: &mut Buffer<f64>,
) -> Result<Event> {
    c = a * a;
    c = 2.0 * c;
}

#[fused(tune(m = 8))]
fn without_a_product(
    queue: &Queue,
    gemm: &mut Gemm<f64>,
    m: u32,
    #[arg(len = m)] x: &mut Buffer<f64>,
) -> Result<Event> {
    x = 2.0 * x;
}

#[fused(tune(m = 8))]
fn spare_values(
    queue: &Queue,
    gemm: &mut Gemm<f32>,
    m: u32,
    spare: f32,
    o: u64,
    lda: u32,
    h: f32,
    #[arg(matrix = [m, m], ld = lda, offset = o)] a: &Buffer<f32>,
    #[arg(matrix = [m, m])] c: &mut Buffer<f32>,
    k: u32,
) -> Result<Event> {
    c = h * a * a;
    c = 2.0 * c;
}

fn main() {}
