use cltune::{Buffer, Event, Queue, Result, tunable};

#[tunable(
    params(
        A = 2.0..=1.0,
        B = 0.5..,
        C = ..=2.5,
        D = 0.0..=1e999,
        E = -1e999..=0.0,
        F = f64::NEG_INFINITY..=f64::INFINITY,
        G = 0.5..=f64::NAN,
        H = 0..=1.5,
        I = -0.5..=-1,
        J = 0.0..1.0,
        K = 0.5f32..=1.0,
        L = (0.0..=1.0).step_by(0.1),
        M = 0.5..=WG,
    ),
    global(n),
    tune(n = 1024),
)]
fn bounds(queue: &Queue, n: u32, #[arg(len = n)] x: &mut Buffer<f32>) -> Result<Event> { "" }

#[tunable(
    params(
        A = logarithmic(0.0..=1.0),
        B = logarithmic(-2.0..=-1.0),
        C = logarithmic(1..=8),
        D = logarithmic(0.5),
        E = logarithmic(0.5..=1.0, 2),
        F = logarithmic(4.0..=0.5),
        G = logarithmic(0.5..),
        H = powers_of_two(1.0..=8.0),
        I = 0.0..=device.compute_units,
    ),
    global(n),
    tune(n = 0.5..=1.5),
)]
fn scales(queue: &Queue, n: u32, #[arg(len = n)] x: &mut Buffer<f32>) -> Result<Event> { "" }

#[tunable(
    params(SHARE = 0.25..=1.0, WG = [32]),
    constraints(SHARE <= 1, SHARE * 2.0 < 1.5),
    global(n * SHARE),
    tune(n = 1024),
    defaults(SHARE = 2.0, WG = 32),
)]
fn formulas(queue: &Queue, n: u32, #[arg(len = n)] x: &mut Buffer<f32>) -> Result<Event> { "" }

fn main() {}
