use cltune::{Buffer, Event, Queue, Result, tunable};

#[tunable(
    params(WG = []),
    global(n / WG),
    tune(n = 1024),
)]
fn list(queue: &Queue, n: u32, #[arg(len = n)] x: &mut Buffer<f32>) -> Result<Event> { "" }

#[tunable(
    params(WG = 8..=1, WPT = 3..3),
    global(n / WG / WPT),
    tune(n = 1024),
)]
fn range(queue: &Queue, n: u32, #[arg(len = n)] x: &mut Buffer<f32>) -> Result<Event> { "" }

fn main() {}
