//! Products that the library's GEMM cannot make.

use cltune::{Buffer, Event, Queue, Result, fused};

pub struct Gemm<T>(T);

#[fused]
fn mistakes(
    queue: &Queue,
    gemm: &mut Gemm<f32>,
    m: u32,
    n: u32,
    h: f32,
    #[arg(matrix = [m, n])] a: &Buffer<f32>,
    #[arg(matrix = [n, m])] b: &Buffer<f32>,
    #[arg(matrix = [m, n])] d: &Buffer<f64>,
    #[arg(matrix = [m, 2 * n])] w: &Buffer<f32>,
    #[arg(matrix = [m, m])] q: &Buffer<f32>,
    #[arg(matrix = [m, m])] c: &mut Buffer<f32>,
    #[arg(out, matrix = [m, m])] e: &mut Buffer<f64>,
    #[arg(out, len = m)] y: &mut Buffer<f32>,
) -> Result<Event> {
    c = (a + a) * b;
    c = q * q * q;
    c = a * b + q * q;
    c = a * a;
    let p = a * b;
    y = row_sum(a * b);
    c = c * q;
    c = max(a * b, c);
    c = a * b - sum(q) * c;
    c = a * b + sum(c) * q;
    c = a * b + column(row_max(2.0 * c));
    e = d * d.t();
    e = (a * b) as f64;
    c = w * w.t();
}

#[fused(tune(m = 8))]
fn numbers_before_and_after(
    queue: &Queue,
    gemm: &mut Gemm<f32>,
    m: u32,
    #[arg(matrix = [m, m])] a: &Buffer<f32>,
    #[arg(len = m)] x: &Buffer<f32>,
    #[arg(out, matrix = [m, m])] c: &mut Buffer<f32>,
) -> Result<Event> {
    let total = sum(x);
    let softened = x - min(x);
    c = total * a * a;
    c = c + row(softened);
}

#[fused]
fn nothing_else(
    queue: &Queue,
    gemm: &mut Gemm<f32>,
    m: u32,
    h: f32,
    #[arg(matrix = [m, m])] a: &Buffer<f32>,
    #[arg(matrix = [m, m])] c: &mut Buffer<f32>,
) -> Result<Event> {
    c = h * a * a.t() + c;
}

#[fused(tune(m = 8), bytes(m), flops(m), prepare(stage(f(m), global(1))))]
fn clauses(
    queue: &Queue,
    gemm: &mut Gemm<f32>,
    m: u32,
    #[arg(matrix = [m, m])] a: &Buffer<f32>,
    #[arg(matrix = [m, m])] c: &mut Buffer<f32>,
) -> Result<Event> {
    c = a * a;
    c = 2.0 * c;
}

#[fused(tune(m = 8, o = 1, p = 2))]
fn places(
    queue: &Queue,
    gemm: &mut Gemm<f32>,
    m: u32,
    o: u32,
    #[arg(matrix = [m, m], offset = o)] a: &Buffer<f32>,
    #[arg(matrix = [m, m])] c: &mut Buffer<f32>,
) -> Result<Event> {
    c = a * a;
    c = 2.0 * c;
}

fn main() {}
