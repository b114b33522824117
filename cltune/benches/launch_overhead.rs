//! The cost of a generated function over the same calls written by hand through opencl3.
//!
//! Both launch an empty kernel with four arguments, in one process on one device, interleaved: a
//! round is a batch of one kind and a batch of the other, in alternating order. A batch's time is
//! that of its calls alone; the queue is drained after it, outside the measurement, so that no
//! batch pays for another's work. Beside them are the generated function's calls on a queue without
//! events, which the hand-written ones have. A call is one launch, and then a group of 1, 3 and 10
//! launches.

use cltune::{Buffer, Context, Event, Queue, Result, tunable};
use opencl3::command_queue::CommandQueue;
use opencl3::device::{CL_DEVICE_TYPE_ALL, Device, get_all_devices};
use opencl3::kernel::Kernel;
use opencl3::memory::{Buffer as RawBuffer, CL_MEM_READ_WRITE};
use opencl3::program::Program;
use std::error::Error;
use std::ptr;
use std::time::Instant;

const ROUNDS: usize = 5000;
const CALLS_PER_BATCH: u32 = 10;
const WORK_ITEMS: usize = 64;

/// Does nothing.
#[tunable(
    params(WG = [64]),
    global(n), local(WG),
    tune(n = 64),
)]
fn empty(
    queue: &Queue,
    n: u32,
    a: f32,
    #[arg(len = n)] x: &Buffer<f32>,
    #[arg(len = n)] y: &mut Buffer<f32>,
) -> Result<Event> {
    "__kernel void empty(const uint n, const float a, __global const float* x, __global float* y) {}"
}

/// Does nothing, several times.
#[tunable(
    params(WG = [64]),
    stages(repeat(round in 0..launches, stage(empty(n, a, x, y), global(n), local(WG)))),
    tune(n = 64, launches = 3),
)]
fn group(
    queue: &Queue,
    n: u32,
    #[arg(host_only)] launches: u32,
    a: f32,
    #[arg(len = n)] x: &Buffer<f32>,
    #[arg(len = n)] y: &mut Buffer<f32>,
) -> Result<Event> {
    "__kernel void empty(const uint n, const float a, __global const float* x, __global float* y) {}"
}

/// The launches of a call: of a plain tunable, or of a group.
#[derive(Clone, Copy)]
enum Call {
    Single,
    Group(u32),
}

impl Call {
    const ALL: [Self; 4] = [
        Self::Single,
        Self::Group(1),
        Self::Group(3),
        Self::Group(10),
    ];

    fn launches(self) -> u32 {
        match self {
            Self::Single => 1,
            Self::Group(launches) => launches,
        }
    }
}

fn main() -> Result<(), Box<dyn Error>> {
    // `cargo test` runs benches, too; there is nothing to check here.
    if !std::env::args().any(|argument| argument == "--bench") {
        return Ok(());
    }
    let mut generated = Generated::new(Queue::default_device()?)?;
    let context = Context::new(generated.queue.device())?;
    let mut without_events = Generated::new(Queue::without_events(&context)?)?;
    let hand_written = HandWritten::new(generated.queue.device().index())?;
    let info = generated.queue.device().info();
    println!(
        "device    {} ({}), driver {}",
        info.name, info.platform, info.driver
    );
    println!("protocol  {ROUNDS} rounds of {CALLS_PER_BATCH} calls each, interleaved");

    for call in Call::ALL {
        match call {
            Call::Single => println!("one launch"),
            Call::Group(launches) => println!("a group of {launches}"),
        }
        compare(&mut generated, &mut without_events, &hand_written, call)?;
    }
    Ok(())
}

fn compare(
    generated: &mut Generated,
    without_events: &mut Generated,
    hand_written: &HandWritten,
    call: Call,
) -> Result<(), Box<dyn Error>> {
    let mut times = [const { Vec::new() }; 3];
    let warm_up = ROUNDS / 10;
    for round in 0..warm_up + ROUNDS {
        let (ours, theirs) = if round % 2 == 0 {
            let ours = generated.batch(call)?;
            (ours, hand_written.batch(call)?)
        } else {
            let theirs = hand_written.batch(call)?;
            (generated.batch(call)?, theirs)
        };
        let spared = without_events.batch(call)?;
        if round >= warm_up {
            times[0].push(ours);
            times[1].push(theirs);
            times[2].push(spared);
        }
    }
    let ratios: Vec<f64> = times[0].iter().zip(&times[1]).map(|(a, b)| a / b).collect();
    let [ours, theirs, spared] = times.map(Spread::of);
    let pairs = Spread::of(ratios);
    println!("  generated       {ours} ns per call");
    println!("  hand-written    {theirs} ns per call");
    println!("  without events  {spared} ns per call");
    println!(
        "  ratio of medians {:.3} (target: at most 1.05)",
        ours.median / theirs.median
    );
    println!(
        "  ratio by round   {:.3} median, {:.3} to {:.3} (quartiles)",
        pairs.median, pairs.low, pairs.high
    );
    Ok(())
}

/// Nanoseconds per call of a batch.
fn per_call(start: Instant) -> f64 {
    start.elapsed().as_secs_f64() * 1e9 / f64::from(CALLS_PER_BATCH)
}

struct Generated {
    queue: Queue,
    x: Buffer<f32>,
    y: Buffer<f32>,
}

impl Generated {
    fn new(queue: Queue) -> Result<Self> {
        let x = Buffer::from_slice(&queue, &[1.0; WORK_ITEMS])?;
        let y = Buffer::from_slice(&queue, &[1.0; WORK_ITEMS])?;
        Ok(Self { queue, x, y })
    }

    fn batch(&mut self, call: Call) -> Result<f64> {
        let (n, x) = (WORK_ITEMS as u32, &self.x);
        let start = Instant::now();
        for _ in 0..CALLS_PER_BATCH {
            match call {
                Call::Single => empty(&self.queue, n, 2.0, x, &mut self.y)?,
                Call::Group(launches) => group(&self.queue, n, launches, 2.0, x, &mut self.y)?,
            };
        }
        let time = per_call(start);
        self.queue.finish()?;
        Ok(time)
    }
}

struct HandWritten {
    queue: CommandQueue,
    kernel: Kernel,
    x: RawBuffer<f32>,
    y: RawBuffer<f32>,
    _context: opencl3::context::Context,
}

impl HandWritten {
    fn new(device_index: usize) -> Result<Self, Box<dyn Error>> {
        let id = get_all_devices(CL_DEVICE_TYPE_ALL)?[device_index];
        let context = opencl3::context::Context::from_device(&Device::new(id))?;
        let queue = CommandQueue::create_default(&context, 0)?;
        let source = &empty::TUNABLE.model().source;
        let program = Program::create_and_build_from_source(&context, source, "")?;
        let kernel = Kernel::create(&program, "empty")?;
        // SAFETY: no host pointers are passed.
        let buffer = || unsafe {
            RawBuffer::<f32>::create(&context, CL_MEM_READ_WRITE, WORK_ITEMS, ptr::null_mut())
        };
        let (x, y) = (buffer()?, buffer()?);
        Ok(Self {
            queue,
            kernel,
            x,
            y,
            _context: context,
        })
    }

    fn batch(&self, call: Call) -> Result<f64, Box<dyn Error>> {
        let start = Instant::now();
        for _ in 0..CALLS_PER_BATCH * call.launches() {
            self.launch()?;
        }
        let time = per_call(start);
        self.queue.finish()?;
        Ok(time)
    }

    fn launch(&self) -> Result<opencl3::event::Event, Box<dyn Error>> {
        let (global, local) = ([WORK_ITEMS], [WORK_ITEMS]);
        // SAFETY: the arguments are those of the kernel's signature, and the sizes are arrays of
        // one dimension that live through the call.
        unsafe {
            self.kernel.set_arg(0, &(WORK_ITEMS as u32))?;
            self.kernel.set_arg(1, &2.0_f32)?;
            self.kernel.set_arg(2, &self.x)?;
            self.kernel.set_arg(3, &self.y)?;
            Ok(self.queue.enqueue_nd_range_kernel(
                self.kernel.get(),
                1,
                ptr::null(),
                global.as_ptr(),
                local.as_ptr(),
                &[],
            )?)
        }
    }
}

/// Median and quartiles.
struct Spread {
    low: f64,
    median: f64,
    high: f64,
}

impl Spread {
    fn of(mut values: Vec<f64>) -> Self {
        values.sort_by(f64::total_cmp);
        let at = |quarter: usize| values[(values.len() - 1) * quarter / 4];
        Self {
            low: at(1),
            median: at(2),
            high: at(3),
        }
    }
}

impl std::fmt::Display for Spread {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(
            f,
            "{:7.0} median, {:.0} to {:.0} (quartiles)",
            self.median, self.low, self.high
        )
    }
}
