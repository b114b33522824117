//! Options of a multiplication: its route, and what becomes of C's elements before they are written.

use super::error::GemmError;
use super::real::Real;
use super::route::Route;
use crate::matrix::check_context;
use cltune::{Buffer, Queue};

/// Options of [`Gemm::multiply_with`](super::Gemm::multiply_with): a given route, for tests and
/// comparisons, and an epilogue, which makes the launch a layer of a neural network:
/// C ← act(α A B + β C + bias).
///
/// First the bias is added, then the activation applied. α scales the product, and with β = 1 what C
/// holds is added, the residual of a layer. Types of 16 bits are computed in `f32` and rounded once,
/// when C is written.
#[derive(Clone, Copy, Debug)]
pub struct GemmOptions<'a, T: Real> {
    route: Option<Route>,
    bias: Option<&'a Buffer<T>>,
    activation: Activation,
}

#[derive(Clone, Copy, Debug)]
enum Activation {
    None,
    Relu,
    Gelu,
}

impl<T: Real> Default for GemmOptions<'_, T> {
    fn default() -> Self {
        Self::new()
    }
}

impl<T: Real> From<Route> for GemmOptions<'_, T> {
    fn from(route: Route) -> Self {
        Self::new().route(route)
    }
}

impl<'a, T: Real> GemmOptions<'a, T> {
    /// The fastest route, and no epilogue.
    pub const fn new() -> Self {
        Self {
            route: None,
            bias: None,
            activation: Activation::None,
        }
    }

    /// By this route instead of the fastest.
    #[must_use]
    pub const fn route(mut self, route: Route) -> Self {
        self.route = Some(route);
        self
    }

    /// Adds an element of `bias` to each column of C, the same in every row. There is one for each
    /// column at least.
    ///
    /// For one of each row, multiply the transposes: Cᵀ ← Bᵀ Aᵀ.
    #[must_use]
    pub const fn bias(mut self, bias: &'a Buffer<T>) -> Self {
        self.bias = Some(bias);
        self
    }

    /// The rectified linear unit, instead of any other activation: 0 for what is below 0. NaN stays
    /// NaN.
    #[must_use]
    pub const fn relu(mut self) -> Self {
        self.activation = Activation::Relu;
        self
    }

    /// The Gaussian error linear unit, instead of any other activation: x Φ(x), where Φ is the
    /// distribution function of the normal distribution (Hendrycks & Gimpel 2016, equation 1), not
    /// its approximation by a hyperbolic tangent. Its error is some units in the last place of x,
    /// far below 0 as well, where x Φ(x) is much less. NaN and −∞ become NaN.
    #[must_use]
    pub const fn gelu(mut self) -> Self {
        self.activation = Activation::Gelu;
        self
    }

    pub(super) const fn given_route(&self) -> Option<Route> {
        self.route
    }

    /// Whether the bias has an element for each of so many columns, and belongs to the queue's
    /// context.
    pub(super) fn check(&self, queue: &Queue, columns: usize) -> Result<(), GemmError> {
        let Some(bias) = self.bias else {
            return Ok(());
        };
        check_context(queue, bias, || "the bias".to_owned())?;
        let len = bias.len();
        if len < columns {
            return Err(GemmError::Bias { len, columns });
        }
        Ok(())
    }

    /// The epilogue as kernels take it, which read nothing of `no_bias`: see `epilogue.cl`. Where C
    /// is computed as its transpose, the bias is that of rows.
    pub(super) fn epilogue<'b>(
        self,
        is_transposed: bool,
        no_bias: &'b Buffer<T>,
    ) -> (i32, &'b Buffer<T>)
    where
        'a: 'b,
    {
        let activation = match self.activation {
            Activation::None => 0,
            Activation::Relu => 4,
            Activation::Gelu => 8,
        };
        match self.bias {
            None => (activation, no_bias),
            Some(bias) => (activation + if is_transposed { 2 } else { 1 }, bias),
        }
    }
}
