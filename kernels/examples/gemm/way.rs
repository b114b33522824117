//! The ways to multiply that can be asked for.

use cltune::{Buffer, Event, Queue, bf16, f16};
use cltune_kernels::gemm::{
    Arithmetic, Batch, Gemm, GemmError, GemmOptions, Matrix, MatrixMut, Real, Route, Shape,
};
use std::thread;
use std::time::{Duration, Instant};

/// The most that a device rests: what is left of a longer time was spent on building kernels.
const LONGEST_REST: Duration = Duration::from_secs(2);

/// How it is multiplied.
#[derive(Clone, Copy)]
pub(crate) enum Way {
    Chosen(Arithmetic),
    /// By the way that was the fastest when all that may be were timed.
    Measured,
    By(Route),
    /// By the kernel for batches.
    InOneLaunch,
    Tf32,
    /// The fastest route, with a bias and GELU in the same launch.
    Layer,
    /// With a bias alone.
    Biased,
}

impl Way {
    pub(crate) fn named(name: &str) -> Result<Self, String> {
        Ok(match name {
            "auto" => Self::Chosen(Arithmetic::Automatic),
            "plain" => Self::Chosen(Arithmetic::Plain),
            "measured" => Self::Measured,
            "direct" => Self::By(Route::Direct),
            "pipelined" => Self::By(Route::Pipelined),
            "tensor" => Self::By(Route::Tensor),
            "warpgroup" => Self::By(Route::Warpgroup),
            "panels" => Self::By(Route::Panels),
            "pipelinedparts" => Self::By(Route::PipelinedParts),
            "tensorparts" => Self::By(Route::TensorParts),
            "batched" => Self::InOneLaunch,
            "layer" => Self::Layer,
            "biased" => Self::Biased,
            other => return Err(format!("no route `{other}`")),
        })
    }

    /// What multiplies in this way.
    pub(crate) fn multiplier<T: WithTf32>(self, queue: &Queue) -> Result<Gemm<T>, GemmError> {
        let gemm = Gemm::new(queue)?;
        Ok(match self {
            Self::Chosen(arithmetic) => gemm.arithmetic(arithmetic),
            Self::Measured
            | Self::By(_)
            | Self::InOneLaunch
            | Self::Tf32
            | Self::Layer
            | Self::Biased => gemm,
        })
    }

    /// What goes before the calls: nothing but for `Measured`. The device rests for as long as that
    /// takes, since a GPU that has multiplied for long is slower.
    pub(crate) fn prepare<T: WithTf32>(
        self,
        gemm: &mut Gemm<T>,
        queue: &Queue,
        a: Matrix<'_, T>,
        b: Matrix<'_, T>,
        c: MatrixMut<'_, T>,
    ) -> Result<(), GemmError> {
        if matches!(self, Self::Measured) {
            let begin = Instant::now();
            gemm.measure(queue, T::ONE, a, b, c)?;
            thread::sleep(begin.elapsed().min(LONGEST_REST));
        }
        Ok(())
    }

    /// C ← A B, or a layer.
    pub(crate) fn multiply<'a, T: WithTf32>(
        self,
        gemm: &mut Gemm<T>,
        queue: &Queue,
        a: Matrix<'a, T>,
        b: Matrix<'a, T>,
        c: MatrixMut<'a, T>,
        bias: Option<&'a Buffer<T>>,
    ) -> Result<Option<Event>, GemmError> {
        let (alpha, beta) = (T::ONE, T::ZERO);
        match self {
            Self::Chosen(_) | Self::Measured => gemm.multiply(queue, alpha, a, b, beta, c),
            Self::By(route) => gemm.multiply_with(queue, route, alpha, a, b, beta, c),
            Self::Tf32 => T::tf32(gemm, queue, a, b, c),
            Self::Layer | Self::Biased => {
                let options = GemmOptions::new();
                let options = if matches!(self, Self::Layer) {
                    options.gelu()
                } else {
                    options
                };
                let options = bias.map_or(options, |bias| options.bias(bias));
                gemm.multiply_with(queue, options, alpha, a, b, beta, c)
            }
            Self::InOneLaunch => {
                let batch = side_by_side(1, &a, &b, c.shape());
                gemm.multiply_batched_with(queue, None, alpha, a, b, beta, c, batch)
            }
        }
    }

    /// C ← A B for products whose matrices follow each other.
    pub(crate) fn multiply_batched<T: WithTf32>(
        self,
        gemm: &mut Gemm<T>,
        queue: &Queue,
        a: Matrix<'_, T>,
        b: Matrix<'_, T>,
        c: MatrixMut<'_, T>,
        count: usize,
    ) -> Result<Option<Event>, GemmError> {
        let (alpha, beta) = (T::ONE, T::ZERO);
        let batch = side_by_side(count, &a, &b, c.shape());
        let route = match self {
            Self::Chosen(_) => {
                return gemm.multiply_batched(queue, alpha, a, b, beta, c, batch);
            }
            Self::InOneLaunch => None,
            Self::By(route) => Some(route),
            Self::Measured | Self::Tf32 | Self::Layer | Self::Biased => {
                return Err(GemmError::Unsupported {
                    device: queue.device().to_string(),
                    what: "layers, TF32 and measured ways in batches",
                });
            }
        };
        gemm.multiply_batched_with(queue, route, alpha, a, b, beta, c, batch)
    }
}

fn side_by_side<T: Real>(count: usize, a: &Matrix<'_, T>, b: &Matrix<'_, T>, c: &Shape) -> Batch {
    let elements = |shape: &Shape| shape.rows() * shape.columns();
    Batch {
        count,
        stride_a: elements(a.shape()),
        stride_b: elements(b.shape()),
        stride_c: elements(c),
    }
}

/// A type of elements, with TF32 where it has that.
pub(crate) trait WithTf32: Real {
    const ONE: Self::Real;

    /// C ← A B with factors rounded to TF32.
    fn tf32(
        _gemm: &mut Gemm<Self>,
        queue: &Queue,
        _a: Matrix<'_, Self>,
        _b: Matrix<'_, Self>,
        _c: MatrixMut<'_, Self>,
    ) -> Result<Option<Event>, GemmError> {
        Err(GemmError::Unsupported {
            device: queue.device().to_string(),
            what: "TF32 for this type",
        })
    }
}

impl WithTf32 for f32 {
    const ONE: Self = 1.0;

    fn tf32(
        gemm: &mut Gemm<Self>,
        queue: &Queue,
        a: Matrix<'_, Self>,
        b: Matrix<'_, Self>,
        c: MatrixMut<'_, Self>,
    ) -> Result<Option<Event>, GemmError> {
        gemm.multiply_tf32(queue, 1.0, a, b, 0.0, c)
    }
}

impl WithTf32 for f64 {
    const ONE: Self = 1.0;
}

impl WithTf32 for f16 {
    const ONE: f32 = 1.0;
}

impl WithTf32 for bf16 {
    const ONE: f32 = 1.0;
}
