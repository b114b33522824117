use cltune::{Buffer, Event, Queue, Result, fused};

#[fused(tune(n = 1024))]
fn k(
    queue: &Queue,
    n: u32,
    #[arg(len = n)] x: &Buffer<f32>,
    #[arg(len = n)] input: &Buffer<f32>,
    #[arg(len = n)] y: &mut Buffer<f32>,
    #[arg(len = n)] z: &mut Buffer<f32>,
    #[arg(len = n)] factor: &mut Buffer<f32>,
    #[arg(out, len = n)] fresh: &mut Buffer<f32>,
) -> Result<Event> {
    y = factor * x;
}

#[fused(tune(n = 1024))]
fn nothing(queue: &Queue, n: u32, #[arg(len = n)] x: &mut Buffer<f32>) -> Result<Event> {}

fn main() {}
