//! The images that kernels get while they are tuned.
//!
//! Each is beside a buffer with the same elements. The buffer is filled, poisoned, guarded and
//! compared like any other, and copied to the image before a launch and back after it.

use super::buffers::{BufferArgument, Round};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::kernel::PreparedCommands;
use crate::opencl::RawImage;
use crate::queue::Queue;
use cltune_core::model::{ArgumentKind, ImageShape, Memory, Model};

/// The images of the arguments of a call, by their positions.
#[derive(Debug)]
pub(super) struct Images {
    /// Of each argument, whether a parameter says where it lives: only these are converted in a
    /// call of a program.
    chosen: Vec<bool>,
    kept: Vec<Option<TuningImage>>,
    /// The time that the last conversions of each argument took, microseconds; `None` where the
    /// driver does not tell.
    conversion_us: Vec<Option<f64>>,
}

#[derive(Debug)]
struct TuningImage {
    image: RawImage,
    /// The round and the version of the buffer that it has the elements of.
    holds: Option<(Round, u64)>,
}

/// The buffer of an argument of the call, if it is one.
pub(super) type BufferAt<'a> = dyn Fn(usize) -> Option<&'a BufferArgument> + 'a;

impl Images {
    pub(super) fn new(model: &Model) -> Self {
        let is_chosen = |kind: &ArgumentKind| {
            matches!(
                kind,
                ArgumentKind::Buffer {
                    memory: Memory::Chosen(_),
                    ..
                }
            )
        };
        let arguments = model.arguments.iter();
        let chosen = arguments.map(|argument| is_chosen(&argument.kind));
        Self {
            chosen: chosen.collect(),
            kept: Vec::new(),
            conversion_us: vec![None; model.arguments.len()],
        }
    }

    /// Copies the buffers of a round to the images that commands need, where those do not have
    /// their elements, and waits for that.
    pub(super) fn place(
        &mut self,
        queue: &Queue,
        commands: &PreparedCommands,
        round: Round,
        buffer: &BufferAt<'_>,
    ) -> Result<()> {
        let mut copies = Vec::new();
        for (position, shape) in commands.images() {
            let Some(buffer) = buffer(*position) else {
                continue;
            };
            let is_read_only = !self.is_written(*position, buffer);
            let image = self.image(queue.context(), *position, *shape, is_read_only)?;
            let holds = Some((round, buffer.version()));
            if image.holds == holds {
                continue;
            }
            let copy = queue
                .raw()
                .copy_to_image(buffer.place(round).region(), &image.image, None)
                .map_err(Error::call("clEnqueueCopyBufferToImage"))?;
            image.holds = holds;
            copies.push((*position, copy));
        }
        if copies.is_empty() {
            return Ok(());
        }
        queue.finish()?;
        for (position, copy) in copies {
            let profile = copy.profile().ok();
            let time_us = profile.map(|(start, end)| end.saturating_sub(start) as f64 / 1e3);
            if let Some(last) = self.conversion_us.get_mut(position) {
                *last = time_us;
            }
        }
        Ok(())
    }

    fn image(
        &mut self,
        context: &Context,
        position: usize,
        shape: ImageShape,
        is_read_only: bool,
    ) -> Result<&mut TuningImage> {
        if self.kept.len() <= position {
            self.kept.resize_with(position + 1, || None);
        }
        let slot = &mut self.kept[position];
        if slot.as_ref().is_none_or(|kept| kept.image.shape() != shape) {
            // First, so that both need not fit.
            *slot = None;
        }
        match slot {
            Some(image) => Ok(image),
            slot => {
                let image = RawImage::new(context.raw(), shape, is_read_only);
                let image = image.map_err(Error::call(format!(
                    "clCreateImage of {} bytes",
                    shape.bytes()
                )))?;
                Ok(slot.insert(TuningImage { image, holds: None }))
            }
        }
    }

    /// Whether kernels write an image. What a parameter places they only read, and kernels that
    /// make inputs have it as a buffer.
    fn is_written(&self, position: usize, buffer: &BufferArgument) -> bool {
        buffer.is_changed() && self.chosen.get(position) != Some(&true)
    }

    /// Copies images that kernels have written back to their buffers.
    pub(super) fn fetch(
        &self,
        queue: &Queue,
        commands: &PreparedCommands,
        round: Round,
        buffer: &BufferAt<'_>,
    ) -> Result<()> {
        for (position, _) in commands.images() {
            let image = self.kept.get(*position).and_then(Option::as_ref);
            if let (Some(buffer), Some(image)) = (buffer(*position), image)
                && self.is_written(*position, buffer)
            {
                queue
                    .raw()
                    .copy_from_image(&image.image, buffer.place(round).region())
                    .map_err(Error::call("clEnqueueCopyImageToBuffer"))?;
            }
        }
        Ok(())
    }

    /// The image of an argument that commands get as one.
    pub(super) fn of(&self, commands: &PreparedCommands, position: usize) -> Option<&RawImage> {
        let mut images = commands.images().iter();
        images.find(|(at, _)| *at == position)?;
        self.kept.get(position)?.as_ref().map(|kept| &kept.image)
    }

    /// The time that the last conversions took for the images of commands, microseconds; `None`
    /// where nothing is converted, or the driver does not tell.
    pub(super) fn conversion_us(&self, commands: &PreparedCommands) -> Option<f64> {
        let images = commands.images().iter();
        let converted = images.filter(|(at, _)| self.chosen.get(*at) == Some(&true));
        let times = converted.map(|(at, _)| self.conversion_us.get(*at).copied().flatten());
        let times: Vec<f64> = times.collect::<Option<_>>()?;
        (!times.is_empty()).then(|| times.iter().sum())
    }
}
