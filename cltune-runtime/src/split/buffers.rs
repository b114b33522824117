//! A device's buffers, which stay for later shares, and launches with them.

use super::resident_inputs::{Contents, Copy, ResidentInputs, with_slack};
use super::work::{Chunk, InputBytes, Operand, Upload};
use crate::buffer::Buffer;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::event::Event;
use crate::kernel::{Arg, Tunable};
use crate::launch::LaunchCache;
use crate::opencl::Runs;
use crate::queue::Queue;
use std::collections::HashMap;
use std::num::NonZeroU64;
use std::ops::Range;
use std::sync::Arc;

/// One buffer for each argument of each chunk.
#[derive(Debug, Default)]
pub(super) struct Buffers {
    /// Those that every share fills anew.
    own: Vec<Vec<Option<Buffer<u8>>>>,
    resident_inputs: ResidentInputs,
    /// Inputs of the share that stay on the device for later ones: chunk, argument.
    lent: HashMap<(usize, usize), Arc<Buffer<u8>>>,
}

/// The buffers of a share: bytes to send and copies to make.
#[derive(Debug)]
pub(super) struct Allocation {
    /// One for each argument.
    pub(super) input_bytes: Vec<InputBytes>,
    /// To be done before anything else.
    pub(super) copies: Vec<Copy>,
}

impl Buffers {
    /// Makes buffers that are large enough, and leaves out of the uploads what is on the device
    /// already.
    pub(super) fn allocate(
        &mut self,
        context: &Context,
        chunks: &mut [Chunk<'_>],
    ) -> Result<Allocation> {
        self.lent.clear();
        self.resident_inputs.begin();
        let mut input_bytes = input_bytes(chunks);
        // First, so that nothing that the share needs is freed to make room.
        for (key, uploads, contents) in inputs(chunks) {
            if let Some(buffer) = self.resident_inputs.find(contents) {
                self.lent.insert(key, buffer);
                uploads.clear();
            }
        }
        let mut copies = Vec::new();
        for (key, uploads, contents) in inputs(chunks) {
            if self.lent.contains_key(&key) {
                continue;
            }
            // Another argument of the share may have the same contents.
            if let Some(buffer) = self.resident_inputs.find(contents) {
                self.lent.insert(key, buffer);
                uploads.clear();
                continue;
            }
            let vacant = self.resident_inputs.make(context, *contents)?;
            if let Some(missing) = vacant.missing {
                *uploads = only(uploads, &missing);
            }
            copies.extend(vacant.copies);
            self.lent.insert(key, vacant.buffer);
        }
        for (input, left) in input_bytes.iter_mut().zip(self::input_bytes(chunks)) {
            input.sent = left.sent;
        }
        self.allocate_own(context, chunks)?;
        Ok(Allocation {
            input_bytes,
            copies,
        })
    }

    /// Makes the buffers of arguments that every share fills anew.
    fn allocate_own(&mut self, context: &Context, chunks: &[Chunk<'_>]) -> Result<()> {
        self.own.truncate(chunks.len());
        self.own.resize_with(chunks.len(), Vec::new);
        for (index, (buffers, chunk)) in self.own.iter_mut().zip(chunks).enumerate() {
            if buffers.len() < chunk.operands.len() {
                buffers.resize_with(chunk.operands.len(), || None);
            }
            for (argument, (buffer, operand)) in buffers.iter_mut().zip(&chunk.operands).enumerate()
            {
                match operand {
                    Operand::Buffer { .. } if self.lent.contains_key(&(index, argument)) => {}
                    Operand::Buffer { bytes, .. } => {
                        let inputs = &self.resident_inputs;
                        inputs.make_room(|| fit(buffer, context, *bytes))?;
                    }
                    Operand::OfFirst { .. } => *buffer = None,
                    Operand::Scalar(_) => {}
                }
            }
        }
        Ok(())
    }

    /// Reports that all uploads of the share have ended, so that later ones may need none.
    pub(super) fn filled(&mut self) {
        self.resident_inputs.filled();
    }

    /// Frees the inputs that are kept for later shares; whether there were any.
    pub(super) fn give_up(&mut self) -> bool {
        self.lent.clear();
        self.resident_inputs.give_up()
    }

    /// The number of bytes of these addresses, of the memory that has this content version, that
    /// are on the device.
    pub(super) fn count(&self, version: NonZeroU64, addresses: &Range<usize>) -> usize {
        self.resident_inputs.count(version, addresses)
    }

    /// The buffer of an argument of a chunk, which [`Buffers::allocate`] has made.
    pub(super) fn get(&self, chunk: usize, argument: usize) -> Result<&Buffer<u8>> {
        if let Some(buffer) = self.lent.get(&(chunk, argument)) {
            return Ok(buffer);
        }
        let buffers = self.own.get(chunk);
        let buffer = buffers.and_then(|buffers| buffers.get(argument)?.as_ref());
        buffer.ok_or(Error::Arguments {
            kernel: String::new(),
            expected: buffers.map_or(0, Vec::len),
            found: argument,
        })
    }
}

/// The arguments whose changes are noticed: chunk and argument, uploads, contents.
fn inputs<'a, 'r>(
    chunks: &'a mut [Chunk<'r>],
) -> impl Iterator<Item = ((usize, usize), &'a mut Vec<Upload<'r>>, &'a Contents)> {
    let of_piece = |(index, chunk): (usize, &'a mut Chunk<'r>)| {
        let operands = chunk.operands.iter_mut().enumerate();
        operands.filter_map(move |(argument, operand)| match operand {
            Operand::Buffer {
                uploads,
                contents: Some(contents),
                ..
            } => Some(((index, argument), uploads, &*contents)),
            _ => None,
        })
    };
    chunks.iter_mut().enumerate().flat_map(of_piece)
}

/// The bytes to send of each argument, all of them needed.
fn input_bytes(chunks: &[Chunk<'_>]) -> Vec<InputBytes> {
    let arguments = chunks.iter().map(|chunk| chunk.operands.len()).max();
    let mut input_bytes = vec![InputBytes::default(); arguments.unwrap_or(0)];
    for chunk in chunks {
        for (input, operand) in input_bytes.iter_mut().zip(&chunk.operands) {
            if let Operand::Buffer { uploads, .. } = operand {
                let bytes: usize = uploads.iter().map(|upload| upload.runs.len()).sum();
                input.needed += bytes;
                input.sent += bytes;
            }
        }
    }
    input_bytes
}

/// Parts of uploads that have no gaps.
fn only<'r>(uploads: &[Upload<'r>], missing: &[Range<usize>]) -> Vec<Upload<'r>> {
    let parts = |upload: &Upload<'r>| {
        let Upload { source, runs, .. } = *upload;
        missing.iter().map(move |range| Upload {
            source,
            runs: Runs {
                first: runs.first + range.start,
                width: range.len(),
                rows: 1,
                pitch: range.len(),
            },
            at: range.start,
        })
    };
    uploads.iter().flat_map(parts).collect()
}

/// Replaces a buffer that is too small.
fn fit(buffer: &mut Option<Buffer<u8>>, context: &Context, bytes: usize) -> Result<()> {
    if buffer.as_ref().is_none_or(|buffer| buffer.len() < bytes) {
        // First, so that there is room for its successor.
        *buffer = None;
        *buffer = Some(with_slack(context, bytes)?);
    }
    Ok(())
}

/// Launches the chunks of a share.
#[derive(Clone, Copy, Debug)]
pub(super) struct Launcher<'t> {
    pub(super) queue: &'t Queue,
    pub(super) buffers: &'t Buffers,
    pub(super) tunable: &'static Tunable,
    /// The configuration asked for; `None` where a chunk needs another one.
    pub(super) codes: Option<&'t [i64]>,
}

impl Launcher<'_> {
    /// Launches a chunk; whether with the configuration asked for.
    pub(super) fn launch(&self, index: usize, chunk: &Chunk<'_>) -> Result<(Event, bool)> {
        let mut args = Vec::with_capacity(chunk.operands.len());
        for (position, operand) in chunk.operands.iter().enumerate() {
            args.push(match operand {
                Operand::Scalar(bytes) => Arg::bytes(bytes),
                Operand::Buffer { len, .. } => Arg::part(self.buffers.get(index, position)?, *len),
                Operand::OfFirst { len } => Arg::part(self.buffers.get(0, position)?, *len),
            });
        }
        launch(self.queue, self.tunable, self.codes, &chunk.dims, &args)
    }
}

/// Launches a part of a problem with a configuration, or with the one that the selection rule gives
/// it where there is none or the driver refuses it; whether with the configuration asked for.
pub(crate) fn launch(
    queue: &Queue,
    tunable: &'static Tunable,
    codes: Option<&[i64]>,
    dims: &[i64],
    args: &[Arg<'_>],
) -> Result<(Event, bool)> {
    let launches = LaunchCache::of(queue.context());
    let launch = |codes| launches.launch(tunable, queue, codes, dims, args);
    match launch(codes) {
        Ok(event) => Ok((event, codes.is_some())),
        Err(error) if codes.is_some() && is_of_configuration(&error) => Ok((launch(None)?, false)),
        Err(error) => Err(error),
    }
}

/// Whether the selection rule may have a better one for the share.
pub(super) fn is_of_configuration(error: &Error) -> bool {
    error.is_of_configuration() || matches!(error, Error::InvalidConfiguration { .. })
}
