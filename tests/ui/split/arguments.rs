use cltune::{Buffer, Event, Queue, Result, tunable};

#[tunable(global(n), tune(n = 1024), split(n = 1))]
fn shared_result(queue: &Queue, n: u32, #[arg(out, len = n)] y: &mut Buffer<f32>) -> Result<Event> { "" }

#[tunable(global(n), tune(n = 1024), split(n = 1))]
fn overlapping_result(
    queue: &Queue, n: u32, #[arg(out, len = n + 2, split(n, halo = 2))] y: &mut Buffer<f32>,
) -> Result<Event> { "" }

#[tunable(global(n), tune(n = 1024))]
fn nothing_divided(queue: &Queue, n: u32, #[arg(out, len = n, split(n))] y: &mut Buffer<f32>) -> Result<Event> { "" }

#[tunable(global(n, m), tune(n = 1024, m = 8), split(n = 1))]
fn other_dimension(
    queue: &Queue, n: u32, m: u32,
    #[arg(len = m, split(m))] x: &Buffer<f32>,
    #[arg(out, len = n * m, split(n), split(n))] y: &mut Buffer<f32>,
) -> Result<Event> { "" }

#[tunable(global(n), tune(n = 1024), split(n = 1))]
fn scalars(
    queue: &Queue,
    #[arg(split(n))] n: u32,
    #[arg(split(n))] a: f32,
    #[arg(value = 0, split(n, halo = 1))] first: u32,
    #[arg(out, len = n, split(n))] y: &mut Buffer<f32>,
) -> Result<Event> { "" }

#[tunable(params(WG = [8]), global(n), tune(n = 1024), split(n = WG))]
fn formulas(
    queue: &Queue, n: u32,
    #[arg(len = n + WG, split(n, halo = WG))] x: &Buffer<f32>,
    #[arg(len = n, split(n, halo = device.compute_units))] w: &Buffer<f32>,
    #[arg(out, len = n, split(n))] y: &mut Buffer<f32>,
) -> Result<Event> { "" }

#[tunable(global(n), tune(n = 1024), split(n = 1))]
fn words(
    queue: &Queue, n: u32,
    #[arg(len = n, split(n, hallo = 1))] x: &Buffer<f32>,
    #[arg(out, len = n, split(n))] y: &mut Buffer<f32>,
) -> Result<Event> { "" }

fn main() {}
