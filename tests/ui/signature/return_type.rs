use cltune::{Buffer, Event, Queue, Result, tunable};

#[tunable(global(n), tune(n = 1024))]
fn missing(queue: &Queue, n: u32, #[arg(len = n)] x: &mut Buffer<f32>) { "" }

#[tunable(global(n), tune(n = 1024))]
fn other(queue: &Queue, n: u32, #[arg(len = n)] x: &mut Buffer<f32>) -> Result<()> { "" }

#[tunable(global(n), tune(n = 1024))]
fn bare(queue: &Queue, n: u32, #[arg(len = n)] x: &mut Buffer<f32>) -> Event { "" }

fn main() {}
