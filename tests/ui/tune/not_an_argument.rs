use cltune::{Buffer, Event, Queue, Result, tunable};

#[tunable(
    global(width),
    tune(widht = 1024, a = 2, x = 3),
)]
fn k(queue: &Queue, width: u32, a: f32, #[arg(len = width)] x: &mut Buffer<f32>) -> Result<Event> { "" }

fn main() {}
