use cltune::{Buffer, Event, Queue, Result, tunable};

#[tunable(
    params(WG = [32, 64], WPT = 1..=8, U = [false, true], T = ["float", "half"]),
    global(n), local(WG),
    tune(n = 1024),
    defaults(WG = 48, WPT = 9, U = 1, T = "double"),
)]
fn k(queue: &Queue, n: u32, #[arg(len = n)] x: &mut Buffer<f32>) -> Result<Event> { "" }

#[tunable(
    params(WG = [32, 64]),
    global(n), local(WG),
    tune(n = 1024),
    defaults(WG = 32, WG = 64),
)]
fn twice(queue: &Queue, n: u32, #[arg(len = n)] x: &mut Buffer<f32>) -> Result<Event> { "" }

fn main() {}
