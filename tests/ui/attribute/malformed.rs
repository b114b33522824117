use cltune::{Buffer, Event, Queue, Result, tunable};

#[tunable(
    params,
    global(n),
    tune(n = 1024),
)]
fn no_parentheses(queue: &Queue, n: u32, #[arg(len = n)] x: &mut Buffer<f32>) -> Result<Event> { "" }

#[tunable(
    params(WG = , WPT = [1, 2]),
    global(n / WG / WPT),
    tune(n = 1024),
)]
fn no_value(queue: &Queue, n: u32, #[arg(len = n)] x: &mut Buffer<f32>) -> Result<Event> { "" }

#[tunable(
    global(n)
    tune(n = 1024),
)]
fn no_comma(queue: &Queue, n: u32, #[arg(len = n)] x: &mut Buffer<f32>) -> Result<Event> { "" }

#[tunable(
    kernel = saxpy,
    global(n),
    tune(n = 1024),
)]
fn not_a_string(queue: &Queue, n: u32, #[arg(len = n)] x: &mut Buffer<f32>) -> Result<Event> { "" }

#[tunable(
    global(n),
    bytes(4 * n, 8),
    tune(n = 1024),
)]
fn two_formulas(queue: &Queue, n: u32, #[arg(len = n)] x: &mut Buffer<f32>) -> Result<Event> { "" }

#[tunable(
    global(n),
    tolerance(rel = small),
    tune(n = 1024),
)]
fn not_a_number(queue: &Queue, n: u32, #[arg(len = n)] x: &mut Buffer<f32>) -> Result<Event> { "" }

fn main() {}
