//! Times operations on vectors and matrices:
//! `cargo run --release -p cltune-kernels --example blas`.
//!
//! ```text
//! blas [LEN]   every routine in single and double precision, of vectors or square matrices of LEN (2^24)
//!              elements
//! blas serve   for `scripts/bench blas`: reads lines `ROUTINE TYPE LEN` or `ROUTINE TYPE LEN device`, answers
//!              each with the microseconds of a call, or `error: ...`
//! ```
//!
//! Calls follow each other without waiting, as many as take 20 ms, and then the device is waited
//! for: a program that calls BLAS on a device does so. Calls come before that are not counted, for
//! 200 ms: a GPU that was idle has to speed up, and what a CPU's last-level cache can hold gets
//! there in several passes. With `device`, the time is what the device worked on a call by its own
//! clock, without what a launch costs besides. The routine `launch` is a kernel that does nothing,
//! so that its time is what a launch costs.

use cltune::{Buffer, Context, Device, Event, Queue, tunable};
use cltune_kernels::blas::{self, BlasError, Matrix, MatrixMut, Real, Shape, Vector, VectorMut};
use std::error::Error;
use std::io::BufRead;
use std::time::{Duration, Instant};

const ROUTINES: [&str; 13] = [
    "axpy",
    "scal",
    "copy",
    "swap",
    "rot",
    "dot",
    "nrm2",
    "asum",
    "iamax",
    "gemv",
    "gemv_t",
    "ger",
    "transpose",
];

/// A kernel that does nothing.
#[tunable(params(ITEMS = [1, 32]), global(ITEMS), local(ITEMS))]
fn nothing(queue: &Queue, #[arg(len = 1)] unused: &Buffer<f32>) -> cltune::Result<Event> {
    r#"
    __kernel void nothing(__global const float* unused) {}
    "#
}

/// The seconds that one measurement takes.
const LENGTH: f64 = 0.02;
/// What calls take that come before and are not counted.
const UNCOUNTED: Duration = Duration::from_millis(200);

fn main() -> Result<(), Box<dyn Error>> {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let queue = Queue::without_events(&Context::new(&Device::select()?)?)?;
    match &arguments[..] {
        [] => show(&queue, 1 << 24),
        [word] if word == "serve" => serve(&queue),
        [len] => {
            let len = len
                .parse()
                .map_err(|_| format!("`{len}` is no length; usage: blas [LEN] | blas serve"))?;
            show(&queue, len)
        }
        _ => Err("usage: blas [LEN] | blas serve".into()),
    }
}

fn show(queue: &Queue, len: usize) -> Result<(), Box<dyn Error>> {
    println!("{}, vectors of {len} elements:", queue.device());
    for kind in ["f32", "f64"] {
        for routine in ROUTINES {
            let mut call = Call::new(queue, routine, kind, len)?;
            let micros = call.micros()?;
            let bytes = call.bytes as f64;
            println!(
                "{kind} {routine:>9}: {micros:10.1} us  {:8.1} GB/s",
                bytes / micros / 1e3
            );
        }
    }
    Ok(())
}

/// Answers measurements until the input ends. The last call's vectors are kept.
fn serve(queue: &Queue) -> Result<(), Box<dyn Error>> {
    println!("{}", queue.device());
    let with_times = Queue::with_profiling(queue.context())?;
    let mut kept: Option<(String, Call<'_>)> = None;
    for line in std::io::stdin().lock().lines() {
        let line = line?;
        if kept.as_ref().is_none_or(|(of, _)| *of != line) {
            // Before new vectors are made.
            kept = None;
            match prepared(queue, &with_times, &line) {
                Ok(call) => kept = Some((line, call)),
                Err(error) => {
                    println!("error: {error}");
                    continue;
                }
            }
        }
        if let Some((_, call)) = &mut kept {
            match call.micros() {
                Ok(micros) => println!("{micros}"),
                Err(error) => println!("error: {error}"),
            }
        }
    }
    Ok(())
}

fn prepared<'a>(
    queue: &'a Queue,
    with_times: &'a Queue,
    line: &str,
) -> Result<Call<'a>, Box<dyn Error>> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let (queue, words) = match words.split_last() {
        Some((&"device", words)) => (with_times, words),
        _ => (queue, &words[..]),
    };
    let [routine, kind, len] = words else {
        return Err("a line is ROUTINE TYPE LEN or ROUTINE TYPE LEN device".into());
    };
    Ok(Call::new(queue, routine, kind, len.parse()?)?)
}

/// One call of a routine.
type Launch<'a> = Box<dyn FnMut() -> Result<Option<Event>, BlasError> + 'a>;

/// A call that is repeated.
struct Call<'a> {
    queue: &'a Queue,
    launch: Launch<'a>,
    /// What a call has to move.
    bytes: usize,
    /// So many calls take as long as a measurement should; 0 before the first one.
    calls: u32,
}

impl<'a> Call<'a> {
    fn new(queue: &'a Queue, routine: &str, kind: &str, len: usize) -> Result<Self, BlasError> {
        let (launch, bytes) = match kind {
            "f64" => (launch(queue, routine, len, f64::from)?, 8),
            _ => (launch(queue, routine, len, |value: f32| value)?, 4),
        };
        let vectors = match routine {
            "nrm2" | "asum" | "iamax" | "gemv" | "gemv_t" => 1,
            "axpy" => 3,
            "swap" | "rot" => 4,
            _ => 2,
        };
        Ok(Self {
            queue,
            launch,
            bytes: bytes * len * vectors,
            calls: 0,
        })
    }

    /// The time of a call.
    fn micros(&mut self) -> Result<f64, BlasError> {
        if self.calls == 0 {
            // Builds kernels.
            self.seconds(3)?;
            let each = self.seconds(5)? / 5.0;
            self.calls = (LENGTH / each).clamp(1.0, 5000.0) as u32;
        }
        let begin = Instant::now();
        while begin.elapsed() < UNCOUNTED {
            self.seconds(self.calls)?;
        }
        Ok(self.seconds(self.calls)? / f64::from(self.calls) * 1e6)
    }

    fn seconds(&mut self, calls: u32) -> Result<f64, BlasError> {
        if self.queue.is_profiling() {
            return self.seconds_on_device(calls);
        }
        let begin = Instant::now();
        for _ in 0..calls {
            (self.launch)()?;
        }
        self.queue.finish()?;
        Ok(begin.elapsed().as_secs_f64())
    }

    /// The sum of what the device worked on each call.
    fn seconds_on_device(&mut self, calls: u32) -> Result<f64, BlasError> {
        let events = (0..calls).map(|_| (self.launch)());
        let events: Vec<Option<Event>> = events.collect::<Result<_, _>>()?;
        let mut seconds = 0.0;
        for event in events.into_iter().flatten() {
            seconds += event.duration()?.as_secs_f64();
        }
        Ok(seconds)
    }
}

/// Launches a routine on vectors of its own. An unknown one is a dot product.
fn launch<'a, T: Real>(
    queue: &'a Queue,
    routine: &str,
    len: usize,
    from: impl Fn(f32) -> T,
) -> Result<Launch<'a>, BlasError> {
    if routine == "launch" {
        let unused = Buffer::new(queue.context(), 1)?;
        return Ok(Box::new(move || Ok(Some(nothing(queue, &unused)?))));
    }
    let filled = |seed: usize| {
        let values = (0..len).map(|at| from(((at * 7 + seed) % 1021) as f32 / 1021.0 - 0.5));
        Buffer::from_slice(queue, &values.collect::<Vec<T>>())
    };
    // Of the matrix that is nearest to a square of so many elements.
    let side = len.isqrt();
    let shape = Shape::row_major(side, side);
    let (mut x, mut y) = (filled(1)?, filled(2)?);
    let mut number = Buffer::<T>::new(queue.context(), 1)?;
    let mut place = Buffer::<u64>::new(queue.context(), 1)?;
    // Such that elements do not grow, but for axpy's, and that no library has less to do.
    let (one, minus, cosine, sine) = (from(1.0), from(-1.0), from(0.6), from(0.8));
    let is_plain = routine == "gemv";
    let mut along = Buffer::from_slice(queue, &vec![from(0.001); side])?;
    let down = Buffer::from_slice(queue, &vec![from(0.001); side])?;
    Ok(match routine {
        "gemv" | "gemv_t" => Box::new(move || {
            let matrix = Matrix::new(&x, shape);
            let matrix = if is_plain {
                matrix
            } else {
                matrix.transposed()
            };
            let to = VectorMut::new(&mut along, side);
            blas::gemv(queue, one, matrix, Vector::new(&down, side), cosine, to)
        }),
        "ger" => Box::new(move || {
            let (down, along) = (Vector::new(&down, side), Vector::new(&along, side));
            blas::ger(queue, one, down, along, MatrixMut::new(&mut x, shape))
        }),
        "transpose" => Box::new(move || {
            let to = MatrixMut::new(&mut y, shape);
            blas::transpose(queue, Matrix::new(&x, shape), to)
        }),
        "axpy" => Box::new(move || {
            let to = VectorMut::new(&mut y, len);
            blas::axpy(queue, one, Vector::new(&x, len), to)
        }),
        "scal" => Box::new(move || blas::scal(queue, minus, VectorMut::new(&mut x, len))),
        "copy" => Box::new(move || {
            let to = VectorMut::new(&mut y, len);
            blas::copy(queue, Vector::new(&x, len), to)
        }),
        "swap" => Box::new(move || {
            let (x, y) = (VectorMut::new(&mut x, len), VectorMut::new(&mut y, len));
            blas::swap(queue, x, y)
        }),
        "rot" => Box::new(move || {
            let (x, y) = (VectorMut::new(&mut x, len), VectorMut::new(&mut y, len));
            blas::rot(queue, x, y, cosine, sine)
        }),
        "nrm2" => Box::new(move || {
            let to = VectorMut::new(&mut number, 1);
            blas::nrm2(queue, Vector::new(&x, len), to).map(Some)
        }),
        "asum" => Box::new(move || {
            let to = VectorMut::new(&mut number, 1);
            blas::asum(queue, Vector::new(&x, len), to).map(Some)
        }),
        "iamax" => Box::new(move || {
            let to = VectorMut::new(&mut place, 1);
            blas::iamax(queue, Vector::new(&x, len), to).map(Some)
        }),
        _ => Box::new(move || {
            let to = VectorMut::new(&mut number, 1);
            blas::dot(queue, Vector::new(&x, len), Vector::new(&y, len), to).map(Some)
        }),
    })
}
