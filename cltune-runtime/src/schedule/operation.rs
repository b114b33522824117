//! An operation before it is enqueued.

use super::expression::Expression;
use super::kernel::{AnyKernel, BlockKernel, Typed};
use crate::element::Element;
use cltune_core::tasks::Axis;
use std::sync::Arc;

/// An operation on blocks: its axes, its operands, its kernel.
///
/// The result has the axes I and J, or fewer; what is summed over is K. Each operand says which
/// axis its lines have and which the elements of a line. A product of row-major matrices is I x K
/// times K x J; a map is I x J for each operand; the sum of a vector is `One` x `One` of `One` x K.
/// The scheduler divides all three axes as it likes, and calls the kernel for each panel of each
/// tile.
///
/// An operation may have several results, which one launch computes: its operands are sent once for
/// all of them.
#[derive(Clone)]
pub struct Operation<'a, T: Element> {
    pub(super) kernel: Arc<dyn AnyKernel>,
    pub(super) sizes: [usize; 3],
    pub(super) inputs: Vec<(Expression<'a, T>, [Axis; 2])>,
    /// The first one, and the others.
    pub(super) outputs: (ResultAxes, Vec<ResultAxes>),
    pub(super) work: f64,
    pub(super) workspace: f64,
    pub(super) is_padded: bool,
}

/// A result of an operation before it is enqueued.
#[derive(Clone, Copy)]
pub(super) struct ResultAxes {
    pub(super) axes: [Axis; 2],
    /// Of a part of a matrix.
    pub(super) origin: Option<[usize; 2]>,
    pub(super) is_read: bool,
}

impl<'a, T: Element> Operation<'a, T> {
    /// An operation without operands, of these sizes along I, J and K, whose first result has these
    /// axes as its lines and the elements of a line.
    pub fn new(kernel: impl BlockKernel<T>, sizes: [usize; 3], output: [Axis; 2]) -> Self {
        Self {
            kernel: Arc::new(Typed::new(kernel)),
            sizes,
            inputs: Vec::new(),
            outputs: (ResultAxes::new(output), Vec::new()),
            work: 1.0,
            workspace: 0.0,
            is_padded: true,
        }
    }

    /// With one more operand, whose lines and elements have these axes as it lies.
    #[must_use]
    pub fn input(mut self, operand: impl Into<Expression<'a, T>>, axes: [Axis; 2]) -> Self {
        self.inputs.push((operand.into(), axes));
        self
    }

    /// With one more result, which has these axes as its lines and the elements of a line.
    #[must_use]
    pub fn output(mut self, axes: [Axis; 2]) -> Self {
        self.outputs.1.push(ResultAxes::new(axes));
        self
    }

    /// The result, of several the last one so far, is a part of a matrix, with this first line and
    /// first element of each.
    #[must_use]
    pub fn at(mut self, origin: [usize; 2]) -> Self {
        self.last().origin = Some(origin);
        self
    }

    /// The kernel reads the result, of several the last one so far, before it writes it.
    #[must_use]
    pub fn reads_output(mut self) -> Self {
        self.last().is_read = true;
        self
    }

    fn last(&mut self) -> &mut ResultAxes {
        let (first, others) = &mut self.outputs;
        others.last_mut().unwrap_or(first)
    }

    /// Arithmetic operations for each I x J x K; 1 where this is not called.
    #[must_use]
    pub const fn work(mut self, operations: f64) -> Self {
        self.work = operations;
        self
    }

    /// The kernel allocates so much memory of its own, as a part of the bytes of its operands'
    /// blocks. It counts for the memory limit.
    #[must_use]
    pub const fn workspace(mut self, part: f64) -> Self {
        self.workspace = part;
        self
    }

    /// The lines of blocks follow each other without padding: for kernels that take no leading
    /// dimension.
    #[must_use]
    pub const fn packed(mut self) -> Self {
        self.is_padded = false;
        self
    }
}

impl ResultAxes {
    const fn new(axes: [Axis; 2]) -> Self {
        Self {
            axes,
            origin: None,
            is_read: false,
        }
    }
}
