use cltune::{Buffer, Event, Queue, Result, tunable};

#[tunable(global(n), tune(n = 1024))]
fn by_value(queue: Queue, n: u32, #[arg(len = n)] x: &mut Buffer<f32>) -> Result<Event> { "" }

#[tunable(global(n), tune(n = 1024))]
fn mutable(queue: &mut Queue, n: u32, #[arg(len = n)] x: &mut Buffer<f32>) -> Result<Event> { "" }

#[tunable(global(64))]
fn none() -> Result<Event> { "" }

#[tunable(global(n), tune(n = 1024))]
fn pattern(queue: &Queue, (n, m): (u32, u32)) -> Result<Event> { "" }

#[tunable(global(n), tune(n = 1024))]
fn forgotten(n: u32, #[arg(len = n)] x: &mut Buffer<f32>) -> Result<Event> { "" }

fn main() {}
