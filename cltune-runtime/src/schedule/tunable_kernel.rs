//! A tunable as the kernel of an operation: a launch for each tile.

use super::kernel::{AnyKernel, BlockError, Kept, RawBlock, RawCall};
use crate::buffer::Buffer;
use crate::device::Device;
use crate::error::Error;
use crate::kernel::{Arg, Tunable};
use crate::queue::Queue;
use crate::split::{Choice, Meaning, beyond_type, launch, scalar_of};
use cltune_core::model::ElementType;
use cltune_core::split::Span;
use cltune_core::tasks::{Operand, Tile};

/// A tunable that computes tiles.
pub(super) struct TunableKernel {
    pub(super) name: String,
    pub(super) tunable: &'static Tunable,
    pub(super) dims: Box<[i64]>,
    /// The dimensions of I and J.
    pub(super) axes: Vec<u16>,
    /// One for each argument of the call.
    pub(super) passed: Vec<Passed>,
    pub(super) choices: Vec<DeviceChoice>,
}

/// An argument of each launch.
pub(super) enum Passed {
    Scalar(Scalar),
    /// The block of an operand, by its position.
    Input(usize, Operand),
    /// The tile of a result, by its position.
    Output(usize, Operand),
}

/// A scalar of the call.
pub(super) struct Scalar {
    pub(super) name: String,
    pub(super) element: ElementType,
    pub(super) bytes: Vec<u8>,
    /// To I and J.
    pub(super) meanings: Vec<Meaning>,
}

/// The configuration of a device.
pub(super) struct DeviceChoice {
    pub(super) device: Device,
    pub(super) choice: Choice,
    /// Positions of I times positions of J per second.
    pub(super) speed: Option<f64>,
}

impl TunableKernel {
    fn choice(&self, device: &Device) -> Option<&DeviceChoice> {
        self.choices.iter().find(|of| of.device == *device)
    }

    /// The bytes of a scalar for a tile.
    fn scalar(&self, scalar: &Scalar, tile: &Tile) -> crate::Result<Vec<u8>> {
        let mut bytes = scalar.bytes.clone();
        for (axis, meaning) in scalar.meanings.iter().enumerate() {
            let [start, len] = [tile.first[axis], tile.size[axis]].map(|of| of as i64);
            bytes = scalar_of(scalar.element, &bytes, *meaning, Span { start, len })
                .ok_or_else(|| beyond_type(self.tunable, &scalar.name, scalar.element, start))?;
        }
        Ok(bytes)
    }
}

impl AnyKernel for TunableKernel {
    fn name(&self) -> String {
        self.name.clone()
    }

    fn prepare(&self, queue: &Queue) -> Result<Kept, BlockError> {
        Ok(Box::new(queue.device().clone()))
    }

    fn expected_seconds(&self, kept: &Kept, sizes: [usize; 3]) -> Option<f64> {
        let speed = self.choice(kept.downcast_ref()?)?.speed?;
        Some(sizes[0] as f64 * sizes[1] as f64 / speed)
    }

    fn launch(&self, queue: &Queue, _kept: &mut Kept, call: RawCall<'_>) -> Result<(), BlockError> {
        let mut dims = self.dims.to_vec();
        for (dimension, size) in self.axes.iter().zip(call.tile.size) {
            dims[usize::from(*dimension)] = size as i64;
        }
        let buffer = |block: &RawBlock<'_>, element: usize| -> crate::Result<(Buffer<u8>, usize)> {
            let len = block.lines * block.leading;
            let raw = block.buffer.share();
            let raw = raw.map_err(Error::call("clRetainMemObject of a block"))?;
            Ok((Buffer::of(raw, queue.context(), len * element), len))
        };
        let (mut scalars, mut buffers) = (Vec::new(), Vec::new());
        for passed in &self.passed {
            match passed {
                Passed::Scalar(scalar) => scalars.push(self.scalar(scalar, &call.tile)?),
                Passed::Input(position, operand) => {
                    let block = call.inputs.get(*position).ok_or("an operand is missing")?;
                    buffers.push(buffer(block, operand.element)?);
                }
                Passed::Output(position, operand) => {
                    let block = call.outputs.get(*position).ok_or("a result is missing")?;
                    buffers.push(buffer(block, operand.element)?);
                }
            }
        }
        let (mut scalars, mut buffers) = (scalars.iter(), buffers.iter());
        let arg = |passed: &Passed| match passed {
            Passed::Scalar(_) => scalars.next().map(|bytes| Arg::bytes(bytes)),
            Passed::Input(..) | Passed::Output(..) => {
                buffers.next().map(|(buffer, len)| Arg::part(buffer, *len))
            }
        };
        let args: Option<Vec<Arg<'_>>> = self.passed.iter().map(arg).collect();
        let args = args.ok_or("an argument is missing")?;
        let codes = self.choice(queue.device()).map(|of| &*of.choice.codes);
        launch(queue, self.tunable, codes, &dims, &args)?;
        Ok(())
    }
}
