use cltune::{Buffer, Event, Queue, Result, fused};

#[fused(tune(n = 1024))]
fn k(
    queue: &Queue,
    n: u32,
    a: f64,
    v: [f32; 4],
    #[arg(size = [n, n])] picture: &cltune::Image2d<f32>,
    b: cltune::bf16,
    #[arg(len = n)] w: &Buffer<cltune::bf16>,
    #[arg(len = n)] x: &Buffer<f32>,
    #[arg(len = n)] i: &Buffer<i32>,
    #[arg(len = n)] u: &Buffer<u32>,
    #[arg(len = n)] y: &mut Buffer<f32>,
    #[arg(len = n)] j: &mut Buffer<i32>,
) -> Result<Event> {
    y = a * x;
    y = i;
    j = x % 2.0;
    j = -u as i32;
    y = sqrt(i) as f32;
    y = x > 0.0;
    y = if x { x } else { 1.0 };
    y = x && x > 1.0;
    y = max(x, i);
    j = norm2(i);
    y = (x > 0.0) as f32;
    let c = x > 1.0;
    y = !x;
    y = (x as bf16) as f32;
    y = x + 1bf16;
}

fn main() {}
