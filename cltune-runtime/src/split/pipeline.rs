//! A share through pinned memory: while a chunk is computed, later ones are uploaded and earlier
//! ones read back.
//!
//! Uploads, launches and reads have a queue each. A launch waits on the device for the uploads of
//! its chunk, a read for its launch. Data in pinned memory is transferred as it is; threads copy
//! other data to and from staging buffers.

use super::buffers::Launcher;
use super::copy_threads::{JobQueue, StagedDownload, StagedUpload, StagingBuffers, join, spawn};
use super::work::{Chunk, DeferredResults, Download, Failure, Operand, Target, Upload};
use crate::context::Context;
use crate::error::{Error, Result};
use crate::event::Event;
use crate::opencl::{RawDevice, RawEvent, Region, Runs, ScopedTransfers, is_pinned};
use crate::queue::Queue;
use std::collections::VecDeque;
use std::ops::Range;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};
use std::thread::scope;

/// Bytes of a packet, and of a staging buffer. On an H200 smaller ones cost more to begin than they
/// gain by being on their way earlier, and larger ones gain nothing (BENCHMARKS.md, "Several
/// devices").
const PACKET: usize = 1 << 21;

/// Threads in each direction. Four copy 22 GB/s each way beside an H200, eight 28: as two GPUs
/// share one host, more threads for each gain little (BENCHMARKS.md, "Several devices").
const COPY_THREADS: usize = 4;

/// For how many more chunks uploads from the caller's pinned memory are enqueued before a launch.
/// NVIDIA's driver begins what is enqueued after a launch when that has ended, also in other
/// queues, so with none an upload is never beside a launch; and with all the first launch waits for
/// most of them (BENCHMARKS.md, "Several devices").
const AHEAD: usize = 1;

/// The queues and the pinned memory of a device.
#[derive(Debug)]
pub(super) struct Pipeline {
    // Declared before the queues, through which they are unmapped.
    sending: Vec<StagingBuffers>,
    fetching: Vec<StagingBuffers>,
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

    /// Makes the staging buffers that these chunks need, unless they exist already.
    pub(super) fn allocate(&mut self, chunks: &[Chunk<'_>]) -> Result<()> {
        let (is_sent, is_fetched) = are_staged(chunks, self.up.device().raw());
        for (is_staged, staging_sets, queue) in [
            (is_sent, &mut self.sending, &self.up),
            (is_fetched, &mut self.fetching, &self.down),
        ] {
            while is_staged && staging_sets.len() < COPY_THREADS {
                staging_sets.push(StagingBuffers::new(queue, PACKET)?);
            }
        }
        Ok(())
    }

    /// Computes the chunks; returns when their results are in host memory: whether all were
    /// launched with the configuration asked for, and the results that wait for the end of the
    /// call.
    pub(super) fn run(
        &mut self,
        launcher: &Launcher<'_>,
        mut chunks: Vec<Chunk<'_>>,
    ) -> Result<(bool, Vec<DeferredResults>), Failure> {
        let device = self.up.device().raw();
        let downloads = take_downloads(&mut chunks);
        let mut deferred = deferred_results(&downloads, &chunks);
        let outputs = output_transfers(downloads, &mut deferred, chunks.len(), device);
        let inputs = input_transfers(&chunks, device);
        let uploads = staged_uploads(launcher, &inputs).map_err(Failure::before)?;
        let (sends, fetches) = (JobQueue::new(), JobQueue::new());
        let (sent, arrivals) = channel();
        let mut left = vec![0; chunks.len()];
        for upload in &uploads {
            left[upload.chunk] += 1;
        }
        sends.add(uploads);
        sends.close();
        let (up, down) = (&self.up, &self.down);
        // Earlier calls may have needed threads, and this one none.
        let used = |sets: &[StagingBuffers], is_staged| if is_staged { sets.len() } else { 0 };
        let is_sent = inputs.iter().flatten().any(|input| !input.is_direct);
        let is_fetched = outputs.iter().flatten().any(|output| !output.is_direct);
        let senders = used(&self.sending, is_sent);
        let fetchers = used(&self.fetching, is_fetched);
        let (launched, transferred) = ScopedTransfers::scope(|transfers| {
            scope(|scope| {
                let (sends, fetches) = (&sends, &fetches);
                let sending = spawn(scope, self.sending.drain(..senders), |staging| {
                    let sent = sent.clone();
                    move || staging.send(up.raw(), sends, &sent)
                });
                let fetching = spawn(scope, self.fetching.drain(..fetchers), |staging| {
                    move || staging.fetch(down.raw(), fetches)
                });
                drop(sent);
                let launches = Launches {
                    launcher,
                    queues: [up, down],
                    transfers,
                    arrivals: &arrivals,
                    left,
                    fetches,
                };
                let launched = launches.all(&chunks, &inputs, outputs);
                if launched.is_err() {
                    sends.abandon();
                    fetches.abandon();
                }
                fetches.close();
                // A thread's failure is the reason why launches could not go on.
                join(sending, &mut self.sending).map_err(Failure::during)?;
                join(fetching, &mut self.fetching).map_err(Failure::during)?;
                launched
            })
        });
        let as_asked = launched?;
        transferred
            .map_err(Error::call("clWaitForEvents of a share's transfer"))
            .map_err(Failure::during)?;
        launcher.queue.finish().map_err(Failure::during)?;
        Ok((as_asked, deferred))
    }
}

/// The launches of a share, each as soon as its inputs are on their way.
struct Launches<'a, 'f> {
    launcher: &'a Launcher<'f>,
    /// For uploads and for reads.
    queues: [&'a Queue; 2],
    /// Transfers from and to pinned memory of the caller's.
    transfers: &'a mut ScopedTransfers<'f>,
    /// The chunk of each packet that a thread has sent.
    arrivals: &'a Receiver<usize>,
    /// The number of packets of each chunk that have not been sent.
    left: Vec<usize>,
    fetches: &'a JobQueue<StagedDownload<'f>>,
}

impl<'f> Launches<'_, 'f> {
    fn all(
        mut self,
        chunks: &[Chunk<'_>],
        inputs: &[Vec<InputTransfer<'f>>],
        outputs: Vec<Vec<OutputTransfer<'f>>>,
    ) -> Result<bool, Failure> {
        let mut as_asked = true;
        let mut to_send = inputs.iter().enumerate();
        let mut on_their_way = VecDeque::new();
        for (index, (chunk, outputs)) in chunks.iter().zip(outputs).enumerate() {
            while on_their_way.len() <= AHEAD
                && let Some((chunk, inputs)) = to_send.next()
            {
                let sent = self.send(chunk, inputs).map_err(Failure::during)?;
                on_their_way.push_back(sent);
            }
            let sent = on_their_way.pop_front().flatten();
            let is_staged = inputs[index].iter().any(|input| !input.is_direct);
            self.wait_for_uploads(index, sent, is_staged)
                .map_err(Failure::during)?;
            let launched = self.launcher.launch(index, chunk);
            let (event, is_as_asked) = launched.map_err(Failure::before)?;
            as_asked &= is_as_asked;
            self.launcher.queue.flush().map_err(Failure::during)?;
            self.fetch(index, outputs, &Arc::new(event))
                .map_err(Failure::during)?;
        }
        Ok(as_asked)
    }

    /// Sends what the device can read from where it is. The event ends when it has arrived; `None`
    /// where there is nothing to send.
    fn send(&mut self, chunk: usize, inputs: &[InputTransfer<'f>]) -> Result<Option<RawEvent>> {
        let mut is_any = false;
        for input in inputs.iter().filter(|input| input.is_direct) {
            let buffer = self.launcher.buffers.get(chunk, input.argument)?.raw();
            let up = self.queues[0].raw();
            let Upload { source, runs, at } = input.upload;
            self.transfers
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

    /// Lets the next launch wait until everything has arrived that its chunk needs: what was sent,
    /// and what threads send.
    fn wait_for_uploads(
        &mut self,
        chunk: usize,
        sent: Option<RawEvent>,
        is_staged: bool,
    ) -> Result<()> {
        while self.left[chunk] > 0 {
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

    /// Reads results: to where they belong, or into staging buffers from which threads copy them.
    fn fetch(
        &mut self,
        chunk: usize,
        outputs: Vec<OutputTransfer<'f>>,
        after: &Arc<Event>,
    ) -> Result<()> {
        let down = self.queues[1];
        for output in outputs {
            let OutputTransfer { runs, region, .. } = output;
            let buffer = self.launcher.buffers.get(chunk, output.argument)?.raw();
            if output.is_direct {
                self.transfers
                    .receive(down.raw(), buffer, runs, region, after.raw()?)
                    .map_err(Error::call("clEnqueueReadBuffer of a share"))?;
                continue;
            }
            let packets = runs.packets(PACKET);
            let places = region.cut(&packets).unwrap_or_default();
            let fetch = |(packed, place)| StagedDownload {
                buffer,
                runs,
                packed,
                place,
                after: Arc::clone(after),
            };
            self.fetches.add(packets.into_iter().zip(places).map(fetch));
        }
        down.flush()
    }
}

/// All packets for threads to send, in the order of the chunks.
fn staged_uploads<'a>(
    launcher: &Launcher<'a>,
    inputs: &[Vec<InputTransfer<'a>>],
) -> Result<Vec<StagedUpload<'a>>> {
    let mut uploads = Vec::new();
    for (chunk, inputs) in inputs.iter().enumerate() {
        for input in inputs.iter().filter(|input| !input.is_direct) {
            let Upload { source, runs, at } = input.upload;
            let buffer = launcher.buffers.get(chunk, input.argument)?.raw();
            runs.check(source.len())
                .map_err(Error::call("clEnqueueWriteBuffer of a share"))?;
            // Packed in the buffer, so a packet may be any of its bytes.
            let packed = Runs {
                pitch: runs.width,
                ..runs
            };
            let packets = packed.packets(PACKET).into_iter();
            uploads.extend(packets.map(|packed| StagedUpload {
                chunk,
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

/// Shorter runs are copied into staging buffers even where they are in pinned memory: each costs
/// the device about as much as so many bytes. An H200 is sent runs of 512 bytes with 31 GB/s, such
/// of 16 KiB with 55.
const SHORTEST_RUN: usize = 256;

/// An upload before a chunk is launched.
#[derive(Debug)]
struct InputTransfer<'a> {
    /// The position of the argument.
    argument: usize,
    upload: Upload<'a>,
    /// Whether the device can read it from where it is.
    is_direct: bool,
}

/// A read after a chunk was launched.
#[derive(Debug)]
struct OutputTransfer<'a> {
    /// The position of the argument.
    argument: usize,
    /// Where it is in the buffer.
    runs: Runs,
    region: Region<'a>,
    /// Whether the device can write it to where it belongs.
    is_direct: bool,
}

/// Whether anything is copied on its way to the device, and back.
fn are_staged(chunks: &[Chunk<'_>], device: RawDevice) -> (bool, bool) {
    let operands = || chunks.iter().flat_map(|chunk| &chunk.operands);
    let is_sent = operands()
        .flat_map(uploads)
        .any(|upload| !is_source_direct(upload, device));
    let is_fetched = operands().any(|operand| match operand {
        Operand::Buffer {
            download: Some(download),
            ..
        } => match &download.target {
            Target::Place(region) => !is_place_direct(region, device),
            Target::Deferred { .. } => true,
        },
        _ => false,
    });
    (is_sent, is_fetched)
}

/// The uploads before each chunk.
fn input_transfers<'a>(chunks: &'a [Chunk<'_>], device: RawDevice) -> Vec<Vec<InputTransfer<'a>>> {
    let of_operand = |(argument, operand): (usize, &'a Operand<'_>)| {
        uploads(operand).iter().map(move |upload| InputTransfer {
            argument,
            upload: *upload,
            is_direct: is_source_direct(upload, device),
        })
    };
    let of_piece = |chunk: &'a Chunk<'_>| {
        let operands = chunk.operands.iter().enumerate();
        operands.flat_map(of_operand).collect()
    };
    chunks.iter().map(of_piece).collect()
}

/// Takes the results to be read back out of the chunks: chunk, argument, download.
fn take_downloads<'r>(chunks: &mut [Chunk<'r>]) -> Vec<(usize, usize, Download<'r>)> {
    let mut downloads = Vec::new();
    for (index, chunk) in chunks.iter_mut().enumerate() {
        for (argument, operand) in chunk.operands.iter_mut().enumerate() {
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
fn deferred_results(
    downloads: &[(usize, usize, Download<'_>)],
    chunks: &[Chunk<'_>],
) -> Vec<DeferredResults> {
    let deferred = downloads.iter().filter_map(|(index, argument, download)| {
        let Target::Deferred { rows, width } = download.target else {
            return None;
        };
        Some(DeferredResults {
            argument: *argument,
            share: chunks[*index].share,
            bytes: vec![0; rows * width],
        })
    });
    deferred.collect()
}

/// The reads after each chunk.
fn output_transfers<'a>(
    downloads: Vec<(usize, usize, Download<'a>)>,
    deferred: &'a mut [DeferredResults],
    chunks: usize,
    device: RawDevice,
) -> Vec<Vec<OutputTransfer<'a>>> {
    let mut deferred = deferred.iter_mut();
    let mut outputs: Vec<Vec<OutputTransfer<'a>>> = (0..chunks).map(|_| Vec::new()).collect();
    for (index, argument, download) in downloads {
        let region = match download.target {
            Target::Place(region) => Some(region),
            Target::Deferred { rows, width } => deferred
                .next()
                .and_then(|deferred| Region::rows(&mut deferred.bytes, rows, width)),
        };
        let Some(region) = region else { continue };
        outputs[index].push(OutputTransfer {
            argument,
            runs: Runs {
                first: download.first,
                pitch: download.pitch,
                ..region.runs()
            },
            is_direct: is_place_direct(&region, device),
            region,
        });
    }
    outputs
}

fn uploads<'a, 'r>(operand: &'a Operand<'r>) -> &'a [Upload<'r>] {
    match operand {
        Operand::Buffer { uploads, .. } => uploads,
        Operand::Scalar(_) | Operand::OfFirst { .. } => &[],
    }
}

fn is_source_direct(upload: &Upload<'_>, device: RawDevice) -> bool {
    let first = upload.source.as_ptr().addr();
    is_direct(&(first..first + upload.source.len()), upload.runs, device)
}

fn is_place_direct(region: &Region<'_>, device: RawDevice) -> bool {
    is_direct(&region.addresses(), region.runs(), device)
}

fn is_direct(addresses: &Range<usize>, runs: Runs, device: RawDevice) -> bool {
    (runs.rows <= 1 || runs.width >= SHORTEST_RUN) && is_pinned(addresses, device)
}

#[cfg(test)]
#[path = "../../tests/unit/split_pipeline.rs"]
mod tests;
