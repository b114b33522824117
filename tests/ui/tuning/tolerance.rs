use cltune::{Buffer, Event, Queue, Result, tunable};

#[tunable(
    global(n),
    tune(n = 1024),
    tolerance(relative = 1e-3, abs = -1, accumulate = n),
)]
fn k(queue: &Queue, n: u32, #[arg(len = n)] x: &mut Buffer<f32>) -> Result<Event> { "" }

#[tunable(
    global(n),
    tune(n = 1024),
    tolerance(),
)]
fn none(queue: &Queue, n: u32, #[arg(len = n)] x: &mut Buffer<f32>) -> Result<Event> { "" }

#[tunable(
    global(n),
    tune(n = 1024),
    tolerance(rel, accumulates, l2 = 1e-3, l2),
)]
fn values(queue: &Queue, n: u32, #[arg(len = n)] x: &mut Buffer<f32>) -> Result<Event> { "" }

#[tunable(
    params(WG = [32, 64]),
    global(n),
    tune(n = 1024),
    tolerance(accumulates = WG),
)]
fn parameter(queue: &Queue, n: u32, #[arg(len = n)] x: &mut Buffer<f32>) -> Result<Event> { "" }

#[tunable(
    global(n),
    tune(n = 1024),
    tolerance(accumulates = 0),
)]
fn no_terms(queue: &Queue, n: u32, #[arg(len = n)] x: &mut Buffer<f32>) -> Result<Event> { "" }

#[tunable(
    global(n),
    tune(n = 1024),
    tolerance(rel = 1e-3, l2 = 1e-5, accumulates = n),
)]
fn nothing_to_scale(queue: &Queue, n: u32, #[arg(len = n)] x: &mut Buffer<f32>) -> Result<Event> { "" }

fn main() {}
