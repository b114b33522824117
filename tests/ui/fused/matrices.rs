use cltune::{Buffer, Event, Queue, Result, fused};

#[fused(tune(m = 64, n = 32))]
fn shapes(
    queue: &Queue,
    m: u32,
    n: u32,
    #[arg(matrix = [m, n])] a: &Buffer<f32>,
    #[arg(matrix = [n, m])] b: &Buffer<f32>,
    #[arg(matrix = [m, n])] c: &mut Buffer<f32>,
    #[arg(len = n)] x: &Buffer<f32>,
    #[arg(len = m)] y: &mut Buffer<f32>,
) -> Result<Event> {
    c = a + b;
    c = a + x;
    c = x;
    c = a + row(y);
    y = a * y;
    y = x * a;
    c = a * c;
    y = a;
    y = row_sum(x);
    y = row_sum(column(y));
    y = row_som(a);
    c = row(a);
    c = x.t();
    c = a.transpose();
    y = row_dot(a);
    c = outer(x, y);
}

#[fused(tune(m = 64))]
fn overwritten(
    queue: &Queue,
    m: u32,
    #[arg(matrix = [m, m])] a: &mut Buffer<f32>,
) -> Result<Event> {
    a = a + a.t();
}

#[fused(tune(m = 64, n = 32))]
fn declarations(
    queue: &Queue,
    m: u32,
    n: u32,
    #[arg(matrix = [m])] a: &Buffer<f32>,
    #[arg(matrix = [m, 1])] b: &Buffer<f32>,
    #[arg(matrix = [m, n], len = m * n)] c: &Buffer<f32>,
    #[arg(matrix = [m, n], layout = rowwise)] d: &Buffer<f32>,
    #[arg(len = n, ld = n)] e: &Buffer<f32>,
    #[arg(matrix = [m, n], ld = n, ld = m)] f: &Buffer<f32>,
    #[arg(matrix = m)] g: &Buffer<f32>,
    #[arg(matrix = [m, n], stride = s)] h: &Buffer<f32>,
    s: i32,
    #[arg(matrix: [m, n])] i: &Buffer<f32>,
    #[arg(out, matrix = [m, n])] y: &mut Buffer<f32>,
) -> Result<Event> {
    y = 1.0;
}

fn main() {}
