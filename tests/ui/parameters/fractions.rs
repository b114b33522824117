use cltune::{Buffer, Event, Queue, Result, tunable};

#[tunable(
    params(A = [0.5, 1], B = [1, 0.5], C = [0.5, 0.50], D = [0.5f32], E = [1e999], F = [0.5, "half"]),
    global(n),
    tune(n = 1024),
)]
fn values(queue: &Queue, n: u32, #[arg(len = n)] x: &mut Buffer<f32>) -> Result<Event> { "" }

#[tunable(
    params(SCALE = [0.5, 1.0], WG = [32]),
    constraints(SCALE <= 1, SCALE * 2.0 < 1.5, WG < 0.5),
    global(n * SCALE),
    defines(HALF = SCALE),
    tune(n = 1024),
    defaults(SCALE = 0.25, WG = 32.0),
)]
fn formulas(queue: &Queue, n: u32, #[arg(len = n)] x: &mut Buffer<f32>) -> Result<Event> { "" }

fn main() {}
