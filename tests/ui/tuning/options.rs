use cltune::{Buffer, Event, Queue, Result, tunable};

#[tunable(
    global(n),
    tune(n = 1024),
    params(FAST = [false, true]),
    options("", "-w\n", -w, "-a" when FAST, "-b" if),
)]
fn k(queue: &Queue, n: u32, #[arg(len = n)] x: &mut Buffer<f32>) -> Result<Event> { "" }

#[tunable(
    global(n),
    tune(n = 1024),
    params(FAST = [false, true]),
    options("-a" if SLOW, "-b" if FAST == 1, "-c" if true, "-d" if 2 < 1, "-e" if n),
)]
fn conditions(queue: &Queue, n: u32, #[arg(len = n)] x: &mut Buffer<f32>) -> Result<Event> { "" }

fn main() {}
