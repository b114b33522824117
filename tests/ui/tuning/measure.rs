use cltune::{Buffer, Event, Queue, Result, tunable};

#[tunable(
    global(n),
    measure(cool),
    tune(n = 1024),
)]
fn another_word(queue: &Queue, n: u32, #[arg(len = n)] x: &mut Buffer<f32>) -> Result<Event> { "" }

#[tunable(
    global(n),
    measure(),
    tune(n = 1024),
)]
fn no_word(queue: &Queue, n: u32, #[arg(len = n)] x: &mut Buffer<f32>) -> Result<Event> { "" }

#[tunable(
    global(n),
    measure(warm, cold),
    tune(n = 1024),
)]
fn both(queue: &Queue, n: u32, #[arg(len = n)] x: &mut Buffer<f32>) -> Result<Event> { "" }

#[tunable(
    global(n),
    measure(cold),
    measure(cold),
    tune(n = 1024),
)]
fn twice(queue: &Queue, n: u32, #[arg(len = n)] x: &mut Buffer<f32>) -> Result<Event> { "" }

#[tunable(
    global(n),
    measure = cold,
    tune(n = 1024),
)]
fn assigned(queue: &Queue, n: u32, #[arg(len = n)] x: &mut Buffer<f32>) -> Result<Event> { "" }

#[tunable(
    global(n),
    measure("cold"),
    tune(n = 1024),
)]
fn a_string(queue: &Queue, n: u32, #[arg(len = n)] x: &mut Buffer<f32>) -> Result<Event> { "" }

fn main() {}
