use cltune::{Buffer, Event, Queue, Result, tunable};

#[tunable(global(n), tune(n = 1))]
fn scael(queue: &Queue, n: u32, #[arg(out, len = n)] x: &mut Buffer<f32>) -> Result<Event> {
    "__kernel void scale(uint n, __global float* x) {}"
}

#[tunable(kernel = "b", global(n), tune(n = 1), reference(kernel = "plains", global(n)))]
fn a(queue: &Queue, n: u32, #[arg(out, len = n)] x: &mut Buffer<f32>) -> Result<Event> {
    "__kernel void a(uint n, __global float* x) {}
     __kernel void plain(uint n, __global float* x) {}"
}

// Names that a macro makes up are left to the driver.
#[tunable(params(T = ["float"]), kernel = "add_float", global(n), tune(n = 1))]
fn add(queue: &Queue, n: u32, #[arg(out, len = n)] x: &mut Buffer<f32>) -> Result<Event> {
    "#define PASTE(a, b) a##b
     #define NAME(a, b) PASTE(a, b)
     __kernel void NAME(add_, T)(uint n, __global T* x) {}"
}

fn main() {}
