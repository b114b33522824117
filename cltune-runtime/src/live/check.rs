//! Whether a configuration computes what the default does, tried on copies of what a call passes.

use super::stopwatch::Stopwatch;
use crate::error::{Error, Result};
use crate::launch::{Arg, Passed, Prepared};
use crate::opencl::{RawBuffer, RawQueue};
use crate::queue::Queue;
use crate::tuning::Expected;
use cltune_core::declaration::Declaration;
use cltune_core::expr::Env;
use cltune_core::model::{Access, ArgumentKind, ScalarType};

/// What became of a check.
#[derive(Debug)]
pub(super) enum Checked {
    /// It is right, and took so long, microseconds.
    Right(f64),
    /// It is wrong, or does not run.
    Wrong(String),
}

/// A call to be tried.
pub(super) struct Check<'a> {
    pub(super) queue: &'a Queue,
    pub(super) declaration: &'a Declaration,
    pub(super) dims: &'a [i64],
    /// The codes of the default.
    pub(super) default: &'a [i64],
    pub(super) args: &'a [Arg<'a>],
}

/// A buffer that the kernel writes, and its copy.
struct Written<'a> {
    /// The position among the arguments of the call.
    position: usize,
    name: &'a str,
    element: ScalarType,
    source: &'a RawBuffer,
    copy: RawBuffer,
    bytes: usize,
}

impl Check<'_> {
    /// Runs the default and the candidate on copies, one after the other, and compares. Waits for all that
    /// the queue was given before.
    ///
    /// # Errors
    /// The default does not run on the copies, or they do not fit into the device's memory.
    pub(super) fn run(
        &self,
        stopwatch: &mut Stopwatch,
        default: &Prepared,
        candidate: &Prepared,
    ) -> Result<Checked> {
        self.queue.finish()?;
        let raw = stopwatch.queue(self.queue)?;
        let written = self.copies()?;
        self.launch(raw, &written, default)?;
        let mut expected = Vec::new();
        for buffer in &written {
            expected.push(self.expected(buffer, buffer.read(raw)?));
        }
        let time_us = match self.launch(raw, &written, candidate) {
            Ok(time_us) => time_us,
            Err(error) => return Ok(Checked::Wrong(error.to_string())),
        };
        for (buffer, expected) in written.iter().zip(expected) {
            let found = buffer.read(raw)?;
            let wrong = match expected {
                Ok(expected) => expected
                    .compare(buffer.element, &found, false)
                    .map(|kind| format!("{kind:?}")),
                // With NaN in them, results can only be the same.
                Err(expected) => (expected != found).then(|| "other results".to_owned()),
            };
            if let Some(wrong) = wrong {
                return Ok(Checked::Wrong(format!("`{}`: {wrong}", buffer.name)));
            }
        }
        Ok(Checked::Right(time_us))
    }

    fn copies(&self) -> Result<Vec<Written<'_>>> {
        let arguments = self.declaration.model.arguments.iter();
        let passed = arguments.filter(|one| !matches!(one.kind, ArgumentKind::Local { .. }));
        let mut written = Vec::new();
        for (position, (argument, arg)) in passed.zip(self.args).enumerate() {
            let ArgumentKind::Buffer {
                element, access, ..
            } = &argument.kind
            else {
                continue;
            };
            let Passed::Buffer { raw, len, .. } = arg.0 else {
                continue;
            };
            if *access == Access::Read || len == 0 {
                continue;
            }
            let bytes = len * element.size();
            let copy = RawBuffer::new(self.queue.context().raw(), bytes)
                .map_err(Error::call(format!("clCreateBuffer of {bytes} bytes")))?;
            written.push(Written {
                position,
                name: &argument.name,
                element: *element,
                source: raw,
                copy,
                bytes,
            });
        }
        Ok(written)
    }

    /// Launches on fresh copies and waits; the time in microseconds.
    fn launch(&self, raw: &RawQueue, written: &[Written<'_>], prepared: &Prepared) -> Result<f64> {
        let mut args = self.args.to_vec();
        for buffer in written {
            raw.copy(buffer.source, 0, &buffer.copy, 0, buffer.bytes)
                .map_err(Error::call("clEnqueueCopyBuffer"))?;
            if let Passed::Buffer { raw, .. } = &mut args[buffer.position].0 {
                *raw = &buffer.copy;
            }
        }
        let model = &self.declaration.model;
        let event = prepared.launch_on(raw, model, self.queue, &args, None)?;
        Ok(event.duration()?.as_secs_f64() * 1e6)
    }

    /// What the default computed, with what may differ; as it is where it holds NaN.
    fn expected(&self, buffer: &Written<'_>, bytes: Vec<u8>) -> Result<Expected, Vec<u8>> {
        let tolerance = &self.declaration.tolerance;
        let env = Env {
            params: self.default,
            dims: self.dims,
            device: &self.queue.device().info().limits,
        };
        let terms = tolerance.accumulates.as_ref();
        let terms = terms.and_then(|terms| terms.eval(&env).ok());
        let accumulates = terms.and_then(|terms| u64::try_from(terms).ok());
        let accumulates = accumulates.filter(|terms| *terms > 0);
        let expected = Expected::new(buffer.element, bytes.clone(), tolerance, accumulates);
        expected.map_err(|_| bytes)
    }
}

impl Written<'_> {
    fn read(&self, raw: &RawQueue) -> Result<Vec<u8>> {
        let mut bytes = vec![0; self.bytes];
        raw.read(&self.copy, 0, &mut bytes)
            .map_err(Error::call("clEnqueueReadBuffer"))?;
        Ok(bytes)
    }
}
