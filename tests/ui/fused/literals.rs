use cltune::{Buffer, Event, Queue, Result, fused};

#[fused(tune(n = 1024))]
fn k(
    queue: &Queue,
    n: u32,
    #[arg(len = n)] b: &mut Buffer<u8>,
    #[arg(len = n)] i: &mut Buffer<i8>,
    #[arg(len = n)] x: &mut Buffer<f32>,
) -> Result<Event> {
    b = b + 300;
    b = -1;
    b = if b > 256 { 1 } else { 0 };
    i = -128;
    i = max(i, 128);
    i = 0.5 * i;
    x = 1e60 * x;
    x = x + 16777217;
    let t = 70000 as u16;
    b = 300u8;
    b = sum(b * 1000);
    x = x + (5 & 3);
    x = sqrt(2.0) * x;
}

fn main() {}
