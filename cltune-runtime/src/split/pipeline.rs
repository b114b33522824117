//! A turn through pinned memory: while a piece is computed, later ones are uploaded and earlier ones read
//! back.
//!
//! Uploads, launches and reads have a queue each. A launch waits on the device for the uploads of its
//! piece, a read for its launch.

use super::blame::Failure;
use super::jobs::Jobs;
use super::lanes::{Fetch, Lane, Upload};
use super::turn::{Download, Kept, Operand, Piece, Target};
use super::worker::Launcher;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::opencl::{Region, Runs};
use crate::queue::Queue;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::thread::{Builder, Scope, ScopedJoinHandle, scope};

/// Bytes of a chunk. On an H200 smaller ones cost more to begin than they gain by being on their way earlier, and
/// larger ones gain nothing (BENCHMARKS.md, "Several devices").
pub(super) const CHUNK: usize = 1 << 21;

/// Threads in each direction. Four copy 22 GB/s each way beside an H200, eight 28: as two GPUs share one host, more
/// threads for each gain little (BENCHMARKS.md, "Several devices").
const LANES: usize = 4;

/// The queues and the pinned memory of a device.
#[derive(Debug)]
pub(super) struct Pipeline {
    // Declared before the queues, through which they are unmapped.
    sending: Vec<Lane>,
    fetching: Vec<Lane>,
    up: Queue,
    down: Queue,
}

/// What is fetched when a piece has been launched.
type Wanted<'a> = Vec<(usize, Runs, Region<'a>)>;

impl Pipeline {
    pub(super) fn new(context: &Context) -> Result<Self> {
        Ok(Self {
            sending: Vec::new(),
            fetching: Vec::new(),
            up: Queue::new(context)?,
            down: Queue::new(context)?,
        })
    }

    /// Makes the pinned memory, unless it is there already.
    pub(super) fn allocate(&mut self) -> Result<()> {
        for (lanes, queue) in [
            (&mut self.sending, &self.up),
            (&mut self.fetching, &self.down),
        ] {
            while lanes.len() < LANES {
                lanes.push(Lane::new(queue, CHUNK)?);
            }
        }
        Ok(())
    }

    /// Does the pieces; returns when their results are in host memory: whether all were launched with the
    /// configuration asked for, and the results that wait for the end of the call.
    pub(super) fn run(
        &mut self,
        launcher: &Launcher<'_>,
        mut pieces: Vec<Piece<'_>>,
    ) -> Result<(bool, Vec<Kept>), Failure> {
        let downloads = take_downloads(&mut pieces);
        let mut kept = keep(&downloads, &pieces);
        let wanted = wanted(downloads, &mut kept, pieces.len());
        let uploads = uploads(launcher, &pieces).map_err(Failure::before)?;
        let (up, down) = (self.up.raw(), self.down.raw());
        let (sends, fetches) = (Jobs::new(), Jobs::new());
        let (sent, arrivals) = channel();
        let mut left = vec![0; pieces.len()];
        for upload in &uploads {
            left[upload.piece] += 1;
        }
        sends.add(uploads);
        sends.close();
        let as_asked = scope(|scope| {
            let (sends, fetches) = (&sends, &fetches);
            let sending = spawn(scope, self.sending.drain(..), |lane| {
                let sent = sent.clone();
                move || lane.send(up, sends, &sent)
            });
            let fetching = spawn(scope, self.fetching.drain(..), |lane| {
                move || lane.fetch(down, fetches)
            });
            drop(sent);
            let launched = Launches {
                launcher,
                up: &self.up,
                arrivals: &arrivals,
                left,
                fetches,
            }
            .all(&pieces, wanted);
            if launched.is_err() {
                sends.abandon();
                fetches.abandon();
            }
            fetches.close();
            // What a thread failed with is why launches could not go on.
            join(sending, &mut self.sending).map_err(Failure::during)?;
            join(fetching, &mut self.fetching).map_err(Failure::during)?;
            launched
        })?;
        launcher.queue.finish().map_err(Failure::during)?;
        Ok((as_asked, kept))
    }
}

/// The launches of a turn, each as soon as what it needs is on its way.
struct Launches<'a, 'f> {
    launcher: &'a Launcher<'a>,
    up: &'a Queue,
    /// The piece of each chunk that was sent.
    arrivals: &'a Receiver<usize>,
    /// How many chunks of each piece were not.
    left: Vec<usize>,
    fetches: &'a Jobs<Fetch<'f>>,
}

impl<'a, 'f> Launches<'a, 'f>
where
    'a: 'f,
{
    fn all(mut self, pieces: &[Piece<'_>], wanted: Vec<Wanted<'f>>) -> Result<bool, Failure> {
        let mut as_asked = true;
        for (index, (piece, wanted)) in pieces.iter().zip(wanted).enumerate() {
            self.wait_for_uploads(index).map_err(Failure::during)?;
            let launched = self
                .launcher
                .launch(index, piece)
                .map_err(Failure::before)?;
            let (event, is_as_asked) = launched;
            as_asked &= is_as_asked;
            self.launcher.queue.flush().map_err(Failure::during)?;
            let event = Arc::new(event);
            for (argument, runs, region) in wanted {
                let buffer = self.launcher.buffers.get(index, argument);
                let buffer = buffer.map_err(Failure::before)?.raw();
                let chunks = runs.chunks(CHUNK);
                let places = region.cut(&chunks).unwrap_or_default();
                let fetch = |(packed, place)| Fetch {
                    buffer,
                    runs,
                    packed,
                    place,
                    after: Arc::clone(&event),
                };
                self.fetches.add(chunks.into_iter().zip(places).map(fetch));
            }
        }
        Ok(as_asked)
    }

    /// Lets the next launch wait until everything has arrived that was sent so far, which is what this
    /// piece needs.
    fn wait_for_uploads(&mut self, piece: usize) -> Result<()> {
        while self.left[piece] > 0 {
            let Ok(of) = self.arrivals.recv() else {
                // A thread has failed, and knows why.
                return Err(Error::NoThread {
                    reason: "one that sends its arguments has ended".to_owned(),
                });
            };
            self.left[of] -= 1;
        }
        let call = Error::call("clEnqueueBarrierWithWaitList");
        let uploaded = self.up.raw().marker();
        let uploaded = uploaded.map_err(Error::call("clEnqueueMarkerWithWaitList"))?;
        self.up.flush()?;
        self.launcher.queue.raw().wait_for(&uploaded).map_err(call)
    }
}

/// Takes what is to be read back out of the pieces: piece, argument, what.
fn take_downloads<'r>(pieces: &mut [Piece<'r>]) -> Vec<(usize, usize, Download<'r>)> {
    let mut downloads = Vec::new();
    for (index, piece) in pieces.iter_mut().enumerate() {
        for (argument, operand) in piece.operands.iter_mut().enumerate() {
            if let Operand::Buffer { download, .. } = operand
                && let Some(download) = download.take()
            {
                downloads.push((index, argument, download));
            }
        }
    }
    downloads
}

/// Memory for results whose places are still read.
fn keep(downloads: &[(usize, usize, Download<'_>)], pieces: &[Piece<'_>]) -> Vec<Kept> {
    let kept = downloads.iter().filter_map(|(index, argument, download)| {
        let Target::Kept { rows, width } = download.target else {
            return None;
        };
        Some(Kept {
            argument: *argument,
            share: pieces[*index].share,
            bytes: vec![0; rows * width],
        })
    });
    kept.collect()
}

/// What to fetch after each piece.
fn wanted<'a>(
    downloads: Vec<(usize, usize, Download<'a>)>,
    kept: &'a mut [Kept],
    pieces: usize,
) -> Vec<Wanted<'a>> {
    let mut kept = kept.iter_mut();
    let mut wanted: Vec<Wanted<'a>> = (0..pieces).map(|_| Vec::new()).collect();
    for (index, argument, download) in downloads {
        let region = match download.target {
            Target::Place(region) => Some(region),
            Target::Kept { rows, width } => kept
                .next()
                .and_then(|kept| Region::rows(&mut kept.bytes, rows, width)),
        };
        let Some(region) = region else { continue };
        let runs = Runs {
            first: download.first,
            pitch: download.pitch,
            ..region.runs()
        };
        wanted[index].push((argument, runs, region));
    }
    wanted
}

/// All chunks to send, in the order of the pieces.
fn uploads<'a>(launcher: &Launcher<'a>, pieces: &'a [Piece<'_>]) -> Result<Vec<Upload<'a>>> {
    let mut uploads = Vec::new();
    for (index, piece) in pieces.iter().enumerate() {
        for (argument, operand) in piece.operands.iter().enumerate() {
            let Operand::Buffer {
                upload: Some((source, runs)),
                ..
            } = operand
            else {
                continue;
            };
            let (source, runs) = (*source, *runs);
            let buffer = launcher.buffers.get(index, argument)?.raw();
            runs.check(source.len())
                .map_err(Error::call("clEnqueueWriteBuffer of a share"))?;
            // Packed in the buffer, so a chunk may be any of its bytes.
            let packed = Runs {
                pitch: runs.width,
                ..runs
            };
            let chunks = packed.chunks(CHUNK).into_iter();
            uploads.extend(chunks.map(|packed| Upload {
                piece: index,
                buffer,
                source,
                runs,
                packed,
            }));
        }
    }
    Ok(uploads)
}

type Thread<'s> = std::io::Result<ScopedJoinHandle<'s, Result<Lane>>>;

/// A thread for each lane. Where the system has none left, the others do its work.
fn spawn<'s, W>(
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
fn join(threads: Vec<Thread<'_>>, lanes: &mut Vec<Lane>) -> Result<()> {
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
