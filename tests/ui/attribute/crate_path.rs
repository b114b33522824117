use cltune::{Buffer, Event, Queue, Result, tunable};

#[tunable(
    crate = self::runtime,
    global(n),
    tune(n = 1024),
)]
fn relative(queue: &Queue, n: u32, #[arg(len = n)] x: &mut Buffer<f32>) -> Result<Event> { "" }

fn main() {}
