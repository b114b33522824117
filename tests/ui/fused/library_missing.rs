//! A product of a library that the package does not depend on.

use cltune::{Buffer, Event, Queue, Result, fused};

#[fused(tune(m = 8))]
fn library_is_not_there(
    queue: &Queue,
    gemm: &mut cltune_kernels::gemm::Gemm<f32>,
    m: u32,
    #[arg(matrix = [m, m])] a: &Buffer<f32>,
    #[arg(matrix = [m, m])] c: &mut Buffer<f32>,
) -> Result<Event> {
    c = 2.0 * c;
    c = a * a + c;
}

fn main() {}
