use cltune::{Buffer, Event, Queue, Result, tunable};

#[tunable(
    params(
        A = [32, device.compute_units, device.compute_units], B = [0, device.compute_units],
        C = [device.compute_units, true], D = [device.compute_units, n], E = [device.warp_size],
        F = ["float", device.compute_units], G = powers_of_two(1..=device.max_work_group_size),
        H = [1 / 0, device.compute_units], I = [0.5, device.compute_units],
    ),
    global(n),
    tune(n = 1024),
)]
fn values(queue: &Queue, n: u32, #[arg(len = n)] x: &mut Buffer<f32>) -> Result<Event> { "" }

#[tunable(
    params(WG = [32, device.compute_units], WPT = [device.compute_units, 1]),
    global(n),
    tune(n = 1024),
    defaults(WG = 64, WPT = device.compute_units),
)]
fn default(queue: &Queue, n: u32, #[arg(len = n)] x: &mut Buffer<f32>) -> Result<Event> { "" }

fn main() {}
