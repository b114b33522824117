//! A mistake that is found in the tunables around a product.

use cltune::{Buffer, Event, Queue, Result, fused};

/// As `cltune_kernels::gemm` has it, as far as generated code knows.
mod gemm {
    use cltune::{Buffer, Element, Event, Queue};

    pub struct Gemm<T>(T);
    pub struct GemmError;

    impl From<cltune::Error> for GemmError {
        fn from(_: cltune::Error) -> Self {
            Self
        }
    }

    type Lies = (bool, [usize; 4]);

    impl<T: Element> Gemm<T> {
        pub fn __check(
            &self,
            _: &Queue,
            _: &'static str,
            _: &Buffer<T>,
            _: Lies,
            _: &'static str,
            _: &Buffer<T>,
            _: Lies,
            _: &'static str,
            _: &Buffer<T>,
            _: Lies,
        ) -> Result<(), GemmError> {
            Ok(())
        }
        pub fn __multiply(
            &mut self,
            _: &Queue,
            _: T,
            _: &Buffer<T>,
            _: Lies,
            _: &Buffer<T>,
            _: Lies,
            _: T,
            _: &mut Buffer<T>,
            _: Lies,
        ) -> Result<Event, GemmError> {
            Err(GemmError)
        }
    }
}

#[fused(tune(m = 8), name = "1st")]
fn name_in_the_lockfile(
    queue: &Queue,
    gemm: &mut gemm::Gemm<f32>,
    m: u32,
    #[arg(matrix = [m, m])] a: &Buffer<f32>,
    #[arg(matrix = [m, m])] c: &mut Buffer<f32>,
) -> Result<Event, gemm::GemmError> {
    c = a * a;
    c = 2.0 * c;
}

fn main() {}
