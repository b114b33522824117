//! A device's worker: it uploads what a share needs, launches, and reads the results back.

use super::buffers::{Allocation, Buffers, Launcher, is_of_configuration};
use super::pipeline::Pipeline;
use super::resident_inputs::Copy;
use super::work::{Chunk, DeferredResults, Failure, Operand, ShareDone, ShareWork, Target, Upload};
use crate::context::Context;
use crate::device::Device;
use crate::error::{Error, Result};
use crate::launch::LaunchCache;
use crate::opencl::Region;
use crate::queue::Queue;
use std::num::NonZeroU64;
use std::ops::Range;
use std::time::Instant;

/// A device's queue, buffers and pipeline.
#[derive(Debug)]
pub(super) struct Worker {
    // Declared before the queue, whose context they belong to.
    buffers: Buffers,
    /// Made when first needed.
    pipeline: Option<Pipeline>,
    queue: Queue,
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

    /// The number of bytes of these addresses, of the memory that has this content version, that
    /// are on the device.
    pub(super) fn count(&self, version: NonZeroU64, addresses: &Range<usize>) -> usize {
        self.buffers.count(version, addresses)
    }

    /// Frees the inputs that are kept on the device for later shares; whether there were any.
    pub(super) fn give_up(&mut self) -> bool {
        self.buffers.give_up()
    }

    /// Computes a share; returns when its results are in host memory.
    pub(super) fn run(&mut self, mut work: ShareWork<'_>) -> Result<ShareDone, Failure> {
        let context = self.queue.context();
        let allocation = self.buffers.allocate(context, &mut work.chunks);
        let Allocation {
            input_bytes,
            copies,
        } = allocation.map_err(Failure::before)?;
        let is_as_asked = ready(&self.queue, &work).map_err(Failure::before)?;
        let pipeline = if work.is_pipelined {
            pipeline(&mut self.pipeline, context, &work.chunks)
        } else {
            None
        };
        let launcher = Launcher {
            queue: &self.queue,
            buffers: &self.buffers,
            tunable: work.tunable,
            codes: is_as_asked.then_some(&*work.codes),
        };
        let chunks = work.chunks.len();
        let begin = Instant::now();
        copy(&self.queue, &copies).map_err(Failure::during)?;
        let (as_asked, deferred) = match pipeline {
            Some(pipeline) => pipeline.run(&launcher, work.chunks)?,
            None => directly(&launcher, work.chunks)?,
        };
        let elapsed = begin.elapsed();
        self.buffers.filled();
        Ok(ShareDone {
            elapsed,
            as_asked,
            chunks,
            input_bytes,
            deferred,
        })
    }
}

/// The pipeline through pinned memory; `None` where there is too little of it: then the driver
/// transfers as it can, which is slower and no failure.
fn pipeline<'p>(
    pipeline: &'p mut Option<Pipeline>,
    context: &Context,
    chunks: &[Chunk<'_>],
) -> Option<&'p mut Pipeline> {
    let mut made = || {
        if pipeline.is_none() {
            *pipeline = Some(Pipeline::new(context)?);
        }
        let pipeline = pipeline.as_mut();
        pipeline.map_or(Ok(()), |pipeline| pipeline.allocate(chunks))
    };
    if let Err(error) = made() {
        let device = context.device();
        tracing::warn!(%device, %error, "no pinned memory; transfers are slower without it");
        return None;
    }
    pipeline.as_mut()
}

/// Builds what the launches need, which is no part of their time. Returns whether it is the
/// configuration asked for; where the driver refuses that, it is the one that the selection rule
/// gives chunks.
fn ready(queue: &Queue, work: &ShareWork<'_>) -> Result<bool> {
    let launches = LaunchCache::of(queue.context());
    let all = |codes| {
        let ready = |chunk: &Chunk<'_>| launches.ready(work.tunable, queue, codes, &chunk.dims);
        work.chunks.iter().try_for_each(ready)
    };
    match all(Some(&work.codes)) {
        Ok(()) => Ok(true),
        Err(error) if is_of_configuration(&error) => all(None).map(|()| false),
        Err(error) => Err(error),
    }
}

/// Copies inputs that are on the device already to where they are needed. Waits for the copies,
/// because uploads to the same buffers go through other queues.
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
fn directly(
    launcher: &Launcher<'_>,
    chunks: Vec<Chunk<'_>>,
) -> Result<(bool, Vec<DeferredResults>), Failure> {
    let mut as_asked = true;
    let mut deferred = Vec::new();
    for (index, chunk) in chunks.into_iter().enumerate() {
        upload(launcher, index, &chunk).map_err(Failure::during)?;
        let (_, is_as_asked) = launcher.launch(index, &chunk).map_err(Failure::before)?;
        as_asked &= is_as_asked;
        deferred.extend(download(launcher, index, chunk).map_err(Failure::during)?);
    }
    Ok((as_asked, deferred))
}

fn upload(launcher: &Launcher<'_>, index: usize, chunk: &Chunk<'_>) -> Result<()> {
    for (position, operand) in chunk.operands.iter().enumerate() {
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
fn download(
    launcher: &Launcher<'_>,
    index: usize,
    chunk: Chunk<'_>,
) -> Result<Vec<DeferredResults>> {
    let mut deferred = Vec::new();
    for (argument, operand) in chunk.operands.into_iter().enumerate() {
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
            Target::Deferred { rows, width } => {
                let mut bytes = vec![0; rows * width];
                if let Some(region) = Region::rows(&mut bytes, rows, width) {
                    read(region)?;
                }
                deferred.push(DeferredResults {
                    argument,
                    share: chunk.share,
                    bytes,
                });
            }
        }
    }
    Ok(deferred)
}
