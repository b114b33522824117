//! The types of the package opencl3, from and to.

use super::checks;
use crate::buffer::Buffer;
use crate::context::Context;
use crate::device::Device;
use crate::element::Element;
use crate::error::{Error, Result};
use crate::event::Event;
use crate::image::{Image, ImageSize, Pixel};
use crate::opencl::{RawBuffer, RawContext, RawEvent, RawImage, RawQueue};
use crate::queue::Queue;
use crate::view::{BufferView, BufferViewMut};
use opencl3::command_queue::CommandQueue;

impl Context {
    /// As [`Context::from_raw`], of a context that is alive by its type.
    ///
    /// ```no_run
    /// # fn example(theirs: &opencl3::context::Context) -> cltune::Result<()> {
    /// use cltune::{Context, Device};
    ///
    /// let device = Device::from_raw(theirs.default_device())?;
    /// let context = Context::from_opencl3(theirs, &device)?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Error::Foreign`] for a context without the device.
    pub fn from_opencl3(context: &opencl3::context::Context, device: &Device) -> Result<Self> {
        checks::context(RawContext::of_opencl3(context), device)
    }

    /// The same context for opencl3, with a reference of its own.
    ///
    /// # Errors
    /// [`Error::OpenCl`] where the driver refuses a further reference.
    pub fn to_opencl3(&self) -> Result<opencl3::context::Context> {
        let device = self.device().as_raw();
        let handle = self.clone().into_raw()?;
        Ok(opencl3::context::Context::new(handle, &[device]))
    }
}

impl Queue {
    /// As [`Queue::from_raw`], of a queue that is alive by its type.
    ///
    /// # Errors
    /// [`Error::Foreign`] for a queue of a sub-device, and for one that takes commands of kernels.
    pub fn from_opencl3(queue: &CommandQueue) -> Result<Self> {
        checks::queue(RawQueue::of_opencl3(queue))
    }

    /// The same queue for opencl3, with a reference of its own. It does not know the events of
    /// [`Queue::after`].
    ///
    /// # Errors
    /// [`Error::OpenCl`] where the driver refuses a further reference.
    pub fn to_opencl3(&self) -> Result<CommandQueue> {
        let device = opencl3::device::Device::new(self.device().as_raw());
        let dimensions = device
            .max_work_item_dimensions()
            .map_err(|error| Error::call("clGetDeviceInfo")(crate::opencl::Status(error.0)))?;
        let shared = self.raw().share();
        let shared = shared.map_err(Error::call("clRetainCommandQueue"))?;
        Ok(CommandQueue::new(shared.into_handle(), dimensions))
    }

    /// Lends a buffer of opencl3 to cltune, for kernels that read it: nothing is copied, and the
    /// result goes where a `&Buffer` is taken. It has as many elements as the buffer has room for.
    ///
    /// ```no_run
    /// # use cltune::{Buffer, Event, Queue, Result};
    /// # use opencl3::{command_queue::CommandQueue, memory};
    /// # type Saxpy = fn(&Queue, u32, f32, &Buffer<f32>, &mut Buffer<f32>) -> Result<Event>;
    /// # fn example(
    /// #     saxpy: Saxpy, queue: &CommandQueue, x: memory::Buffer<f32>, mut y: memory::Buffer<f32>,
    /// # ) -> Result<()> {
    /// let queue = Queue::from_opencl3(queue)?;
    /// let x = queue.lend(&x)?;
    /// let mut y = queue.lend_mut(&mut y)?;
    /// saxpy(&queue, 1 << 20, 3.0, &x, &mut y)?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Error::OtherContext`] for a buffer of another context than the queue's.
    pub fn lend<'a, T: Element>(
        &self,
        buffer: &'a opencl3::memory::Buffer<T>,
    ) -> Result<BufferView<'a, T>> {
        let lent = checks::buffer(RawBuffer::of_opencl3(buffer), self.context(), None)?;
        Ok(BufferView::new(lent, buffer))
    }

    /// As [`Queue::lend`], where a `&mut Buffer` is taken. The buffer is borrowed mutably, so that
    /// it cannot be passed to the same call a second time:
    ///
    /// ```compile_fail,E0502
    /// # use cltune::{Buffer, Event, Queue, Result};
    /// # type Saxpy = fn(&Queue, u32, f32, &Buffer<f32>, &mut Buffer<f32>) -> Result<Event>;
    /// # fn example(
    /// #     saxpy: Saxpy, queue: &Queue, mut y: opencl3::memory::Buffer<f32>,
    /// # ) -> Result<()> {
    /// let x = queue.lend(&y)?;
    /// let mut y = queue.lend_mut(&mut y)?;
    /// saxpy(&queue, 1 << 20, 3.0, &x, &mut y)?;
    /// # Ok(())
    /// # }
    /// ```
    ///
    /// # Errors
    /// [`Error::OtherContext`] for a buffer of another context than the queue's.
    pub fn lend_mut<'a, T: Element>(
        &self,
        buffer: &'a mut opencl3::memory::Buffer<T>,
    ) -> Result<BufferViewMut<'a, T>> {
        let lent = checks::buffer(RawBuffer::of_opencl3(buffer), self.context(), None)?;
        Ok(BufferViewMut::new(lent, buffer))
    }
}

impl<T: Element> Buffer<T> {
    /// Takes a buffer of opencl3 over, with as many elements as it has room for; nothing is copied.
    /// To lend it for a call there is [`Queue::lend`].
    ///
    /// # Errors
    /// [`Error::OtherContext`]. The buffer is released then.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "the value gives up its place; the reference that it releases is replaced by cltune's"
    )]
    pub fn from_opencl3(context: &Context, buffer: opencl3::memory::Buffer<T>) -> Result<Self> {
        checks::buffer(RawBuffer::of_opencl3(&buffer), context, None)
    }

    /// Gives the buffer to opencl3.
    pub fn into_opencl3(self) -> opencl3::memory::Buffer<T> {
        opencl3::memory::Buffer::new(self.into_raw())
    }
}

impl<T: Pixel, S: ImageSize> Image<T, S> {
    /// Takes an image of opencl3 over; nothing is copied.
    ///
    /// # Errors
    /// [`Error::Foreign`] for an image of another kind or format; [`Error::OtherContext`]. The
    /// image is released then.
    #[expect(
        clippy::needless_pass_by_value,
        reason = "the value gives up its place; the reference that it releases is replaced by cltune's"
    )]
    pub fn from_opencl3(context: &Context, image: opencl3::memory::Image) -> Result<Self> {
        checks::image(RawImage::of_opencl3(&image, S::KIND), context)
    }

    /// Gives the image to opencl3.
    pub fn into_opencl3(self) -> opencl3::memory::Image {
        opencl3::memory::Image::new(self.into_raw())
    }
}

impl Event {
    /// As [`Event::from_raw`], of an event that is alive by its type.
    ///
    /// # Errors
    /// [`Error::OpenCl`] where the driver refuses a further reference.
    pub fn from_opencl3(event: &opencl3::event::Event) -> Result<Self> {
        checks::event(RawEvent::of_opencl3(event))
    }

    /// Gives the event to opencl3.
    ///
    /// # Errors
    /// As [`Event::into_raw`].
    pub fn into_opencl3(self) -> Result<opencl3::event::Event> {
        self.into_raw().map(opencl3::event::Event::new)
    }
}
