//! Threads that copy between the caller's memory and pinned staging buffers, while other packets
//! are on their way, and the queues that these threads take their jobs from.

use crate::error::{Error, Result};
use crate::event::Event;
use crate::opencl::{Moving, Pinned, Place, RawBuffer, RawQueue, Runs};
use crate::queue::Queue;
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::mpsc::Sender;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, Scope, ScopedJoinHandle};

/// A packet to send to a device: the bytes that one staging buffer takes.
#[derive(Debug)]
pub(super) struct StagedUpload<'a> {
    /// The chunk that needs it.
    pub(super) chunk: usize,
    pub(super) buffer: &'a RawBuffer,
    pub(super) source: &'a [u8],
    /// Where the argument's bytes are in the source.
    pub(super) runs: Runs,
    /// The position of the packet among them.
    pub(super) packed: Range<usize>,
    /// The first byte of all of them in the buffer, where they are packed.
    pub(super) at: usize,
}

/// A packet to fetch from a device.
#[derive(Debug)]
pub(super) struct StagedDownload<'a> {
    pub(super) buffer: &'a RawBuffer,
    /// Where the results are in the buffer.
    pub(super) runs: Runs,
    /// The position of the packet among them.
    pub(super) packed: Range<usize>,
    pub(super) place: Place<'a>,
    /// The launch that makes them.
    pub(super) after: Arc<Event>,
}

/// The number of staging buffers of a thread: one is filled or emptied while the other is on its
/// way.
const DEPTH: usize = 2;

/// The staging buffers of a thread, in pinned memory.
#[derive(Debug)]
pub(super) struct StagingBuffers {
    idle: Vec<Pinned>,
}

impl StagingBuffers {
    /// Staging buffers of so many bytes each.
    pub(super) fn new(queue: &Queue, bytes: usize) -> Result<Self> {
        let make = |_| {
            let pinned = Pinned::new(queue.context().raw(), queue.raw(), bytes);
            pinned.map_err(Error::call(format!("{bytes} bytes of pinned memory")))
        };
        let idle = (0..DEPTH).map(make).collect::<Result<_>>()?;
        Ok(Self { idle })
    }

    /// Sends the packets of all jobs, and tells `sent` the chunk of each packet. Returns the
    /// staging buffers when all have arrived; on failure they are gone, and the rest is abandoned.
    pub(super) fn send(
        mut self,
        queue: &RawQueue,
        jobs: &JobQueue<StagedUpload<'_>>,
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

    /// Fetches the packets of all jobs, in the same way.
    pub(super) fn fetch(
        mut self,
        queue: &RawQueue,
        jobs: &JobQueue<StagedDownload<'_>>,
    ) -> Result<Self> {
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
        jobs: &JobQueue<StagedUpload<'_>>,
        sent: &Sender<usize>,
    ) -> Result<()> {
        let mut moving = VecDeque::new();
        while let Some(job) = jobs.wait() {
            if self.idle.is_empty() {
                self.idle
                    .extend(moving.pop_front().map(arrived).transpose()?);
            }
            let mut pinned = self.idle.pop().ok_or_else(none_left)?;
            gather(&job, pinned.bytes());
            let moves = pinned
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
            let _ = sent.send(job.chunk);
        }
        for moves in moving {
            self.idle.push(arrived(moves)?);
        }
        Ok(())
    }

    fn fetch_all(&mut self, queue: &RawQueue, jobs: &JobQueue<StagedDownload<'_>>) -> Result<()> {
        let mut moving: VecDeque<(Moving, StagedDownload<'_>)> = VecDeque::new();
        loop {
            // Transfers under way are waited for when there is nothing else to begin.
            let job = match (moving.is_empty(), self.idle.is_empty()) {
                (true, _) => jobs.wait(),
                (false, true) => None,
                (false, false) => jobs.next(),
            };
            if let Some(job) = job {
                let after = job.after.raw()?;
                let pinned = self.idle.pop().ok_or_else(none_left)?;
                let extent = job.runs.extent(&job.packed);
                let moves = pinned
                    .receive(queue, job.buffer, extent.start, extent.len(), after)
                    .map_err(Error::call("clEnqueueReadBuffer of a share"))?;
                moving.push_back((moves, job));
                queue.flush().map_err(Error::call("clFlush"))?;
            } else if let Some((moves, mut job)) = moving.pop_front() {
                let mut pinned = arrived(moves)?;
                job.place.write(pinned.bytes(), job.runs);
                self.idle.push(pinned);
            } else {
                return Ok(());
            }
        }
    }
}

/// For a thread that lost its staging buffers: it has ended then, and nobody uses them.
fn none_left() -> Error {
    Error::NoThread {
        reason: "its pinned memory is lost".to_owned(),
    }
}

fn arrived(moves: Moving) -> Result<Pinned> {
    moves
        .wait()
        .map_err(Error::call("clWaitForEvents of a share's transfer"))
}

/// Copies a packet's bytes, which are in runs, one after the other.
fn gather(job: &StagedUpload<'_>, packet: &mut [u8]) {
    let base = job.packed.start;
    for part in job.runs.by_run(job.packed.clone()) {
        let from = job.runs.at(part.start);
        let source = job.source.get(from..from + part.len());
        let target = packet.get_mut(part.start - base..part.end - base);
        if let (Some(source), Some(target)) = (source, target) {
            target.copy_from_slice(source);
        }
    }
}

/// A thread with its staging buffers, where the system has threads left.
pub(super) type CopyThread<'s> = std::io::Result<ScopedJoinHandle<'s, Result<StagingBuffers>>>;

/// A thread for each set of staging buffers. Where the system has none left, the others do its
/// work.
pub(super) fn spawn<'s, W>(
    scope: &'s Scope<'s, '_>,
    staging_sets: impl Iterator<Item = StagingBuffers>,
    work: impl Fn(StagingBuffers) -> W,
) -> Vec<CopyThread<'s>>
where
    W: FnOnce() -> Result<StagingBuffers> + Send + 's,
{
    staging_sets
        .map(|staging| Builder::new().spawn_scoped(scope, work(staging)))
        .collect()
}

/// Waits for threads, and takes their staging buffers back.
pub(super) fn join(
    threads: Vec<CopyThread<'_>>,
    staging_sets: &mut Vec<StagingBuffers>,
) -> Result<()> {
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
            Ok(staging) => staging_sets.push(staging),
            Err(error) => failure = failure.or(Some(error)),
        }
    }
    let nobody = not_started.filter(|_| staging_sets.is_empty());
    failure.or(nobody).map_or(Ok(()), Err)
}

/// Jobs that threads take, in the order in which they are to be begun.
#[derive(Debug)]
pub(super) struct JobQueue<T> {
    state: Mutex<State<T>>,
    changed: Condvar,
}

#[derive(Debug)]
struct State<T> {
    waiting: VecDeque<T>,
    /// Whether there will be no more.
    is_closed: bool,
}

impl<T> JobQueue<T> {
    pub(super) fn new() -> Self {
        Self {
            state: Mutex::new(State {
                waiting: VecDeque::new(),
                is_closed: false,
            }),
            changed: Condvar::new(),
        }
    }

    /// Adds jobs.
    pub(super) fn add(&self, jobs: impl IntoIterator<Item = T>) {
        let mut state = self.lock();
        if !state.is_closed {
            state.waiting.extend(jobs);
        }
        self.changed.notify_all();
    }

    /// Ends the queue: no more are added.
    pub(super) fn close(&self) {
        self.lock().is_closed = true;
        self.changed.notify_all();
    }

    /// Drops the waiting jobs, and ends the queue.
    pub(super) fn abandon(&self) {
        let mut state = self.lock();
        state.waiting.clear();
        state.is_closed = true;
        self.changed.notify_all();
    }

    /// The next one; waits for it. `None` when there is none and will be none.
    pub(super) fn wait(&self) -> Option<T> {
        let is_idle = |state: &mut State<T>| state.waiting.is_empty() && !state.is_closed;
        let state = self.changed.wait_while(self.lock(), is_idle);
        let mut state = state.unwrap_or_else(PoisonError::into_inner);
        state.waiting.pop_front()
    }

    /// The next one, if there is one now.
    pub(super) fn next(&self) -> Option<T> {
        self.lock().waiting.pop_front()
    }

    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::JobQueue;

    #[test]
    fn every_job_is_taken_once_in_order() {
        let jobs = JobQueue::new();
        assert_eq!(jobs.next(), None);
        jobs.add([1, 2, 3]);
        assert_eq!((jobs.wait(), jobs.next()), (Some(1), Some(2)));
        jobs.close();
        assert_eq!((jobs.wait(), jobs.wait()), (Some(3), None));
    }

    #[test]
    fn threads_that_wait_get_what_comes_and_end() {
        let jobs = JobQueue::new();
        let taken: usize = std::thread::scope(|scope| {
            let take = || std::iter::from_fn(|| jobs.wait()).count();
            let threads = [scope.spawn(take), scope.spawn(take)];
            for job in 0..100 {
                jobs.add([job]);
            }
            jobs.close();
            threads.map(|thread| thread.join().unwrap()).iter().sum()
        });
        assert_eq!(taken, 100);
    }

    #[test]
    fn what_is_abandoned_is_not_done() {
        let jobs = JobQueue::new();
        jobs.add([1, 2]);
        jobs.abandon();
        jobs.add([3]);
        assert_eq!(jobs.wait(), None);
    }
}
