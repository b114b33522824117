//! Multiplies matrices and tells how fast and how precisely: `cargo run --release -p cltune-kernels
//! --example gemm`.
//!
//! ```text
//! gemm [SIZE]               square matrices of SIZE (1024), by every route that the device has
//! gemm error [SIZE | M N K] how far results are from sums in double precision, by every arithmetic
//!                           that the device has; ends with 1 where single precision on tensor cores
//!                           is more than twice as wrong as plain single precision
//! gemm serve                for `scripts/bench gemm`: reads lines
//!                           `TYPE M N K LAYOUTS ROUTE REPEATS [COUNT]`, answers each with a line of
//!                           seconds, or `error: ...`
//! ```
//!
//! `TYPE` is f32, f64, f16, bf16 or tf32; `LAYOUTS` has a letter each for A and B, n for rows, t for
//! columns that follow each other; `ROUTE` is auto, plain, direct, pipelined, tensor, warpgroup,
//! panels, pipelinedparts, tensorparts, measured, which is auto after `Gemm::measure`, batched, which
//! is the kernel for batches, layer, which is auto with a bias and GELU in the same launch, biased,
//! which is that without GELU, or `choice`, which is answered with the route that auto takes. With
//! `COUNT` it is a batch of so many products, whose matrices follow each other; a route then
//! multiplies one after the other.

mod error;
mod speed;
mod way;

use cltune::{Context, Device, Queue};
use std::error::Error;
use std::process::ExitCode;

fn main() -> Result<ExitCode, Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let queue = Queue::without_events(&Context::new(&Device::select()?)?)?;
    match arguments[..] {
        [] => speed::show(&queue, 1024)?,
        ["serve"] => speed::serve(&queue)?,
        ["error"] => return error::compare(&queue, [1024; 3]),
        ["error", size] => return error::compare(&queue, [side(size)?; 3]),
        ["error", m, n, k] => {
            return error::compare(&queue, [side(m)?, side(n)?, side(k)?]);
        }
        [size] => speed::show(&queue, side(size)?)?,
        _ => return Err(USAGE.into()),
    }
    Ok(ExitCode::SUCCESS)
}

const USAGE: &str = "usage: gemm [SIZE] | gemm error [SIZE | M N K] | gemm serve";

fn side(text: &str) -> Result<usize, String> {
    text.parse()
        .map_err(|_| format!("`{text}` is no size of a matrix; {USAGE}"))
}
