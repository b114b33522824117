//! Types that certainly are no elements.

use cltune::{Buffer, Event, Queue, Result, tunable};

#[tunable(params(WG = [32]), global(n), local(WG), tune(n = 64))]
fn f(
    queue: &Queue,
    n: u32,
    plain: &Particle,
    name: String,
    #[arg(len = n)] x: &mut Buffer<Option<f32>>,
) -> Result<Event> {
    "__kernel void f(uint n, __global float* x) {}"
}

fn main() {}
