//! Comparison of a configuration's results with the default's, on copies of the buffers of a call.

use super::launch_timer::LaunchTimer;
use crate::error::{Error, Result};
use crate::kernel::{Arg, Passed, Prepared};
use crate::opencl::{RawBuffer, RawImage, RawQueue};
use crate::queue::Queue;
use crate::tuning::{ExpectedBuffer, WrongResult, filler, pattern};
use cltune_core::expr::Env;
use cltune_core::model::{Access, ArgumentKind, ElementType};
use cltune_formats::declaration::{Compared, Declaration};
use std::ops::Range;

/// The result of a check.
#[derive(Debug)]
pub(super) enum Checked {
    /// It is right, and took so long, microseconds.
    Right(f64),
    /// It is wrong, or does not run.
    Wrong(String),
}

/// The call whose arguments are used for a check.
pub(super) struct Check<'a> {
    pub(super) queue: &'a Queue,
    pub(super) declaration: &'a Declaration,
    pub(super) dims: &'a [i64],
    /// The codes of the default.
    pub(super) default: &'a [i64],
    pub(super) args: &'a [Arg<'a>],
}

/// A buffer that the kernel writes.
struct WrittenBuffer<'a> {
    /// The position among the arguments of the call.
    position: usize,
    name: &'a str,
    element: ElementType,
    /// Whether the kernel reads nothing of it.
    is_output: bool,
    /// Which elements are compared.
    compared: &'a Compared,
    memory: Memory<'a>,
    bytes: usize,
}

/// The memory that the call has passed.
#[derive(Clone, Copy)]
enum Memory<'a> {
    Buffer(&'a RawBuffer),
    Image(&'a RawImage),
}

/// A buffer that the kernel writes, with the copy that a check uses.
struct BufferCopy<'a> {
    target: WrittenBuffer<'a>,
    copy: RawBuffer,
    /// What the kernel gets instead, where it is an image.
    image: Option<RawImage>,
}

/// The number of bytes that a check compares.
pub(super) fn written_bytes(declaration: &Declaration, args: &[Arg<'_>]) -> usize {
    written(declaration, args).map(|target| target.bytes).sum()
}

/// The buffers of a call that the kernel writes.
fn written<'a>(
    declaration: &'a Declaration,
    args: &'a [Arg<'a>],
) -> impl Iterator<Item = WrittenBuffer<'a>> {
    let pairs = declaration.model.arguments.iter().zip(args).enumerate();
    pairs.filter_map(|(position, (argument, arg))| {
        let ArgumentKind::Buffer {
            element, access, ..
        } = &argument.kind
        else {
            return None;
        };
        let (memory, len) = match arg.0 {
            Passed::Buffer { raw, len, .. } => (Memory::Buffer(raw), len),
            Passed::Image { raw, .. } => (Memory::Image(raw), raw.shape().pixels()),
            Passed::Scalar(_) => return None,
        };
        let is_written = *access != Access::Read && len > 0;
        is_written.then(|| WrittenBuffer {
            position,
            name: &argument.name,
            element: *element,
            is_output: *access == Access::Write,
            compared: declaration.compared(position),
            memory,
            bytes: len * element.size(),
        })
    })
}

impl Check<'_> {
    /// Runs the default and the candidate on copies, one after the other, and compares. Waits for
    /// all that the queue was given before.
    ///
    /// # Errors
    /// The default does not run on the copies, or they do not fit into the device's memory.
    pub(super) fn run(
        &self,
        timer: &mut LaunchTimer,
        default: &Prepared,
        candidate: &Prepared,
    ) -> Result<Checked> {
        self.queue.finish()?;
        let raw = timer.queue(self.queue)?;
        let written = self.copies()?;
        self.launch(raw, &written, default)?;
        let mut expected = Vec::new();
        for buffer in &written {
            let is_compared = *buffer.target.compared != Compared::None;
            let bytes = is_compared.then(|| buffer.read(raw)).transpose()?;
            expected.push(bytes.map(|bytes| self.expected(buffer, &bytes)));
        }
        let time_us = match self.launch(raw, &written, candidate) {
            Ok(time_us) => time_us,
            Err(error) => return Ok(Checked::Wrong(error.to_string())),
        };
        for (buffer, expected) in written.iter().zip(expected) {
            let Some(expected) = expected else {
                continue;
            };
            let found = buffer.read(raw)?;
            let wrong = match expected {
                Ok(expected) => {
                    let WrittenBuffer {
                        name,
                        element,
                        is_output,
                        ..
                    } = buffer.target;
                    let wrong = expected.compare(&found, is_output);
                    wrong.map(|kind| WrongResult::new(name, element, kind).to_string())
                }
                // With NaN in them, results can only be the same.
                Err(expected) => {
                    let name = buffer.target.name;
                    let found = &found[self.compared_bytes(buffer)];
                    (*expected != *found).then(|| format!("{name} has other results"))
                }
            };
            if let Some(wrong) = wrong {
                return Ok(Checked::Wrong(wrong));
            }
        }
        Ok(Checked::Right(time_us))
    }

    fn copies(&self) -> Result<Vec<BufferCopy<'_>>> {
        let mut all = Vec::new();
        for target in written(self.declaration, self.args) {
            let bytes = target.bytes;
            let copy = RawBuffer::new(self.queue.context().raw(), bytes)
                .map_err(Error::call(format!("clCreateBuffer of {bytes} bytes")))?;
            let image = match target.memory {
                Memory::Buffer(_) => None,
                Memory::Image(image) => {
                    let image = RawImage::new(self.queue.context().raw(), image.shape(), false);
                    let failed = Error::call(format!("clCreateImage of {bytes} bytes"));
                    Some(image.map_err(failed)?)
                }
            };
            all.push(BufferCopy {
                target,
                copy,
                image,
            });
        }
        Ok(all)
    }

    /// Launches on fresh copies and waits; the time in microseconds. Outputs are poisoned: the
    /// call's may hold the right results already, of an earlier call.
    fn launch(
        &self,
        raw: &RawQueue,
        written: &[BufferCopy<'_>],
        prepared: &Prepared,
    ) -> Result<f64> {
        let mut args = self.args.to_vec();
        for buffer in written {
            let target = &buffer.target;
            if target.is_output {
                raw.fill(
                    &buffer.copy,
                    pattern(filler(target.element)),
                    0,
                    target.bytes,
                )
                .map_err(Error::call("clEnqueueFillBuffer"))?;
            } else {
                let copied = match target.memory {
                    Memory::Buffer(from) => raw.copy(from, 0, &buffer.copy, 0, target.bytes),
                    Memory::Image(from) => raw.copy_from_image(from, &buffer.copy),
                };
                copied.map_err(Error::call("clEnqueueCopyBuffer"))?;
            }
            match (&mut args[target.position].0, &buffer.image) {
                (Passed::Buffer { raw, .. }, _) => *raw = &buffer.copy,
                (Passed::Image { raw: passed, .. }, Some(image)) => {
                    raw.copy_to_image(&buffer.copy, image, None)
                        .map_err(Error::call("clEnqueueCopyBufferToImage"))?;
                    *passed = image;
                }
                _ => {}
            }
        }
        let model = &self.declaration.model;
        let of_scratch = |element| pattern(filler(element));
        prepared.poison_scratch(raw, self.queue, of_scratch)?;
        let event = prepared.launch_on(raw, model, self.queue, &args, None)?;
        Ok(event.duration()?.as_secs_f64() * 1e6)
    }

    fn env(&self) -> Env<'_> {
        Env {
            params: self.default,
            dims: self.dims,
            device: &self.queue.device().info().limits,
        }
    }

    /// The compared elements of a buffer; all, where the declared range is none of this problem.
    fn compared_elements(&self, buffer: &BufferCopy<'_>) -> Range<usize> {
        let WrittenBuffer {
            element,
            compared,
            bytes,
            ..
        } = buffer.target;
        let len = bytes / element.size();
        compared.range(len, &self.env()).unwrap_or(0..len)
    }

    fn compared_bytes(&self, buffer: &BufferCopy<'_>) -> Range<usize> {
        let Range { start, end } = self.compared_elements(buffer);
        let size = buffer.target.element.size();
        start * size..end * size
    }

    /// The default's results with the tolerance; the bare bytes of what is compared, where they
    /// hold NaN.
    fn expected(&self, buffer: &BufferCopy<'_>, bytes: &[u8]) -> Result<ExpectedBuffer, Vec<u8>> {
        let tolerance = &self.declaration.tolerance;
        let env = self.env();
        let terms = tolerance.accumulates.as_ref();
        let terms = terms.and_then(|terms| terms.eval(&env).ok());
        let accumulates = terms.and_then(|terms| u64::try_from(terms).ok());
        let accumulates = accumulates.filter(|terms| *terms > 0);
        let element = buffer.target.element;
        let compared = self.compared_elements(buffer);
        let position = buffer.target.position;
        let is_rounded = match &self.declaration.model.arguments[position].kind {
            ArgumentKind::Buffer { memory, .. } => memory.is_normalized(),
            ArgumentKind::Scalar { .. } => false,
        };
        let expected =
            ExpectedBuffer::new(element, bytes.to_vec(), compared, tolerance, accumulates);
        expected
            .map(|expected| expected.rounded(is_rounded, tolerance))
            .map_err(|_| bytes[self.compared_bytes(buffer)].to_vec())
    }
}

impl BufferCopy<'_> {
    fn read(&self, raw: &RawQueue) -> Result<Vec<u8>> {
        let mut bytes = vec![0; self.target.bytes];
        if let Some(image) = &self.image {
            raw.copy_from_image(image, &self.copy)
                .map_err(Error::call("clEnqueueCopyImageToBuffer"))?;
        }
        raw.read(&self.copy, 0, &mut bytes)
            .map_err(Error::call("clEnqueueReadBuffer"))?;
        Ok(bytes)
    }
}
