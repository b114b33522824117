//! A small neural network that adds: its forward pass is statements, whose products the matrix
//! multiplication of `cltune-kernels` makes, and it checks every result.
//!
//! ```text
//! cargo run --release -p adder
//! ```

mod network;

use cltune::{Buffer, Event, Queue, fused};
use cltune_kernels::gemm::{Gemm, GemmError};
use network::{BITS, HIDDEN, INPUTS, OUTPUTS};
use std::error::Error;
use std::process::ExitCode;

/// The outputs of a network of two layers, for a row of inputs each.
#[fused(tune(rows = 1 << 16, units = 24))]
fn forward(
    queue: &Queue,
    gemm: &mut Gemm<f32>,
    rows: u32,
    inputs: u32,
    units: u32,
    outputs: u32,
    #[arg(matrix = [rows, inputs])] x: &Buffer<f32>,
    #[arg(matrix = [inputs, units])] to_hidden: &Buffer<f32>,
    #[arg(matrix = [units, outputs])] to_output: &Buffer<f32>,
    #[arg(out, matrix = [rows, units])] hidden: &mut Buffer<f32>,
    #[arg(out, matrix = [rows, outputs])] y: &mut Buffer<f32>,
) -> Result<Event, GemmError> {
    hidden = max(x * to_hidden, 0.0);
    y = hidden * to_output;
}

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let queue = Queue::default_device()?;
    let rows = 1 << (2 * BITS);
    let x = Buffer::from_slice(&queue, &network::all_pairs())?;
    let to_hidden = Buffer::from_slice(&queue, &network::hidden_weights())?;
    let to_output = Buffer::from_slice(&queue, &network::output_weights())?;
    let mut hidden = Buffer::<f32>::new(queue.context(), rows * HIDDEN)?;
    let mut y = Buffer::<f32>::new(queue.context(), rows * OUTPUTS)?;

    let mut gemm = Gemm::new(&queue)?;
    let _event = forward(
        &queue,
        &mut gemm,
        u32::try_from(rows)?,
        u32::try_from(INPUTS)?,
        u32::try_from(HIDDEN)?,
        u32::try_from(OUTPUTS)?,
        &x,
        &to_hidden,
        &to_output,
        &mut hidden,
        &mut y,
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
