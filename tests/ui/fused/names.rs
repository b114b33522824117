use cltune::{Buffer, Event, Queue, Result, fused};

#[fused(tune(n = 1024))]
fn k(
    queue: &Queue,
    n: u32,
    alpha: f32,
    #[arg(len = n)] x: &Buffer<f32>,
    #[arg(len = n)] input: &Buffer<f32>,
    #[arg(len = n)] y: &mut Buffer<f32>,
    #[arg(out, len = n)] fresh: &mut Buffer<f32>,
) -> Result<Event> {
    y = alpah * x;
    x = y;
    alpha = 2.0;
    output = x;
    y = sine(x);
    y = sqr(x, x);
    y = log(x);
    y = sqrt(x, x);
    y = x.sqrt();
    y = x[0];
    y = fresh + x;
    let x = y;
    let t = 2.0 * y;
    y = x;
    fresh = t;
    let mut u = sum(y);
    let v = y else { return };
    let total = sum(y) + u + v;
    total = 1.0;
    y = sum_7 * x;
    #[cfg(any())]
    y = x;
    y = input
}

#[fused(tune(n = 1024))]
fn made(
    queue: &Queue,
    n: u32,
    WG: f32,
    spare: f32,
    #[arg(len = n)] device: &Buffer<f32>,
    #[arg(out, len = 1)] s: &mut Buffer<f32>,
) -> Result<Event> {
    let GROUPS = sum(device);
    let VW = WG * device;
    s = GROUPS * sum(VW);
}

fn main() {}
