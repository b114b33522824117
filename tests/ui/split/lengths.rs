use cltune::{Buffer, Event, Queue, Result, tunable};

#[tunable(global(n), tune(n = 1024, mask = 5), split(n = 1))]
fn missing_halo(
    queue: &Queue, n: u32, mask: u32,
    #[arg(len = n + mask - 1, split(n))] x: &Buffer<f32>,
    #[arg(out, len = n, split(n))] y: &mut Buffer<f32>,
) -> Result<Event> { "__kernel void missing_halo() {}" }

#[tunable(global(n), tune(n = 1024), split(n = 1))]
fn constant(
    queue: &Queue, n: u32,
    #[arg(len = 2048, split(n))] x: &Buffer<f32>,
    #[arg(out, len = n, split(n))] y: &mut Buffer<f32>,
) -> Result<Event> { "__kernel void constant() {}" }

#[tunable(global(n), tune(n = 1024), split(n = 1))]
fn square(
    queue: &Queue, n: u32, #[arg(out, len = n * n, split(n))] y: &mut Buffer<f32>,
) -> Result<Event> { "__kernel void square() {}" }

#[tunable(global(n), tune(n = 1024), split(n = 1))]
fn of_device(
    queue: &Queue, n: u32,
    #[arg(len = n * device.compute_units, split(n))] x: &Buffer<f32>,
    #[arg(out, len = n, split(n))] y: &mut Buffer<f32>,
) -> Result<Event> { "__kernel void of_device() {}" }

fn main() {}
