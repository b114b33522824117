//! The rates of a device before its first task: of transfers, and of each kernel.

use super::engine::{Engine, refused};
use super::job::{Job, Source};
use super::kernel::{RawBlock, RawCall, tile_of};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::opencl::{BlockPlace, HostMemory, RawBuffer, RawQueue};
use crate::queue::Queue;
use crate::split::Failure;
use cltune_core::tasks::{Grain, LinkRates, Operand, Output, Rect, Tile, padded};
use std::sync::Arc;
use std::time::Instant;

/// Bytes of a transfer that is timed.
const TRANSFER: usize = 32 << 20;

/// The lines of a block that is timed.
const LINES: usize = 1024;

/// Their length, bytes: those of panels are about as long.
const LINE: usize = 4096;

/// What a line takes at most, seconds: so long a device is kept busy while lines are sent to it.
const MOST_OF_LINE: f64 = 1e-6;

/// The most copies that it is kept busy with.
const MOST_COPIES: f64 = 64.0;

/// How often it is timed; the fastest counts.
const ROUNDS: usize = 3;

/// The launch cost that is never undercut, seconds: less cannot be told from the clock.
const LEAST_LAUNCH: f64 = 5e-6;

/// A kernel that takes so long has a speed, seconds.
const TELLING: f64 = 2e-3;

/// What tuning says to take no longer than this is launched once before the first task, so that it
/// is built, seconds.
const BRIEF: f64 = 2e-2;

/// Measures how fast data gets to a device and back.
pub(super) fn link_rates(queue: &Queue, memory: usize, is_pinned: bool) -> Result<LinkRates> {
    let context = queue.context();
    let bytes = TRANSFER.min(memory / 4).max(1);
    // Where a device may use less, lines are left out of the choice of blocks.
    let has_lines = bytes >= LINES * LINE;
    let held = if has_lines {
        bytes.max(LINES * LinkRates::FAR)
    } else {
        bytes
    };
    let host = host_memory(context, queue, held, is_pinned)?;
    let buffer = || RawBuffer::new(context.raw(), bytes).map_err(Error::call("clCreateBuffer"));
    let (one, other) = (buffer()?, buffer()?);
    let raw = queue.raw();
    let transfer = Error::call;
    let sent = |place: BlockPlace| {
        let (host, one) = (&host, &one);
        fastest(move || {
            let sent = host.send(raw, one, place);
            sent.and_then(|sent| flushed(raw, || sent.wait()))
                .map_err(transfer("clEnqueueWriteBuffer of a probe"))
        })
    };
    let up = sent(whole(bytes))?;
    let down = fastest(|| {
        let after = raw
            .marker()
            .map_err(Error::call("clEnqueueMarkerWithWaitList"))?;
        let received = host.receive(raw, &one, whole(bytes), &after);
        received
            .and_then(|received| flushed(raw, || received.wait()))
            .map_err(transfer("clEnqueueReadBuffer of a probe"))
    })?;
    let copied = |bytes: usize| {
        let (one, other) = (&one, &other);
        fastest(move || {
            let copied = raw.copy(one, 0, other, 0, bytes);
            copied
                .and_then(|event| flushed(raw, || event.wait()))
                .map_err(transfer("clEnqueueCopyBuffer of a probe"))
        })
    };
    let (launch, all) = (copied(1)?, copied(bytes)?);
    let line = if has_lines {
        line_cost(queue, &host, [&one, &other], bytes, all)?
    } else {
        0.0
    };
    let rate = |seconds: f64| bytes as f64 / seconds.max(1e-9);
    Ok(LinkRates {
        up: rate(up),
        down: rate(down),
        memory: 2.0 * rate((all - launch).max(0.1 * all)),
        launch: launch.max(LEAST_LAUNCH),
        line,
    })
}

/// What a line of a block of a wide matrix costs beside as many bytes that follow each other,
/// seconds. The device is busy meanwhile, as it is during an operation: lines cost an H200 three
/// times as much then. A copy of so many bytes from one buffer to the other takes `copy` seconds.
fn line_cost(
    queue: &Queue,
    host: &Arc<HostMemory>,
    [one, other]: [&RawBuffer; 2],
    bytes: usize,
    copy: f64,
) -> Result<f64> {
    let (raw, beside) = (queue.raw(), Queue::new(queue.context())?);
    let half = bytes / 2;
    let copies = (LINES as f64 * MOST_OF_LINE / copy).ceil().min(MOST_COPIES) as usize;
    let sent = |place: BlockPlace| {
        fastest_of(|| {
            for _ in 0..copies {
                let copied = beside.raw().copy(other, 0, other, half, half);
                copied.map_err(Error::call("clEnqueueCopyBuffer of a probe"))?;
            }
            beside.flush()?;
            let begin = Instant::now();
            let sent = host.send(raw, one, place);
            sent.and_then(|sent| flushed(raw, || sent.wait()))
                .map_err(Error::call("clEnqueueWriteBuffer of a probe"))?;
            let seconds = begin.elapsed().as_secs_f64();
            beside.finish()?;
            Ok(seconds)
        })
    };
    let apart = sent(lines(LINE, LinkRates::FAR, LINES))?;
    Ok((apart - sent(whole(LINES * LINE))?).max(0.0) / LINES as f64)
}

/// Lines of so many bytes, which begin so many bytes apart, one after the other in the buffer.
const fn lines(width: usize, pitch: usize, rows: usize) -> BlockPlace {
    BlockPlace {
        first: 0,
        pitch,
        width,
        rows,
        buffer_first: 0,
        buffer_pitch: width,
    }
}

const fn whole(bytes: usize) -> BlockPlace {
    lines(bytes, bytes, 1)
}

/// Memory as matrices have it.
pub(super) fn host_memory(
    context: &Context,
    queue: &Queue,
    bytes: usize,
    is_pinned: bool,
) -> Result<Arc<HostMemory>> {
    if is_pinned {
        match HostMemory::pinned(context.raw(), queue.raw(), bytes) {
            Ok(memory) => return Ok(memory),
            Err(status) => {
                let device = context.device();
                tracing::warn!(%device, %status, bytes, "no pinned memory; transfers are slower without it");
            }
        }
    }
    HostMemory::plain(bytes).map_err(|reason| Error::HostMemory {
        bytes,
        reason: reason.to_string(),
    })
}

/// Measures the kernel of an operation: work per second, from blocks of zeros.
pub(super) fn kernel_speed(
    engine: &mut Engine,
    job: &Job,
    memory: usize,
    has_own_memory: bool,
) -> Result<f64, Failure> {
    let queue = engine.queue();
    queue.finish().map_err(Failure::during)?;
    let [of_i, of_j] = job.shape.grains;
    let grains = [of_i, of_j, Grain::ONE];
    let blocks =
        |edge: usize| [0, 1, 2].map(|axis| grains[axis].block(edge, job.shape.sizes[axis]));
    let work =
        |edge: usize| blocks(edge).iter().map(|n| *n as f64).product::<f64>() * job.shape.work;
    let bytes = |edge: usize| {
        let inputs = job.shape.inputs.iter();
        let inputs: usize = inputs
            .map(|input| input.block_bytes(blocks(edge)) * (1 + input.leaves))
            .sum();
        inputs + job.shape.output_bytes(blocks(edge))
    };
    let fits = |edge: usize| bytes(edge) <= memory / 2;
    // What tuning has measured.
    let (kept, _) = engine.kept(&job.kernel).map_err(refused)?;
    for edge in [4096, 2048, 1024, 512, 256] {
        let Some(seconds) = job.kernel.expected_seconds(kept, blocks(edge)) else {
            break;
        };
        if fits(edge) && seconds <= BRIEF {
            let _building = run(engine, job, blocks(edge), 1)?;
            return Ok(work(edge) / seconds);
        }
    }
    let mut edge = if has_own_memory { 2048 } else { 256 };
    while edge > 1 && !fits(edge) {
        edge /= 2;
    }
    loop {
        let seconds = run(engine, job, blocks(edge), 1 + ROUNDS)?;
        let is_all = blocks(edge) == blocks(usize::MAX);
        if seconds >= TELLING || is_all || !fits(2 * edge) {
            return Ok(work(edge) / seconds.max(1e-7));
        }
        edge *= 2;
    }
}

/// Launches everything that a step of this size does; the time of the operation's kernel in the
/// fastest round but the first, in which drivers build and clocks rise, seconds.
fn run(engine: &mut Engine, job: &Job, blocks: [usize; 3], rounds: usize) -> Result<f64, Failure> {
    let tile = Tile {
        first: [0; 2],
        size: [blocks[0], blocks[1]],
    };
    let rect = |operand: &Operand| {
        let rect = job.shape.rect(operand, &tile, [0, blocks[2]]);
        let length = if operand.is_padded && rect.lines > 1 {
            padded(rect.length, operand.element)
        } else {
            rect.length
        };
        (rect, length)
    };
    let mut scratch = Vec::new();
    for (source, operand) in job.inputs.iter().zip(&job.shape.inputs) {
        let (rect, leading) = rect(operand);
        let made = made(engine, source, rect, leading, operand.element)?;
        scratch.push((made, rect, leading));
    }
    let mut targets = Vec::new();
    for Output { operand, .. } in &job.shape.outputs {
        let (rect, leading) = rect(operand);
        let bytes = rect.lines * leading * operand.element;
        targets.push((zeros(engine.queue(), bytes)?, rect, leading));
    }
    let mut seconds = f64::INFINITY;
    for round in 0..rounds {
        let (inputs, outputs) = (blocks_in(&scratch), blocks_in(&targets));
        let (kept, queue) = engine.kept(&job.kernel).map_err(refused)?;
        queue.finish().map_err(Failure::during)?;
        let begin = Instant::now();
        let call = RawCall {
            inputs: &inputs,
            outputs: &outputs,
            is_first: false,
            tile,
        };
        job.kernel.launch(queue, kept, call).map_err(refused)?;
        queue.finish().map_err(Failure::during)?;
        if round > 0 {
            seconds = seconds.min(begin.elapsed().as_secs_f64());
        }
    }
    Ok(seconds)
}

/// Buffers with the parts that they hold and the distance of their lines.
fn blocks_in(buffers: &[(RawBuffer, Rect, usize)]) -> Vec<RawBlock<'_>> {
    let buffers = buffers.iter();
    let blocks = buffers.map(|(buffer, rect, leading)| block(buffer, *rect, *leading));
    blocks.collect()
}

const fn block(buffer: &RawBuffer, rect: Rect, leading: usize) -> RawBlock<'_> {
    RawBlock {
        buffer,
        lines: rect.lines,
        length: rect.length,
        leading,
    }
}

/// A block of zeros, or what a temporary makes of some.
fn made(
    engine: &mut Engine,
    source: &Source,
    rect: Rect,
    leading: usize,
    element: usize,
) -> Result<RawBuffer, Failure> {
    let target = zeros(engine.queue(), rect.lines * leading * element)?;
    let Source::Map { kernel, inputs, .. } = source else {
        return Ok(target);
    };
    let mut buffers = Vec::new();
    for input in inputs {
        buffers.push(made(engine, input, rect, leading, element)?);
    }
    let blocks: Vec<RawBlock<'_>> = buffers
        .iter()
        .map(|buffer| block(buffer, rect, leading))
        .collect();
    let (kept, queue) = engine.kept(kernel).map_err(refused)?;
    let output = block(&target, rect, leading);
    let call = RawCall {
        inputs: &blocks,
        outputs: &[output],
        is_first: true,
        tile: tile_of(rect),
    };
    kernel.launch(queue, kept, call).map_err(refused)?;
    queue.finish().map_err(Failure::during)?;
    Ok(target)
}

fn zeros(queue: &Queue, bytes: usize) -> Result<RawBuffer, Failure> {
    let buffer = RawBuffer::new(queue.context().raw(), bytes);
    let buffer = buffer.map_err(Error::call(format!("clCreateBuffer of {bytes} bytes")));
    let buffer = buffer.map_err(Failure::before)?;
    let filled = queue.raw().fill(&buffer, &[0], 0, bytes);
    filled
        .map_err(Error::call("clEnqueueFillBuffer"))
        .map_err(Failure::during)?;
    Ok(buffer)
}

fn flushed<R, E>(queue: &RawQueue, wait: impl FnOnce() -> Result<R, E>) -> Result<R, E>
where
    E: From<crate::opencl::Status>,
{
    queue.flush()?;
    wait()
}

/// The least time of some rounds after one that does not count, seconds.
fn fastest(mut work: impl FnMut() -> Result<()>) -> Result<f64> {
    fastest_of(|| {
        let begin = Instant::now();
        work()?;
        Ok(begin.elapsed().as_secs_f64())
    })
}

/// The same of work that says what counts of it.
fn fastest_of(mut work: impl FnMut() -> Result<f64>) -> Result<f64> {
    work()?;
    let mut least = f64::INFINITY;
    for _ in 0..ROUNDS {
        least = least.min(work()?);
    }
    Ok(least)
}
