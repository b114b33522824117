use cltune::{Buffer, Event, Queue, Result, tunable};

#[tunable(
    params(n = 1..=8, x = 1..=8),
    global(64),
    tune(n = 1024),
)]
fn k(queue: &Queue, n: u32, #[arg(len = n)] x: &mut Buffer<f32>) -> Result<Event> { "" }

#[tunable(
    params(T = ["a", "b"], T_a = 1..=2),
    defines(T = 3, T_b = 4),
    global(n),
    tune(n = 1024),
)]
fn macros(queue: &Queue, n: u32, #[arg(len = n)] x: &mut Buffer<f32>) -> Result<Event> { "" }

#[tunable(
    params(Params = ["a", "b"]),
    global(n),
    tune(n = 1024),
)]
fn module(queue: &Queue, n: u32, #[arg(len = n)] x: &mut Buffer<f32>) -> Result<Event> { "" }

fn main() {}
