//! Heat that spreads on a plate and is fed at a corner, as in `examples/with-opencl3`: a program of
//! the package ocl, whose second kernel is a tunable.

use cltune::{Buffer, Event, Queue, tunable};
use std::error::Error;
use std::mem;

/// Points along an edge.
const N: u32 = 512;
const POINTS: usize = (N * N) as usize;
const STEPS: usize = 100;
const SOURCE: &str = include_str!("../../with-opencl3/kernels/heat.cl");

#[tunable(
    source = "../with-opencl3/kernels/heat.cl",
    params(X = [8, 16, 32, 64], Y = [1, 2, 4, 8, 16]),
    global(n, n), local(X, Y),
    tune(n = 512),
)]
fn spread(
    queue: &Queue,
    n: u32,
    #[arg(len = n * n)] a: &Buffer<f32>,
    #[arg(len = n * n, out)] b: &mut Buffer<f32>,
) -> cltune::Result<Event>;

/// A plate without heat, of ocl's and as cltune sees the same memory.
fn plate(
    ours: &Queue,
    queue: &ocl::Queue,
) -> Result<(ocl::Buffer<f32>, Buffer<f32>), Box<dyn Error>> {
    let plate = ocl::Buffer::builder()
        .queue(queue.clone())
        .len(POINTS)
        .fill_val(0.0_f32)
        .build()?;
    // SAFETY: the buffer is alive and has no host memory; no borrow of it is kept.
    let view = unsafe { Buffer::from_raw(ours.context(), plate.as_core().as_ptr(), POINTS) }?;
    Ok((plate, view))
}

fn main() -> Result<(), Box<dyn Error>> {
    let program = ocl::ProQue::builder().src(SOURCE).dims([16, 16]).build()?;
    let queue = program.queue();
    // SAFETY: the queue is alive.
    let ours = unsafe { Queue::from_raw(queue.as_core().as_ptr()) }?;
    let mut a = plate(&ours, queue)?;
    let mut b = plate(&ours, queue)?;

    for _ in 0..STEPS {
        let mut feed = program.kernel_builder("feed");
        let feed = feed.arg(N).arg(1.0_f32).arg(&a.0).build()?;
        // SAFETY: the arguments are those of the kernel, which stays inside its buffer.
        unsafe { feed.enq() }?;
        spread(&ours, N, &a.1, &mut b.1)?;
        mem::swap(&mut a, &mut b);
    }

    let mut heat = vec![0.0; POINTS];
    a.0.read(&mut heat).enq()?;
    let total: f64 = heat.iter().copied().map(f64::from).sum();
    println!(
        "{}: {total:.1} in all, {:.3} at the corner",
        queue.device().name()?,
        heat[0]
    );
    Ok(())
}
