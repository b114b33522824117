use cltune::{Buffer, Event, Queue, Result, tunable};

#[tunable(
    global(w, h),
    tune(w = [1, 2], h = 3),
    tune(w = 4),
)]
fn k(queue: &Queue, w: u32, h: u32, #[arg(len = w * h)] x: &mut Buffer<f32>) -> Result<Event> { "" }

fn main() {}
