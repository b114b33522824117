//! A turn through pinned memory: while a piece is computed, later ones are uploaded and earlier ones read
//! back.
//!
//! Uploads, launches and reads have a queue each. A launch waits on the device for the uploads of its
//! piece, a read for its launch. What is in pinned memory already is transferred as it is; threads copy
//! the rest to and from pinned chunks.

use super::blame::Failure;
use super::flows::{self, Inflow, Outflow};
use super::jobs::Jobs;
use super::lanes::{Fetch, Lane, Upload, join, spawn};
use super::turn::{self, Kept, Piece};
use super::worker::Launcher;
use crate::context::Context;
use crate::error::{Error, Result};
use crate::event::Event;
use crate::opencl::{Flights, RawEvent, Runs};
use crate::queue::Queue;
use std::collections::VecDeque;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::thread::scope;

/// Bytes of a chunk. On an H200 smaller ones cost more to begin than they gain by being on their way earlier, and
/// larger ones gain nothing (BENCHMARKS.md, "Several devices").
pub(super) const CHUNK: usize = 1 << 21;

/// Threads in each direction. Four copy 22 GB/s each way beside an H200, eight 28: as two GPUs share one host, more
/// threads for each gain little (BENCHMARKS.md, "Several devices").
const LANES: usize = 4;

/// For how many more pieces uploads from the caller's pinned memory are enqueued before a launch. NVIDIA's driver begins
/// what is enqueued after a launch when that has ended, also in other queues, so with none an upload is never beside a
/// launch; and with all the first launch waits for most of them (BENCHMARKS.md, "Several devices").
const AHEAD: usize = 1;

/// The queues and the pinned memory of a device.
#[derive(Debug)]
pub(super) struct Pipeline {
    // Declared before the queues, through which they are unmapped.
    sending: Vec<Lane>,
    fetching: Vec<Lane>,
    up: Queue,
    down: Queue,
}

impl Pipeline {
    pub(super) fn new(context: &Context) -> Result<Self> {
        Ok(Self {
            sending: Vec::new(),
            fetching: Vec::new(),
            up: Queue::new(context)?,
            down: Queue::new(context)?,
        })
    }

    /// Makes the pinned chunks that these pieces need, unless they are there already.
    pub(super) fn allocate(&mut self, pieces: &[Piece<'_>]) -> Result<()> {
        let (is_sent, is_fetched) = flows::are_staged(pieces, self.up.device().raw());
        for (is_staged, lanes, queue) in [
            (is_sent, &mut self.sending, &self.up),
            (is_fetched, &mut self.fetching, &self.down),
        ] {
            while is_staged && lanes.len() < LANES {
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
        let device = self.up.device().raw();
        let downloads = flows::take_downloads(&mut pieces);
        let mut kept = flows::keep(&downloads, &pieces);
        let outflows = flows::outflows(downloads, &mut kept, pieces.len(), device);
        let inflows = flows::inflows(&pieces, device);
        let uploads = uploads(launcher, &inflows).map_err(Failure::before)?;
        let (sends, fetches) = (Jobs::new(), Jobs::new());
        let (sent, arrivals) = channel();
        let mut left = vec![0; pieces.len()];
        for upload in &uploads {
            left[upload.piece] += 1;
        }
        sends.add(uploads);
        sends.close();
        let (up, down) = (&self.up, &self.down);
        // Earlier calls may have needed threads, and this one none.
        let used = |lanes: &[Lane], is_staged| if is_staged { lanes.len() } else { 0 };
        let is_sent = inflows.iter().flatten().any(|inflow| !inflow.is_direct);
        let is_fetched = outflows.iter().flatten().any(|outflow| !outflow.is_direct);
        let senders = used(&self.sending, is_sent);
        let fetchers = used(&self.fetching, is_fetched);
        let (launched, landed) = Flights::during(|flights| {
            scope(|scope| {
                let (sends, fetches) = (&sends, &fetches);
                let sending = spawn(scope, self.sending.drain(..senders), |lane| {
                    let sent = sent.clone();
                    move || lane.send(up.raw(), sends, &sent)
                });
                let fetching = spawn(scope, self.fetching.drain(..fetchers), |lane| {
                    move || lane.fetch(down.raw(), fetches)
                });
                drop(sent);
                let launches = Launches {
                    launcher,
                    queues: [up, down],
                    flights,
                    arrivals: &arrivals,
                    left,
                    fetches,
                };
                let launched = launches.all(&pieces, &inflows, outflows);
                if launched.is_err() {
                    sends.abandon();
                    fetches.abandon();
                }
                fetches.close();
                // What a thread failed with is why launches could not go on.
                join(sending, &mut self.sending).map_err(Failure::during)?;
                join(fetching, &mut self.fetching).map_err(Failure::during)?;
                launched
            })
        });
        let as_asked = launched?;
        landed
            .map_err(Error::call("clWaitForEvents of a share's transfer"))
            .map_err(Failure::during)?;
        launcher.queue.finish().map_err(Failure::during)?;
        Ok((as_asked, kept))
    }
}

/// The launches of a turn, each as soon as what it needs is on its way.
struct Launches<'a, 'f> {
    launcher: &'a Launcher<'f>,
    /// For uploads and for reads.
    queues: [&'a Queue; 2],
    /// Transfers from and to pinned memory of the caller's.
    flights: &'a mut Flights<'f>,
    /// The piece of each chunk that a thread has sent.
    arrivals: &'a Receiver<usize>,
    /// How many chunks of each piece were not.
    left: Vec<usize>,
    fetches: &'a Jobs<Fetch<'f>>,
}

impl<'f> Launches<'_, 'f> {
    fn all(
        mut self,
        pieces: &[Piece<'_>],
        inflows: &[Vec<Inflow<'f>>],
        outflows: Vec<Vec<Outflow<'f>>>,
    ) -> Result<bool, Failure> {
        let mut as_asked = true;
        let mut to_send = inflows.iter().enumerate();
        let mut on_their_way = VecDeque::new();
        for (index, (piece, outflows)) in pieces.iter().zip(outflows).enumerate() {
            while on_their_way.len() <= AHEAD
                && let Some((piece, inflows)) = to_send.next()
            {
                let sent = self.send(piece, inflows).map_err(Failure::during)?;
                on_their_way.push_back(sent);
            }
            let sent = on_their_way.pop_front().flatten();
            let is_staged = inflows[index].iter().any(|inflow| !inflow.is_direct);
            self.wait_for_uploads(index, sent, is_staged)
                .map_err(Failure::during)?;
            let launched = self.launcher.launch(index, piece);
            let (event, is_as_asked) = launched.map_err(Failure::before)?;
            as_asked &= is_as_asked;
            self.launcher.queue.flush().map_err(Failure::during)?;
            self.fetch(index, outflows, &Arc::new(event))
                .map_err(Failure::during)?;
        }
        Ok(as_asked)
    }

    /// Sends what the device can read from where it is. The event ends when it has arrived; `None` where there is
    /// nothing to send.
    fn send(&mut self, piece: usize, inflows: &[Inflow<'f>]) -> Result<Option<RawEvent>> {
        let mut is_any = false;
        for inflow in inflows.iter().filter(|inflow| inflow.is_direct) {
            let buffer = self.launcher.buffers.get(piece, inflow.argument)?.raw();
            let up = self.queues[0].raw();
            let turn::Upload { source, runs, at } = inflow.upload;
            self.flights
                .send(up, buffer, at, source, runs)
                .map_err(Error::call("clEnqueueWriteBuffer of a share"))?;
            is_any = true;
        }
        is_any.then(|| self.sent()).transpose()
    }

    /// An event that ends when everything has arrived that was sent so far.
    fn sent(&self) -> Result<RawEvent> {
        let up = self.queues[0];
        let marker = up.raw().marker();
        let marker = marker.map_err(Error::call("clEnqueueMarkerWithWaitList"))?;
        up.flush()?;
        Ok(marker)
    }

    /// Lets the next launch wait until everything has arrived that its piece needs: what was sent, and what threads
    /// send.
    fn wait_for_uploads(
        &mut self,
        piece: usize,
        sent: Option<RawEvent>,
        is_staged: bool,
    ) -> Result<()> {
        while self.left[piece] > 0 {
            let Ok(of) = self.arrivals.recv() else {
                // A thread has failed, and knows why.
                return Err(Error::NoThread {
                    reason: "one that sends its arguments has ended".to_owned(),
                });
            };
            self.left[of] -= 1;
        }
        // The queue is in order, so what threads have sent is the last.
        let last = if is_staged { Some(self.sent()?) } else { sent };
        let Some(last) = last else { return Ok(()) };
        let call = Error::call("clEnqueueBarrierWithWaitList");
        self.launcher.queue.raw().wait_for(&last).map_err(call)
    }

    /// Fetches results: to where they belong, or into chunks from which threads copy them.
    fn fetch(
        &mut self,
        piece: usize,
        outflows: Vec<Outflow<'f>>,
        after: &Arc<Event>,
    ) -> Result<()> {
        let down = self.queues[1];
        for outflow in outflows {
            let Outflow { runs, region, .. } = outflow;
            let buffer = self.launcher.buffers.get(piece, outflow.argument)?.raw();
            if outflow.is_direct {
                self.flights
                    .receive(down.raw(), buffer, runs, region, after.raw())
                    .map_err(Error::call("clEnqueueReadBuffer of a share"))?;
                continue;
            }
            let chunks = runs.chunks(CHUNK);
            let places = region.cut(&chunks).unwrap_or_default();
            let fetch = |(packed, place)| Fetch {
                buffer,
                runs,
                packed,
                place,
                after: Arc::clone(after),
            };
            self.fetches.add(chunks.into_iter().zip(places).map(fetch));
        }
        down.flush()
    }
}

/// All chunks for threads to send, in the order of the pieces.
fn uploads<'a>(launcher: &Launcher<'a>, inflows: &[Vec<Inflow<'a>>]) -> Result<Vec<Upload<'a>>> {
    let mut uploads = Vec::new();
    for (piece, inflows) in inflows.iter().enumerate() {
        for inflow in inflows.iter().filter(|inflow| !inflow.is_direct) {
            let turn::Upload { source, runs, at } = inflow.upload;
            let buffer = launcher.buffers.get(piece, inflow.argument)?.raw();
            runs.check(source.len())
                .map_err(Error::call("clEnqueueWriteBuffer of a share"))?;
            // Packed in the buffer, so a chunk may be any of its bytes.
            let packed = Runs {
                pitch: runs.width,
                ..runs
            };
            let chunks = packed.chunks(CHUNK).into_iter();
            uploads.extend(chunks.map(|packed| Upload {
                piece,
                buffer,
                source,
                runs,
                packed,
                at,
            }));
        }
    }
    Ok(uploads)
}
