use cltune::{Buffer, Event, Queue, Result, tunable};

#[tunable(
    parms(WG = [32, 64]),
    global(n / WG),
    tune(n = 1024),
)]
fn misspelt(queue: &Queue, n: u32, #[arg(len = n)] x: &mut Buffer<f32>) -> Result<Event> { "" }

#[tunable(
    global(n),
    tune(n = 1024),
    speed = 11,
)]
fn unknown(queue: &Queue, n: u32, #[arg(len = n)] x: &mut Buffer<f32>) -> Result<Event> { "" }

fn main() {}
