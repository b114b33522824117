//! Multiplies two matrices with what is known to be best on this device:
//! `cargo run --release -p cltune-kernels --example gemm [SIZE]`.

use cltune_kernels::gemm::gemm_classic;
use cltune_runtime::{Buffer, Queue};
use std::error::Error;
use std::time::Instant;

fn main() -> Result<(), Box<dyn Error>> {
    let size = std::env::args()
        .nth(1)
        .map_or(Ok(512), |text| text.parse::<i32>())?;
    let queue = Queue::default_device()?;
    let count = usize::try_from(size)?.pow(2);
    let ones = Buffer::from_slice(&queue, &vec![1.0; count])?;
    let mut product = Buffer::new(queue.context(), count)?;
    // The first launch builds the kernel.
    gemm_classic(&queue, size, size, size, &ones, &ones, &mut product)?.wait()?;
    let begin = Instant::now();
    gemm_classic(&queue, size, size, size, &ones, &ones, &mut product)?.wait()?;
    let seconds = begin.elapsed().as_secs_f64();
    let wrong = product.read(&queue)?;
    let wrong = wrong.iter().filter(|sum| **sum != size as f32).count();
    let rate = 2.0 * f64::from(size).powi(3) / seconds / 1e9;
    println!(
        "{}: {rate:.1} GFLOPS, {wrong} of {count} elements are wrong",
        queue.device()
    );
    Ok(())
}
