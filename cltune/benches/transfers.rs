//! The rates at which devices are sent data from host memory and send it back, one after the other
//! and all at once: from and to pageable and pinned memory, in one direction and in both at the
//! same time; how fast they copy what they have; and how fast they are sent blocks of matrices, by
//! how long the lines of a block are and how far they are apart.
//!
//! `--devices 0,nvidia` names devices by index or parts of names instead of all, `--mib N` is for
//! transfers of another size than 256 MiB, `--rounds N` for another number of rounds than 7.

use cltune::{Buffer, Context, Device, Event, PinnedMemory, Queue, Result, tunable};
use opencl3::command_queue::enqueue_write_buffer_rect;
use opencl3::error_codes::ClError;
use opencl3::event::Event as ForeignEvent;
use opencl3::types::CL_TRUE;
use std::error::Error;
use std::fmt::{self, Display, Formatter};
use std::sync::Barrier;
use std::thread;
use std::time::Instant;

/// A float4 for each work-item.
#[tunable(
    name = "transfers::copy",
    params(WG = [256]),
    constraints(n % (4 * WG) == 0),
    global(n / 4), local(WG),
    tune(n = 1 << 24),
    bytes(8 * n),
)]
fn copy(
    queue: &Queue,
    #[arg(host_only)] n: u32,
    #[arg(len = n)] x: &Buffer<f32>,
    #[arg(out, len = n)] y: &mut Buffer<f32>,
) -> Result<Event> {
    "__kernel void copy(__global const float4* x, __global float4* y) {
        y[get_global_id(0)] = x[get_global_id(0)];
    }"
}

/// What the command line asks for.
struct Options {
    devices: Vec<Device>,
    mib: usize,
    rounds: usize,
}

/// A device with what is transferred.
struct Station {
    /// One for each direction.
    queues: [Queue; 2],
    written: Buffer<f32>,
    read: Buffer<f32>,
    pageable: Host<Vec<f32>>,
    pinned: Host<PinnedMemory<f32>>,
}

/// The lengths of lines of a block, and how far they are apart, KiB.
const LENGTHS: [usize; 6] = [1, 2, 4, 8, 16, 32];
const DISTANCES: [usize; 4] = [16, 32, 64, 128];

/// The most lines of a block.
const LINES: usize = 8192;

/// Host memory, to be sent from and to be fetched into.
struct Host<M> {
    source: M,
    target: M,
}

#[derive(Clone, Copy)]
enum Memory {
    Pageable,
    Pinned,
}

/// What is measured at a time.
#[derive(Clone, Copy)]
enum Way {
    Up,
    Down,
    Both,
}

/// GB/s of all rounds.
struct Rates(Vec<f64>);

fn main() -> std::result::Result<(), Box<dyn Error>> {
    // `cargo test` runs benches, too; there is nothing to check here.
    if !std::env::args().any(|argument| argument == "--bench") {
        return Ok(());
    }
    let options = Options::parse(std::env::args().skip(1))?;
    let Options { mib, rounds, .. } = options;
    println!("transfers of {mib} MiB, {rounds} rounds; GB/s: median (least to most)");
    let station = |device: &Device| Station::new(device, mib);
    let mut stations = options
        .devices
        .iter()
        .map(station)
        .collect::<Result<Vec<Station>>>()?;
    for station in &mut stations {
        let device = station.queues[0].device();
        println!("{device}, driver {}", device.info().driver);
        report(std::slice::from_mut(station), rounds)?;
        report_lines(station, rounds)?;
    }
    if stations.len() > 1 {
        println!("all {} at once", stations.len());
        report(&mut stations, rounds)?;
    }
    Ok(())
}

impl Options {
    fn parse(
        mut arguments: impl Iterator<Item = String>,
    ) -> std::result::Result<Self, Box<dyn Error>> {
        let all = Device::all()?;
        let mut options = Self {
            devices: all.clone(),
            mib: 256,
            rounds: 7,
        };
        while let Some(argument) = arguments.next() {
            let name = argument.as_str();
            if name == "--bench" {
                continue;
            }
            let value = arguments.next().ok_or(format!("{name} needs a value"))?;
            let count = |most: usize| match value.parse() {
                Ok(count) if (1..=most).contains(&count) => Ok(count),
                _ => Err(format!("{name}: {value} is no number from 1 to {most}")),
            };
            match name {
                "--devices" => {
                    let found = value.split(',').map(|filter| Device::find(&all, filter));
                    options.devices = found.collect::<Result<Vec<_>>>()?.concat();
                }
                "--mib" => options.mib = count(8 << 10)?,
                "--rounds" => options.rounds = count(1000)?,
                _ => return Err(format!("{name}: there are --devices, --mib, --rounds").into()),
            }
        }
        Ok(options)
    }
}

impl Station {
    fn new(device: &Device, mib: usize) -> Result<Self> {
        let context = Context::new(device)?;
        let len = mib << 18;
        let queues = [Queue::new(&context)?, Queue::new(&context)?];
        let pageable = || vec![1.0; len];
        let pinned = || PinnedMemory::zeros(&context, len);
        Ok(Self {
            read: Buffer::from_slice(&queues[0], &pageable())?,
            written: Buffer::new(&context, len)?,
            pageable: Host {
                source: pageable(),
                target: pageable(),
            },
            pinned: Host {
                source: pinned()?,
                target: pinned()?,
            },
            queues,
        })
    }

    /// Does what is to be measured at the same time as others, beginning together with them. Begin
    /// and end.
    fn transfer(&mut self, memory: Memory, way: Way, begin: &Barrier) -> Result<[Instant; 2]> {
        let (source, target): (&[f32], &mut [f32]) = match memory {
            Memory::Pageable => (&self.pageable.source, &mut self.pageable.target),
            Memory::Pinned => (&self.pinned.source, &mut self.pinned.target),
        };
        let [up, down] = &self.queues;
        let (written, read) = (&mut self.written, &self.read);
        let mut send = || written.write(up, source);
        let mut fetch = || read.read_into(down, target);
        begin.wait();
        let first = Instant::now();
        match way {
            Way::Up => send()?,
            Way::Down => fetch()?,
            Way::Both => thread::scope(|scope| {
                let fetching = scope.spawn(fetch);
                let sent = send();
                let fetched = fetching.join();
                sent.and(fetched.unwrap_or_else(|panic| std::panic::resume_unwind(panic)))
            })?,
        }
        Ok([first, Instant::now()])
    }

    /// Sends a block of a matrix in pinned memory, and waits: lines of so many bytes, whose
    /// beginnings are so many bytes apart.
    fn send_block(
        &mut self,
        lines: usize,
        length: usize,
        distance: usize,
    ) -> std::result::Result<(), ClError> {
        let source: &[f32] = &self.pinned.source;
        assert!(length <= distance && lines * distance <= size_of_val(source));
        let (begin, region) = ([0; 3], [length, lines, 1]);
        let (queue, target) = (self.queues[0].as_raw(), self.written.as_raw());
        // SAFETY: the lines are bytes of the source, as was checked, which outlives the call that
        // waits for the transfer and only reads it. OpenCL checks the buffer's bounds and reads the
        // arrays during the call.
        let sent = unsafe {
            enqueue_write_buffer_rect(
                queue,
                target,
                CL_TRUE,
                begin.as_ptr(),
                begin.as_ptr(),
                region.as_ptr(),
                length,
                0,
                distance,
                0,
                source.as_ptr().cast_mut().cast(),
                0,
                std::ptr::null(),
            )
        };
        // Released when it is dropped.
        sent.map(ForeignEvent::new).map(drop).map_err(ClError)
    }

    /// Lets the device copy a buffer. Begin and end.
    fn copy(&mut self, begin: &Barrier) -> Result<[Instant; 2]> {
        begin.wait();
        let first = Instant::now();
        let len = self.read.len() as u32;
        copy(&self.queues[0], len, &self.read, &mut self.written)?;
        self.queues[0].finish()?;
        Ok([first, Instant::now()])
    }
}

/// Measures and prints how fast blocks of a matrix in pinned memory are sent.
fn report_lines(station: &mut Station, rounds: usize) -> std::result::Result<(), Box<dyn Error>> {
    let bytes = station.read.len() * size_of::<f32>();
    println!("  blocks of pinned memory, by how far their lines are apart");
    let title = |of: String| format!("{of:>24}");
    let apart = DISTANCES.map(|distance| title(format!("{distance} KiB")));
    println!(
        "  {:10}{}{}",
        "",
        title("nothing between".into()),
        apart.concat()
    );
    for length in LENGTHS {
        let mut columns = Vec::new();
        for distance in std::iter::once(length).chain(DISTANCES) {
            let lines = LINES.min(bytes / (distance << 10));
            if distance < length || lines == 0 {
                columns.push(title("-".into()));
                continue;
            }
            let mut rates = Vec::with_capacity(rounds);
            for round in 0..=rounds {
                let begin = Instant::now();
                station.send_block(lines, length << 10, distance << 10)?;
                if round > 0 {
                    let seconds = begin.elapsed().as_secs_f64();
                    rates.push((lines * (length << 10)) as f64 * 1e-9 / seconds);
                }
            }
            rates.sort_by(f64::total_cmp);
            columns.push(title(Rates(rates).to_string()));
        }
        println!("  {:10}{}", format!("{length} KiB"), columns.concat());
    }
    Ok(())
}

/// Measures and prints what there is to know of devices together.
fn report(stations: &mut [Station], rounds: usize) -> Result<()> {
    println!(
        "  {:10}{:>24}{:>24}{:>24}",
        "", "to", "from", "both at once"
    );
    for (name, memory) in [("pageable", Memory::Pageable), ("pinned", Memory::Pinned)] {
        let mut columns = Vec::new();
        for way in [Way::Up, Way::Down, Way::Both] {
            let directions = if matches!(way, Way::Both) { 2 } else { 1 };
            let rates = measure(stations, rounds, directions, |station, begin| {
                station.transfer(memory, way, begin)
            })?;
            columns.push(format!("{:>24}", rates.to_string()));
        }
        println!("  {name:10}{}", columns.concat());
    }
    // A copy reads and writes each byte.
    let rates = measure(stations, rounds, 2, Station::copy)?;
    println!("  copies on the device, bytes read and written: {rates}");
    Ok(())
}

/// The rates of all devices together, each in a thread: bytes in so many directions, from the first
/// beginning to the last end.
fn measure(
    stations: &mut [Station],
    rounds: usize,
    directions: usize,
    work: impl Fn(&mut Station, &Barrier) -> Result<[Instant; 2]> + Sync,
) -> Result<Rates> {
    let bytes: usize = stations.iter().map(|station| station.read.len() * 4).sum();
    let mut rates = Vec::with_capacity(rounds);
    // What is done the first time is no measurement.
    for round in 0..=rounds {
        let begin = Barrier::new(stations.len());
        let times = thread::scope(|scope| {
            let (begin, work) = (&begin, &work);
            let stations = stations.iter_mut();
            let threads: Vec<_> = stations
                .map(|station| scope.spawn(move || work(station, begin)))
                .collect();
            let ended = threads.into_iter().map(|thread| {
                let ended = thread.join();
                ended.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
            });
            ended.collect::<Result<Vec<_>>>()
        })?;
        let first = times.iter().map(|[begin, _]| begin).min();
        let last = times.iter().map(|[_, end]| end).max();
        if let (Some(first), Some(last)) = (first, last)
            && round > 0
        {
            let seconds = last.duration_since(*first).as_secs_f64();
            rates.push((directions * bytes) as f64 * 1e-9 / seconds);
        }
    }
    rates.sort_by(f64::total_cmp);
    Ok(Rates(rates))
}

impl Display for Rates {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        let [Some(least), Some(most)] = [self.0.first(), self.0.last()] else {
            return out.write_str("-");
        };
        let median = self.0[self.0.len() / 2];
        // Three figures.
        let places = usize::from(median < 100.0) + usize::from(median < 10.0);
        write!(
            out,
            "{median:.places$} ({least:.places$} to {most:.places$})"
        )
    }
}
