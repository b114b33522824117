//! The images that a buffer is converted to where a configuration wants it as one: made at first
//! use, and kept until the buffer's data change.

use crate::context::Context;
use crate::error::{Error, Result};
use crate::opencl::{RawBuffer, RawEvent, RawImage, RawQueue, WaitList};
use cltune_core::model::ImageShape;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex, PoisonError};

/// A buffer is converted to few different images. The oldest makes room for another.
const MOST: usize = 4;

/// The images of a buffer.
#[derive(Debug)]
pub(crate) struct KeptImages {
    /// Whether all changes of the data become known: not where other parts of the program have the
    /// memory, too.
    knows_changes: AtomicBool,
    images: Mutex<Vec<KeptImage>>,
}

#[derive(Debug)]
struct KeptImage {
    image: Arc<RawImage>,
    /// Whether it has the buffer's data.
    is_current: bool,
    /// The conversion and the handle of its queue, until it is known to have ended.
    conversion: Option<(RawEvent, usize)>,
}

/// The image that a call gets.
#[derive(Debug)]
pub(crate) struct Converted {
    pub(crate) image: Arc<RawImage>,
    /// The conversion, where there had to be one.
    pub(crate) conversion: Option<RawEvent>,
}

impl KeptImages {
    /// Of memory that nobody else changes.
    pub(crate) const fn new() -> Self {
        Self {
            knows_changes: AtomicBool::new(true),
            images: Mutex::new(Vec::new()),
        }
    }

    /// Of memory that others may change: nothing is kept.
    pub(crate) const fn of_shared_memory() -> Self {
        Self {
            knows_changes: AtomicBool::new(false),
            images: Mutex::new(Vec::new()),
        }
    }

    /// From now on, others may change the memory.
    pub(crate) fn share(&self) {
        self.knows_changes.store(false, Ordering::Relaxed);
    }

    /// The data change.
    #[inline]
    pub(crate) fn change(&mut self) {
        let images = self.images.get_mut();
        for image in images.unwrap_or_else(PoisonError::into_inner) {
            image.is_current = false;
        }
    }

    /// The image of a buffer for a command that is enqueued next, after the same events. Does not
    /// allocate where it is kept.
    ///
    /// `in_order`: whether the queue runs the next command after those that it was given before.
    pub(crate) fn get(
        &self,
        buffer: &RawBuffer,
        shape: ImageShape,
        context: &Context,
        queue: &RawQueue,
        after: Option<&WaitList>,
        in_order: bool,
    ) -> Result<Converted> {
        let mut images = self.images.lock().unwrap_or_else(PoisonError::into_inner);
        let knows_changes = self.knows_changes.load(Ordering::Relaxed);
        if !knows_changes {
            // Another call may still read what this one would overwrite.
            images.clear();
        }
        let position = images.iter().position(|kept| kept.image.shape() == shape);
        let position = match position {
            Some(position) => position,
            None => make(&mut images, context, shape)?,
        };
        let kept = &mut images[position];
        let mut converted = Converted {
            image: Arc::clone(&kept.image),
            conversion: None,
        };
        let handle = queue.handle().addr();
        if !kept.is_current {
            let conversion = queue
                .copy_to_image(buffer, &kept.image, after)
                .map_err(Error::call("clEnqueueCopyBufferToImage"))?;
            let shared = conversion.share().map_err(Error::call("clRetainEvent"))?;
            kept.conversion = Some((conversion, handle));
            kept.is_current = true;
            converted.conversion = Some(shared);
            // Another queue may be the next to need it.
            queue.flush().map_err(Error::call("clFlush"))?;
        }
        let must_wait = |of: &(RawEvent, usize)| !in_order || of.1 != handle;
        if kept.conversion.as_ref().is_some_and(must_wait)
            && let Some((conversion, _)) = kept.conversion.take()
        {
            let ended = conversion.wait();
            if ended.is_err() {
                kept.is_current = false;
            }
            ended.map_err(Error::call("clWaitForEvents"))?;
        }
        Ok(converted)
    }
}

/// Adds an image that does not have the buffer's data yet; its position.
fn make(images: &mut Vec<KeptImage>, context: &Context, shape: ImageShape) -> Result<usize> {
    let image = RawImage::new(context.raw(), shape, true).map_err(Error::call(format!(
        "clCreateImage of {} bytes for a buffer",
        shape.bytes()
    )))?;
    if images.len() >= MOST {
        images.remove(0);
    }
    images.push(KeptImage {
        image: Arc::new(image),
        is_current: false,
        conversion: None,
    });
    Ok(images.len() - 1)
}
