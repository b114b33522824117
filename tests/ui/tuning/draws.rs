use cltune::{Buffer, Event, Queue, Result, tunable};

#[tunable(global(n), tune(n = 1024), draws = 0)]
fn none(queue: &Queue, n: u32, #[arg(len = n)] x: &mut Buffer<f32>) -> Result<Event> { "" }

#[tunable(global(n), tune(n = 1024), draws = 1_000_000)]
fn many(queue: &Queue, n: u32, #[arg(len = n)] x: &mut Buffer<f32>) -> Result<Event> { "" }

#[tunable(global(n), tune(n = 1024), draws = n)]
fn formula(queue: &Queue, n: u32, #[arg(len = n)] x: &mut Buffer<f32>) -> Result<Event> { "" }

fn main() {}
