//! Threads that copy between the caller's memory and pinned chunks, while other chunks are on their way.

use super::jobs::Jobs;
use crate::error::{Error, Result};
use crate::event::Event;
use crate::opencl::{Moving, Pinned, Place, RawBuffer, RawQueue, Runs};
use crate::queue::Queue;
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;
use std::sync::mpsc::Sender;
use std::thread::{Builder, Scope, ScopedJoinHandle};

/// A chunk to send to a device.
#[derive(Debug)]
pub(super) struct Upload<'a> {
    /// The piece that needs it.
    pub(super) piece: usize,
    pub(super) buffer: &'a RawBuffer,
    pub(super) source: &'a [u8],
    /// Where the argument's bytes are in the source.
    pub(super) runs: Runs,
    /// Which of them these are.
    pub(super) packed: Range<usize>,
    /// The first byte of all of them in the buffer, where they are packed.
    pub(super) at: usize,
}

/// A chunk to fetch from a device.
#[derive(Debug)]
pub(super) struct Fetch<'a> {
    pub(super) buffer: &'a RawBuffer,
    /// Where the results are in the buffer.
    pub(super) runs: Runs,
    /// Which of them these are.
    pub(super) packed: Range<usize>,
    pub(super) place: Place<'a>,
    /// The launch that makes them.
    pub(super) after: Arc<Event>,
}

/// How many chunks a lane has: one is filled or emptied while the other is on its way.
const DEPTH: usize = 2;

/// The chunks of a thread.
#[derive(Debug)]
pub(super) struct Lane {
    idle: Vec<Pinned>,
}

impl Lane {
    /// A lane with chunks of so many bytes.
    pub(super) fn new(queue: &Queue, bytes: usize) -> Result<Self> {
        let chunk = |_| {
            let chunk = Pinned::new(queue.context().raw(), queue.raw(), bytes);
            chunk.map_err(Error::call(format!("{bytes} bytes of pinned memory")))
        };
        let idle = (0..DEPTH).map(chunk).collect::<Result<_>>()?;
        Ok(Self { idle })
    }

    /// Sends what there is to send, and tells `sent` the piece of each chunk. Returns the lane when all
    /// have arrived; when that fails, the lane is gone and what is left is abandoned.
    pub(super) fn send(
        mut self,
        queue: &RawQueue,
        jobs: &Jobs<Upload<'_>>,
        sent: &Sender<usize>,
    ) -> Result<Self> {
        match self.send_all(queue, jobs, sent) {
            Ok(()) => Ok(self),
            Err(error) => {
                jobs.abandon();
                Err(error)
            }
        }
    }

    /// Fetches what there is to fetch, in the same way.
    pub(super) fn fetch(mut self, queue: &RawQueue, jobs: &Jobs<Fetch<'_>>) -> Result<Self> {
        match self.fetch_all(queue, jobs) {
            Ok(()) => Ok(self),
            Err(error) => {
                jobs.abandon();
                Err(error)
            }
        }
    }

    fn send_all(
        &mut self,
        queue: &RawQueue,
        jobs: &Jobs<Upload<'_>>,
        sent: &Sender<usize>,
    ) -> Result<()> {
        let mut moving = VecDeque::new();
        while let Some(job) = jobs.wait() {
            if self.idle.is_empty() {
                self.idle
                    .extend(moving.pop_front().map(arrived).transpose()?);
            }
            let mut chunk = self.idle.pop().ok_or_else(no_chunk)?;
            gather(&job, chunk.bytes());
            let moves = chunk
                .send(
                    queue,
                    job.buffer,
                    job.at + job.packed.start,
                    job.packed.len(),
                )
                .map_err(Error::call("clEnqueueWriteBuffer of a share"))?;
            moving.push_back(moves);
            queue.flush().map_err(Error::call("clFlush"))?;
            // Nobody listens when another thread has failed.
            let _ = sent.send(job.piece);
        }
        for moves in moving {
            self.idle.push(arrived(moves)?);
        }
        Ok(())
    }

    fn fetch_all(&mut self, queue: &RawQueue, jobs: &Jobs<Fetch<'_>>) -> Result<()> {
        let mut moving: VecDeque<(Moving, Fetch<'_>)> = VecDeque::new();
        loop {
            // What is on its way is waited for when there is nothing else to begin.
            let job = match (moving.is_empty(), self.idle.is_empty()) {
                (true, _) => jobs.wait(),
                (false, true) => None,
                (false, false) => jobs.next(),
            };
            if let Some(job) = job {
                let chunk = self.idle.pop().ok_or_else(no_chunk)?;
                let extent = job.runs.extent(&job.packed);
                let after = job.after.raw();
                let moves = chunk
                    .receive(queue, job.buffer, extent.start, extent.len(), after)
                    .map_err(Error::call("clEnqueueReadBuffer of a share"))?;
                moving.push_back((moves, job));
                queue.flush().map_err(Error::call("clFlush"))?;
            } else if let Some((moves, mut job)) = moving.pop_front() {
                let mut chunk = arrived(moves)?;
                job.place.write(chunk.bytes(), job.runs);
                self.idle.push(chunk);
            } else {
                return Ok(());
            }
        }
    }
}

/// For a lane that lost its chunks: it is gone then, and nobody uses it.
fn no_chunk() -> Error {
    Error::NoThread {
        reason: "its pinned memory is lost".to_owned(),
    }
}

fn arrived(moves: Moving) -> Result<Pinned> {
    moves
        .wait()
        .map_err(Error::call("clWaitForEvents of a share's transfer"))
}

/// Copies a chunk's bytes, which are in runs, one after the other.
fn gather(job: &Upload<'_>, chunk: &mut [u8]) {
    let base = job.packed.start;
    for part in job.runs.by_run(job.packed.clone()) {
        let from = job.runs.at(part.start);
        let source = job.source.get(from..from + part.len());
        let target = chunk.get_mut(part.start - base..part.end - base);
        if let (Some(source), Some(target)) = (source, target) {
            target.copy_from_slice(source);
        }
    }
}

/// A thread that works with a lane, where the system has one.
pub(super) type Thread<'s> = std::io::Result<ScopedJoinHandle<'s, Result<Lane>>>;

/// A thread for each lane. Where the system has none left, the others do its work.
pub(super) fn spawn<'s, W>(
    scope: &'s Scope<'s, '_>,
    lanes: impl Iterator<Item = Lane>,
    work: impl Fn(Lane) -> W,
) -> Vec<Thread<'s>>
where
    W: FnOnce() -> Result<Lane> + Send + 's,
{
    lanes
        .map(|lane| Builder::new().spawn_scoped(scope, work(lane)))
        .collect()
}

/// Waits for threads, and takes their lanes back.
pub(super) fn join(threads: Vec<Thread<'_>>, lanes: &mut Vec<Lane>) -> Result<()> {
    let (mut failure, mut not_started) = (None, None);
    for thread in threads {
        let thread = match thread {
            Ok(thread) => thread,
            Err(error) => {
                let reason = error.to_string();
                not_started = Some(Error::NoThread { reason });
                continue;
            }
        };
        let ended = thread.join();
        match ended.unwrap_or_else(|panic| std::panic::resume_unwind(panic)) {
            Ok(lane) => lanes.push(lane),
            Err(error) => failure = failure.or(Some(error)),
        }
    }
    let nobody = not_started.filter(|_| lanes.is_empty());
    failure.or(nobody).map_or(Ok(()), Err)
}
