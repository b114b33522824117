//! A device's turn: upload what its share needs, launch, read the results back.

use super::blame::Failure;
use crate::buffer::Buffer;
use crate::context::Context;
use crate::device::Device;
use crate::error::{Error, Result};
use crate::launch::{Arg, Tunable};
use crate::opencl::{Region, Runs};
use crate::queue::Queue;
use std::time::{Duration, Instant};

/// What a device works with. Its buffers stay for later turns, one for each position of an argument.
#[derive(Debug)]
pub(super) struct Worker {
    // Declared before the queue, whose context they belong to.
    buffers: Vec<Option<Buffer<u8>>>,
    queue: Queue,
}

/// What a device has to do.
#[derive(Debug)]
pub(super) struct Turn<'r> {
    pub(super) tunable: &'static Tunable,
    /// The problem of the share.
    pub(super) dims: Vec<i64>,
    /// The configuration to use if the driver takes it.
    pub(super) codes: Vec<i64>,
    /// One for each argument of the call.
    pub(super) operands: Vec<Operand<'r>>,
}

/// An argument of a turn.
#[derive(Debug)]
pub(super) enum Operand<'r> {
    Scalar(Vec<u8>),
    Buffer {
        /// Elements.
        len: usize,
        bytes: usize,
        /// What is written to it before the launch.
        upload: Option<(&'r [u8], Runs)>,
        /// What is read from it afterwards.
        download: Option<Download<'r>>,
    },
}

/// Results to read back.
#[derive(Debug)]
pub(super) struct Download<'r> {
    /// The first byte of each row in the buffer.
    pub(super) first: usize,
    /// Bytes of a row in the buffer.
    pub(super) pitch: usize,
    pub(super) target: Target<'r>,
}

/// Where results go.
#[derive(Debug)]
pub(super) enum Target<'r> {
    /// To the caller's slice.
    Place(Region<'r>),
    /// To memory of their own, one row after the other, because the caller's slice is still read.
    Staged { rows: usize, width: usize },
}

/// A turn that went well.
#[derive(Debug)]
pub(super) struct Ended {
    /// Uploading, launching and reading back.
    pub(super) elapsed: Duration,
    /// Whether the configuration was the one asked for.
    pub(super) as_asked: bool,
    /// Results that wait for the end of the call, each with the position of its argument.
    pub(super) staged: Vec<(usize, Vec<u8>)>,
}

impl Worker {
    pub(super) fn new(device: &Device) -> Result<Self> {
        Ok(Self {
            buffers: Vec::new(),
            queue: Queue::new(&Context::new(device)?)?,
        })
    }

    /// Does a turn; returns when its results are in host memory.
    pub(super) fn run(&mut self, turn: Turn<'_>) -> Result<Ended, Failure> {
        self.allocate(&turn.operands).map_err(Failure::before)?;
        let codes = self.ready(&turn).map_err(Failure::before)?;
        let begin = Instant::now();
        self.upload(&turn.operands).map_err(Failure::during)?;
        let as_asked = self.launch(&turn, codes).map_err(Failure::before)?;
        let staged = self.download(turn.operands).map_err(Failure::during)?;
        Ok(Ended {
            elapsed: begin.elapsed(),
            as_asked,
            staged,
        })
    }

    /// Makes buffers that are large enough.
    fn allocate(&mut self, operands: &[Operand<'_>]) -> Result<()> {
        if self.buffers.len() < operands.len() {
            self.buffers.resize_with(operands.len(), || None);
        }
        for (buffer, operand) in self.buffers.iter_mut().zip(operands) {
            let Operand::Buffer { bytes, .. } = operand else {
                continue;
            };
            if buffer.as_ref().is_none_or(|buffer| buffer.len() < *bytes) {
                // First, so that there is room for its successor. The slack is for shares that
                // grow a little while the split is corrected.
                *buffer = None;
                let with_slack = bytes.saturating_add(bytes / 16);
                let made = Buffer::new(self.queue.context(), with_slack);
                *buffer = Some(made.or_else(|_| Buffer::new(self.queue.context(), *bytes))?);
            }
        }
        Ok(())
    }

    /// Builds what the launch needs, which is no part of its time: with the configuration asked for,
    /// or `None` for the one that the selection rule gives a share for which the driver refuses it.
    fn ready<'t>(&self, turn: &'t Turn<'_>) -> Result<Option<&'t [i64]>> {
        let launches = self.queue.context().launches();
        let asked = launches.ready(turn.tunable, &self.queue, Some(&turn.codes), &turn.dims);
        match asked {
            Ok(()) => Ok(Some(&turn.codes)),
            Err(error) if is_of_configuration(&error) => {
                launches.ready(turn.tunable, &self.queue, None, &turn.dims)?;
                Ok(None)
            }
            Err(error) => Err(error),
        }
    }

    fn upload(&self, operands: &[Operand<'_>]) -> Result<()> {
        for (position, operand) in operands.iter().enumerate() {
            if let Operand::Buffer {
                upload: Some((source, runs)),
                ..
            } = operand
            {
                let raw = self.queue.raw();
                raw.write_runs(self.buffer(position)?.raw(), source, *runs)
                    .map_err(Error::call("clEnqueueWriteBuffer of a share"))?;
            }
        }
        Ok(())
    }

    /// Whether it was the configuration asked for.
    fn launch(&self, turn: &Turn<'_>, codes: Option<&[i64]>) -> Result<bool> {
        let mut args = Vec::with_capacity(turn.operands.len());
        for (position, operand) in turn.operands.iter().enumerate() {
            args.push(match operand {
                Operand::Scalar(bytes) => Arg::bytes(bytes),
                Operand::Buffer { len, .. } => Arg::part(self.buffer(position)?, *len),
            });
        }
        let launches = self.queue.context().launches();
        let launch = |codes| launches.launch(turn.tunable, &self.queue, codes, &turn.dims, &args);
        match launch(codes) {
            Ok(_) => Ok(codes.is_some()),
            Err(error) if codes.is_some() && is_of_configuration(&error) => {
                launch(None)?;
                Ok(false)
            }
            Err(error) => Err(error),
        }
    }

    /// Reads all results; the first read waits for the launch.
    fn download(&self, operands: Vec<Operand<'_>>) -> Result<Vec<(usize, Vec<u8>)>> {
        let mut staged = Vec::new();
        for (position, operand) in operands.into_iter().enumerate() {
            let Operand::Buffer {
                download: Some(download),
                ..
            } = operand
            else {
                continue;
            };
            let buffer = self.buffer(position)?.raw();
            let read = |region| {
                let raw = self.queue.raw();
                raw.read_runs(buffer, download.first, download.pitch, region)
                    .map_err(Error::call("clEnqueueReadBuffer of a share"))
            };
            match download.target {
                Target::Place(region) => read(region)?,
                Target::Staged { rows, width } => {
                    let mut bytes = vec![0; rows * width];
                    if let Some(region) = Region::rows(&mut bytes, rows, width) {
                        read(region)?;
                    }
                    staged.push((position, bytes));
                }
            }
        }
        Ok(staged)
    }

    /// The buffer of an argument, which [`Worker::allocate`] has made.
    fn buffer(&self, position: usize) -> Result<&Buffer<u8>> {
        let buffer = self.buffers.get(position).and_then(Option::as_ref);
        buffer.ok_or(Error::Arguments {
            kernel: String::new(),
            expected: self.buffers.len(),
            found: position,
        })
    }
}

/// Whether the selection rule may have a better one for the share.
fn is_of_configuration(error: &Error) -> bool {
    error.is_of_configuration() || matches!(error, Error::InvalidConfiguration { .. })
}
