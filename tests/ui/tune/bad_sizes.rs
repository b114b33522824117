use cltune::{Buffer, Event, Queue, Result, tunable};

#[tunable(
    global(64),
    tune(),
)]
fn empty(queue: &Queue, #[arg(len = 64)] x: &mut Buffer<f32>) -> Result<Event> { "" }

#[tunable(
    global(n),
    tune(n = [1, 70000], m = -1, o = [], p = [true]),
)]
fn k(queue: &Queue, n: u16, m: u64, o: i32, p: i32, #[arg(len = n)] x: &mut Buffer<f32>) -> Result<Event> { "" }

#[tunable(
    global(n),
    tune(n = 1..=1000000),
)]
fn many(queue: &Queue, n: u32, #[arg(len = n)] x: &mut Buffer<f32>) -> Result<Event> { "" }

fn main() {}
