//! Heat that spreads on a plate and is fed at a corner: `plain.rs` with opencl3 alone, `tuned.rs`
//! with one of its two kernels tuned by cltune.

use opencl3::command_queue::CommandQueue;
use opencl3::context::Context;
use opencl3::device::{CL_DEVICE_TYPE_ALL, Device};
use opencl3::kernel::{ExecuteKernel, Kernel};
use opencl3::memory::{Buffer, CL_MEM_READ_WRITE};
use opencl3::platform::get_platforms;
use opencl3::program::Program;
use opencl3::types::CL_BLOCKING;
use std::error::Error;
use std::{mem, ptr};

/// Points along an edge.
const N: u32 = 512;
const POINTS: usize = (N * N) as usize;
const STEPS: usize = 100;
const SOURCE: &str = include_str!("../kernels/heat.cl");

#[cltune::tunable(source = "kernels/heat.cl", global(n, n), local(X, Y), tune(n = 512),
    params(X = [8, 16, 32, 64], Y = [1, 2, 4, 8, 16]))]
fn spread(
    queue: &cltune::Queue,
    n: u32,
    #[arg(len = n * n)] a: &cltune::Buffer<f32>,
    #[arg(len = n * n, out)] b: &mut cltune::Buffer<f32>,
) -> cltune::Result<cltune::Event>;

/// The first device that is there.
fn device() -> Result<Device, Box<dyn Error>> {
    for platform in get_platforms()? {
        if let Some(id) = platform.get_devices(CL_DEVICE_TYPE_ALL)?.first() {
            return Ok(Device::new(*id));
        }
    }
    Err("there is no OpenCL device".into())
}

/// A plate without heat.
fn plate(context: &Context, queue: &CommandQueue) -> Result<Buffer<f32>, Box<dyn Error>> {
    // SAFETY: there is no host memory.
    let plate = unsafe { Buffer::create(context, CL_MEM_READ_WRITE, POINTS, ptr::null_mut()) };
    let mut plate = plate?;
    // SAFETY: the transfer blocks.
    unsafe { queue.enqueue_write_buffer(&mut plate, CL_BLOCKING, 0, &vec![0.0; POINTS], &[]) }?;
    Ok(plate)
}

fn main() -> Result<(), Box<dyn Error>> {
    let device = device()?;
    let context = Context::from_device(&device)?;
    // SAFETY: the device is the context's.
    let queue = unsafe { CommandQueue::create(&context, device.id(), 0) }?;
    let program = Program::create_and_build_from_source(&context, SOURCE, "")?;
    let feed = Kernel::create(&program, "feed")?;
    let ours = cltune::Queue::from_opencl3(&queue)?;
    let mut a = plate(&context, &queue)?;
    let mut b = plate(&context, &queue)?;

    for _ in 0..STEPS {
        // SAFETY: the arguments are those of the kernel, which stays inside its buffer.
        unsafe {
            ExecuteKernel::new(&feed)
                .set_arg(&N)
                .set_arg(&1.0_f32)
                .set_arg(&a)
                .set_global_work_sizes(&[16, 16])
                .enqueue_nd_range(&queue)?
        };
        spread(&ours, N, &*ours.lend(&a)?, &mut *ours.lend_mut(&mut b)?)?;
        mem::swap(&mut a, &mut b);
    }

    let mut heat = vec![0.0; POINTS];
    // SAFETY: the transfer blocks.
    unsafe { queue.enqueue_read_buffer(&a, CL_BLOCKING, 0, &mut heat, &[]) }?;
    let total: f64 = heat.iter().copied().map(f64::from).sum();
    println!(
        "{}: {total:.1} in all, {:.3} at the corner",
        device.name()?,
        heat[0]
    );
    Ok(())
}
