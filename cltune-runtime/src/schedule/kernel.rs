//! Kernels on blocks: what an operation launches on a device for each panel of a tile.

use crate::buffer::Buffer;
use crate::context::Context;
use crate::element::Element;
use crate::error::{Error, Result};
use crate::opencl::RawBuffer;
use crate::queue::Queue;
use cltune_core::tasks::{Rect, Tile};
use std::any::Any;
use std::marker::PhantomData;

/// The error of a kernel: a [`crate::Error`] where a call of the run time failed, so that the
/// scheduler knows whether the device is to blame; anything else is taken for a refusal of the
/// operation.
pub type BlockError = Box<dyn std::error::Error + Send + Sync>;

/// A block in a device's memory that is read: `lines` of `length` elements that begin every
/// `leading` elements.
#[derive(Clone, Copy, Debug)]
pub struct Block<'a, T: Element> {
    /// The memory.
    pub buffer: &'a Buffer<T>,
    /// The number of lines.
    pub lines: usize,
    /// The number of elements of a line.
    pub length: usize,
    /// The distance of the beginnings of lines, elements.
    pub leading: usize,
}

/// A block in a device's memory that is written, as [`Block`].
#[derive(Debug)]
pub struct BlockMut<'a, T: Element> {
    /// The memory.
    pub buffer: &'a mut Buffer<T>,
    /// The number of lines.
    pub lines: usize,
    /// The number of elements of a line.
    pub length: usize,
    /// The distance of the beginnings of lines, elements.
    pub leading: usize,
}

/// A launch: one panel of a tile.
#[derive(Debug)]
pub struct BlockCall<'a, T: Element> {
    /// The blocks of the operands, in the order of the operation.
    pub inputs: Vec<Block<'a, T>>,
    /// The tile of each result, in the order of the operation: one or more.
    pub outputs: Vec<BlockMut<'a, T>>,
    /// Whether this is the first panel of the tile. Later ones add to what the tile holds; of the
    /// first one the tile holds a result's values if the operation reads them, or else anything.
    pub is_first: bool,
}

impl<T: Element> BlockMut<'_, T> {
    /// The number of elements, padding of lines included: for kernels to which all elements are
    /// alike.
    pub const fn len(&self) -> usize {
        self.lines * self.leading
    }

    /// Whether there is no element; there always is one.
    pub const fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// A kernel that computes blocks: the only thing that an operation has to bring.
///
/// It may be called from several threads at the same time, for different devices.
pub trait BlockKernel<T: Element>: Send + Sync + 'static {
    /// What it keeps for each device.
    type Kept: Send + 'static;

    /// A name for reports. What is measured of a kernel is known by it, so kernels of different
    /// speeds need different ones.
    fn name(&self) -> String;

    /// Makes what is kept for the device of a queue.
    ///
    /// # Errors
    /// The device cannot run it; others may.
    fn prepare(&self, queue: &Queue) -> Result<Self::Kept, BlockError>;

    /// The seconds that tuning says for blocks of these sizes along I, J and K; `None` where it
    /// says nothing. The scheduler measures.
    fn expected_seconds(&self, _kept: &Self::Kept, _sizes: [usize; 3]) -> Option<f64> {
        None
    }

    /// Enqueues the launches for a panel.
    ///
    /// # Errors
    /// See [`BlockError`].
    fn launch(
        &self,
        queue: &Queue,
        kept: &mut Self::Kept,
        call: BlockCall<'_, T>,
    ) -> Result<(), BlockError>;
}

/// What a kernel keeps for a device.
pub(super) type Kept = Box<dyn Any + Send>;

/// A block whose elements have any type.
#[derive(Clone, Copy, Debug)]
pub(super) struct RawBlock<'a> {
    pub(super) buffer: &'a RawBuffer,
    pub(super) lines: usize,
    pub(super) length: usize,
    pub(super) leading: usize,
}

/// A launch whose elements have any type, as [`BlockCall`].
#[derive(Clone, Copy, Debug)]
pub(super) struct RawCall<'a> {
    pub(super) inputs: &'a [RawBlock<'a>],
    /// One or more.
    pub(super) outputs: &'a [RawBlock<'a>],
    pub(super) is_first: bool,
    /// What is computed of the results.
    pub(super) tile: Tile,
}

/// A kernel for elements of any type.
pub(super) trait AnyKernel: Send + Sync {
    fn name(&self) -> String;
    fn prepare(&self, queue: &Queue) -> Result<Kept, BlockError>;
    fn expected_seconds(&self, kept: &Kept, sizes: [usize; 3]) -> Option<f64>;
    fn launch(&self, queue: &Queue, kept: &mut Kept, call: RawCall<'_>) -> Result<(), BlockError>;
}

/// A kernel for elements of one type.
pub(super) struct Typed<T, K> {
    kernel: K,
    element: PhantomData<fn(T)>,
}

impl<T: Element, K: BlockKernel<T>> Typed<T, K> {
    pub(super) const fn new(kernel: K) -> Self {
        Self {
            kernel,
            element: PhantomData,
        }
    }
}

impl<T: Element, K: BlockKernel<T>> AnyKernel for Typed<T, K> {
    fn name(&self) -> String {
        self.kernel.name()
    }

    fn prepare(&self, queue: &Queue) -> Result<Kept, BlockError> {
        Ok(Box::new(self.kernel.prepare(queue)?))
    }

    fn expected_seconds(&self, kept: &Kept, sizes: [usize; 3]) -> Option<f64> {
        self.kernel.expected_seconds(kept.downcast_ref()?, sizes)
    }

    fn launch(&self, queue: &Queue, kept: &mut Kept, call: RawCall<'_>) -> Result<(), BlockError> {
        let RawCall {
            inputs,
            outputs,
            is_first,
            ..
        } = call;
        let kept = kept.downcast_mut().ok_or("another kernel's")?;
        let context = queue.context();
        let typed = |blocks: &[RawBlock<'_>]| -> Result<Vec<Buffer<T>>> {
            let buffers = blocks.iter().map(|block| block.typed::<T>(context));
            buffers.collect()
        };
        let (buffers, mut targets) = (typed(inputs)?, typed(outputs)?);
        let inputs = inputs.iter().zip(&buffers).map(|(block, buffer)| Block {
            buffer,
            lines: block.lines,
            length: block.length,
            leading: block.leading,
        });
        let outputs = outputs.iter().zip(&mut targets);
        let outputs = outputs.map(|(block, buffer)| BlockMut {
            buffer,
            lines: block.lines,
            length: block.length,
            leading: block.leading,
        });
        let call = BlockCall {
            inputs: inputs.collect(),
            outputs: outputs.collect(),
            is_first,
        };
        self.kernel.launch(queue, kept, call)
    }
}

impl RawBlock<'_> {
    fn typed<T: Element>(&self, context: &Context) -> Result<Buffer<T>> {
        let raw = self.buffer.share();
        let raw = raw.map_err(Error::call("clRetainMemObject of a block"))?;
        Ok(Buffer::of(raw, context, self.lines * self.leading))
    }
}

/// The tile that a block of a temporary is.
pub(super) const fn tile_of(rect: Rect) -> Tile {
    Tile {
        first: [rect.line, rect.at],
        size: [rect.lines, rect.length],
    }
}

/// A function of elements at one position of `N` operands as a kernel that has `M` results.
pub(super) struct MapKernel<const N: usize, const M: usize, F> {
    pub(super) name: String,
    pub(super) function: F,
}

impl<T, const N: usize, const M: usize, F> BlockKernel<T> for MapKernel<N, M, F>
where
    T: Element,
    F: Fn(&Queue, usize, [&Buffer<T>; N], [&mut Buffer<T>; M]) -> Result<()>
        + Send
        + Sync
        + 'static,
{
    type Kept = ();

    fn name(&self) -> String {
        self.name.clone()
    }

    fn prepare(&self, _queue: &Queue) -> Result<(), BlockError> {
        Ok(())
    }

    fn launch(&self, queue: &Queue, (): &mut (), call: BlockCall<'_, T>) -> Result<(), BlockError> {
        let len = call.outputs.first().map_or(0, BlockMut::len);
        let inputs: Vec<&Buffer<T>> = call.inputs.iter().map(|block| block.buffer).collect();
        let outputs = call.outputs.into_iter().map(|block| block.buffer);
        let outputs: Vec<&mut Buffer<T>> = outputs.collect();
        let (Ok(inputs), Ok(outputs)) = (inputs.try_into(), outputs.try_into()) else {
            return Err("another number of operands or results".into());
        };
        Ok((self.function)(queue, len, inputs, outputs)?)
    }
}
