//! A small neural network that adds: each of its layers is one launch of the matrix multiplication
//! of `cltune-kernels`, and it checks every result.
//!
//! ```text
//! cargo run --release -p adder
//! ```

mod network;

use cltune::{Buffer, Queue};
use cltune_kernels::gemm::{Gemm, GemmOptions, Matrix, MatrixMut, Shape};
use network::{BITS, HIDDEN, INPUTS, OUTPUTS};
use std::error::Error;
use std::process::ExitCode;

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let queue = Queue::default_device()?;
    let rows = 1 << (2 * BITS);
    let x = Buffer::from_slice(&queue, &network::all_pairs())?;
    let to_hidden = Buffer::from_slice(&queue, &network::hidden_weights())?;
    let bias = Buffer::from_slice(&queue, &network::hidden_bias())?;
    let to_output = Buffer::from_slice(&queue, &network::output_weights())?;
    let mut hidden = Buffer::<f32>::new(queue.context(), rows * HIDDEN)?;
    let mut y = Buffer::<f32>::new(queue.context(), rows * OUTPUTS)?;

    let mut gemm = Gemm::new(&queue)?;
    // hidden = max(x to_hidden + bias, 0)
    gemm.multiply_with(
        &queue,
        GemmOptions::new().bias(&bias).relu(),
        1.0,
        Matrix::new(&x, Shape::row_major(rows, INPUTS)),
        Matrix::new(&to_hidden, Shape::row_major(INPUTS, HIDDEN)),
        0.0,
        MatrixMut::new(&mut hidden, Shape::row_major(rows, HIDDEN)),
    )?;
    // y = hidden to_output
    gemm.multiply(
        &queue,
        1.0,
        Matrix::new(&hidden, Shape::row_major(rows, HIDDEN)),
        Matrix::new(&to_output, Shape::row_major(HIDDEN, OUTPUTS)),
        0.0,
        MatrixMut::new(&mut y, Shape::row_major(rows, OUTPUTS)),
    )?;

    let numbers = 1 << BITS;
    let sums = y.read(&queue)?;
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
