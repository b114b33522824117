//! The refusals of a product: sizes that do not fit together or into buffers, and routes that a
//! device lacks.

use super::error::GemmError;
use super::real::{Orders, Real};
use super::route::Route;
use crate::matrix::{Misfit, Shape};
use cltune::Device;

/// Whether the sizes of A, B and C are those of a product.
pub(super) fn check_sizes(a: Shape, b: Shape, c: Shape) -> Result<(), GemmError> {
    if a.rows == c.rows && b.columns == c.columns && a.columns == b.rows {
        return Ok(());
    }
    Err(GemmError::Shapes {
        a: (a.rows, a.columns),
        b: (b.rows, b.columns),
        c: (c.rows, c.columns),
    })
}

/// Whether a matrix fits into its buffer, and its sizes into the kernels' numbers.
pub(super) fn check(name: &'static str, shape: Shape, len: usize) -> Result<(), GemmError> {
    check_fits(name, shape, len)?;
    check_numbers(
        name,
        [shape.rows, shape.columns, shape.offset, shape.leading],
    )
}

/// Whether a matrix fits into its buffer.
pub(super) fn check_fits(name: &'static str, shape: Shape, len: usize) -> Result<(), GemmError> {
    shape.check(len).map_err(|misfit| match misfit {
        Misfit::Leading { leading, least } => GemmError::Leading {
            name,
            leading,
            least,
        },
        Misfit::TooShort { needed, len } => GemmError::TooShort { name, needed, len },
    })
}

/// Whether the kernels, which count in 32 bits, hold numbers that belong to a matrix.
pub(super) fn check_numbers<const COUNT: usize>(
    name: &'static str,
    numbers: [usize; COUNT],
) -> Result<(), GemmError> {
    match numbers
        .into_iter()
        .find(|number| i32::try_from(*number).is_err())
    {
        None => Ok(()),
        Some(number) => Err(GemmError::TooLarge { name, number }),
    }
}

/// Whether a device has what a route needs.
pub(super) fn check_route<T: Real>(route: Route, device: &Device) -> Result<(), GemmError> {
    let (orders, what) = match route {
        Route::Direct | Route::Pipelined | Route::PipelinedParts | Route::Panels => return Ok(()),
        Route::TensorParts => (
            T::ORDERS_OF_PARTS,
            "tensor cores for sums in parts of this type (f32 on NVIDIA's GPUs of compute capability 9.0, f64 on \
             those since 8.0)",
        ),
        Route::Tensor => (
            Some(Orders::Warp),
            "tensor cores for this type (NVIDIA's, since compute capability 8.0)",
        ),
        Route::Warpgroup => (
            Some(Orders::Warpgroup),
            "tensor cores for this type and route (NVIDIA's of compute capability 9.0)",
        ),
    };
    let capability = device.info().limits.nv_compute_capability;
    if orders.is_some_and(|orders| orders.are_there::<T>(capability)) {
        return Ok(());
    }
    Err(GemmError::Unsupported {
        device: device.to_string(),
        what,
    })
}
