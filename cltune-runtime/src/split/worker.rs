//! A device's turn: upload what its share needs, launch, read the results back.

use super::blame::Failure;
use super::buffers::{Buffers, Found};
use super::pipeline::Pipeline;
use super::residents::Copy;
use super::turn::{Ended, Kept, Operand, Piece, Target, Turn, Upload};
use crate::context::Context;
use crate::device::Device;
use crate::error::{Error, Result};
use crate::event::Event;
use crate::kernel::{Arg, Tunable};
use crate::launch::LaunchCache;
use crate::opencl::Region;
use crate::queue::Queue;
use std::num::NonZeroU64;
use std::ops::Range;
use std::time::Instant;

/// What a device works with.
#[derive(Debug)]
pub(super) struct Worker {
    // Declared before the queue, whose context they belong to.
    buffers: Buffers,
    /// Made when first needed.
    pipeline: Option<Pipeline>,
    queue: Queue,
}

/// A kernel as a turn launches it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Launcher<'t> {
    pub(super) queue: &'t Queue,
    pub(super) buffers: &'t Buffers,
    tunable: &'static Tunable,
    /// The configuration asked for; `None` where a piece needs another one.
    codes: Option<&'t [i64]>,
}

impl Worker {
    pub(super) fn new(device: &Device) -> Result<Self> {
        Ok(Self {
            buffers: Buffers::default(),
            pipeline: None,
            queue: Queue::new(&Context::new(device)?)?,
        })
    }

    /// The device's context.
    pub(super) fn context(&self) -> &Context {
        self.queue.context()
    }

    /// How many bytes of these addresses of the memory that has this stamp are on the device.
    pub(super) fn count(&self, stamp: NonZeroU64, addresses: &Range<usize>) -> usize {
        self.buffers.count(stamp, addresses)
    }

    /// Frees what is kept on the device for later turns; whether there was any.
    pub(super) fn give_up(&mut self) -> bool {
        self.buffers.give_up()
    }

    /// Does a turn; returns when its results are in host memory.
    pub(super) fn run(&mut self, mut turn: Turn<'_>) -> Result<Ended, Failure> {
        let context = self.queue.context();
        let found = self.buffers.allocate(context, &mut turn.pieces);
        let Found { supplies, copies } = found.map_err(Failure::before)?;
        let is_as_asked = ready(&self.queue, &turn).map_err(Failure::before)?;
        let pipeline = if turn.is_pipelined {
            pipeline(&mut self.pipeline, context, &turn.pieces)
        } else {
            None
        };
        let launcher = Launcher {
            queue: &self.queue,
            buffers: &self.buffers,
            tunable: turn.tunable,
            codes: is_as_asked.then_some(&*turn.codes),
        };
        let pieces = turn.pieces.len();
        let begin = Instant::now();
        copy(&self.queue, &copies).map_err(Failure::during)?;
        let (as_asked, kept) = match pipeline {
            Some(pipeline) => pipeline.run(&launcher, turn.pieces)?,
            None => directly(&launcher, turn.pieces)?,
        };
        let elapsed = begin.elapsed();
        self.buffers.filled();
        Ok(Ended {
            elapsed,
            as_asked,
            pieces,
            supplies,
            kept,
        })
    }
}

/// What transfers through pinned memory; `None` where there is not enough of it: then the driver has to
/// transfer as it can, which is slower and no failure.
fn pipeline<'p>(
    pipeline: &'p mut Option<Pipeline>,
    context: &Context,
    pieces: &[Piece<'_>],
) -> Option<&'p mut Pipeline> {
    let mut made = || {
        if pipeline.is_none() {
            *pipeline = Some(Pipeline::new(context)?);
        }
        let pipeline = pipeline.as_mut();
        pipeline.map_or(Ok(()), |pipeline| pipeline.allocate(pieces))
    };
    if let Err(error) = made() {
        let device = context.device();
        tracing::warn!(%device, %error, "no pinned memory; transfers are slower without it");
        return None;
    }
    pipeline.as_mut()
}

/// Builds what the launches need, which is no part of their time: whether with the configuration asked for,
/// or with that which the selection rule gives pieces for which the driver refuses it.
fn ready(queue: &Queue, turn: &Turn<'_>) -> Result<bool> {
    let launches = LaunchCache::of(queue.context());
    let all = |codes| {
        let ready = |piece: &Piece<'_>| launches.ready(turn.tunable, queue, codes, &piece.dims);
        turn.pieces.iter().try_for_each(ready)
    };
    match all(Some(&turn.codes)) {
        Ok(()) => Ok(true),
        Err(error) if is_of_configuration(&error) => all(None).map(|()| false),
        Err(error) => Err(error),
    }
}

impl Launcher<'_> {
    /// Launches a piece; whether with the configuration asked for.
    pub(super) fn launch(&self, index: usize, piece: &Piece<'_>) -> Result<(Event, bool)> {
        let mut args = Vec::with_capacity(piece.operands.len());
        for (position, operand) in piece.operands.iter().enumerate() {
            args.push(match operand {
                Operand::Scalar(bytes) => Arg::bytes(bytes),
                Operand::Buffer { len, .. } => Arg::part(self.buffers.get(index, position)?, *len),
                Operand::OfFirst { len } => Arg::part(self.buffers.get(0, position)?, *len),
            });
        }
        let launches = LaunchCache::of(self.queue.context());
        let launch = |codes| launches.launch(self.tunable, self.queue, codes, &piece.dims, &args);
        match launch(self.codes) {
            Ok(event) => Ok((event, self.codes.is_some())),
            Err(error) if self.codes.is_some() && is_of_configuration(&error) => {
                Ok((launch(None)?, false))
            }
            Err(error) => Err(error),
        }
    }
}

/// Copies what is on the device already to where it is needed; returns when that is done, because uploads to the same
/// buffers go through other queues.
fn copy(queue: &Queue, copies: &[Copy]) -> Result<()> {
    if copies.is_empty() {
        return Ok(());
    }
    for copy in copies {
        let (source, target) = (copy.source.raw(), copy.target.raw());
        let copied = queue
            .raw()
            .copy(source, copy.from, target, copy.at, copy.len);
        copied.map_err(Error::call("clEnqueueCopyBuffer of a share"))?;
    }
    queue.finish()
}

/// One after the other: the driver transfers from and to the caller's memory as it can.
fn directly(launcher: &Launcher<'_>, pieces: Vec<Piece<'_>>) -> Result<(bool, Vec<Kept>), Failure> {
    let mut as_asked = true;
    let mut kept = Vec::new();
    for (index, piece) in pieces.into_iter().enumerate() {
        upload(launcher, index, &piece).map_err(Failure::during)?;
        let (_, is_as_asked) = launcher.launch(index, &piece).map_err(Failure::before)?;
        as_asked &= is_as_asked;
        kept.extend(download(launcher, index, piece).map_err(Failure::during)?);
    }
    Ok((as_asked, kept))
}

fn upload(launcher: &Launcher<'_>, index: usize, piece: &Piece<'_>) -> Result<()> {
    for (position, operand) in piece.operands.iter().enumerate() {
        let Operand::Buffer { uploads, .. } = operand else {
            continue;
        };
        for Upload { source, runs, at } in uploads {
            let buffer = launcher.buffers.get(index, position)?.raw();
            let raw = launcher.queue.raw();
            raw.write_runs(buffer, *at, source, *runs)
                .map_err(Error::call("clEnqueueWriteBuffer of a share"))?;
        }
    }
    Ok(())
}

/// Reads all results; the first read waits for the launch.
fn download(launcher: &Launcher<'_>, index: usize, piece: Piece<'_>) -> Result<Vec<Kept>> {
    let mut kept = Vec::new();
    for (argument, operand) in piece.operands.into_iter().enumerate() {
        let Operand::Buffer {
            download: Some(download),
            ..
        } = operand
        else {
            continue;
        };
        let buffer = launcher.buffers.get(index, argument)?.raw();
        let read = |region| {
            let raw = launcher.queue.raw();
            raw.read_runs(buffer, download.first, download.pitch, region)
                .map_err(Error::call("clEnqueueReadBuffer of a share"))
        };
        match download.target {
            Target::Place(region) => read(region)?,
            Target::Kept { rows, width } => {
                let mut bytes = vec![0; rows * width];
                if let Some(region) = Region::rows(&mut bytes, rows, width) {
                    read(region)?;
                }
                kept.push(Kept {
                    argument,
                    share: piece.share,
                    bytes,
                });
            }
        }
    }
    Ok(kept)
}

/// Whether the selection rule may have a better one for the share.
fn is_of_configuration(error: &Error) -> bool {
    error.is_of_configuration() || matches!(error, Error::InvalidConfiguration { .. })
}
