use cltune::{Buffer, Event, Queue, Result, tunable};

#[tunable(
    global(n),
    objective(power),
    tune(n = 1024),
)]
fn another_word(queue: &Queue, n: u32, #[arg(len = n)] x: &mut Buffer<f32>) -> Result<Event> { "" }

#[tunable(
    global(n),
    objective(energy-delay),
    tune(n = 1024),
)]
fn a_dash(queue: &Queue, n: u32, #[arg(len = n)] x: &mut Buffer<f32>) -> Result<Event> { "" }

#[tunable(
    global(n),
    objective(),
    tune(n = 1024),
)]
fn no_word(queue: &Queue, n: u32, #[arg(len = n)] x: &mut Buffer<f32>) -> Result<Event> { "" }

#[tunable(
    global(n),
    measure(cold),
    objective(energy_delay),
    tune(n = 1024),
)]
fn cold(queue: &Queue, n: u32, #[arg(len = n)] x: &mut Buffer<f32>) -> Result<Event> { "" }

fn main() {}
