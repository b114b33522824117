//! One draw of a buffer's contents, kept on the host or on the device, and the means for making it.

use super::expected::ExpectedBuffer;
use super::guarded::Surroundings;
use super::kept::{Keeping, Kept};
use super::options::Step;
use super::watch::{Checksum, Span, Watch};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::opencl::RawBuffer;
use crate::queue::Queue;
use std::borrow::Cow;
use std::ops::Range;

/// One draw of a buffer's contents.
#[derive(Debug)]
pub(super) struct BufferDraw {
    /// The contents that the kernel finds; `None` for outputs, which are poisoned, and empty
    /// buffers.
    pub(super) inputs: Option<Inputs>,
    /// The reference's results, for buffers that are written.
    pub(super) expected: Option<ExpectedBuffer>,
    /// The same on the device, where results are compared there.
    pub(super) expected_on_device: Option<OnDevice>,
}

/// Where a draw's inputs are kept.
#[derive(Debug)]
pub(super) enum Inputs {
    /// Where the device computes in the host's memory, or does not watch its own.
    Host(Kept),
    Device(OnDevice),
}

/// Contents on the device, and what they add up to.
#[derive(Debug)]
pub(super) struct OnDevice {
    pub(super) contents: RawBuffer,
    /// The bytes that are added up.
    summed: Range<usize>,
    pub(super) checksum: Checksum,
}

/// The means and options for making buffers.
pub(super) struct Making<'a> {
    pub(super) context: &'a Context,
    pub(super) queue: &'a Queue,
    pub(super) surroundings: Surroundings,
    pub(super) keeping: Keeping,
    /// Called before each draw is filled.
    pub(super) on_step: fn(Step),
    /// The checksums on the device, where contents are kept and compared there.
    pub(super) watch: Option<&'a Watch>,
}

impl<'a> Making<'a> {
    /// For buffers that are there, with contents that are in place.
    pub(super) fn of_filled(
        queue: &'a Queue,
        surroundings: Surroundings,
        keeping: Keeping,
        watch: Option<&'a Watch>,
    ) -> Self {
        Self {
            context: queue.context(),
            queue,
            surroundings,
            keeping,
            on_step: |_| {},
            watch,
        }
    }
}

impl BufferDraw {
    pub(super) fn new(making: &Making<'_>, contents: Vec<u8>) -> Result<Self> {
        let inputs = !contents.is_empty();
        let inputs = inputs.then(|| Inputs::new(making, contents));
        Ok(Self {
            inputs: inputs.transpose()?,
            expected: None,
            expected_on_device: None,
        })
    }
}

impl Inputs {
    fn new(making: &Making<'_>, contents: Vec<u8>) -> Result<Self> {
        let Some(watch) = making.watch else {
            return Ok(Self::Host(Kept::of(contents, making.keeping)));
        };
        let (queue, bytes) = (making.queue, contents.len());
        let copy = RawBuffer::new(making.context.raw(), bytes)
            .map_err(Error::call(format!("clCreateBuffer of {bytes} bytes")))?;
        queue
            .raw()
            .write(&copy, 0, &contents)
            .map_err(Error::call("clEnqueueWriteBuffer"))?;
        OnDevice::new(watch, queue, copy, 0..bytes).map(Self::Device)
    }

    pub(super) fn read(&self, queue: &Queue, bytes: usize) -> Result<Cow<'_, [u8]>> {
        match self {
            Self::Host(inputs) => Ok(Cow::Borrowed(inputs)),
            Self::Device(inputs) => {
                let mut contents = vec![0; bytes];
                queue
                    .raw()
                    .read(&inputs.contents, 0, &mut contents)
                    .map_err(Error::call("clEnqueueReadBuffer"))?;
                Ok(Cow::Owned(contents))
            }
        }
    }
}

impl OnDevice {
    pub(super) fn new(
        watch: &Watch,
        queue: &Queue,
        contents: RawBuffer,
        summed: Range<usize>,
    ) -> Result<Self> {
        let checksum = watch.checksum(queue, Span::of(&contents, &summed))?;
        Ok(Self {
            contents,
            summed,
            checksum,
        })
    }

    /// The bytes of a buffer that add up to the checksum where they are the same.
    pub(super) fn span<'a>(&self, buffer: &'a RawBuffer) -> Span<'a> {
        Span::of(buffer, &self.summed)
    }
}
