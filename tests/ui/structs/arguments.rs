//! Arguments whose type is no struct that kernels take.

use cltune::{Buffer, Event, Queue, Result, tunable};

#[derive(Clone, Copy, Default)]
#[repr(C)]
struct Plain {
    x: f32,
}

#[tunable(params(WG = [32]), global(n), local(WG), tune(n = 64))]
fn f(queue: &Queue, n: u32, #[arg(len = n)] x: &mut Buffer<Plain>) -> Result<Event> {
    "__kernel void f(uint n, __global float* x) {}"
}

fn main() {}
