//! Arguments of a call, borrowed for its length, and local memory, which no call passes.

use crate::buffer::Buffer;
use crate::context::Context;
use crate::element::Element;
use crate::error::{Error, Result};
use crate::opencl::{RawBuffer, RawKernel};
use cltune_core::expr::Env;
use cltune_core::model::{ArgumentKind, Model};

/// An argument of a call, in the order of the Rust function.
#[derive(Clone, Copy, Debug)]
pub struct Arg<'a>(pub(crate) Passed<'a>);

#[derive(Clone, Copy, Debug)]
pub(crate) enum Passed<'a> {
    Scalar(&'a [u8]),
    Buffer {
        raw: &'a RawBuffer,
        context: &'a Context,
        len: usize,
    },
}

impl<'a> Arg<'a> {
    /// A scalar.
    #[inline]
    pub fn scalar<T: Element>(value: &'a T) -> Self {
        Self(Passed::Scalar(T::as_bytes(std::slice::from_ref(value))))
    }

    /// A buffer that the kernel reads.
    #[inline]
    pub fn buffer<T: Element>(buffer: &'a Buffer<T>) -> Self {
        Self(Passed::Buffer {
            raw: buffer.raw(),
            context: buffer.context(),
            len: buffer.len(),
        })
    }

    /// A scalar of these bytes, in the device's order.
    pub(crate) fn bytes(bytes: &'a [u8]) -> Self {
        Self(Passed::Scalar(bytes))
    }

    /// The beginning of a buffer as `len` elements of any type.
    pub(crate) fn part(buffer: &'a Buffer<u8>, len: usize) -> Self {
        Self(Passed::Buffer {
            raw: buffer.raw(),
            context: buffer.context(),
            len,
        })
    }

    /// The bytes of a scalar.
    pub(crate) fn as_scalar(&self) -> Option<&[u8]> {
        match self.0 {
            Passed::Scalar(bytes) => Some(bytes),
            Passed::Buffer { .. } => None,
        }
    }

    /// A buffer with the number of its elements.
    pub(crate) fn as_buffer(&self) -> Option<(&RawBuffer, usize)> {
        match self.0 {
            Passed::Buffer { raw, len, .. } => Some((raw, len)),
            Passed::Scalar(_) => None,
        }
    }

    /// A buffer that the kernel writes.
    #[inline]
    pub fn buffer_mut<T: Element>(buffer: &'a mut Buffer<T>) -> Self {
        Self::buffer(buffer)
    }
}

/// Passes the local memory of a configuration that has passed [`Model::check`], so that the lengths
/// have values.
pub(crate) fn set_local_memory(kernel: &RawKernel, model: &Model, env: &Env<'_>) -> Result<()> {
    for (position, argument) in (0_u32..).zip(model.arguments.iter()) {
        let ArgumentKind::Local { element, len } = &argument.kind else {
            continue;
        };
        let len = usize::try_from(len.eval(env).unwrap_or(0)).unwrap_or(0);
        // OpenCL has no empty local memory; a byte stands in for none.
        let bytes = len.saturating_mul(element.size()).max(1);
        kernel
            .set_local(position, bytes)
            .map_err(Error::call(format!("clSetKernelArg `{}`", argument.name)))?;
    }
    Ok(())
}
