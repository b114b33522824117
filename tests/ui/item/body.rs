use cltune::{Buffer, Event, Queue, Result, tunable};

#[tunable(
    global(n),
    tune(n = 1024),
)]
fn empty(queue: &Queue, n: u32, #[arg(len = n)] x: &mut Buffer<f32>) -> Result<Event> {}

#[tunable(
    global(n),
    tune(n = 1024),
)]
fn code(queue: &Queue, n: u32, #[arg(len = n)] x: &mut Buffer<f32>) -> Result<Event> { launch(queue, n) }

#[tunable(
    global(n),
    tune(n = 1024),
)]
fn more(queue: &Queue, n: u32, #[arg(len = n)] x: &mut Buffer<f32>) -> Result<Event> { "a"; "b" }

#[tunable(
    global(n),
    tune(n = 1024),
)]
fn number(queue: &Queue, n: u32, #[arg(len = n)] x: &mut Buffer<f32>) -> Result<Event> { 5 }

fn main() {}
