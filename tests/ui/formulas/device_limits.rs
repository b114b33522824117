use cltune::{Buffer, Event, Queue, Result, tunable};

#[tunable(
    params(
        LISTED = [64, device.max_work_group_size],
        FIRST = device.compute_units..8,
        LAST = 1..=2 * device.compute_units,
        STEP = (0..=64).step_by(device.compute_units),
        POWER = powers_of_two(1..=device.max_work_group_size),
        ALONE = device.compute_units,
        UNKNOWN = [1, device.units],
        BARE = [device, 1],
    ),
    global(64),
)]
fn values(queue: &Queue, #[arg(len = 64)] x: &mut Buffer<f32>) -> Result<Event> { "" }

#[tunable(
    params(WG = [0, 64]),
    global(n), local(WG),
    tune(n = device.compute_units, m = [64, 64 * device.compute_units], o = 1..=device.compute_units),
    defaults(WG = device.compute_units),
)]
fn sizes(
    queue: &Queue, n: u32, m: u32, o: u32, #[arg(len = n)] x: &mut Buffer<f32>,
) -> Result<Event> { "" }

#[tunable(
    params(WG = [0, 64]),
    global(64),
    options(device.is_gpu),
    tolerance(rel = device.is_gpu),
)]
fn numbers(
    queue: &Queue,
    #[arg(value = device.compute_units)] a: i32,
    #[arg(len = 64, fill = uniform(0, device.compute_units))] x: &Buffer<f32>,
    #[arg(len = 64, fill = constant(device.compute_units))] y: &mut Buffer<f32>,
) -> Result<Event> { "" }

#[tunable(global(64), draws = device.compute_units)]
fn draws(queue: &Queue, #[arg(len = 64)] x: &mut Buffer<f32>) -> Result<Event> { "" }

#[tunable(global(n), tune(n = 1024), split(n = device.compute_units))]
fn divided(
    queue: &Queue, n: u32,
    #[arg(len = n, split(n, rows = 1 + device.is_cpu, halo = device.is_gpu))] x: &Buffer<f32>,
    #[arg(len = n * (1 + device.is_cpu), split(n))] w: &Buffer<f32>,
    #[arg(len = device.compute_units)] whole: &Buffer<f32>,
    #[arg(out, len = n, split(n))] y: &mut Buffer<f32>,
) -> Result<Event> { "" }

fn main() {}
