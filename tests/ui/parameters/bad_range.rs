use cltune::{Buffer, Event, Queue, Result, tunable};

#[tunable(
    params(
        A = (1..=8).step_by(0),
        B = (1..=8).step_by(-2),
        C = 1..,
        D = ..=8,
        E = 64,
        F = (1..=8).rev(),
        G = 1..=9223372036854775808,
        H = 1..16.step_by(2),
        I = 1..=16_777_217,
    ),
    global(n),
    tune(n = 1024),
)]
fn k(queue: &Queue, n: u32, #[arg(len = n)] x: &mut Buffer<f32>) -> Result<Event> { "" }

fn main() {}
