//! A small neural network that adds: its forward pass is two multiplications of `cltune-kernels`
//! with a kernel of its own between them, and it checks every result.
//!
//! ```text
//! cargo run --release -p adder
//! ```

mod network;

use cltune_kernels::gemm::{Gemm, Matrix, MatrixMut, Shape};
use cltune_runtime::{Buffer, Event, Queue, Result, tunable};
use network::{BITS, HIDDEN, INPUTS, OUTPUTS};
use std::error::Error;
use std::process::ExitCode;

/// x <- max(x, 0)
#[tunable(
    params(WG = [32, 64, 128, 256], WPT = [1, 2, 4, 8]),
    global((n + WG * WPT - 1) / (WG * WPT) * WG), local(WG),
    tune(n = 1 << 20),
    defaults(WG = 64, WPT = 1),
    bytes(8 * n),
)]
fn relu(queue: &Queue, n: u32, #[arg(len = n)] x: &mut Buffer<f32>) -> Result<Event> {
    "__kernel void relu(const uint n, __global float* x) {
        for (uint part = 0; part < WPT; part++) {
            const uint i = get_global_id(0) + part * get_global_size(0);
            if (i < n) {
                x[i] = fmax(x[i], 0.0f);
            }
        }
    }"
}

fn main() -> std::result::Result<ExitCode, Box<dyn Error>> {
    let queue = Queue::default_device()?;
    let rows = 1 << (2 * BITS);
    let inputs = Buffer::from_slice(&queue, &network::all_pairs())?;
    let to_hidden = Buffer::from_slice(&queue, &network::hidden_weights())?;
    let to_output = Buffer::from_slice(&queue, &network::output_weights())?;
    let mut hidden = Buffer::<f32>::new(queue.context(), rows * HIDDEN)?;
    let mut outputs = Buffer::<f32>::new(queue.context(), rows * OUTPUTS)?;

    let mut gemm = Gemm::new(&queue)?;
    let _event = gemm.multiply(
        &queue,
        1.0,
        Matrix::new(&inputs, Shape::row_major(rows, INPUTS)),
        Matrix::new(&to_hidden, Shape::row_major(INPUTS, HIDDEN)),
        0.0,
        MatrixMut::new(&mut hidden, Shape::row_major(rows, HIDDEN)),
    )?;
    let _event = relu(&queue, u32::try_from(rows * HIDDEN)?, &mut hidden)?;
    let _event = gemm.multiply(
        &queue,
        1.0,
        Matrix::new(&hidden, Shape::row_major(rows, HIDDEN)),
        Matrix::new(&to_output, Shape::row_major(HIDDEN, OUTPUTS)),
        0.0,
        MatrixMut::new(&mut outputs, Shape::row_major(rows, OUTPUTS)),
    )?;

    let numbers = 1 << BITS;
    let sums = outputs.read(&queue)?;
    let sums = sums.chunks(OUTPUTS).map(network::number);
    let wrong = sums
        .enumerate()
        .filter(|(row, sum)| *sum != Some(row / numbers + row % numbers));
    let wrong = wrong.count();
    println!("{}", queue.device());
    println!("{rows} sums of two numbers of {BITS} bits, {wrong} of them wrong");
    Ok(if wrong == 0 {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}
