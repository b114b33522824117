//! Multiplies matrices and tells how fast: `cargo run --release -p cltune-kernels --example gemm`.
//!
//! ```text
//! gemm [SIZE]    square matrices of SIZE (1024), by every route that the device has
//! gemm serve     for `scripts/bench gemm`: reads lines `TYPE M N K LAYOUTS ROUTE REPEATS`, answers each with
//!                a line of seconds, or `error: ...`
//! ```
//!
//! `TYPE` is f32, f64, f16 or tf32; `LAYOUTS` has a letter each for A and B, n for rows, t for columns that
//! follow each other; `ROUTE` is auto, plain, direct, pipelined, tensor or panels.

use cltune_kernels::gemm::{Arithmetic, Gemm, GemmError, Matrix, MatrixMut, Real, Route, Shape};
use cltune_runtime::{Buffer, Event, Queue, f16};
use std::error::Error;
use std::io::BufRead;
use std::time::{Duration, Instant};

fn main() -> Result<(), Box<dyn Error>> {
    let queue = Queue::default_device()?;
    match std::env::args().nth(1).as_deref() {
        Some("serve") => serve(&queue),
        size => show(&queue, size.map_or(Ok(1024), str::parse)?),
    }
}

/// Every route, one after the other.
fn show(queue: &Queue, size: usize) -> Result<(), Box<dyn Error>> {
    println!("{}, single precision, {size} x {size}:", queue.device());
    for route in ["auto", "direct", "pipelined", "tensor", "panels"] {
        let case = Case {
            m: size,
            n: size,
            k: size,
            layouts: [false, false],
            way: Way::named(route)?,
            repeats: 5,
        };
        match case.times(queue, &|_: usize| 1.0_f32, 1.0, 0.0) {
            Ok(times) => {
                let rate = 2.0 * (size as f64).powi(3) / median(&times) / 1e9;
                println!("{route:>10}: {rate:.1} GFLOPS");
            }
            Err(GemmError::Unsupported { what, .. }) => println!("{route:>10}: no {what}"),
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// Answers measurements until the input ends.
fn serve(queue: &Queue) -> Result<(), Box<dyn Error>> {
    println!("{}", queue.device());
    for line in std::io::stdin().lock().lines() {
        match answer(queue, &line?) {
            Ok(times) => println!(
                "{}",
                times
                    .iter()
                    .map(f64::to_string)
                    .collect::<Vec<_>>()
                    .join(" ")
            ),
            Err(error) => println!("error: {error}"),
        }
    }
    Ok(())
}

fn answer(queue: &Queue, line: &str) -> Result<Vec<f64>, Box<dyn Error>> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let [kind, m, n, k, layouts, route, repeats] = words[..] else {
        return Err("seven words are needed: TYPE M N K LAYOUTS ROUTE REPEATS".into());
    };
    let way = if kind == "tf32" {
        Way::Tf32
    } else {
        Way::named(route)?
    };
    let case = Case {
        m: m.parse()?,
        n: n.parse()?,
        k: k.parse()?,
        layouts: [layouts.starts_with('t'), layouts.ends_with('t')],
        way,
        repeats: repeats.parse()?,
    };
    let value = |at: usize| (at % 1021) as f32 / 1021.0 - 0.5;
    Ok(match kind {
        "f32" | "tf32" => case.times(queue, &value, 1.0, 0.0)?,
        "f64" => case.times(queue, &|at| f64::from(value(at)), 1.0, 0.0)?,
        "f16" => case.times(queue, &|at| f16::from_f32(value(at)), 1.0, 0.0)?,
        other => return Err(format!("no type `{other}`: f32, f64, f16 and tf32 are there").into()),
    })
}

/// How it is multiplied.
#[derive(Clone, Copy)]
enum Way {
    Chosen(Arithmetic),
    By(Route),
    Tf32,
}

impl Way {
    fn named(name: &str) -> Result<Self, String> {
        Ok(match name {
            "auto" => Self::Chosen(Arithmetic::Automatic),
            "plain" => Self::Chosen(Arithmetic::Plain),
            "direct" => Self::By(Route::Direct),
            "pipelined" => Self::By(Route::Pipelined),
            "tensor" => Self::By(Route::Tensor),
            "panels" => Self::By(Route::Panels),
            other => return Err(format!("no route `{other}`")),
        })
    }
}

/// A multiplication to measure.
struct Case {
    m: usize,
    n: usize,
    k: usize,
    layouts: [bool; 2],
    way: Way,
    repeats: usize,
}

impl Case {
    /// The seconds of each repeat, from the call until the device has done, after one that builds what is
    /// needed.
    fn times<T: WithTf32>(
        &self,
        queue: &Queue,
        value: &dyn Fn(usize) -> T,
        alpha: T::Real,
        beta: T::Real,
    ) -> Result<Vec<f64>, GemmError> {
        let filled = |count: usize| {
            let values: Vec<T> = (0..count).map(value).collect();
            Buffer::from_slice(queue, &values)
        };
        let (a, b) = (filled(self.m * self.k)?, filled(self.k * self.n)?);
        let mut c = Buffer::new(queue.context(), self.m * self.n)?;
        let shape = |rows, columns, by_columns: bool| {
            if by_columns {
                Shape::column_major(rows, columns)
            } else {
                Shape::row_major(rows, columns)
            }
        };
        let [of_a, of_b] = self.layouts;
        let a = Matrix::new(&a, shape(self.m, self.k, of_a));
        let b = Matrix::new(&b, shape(self.k, self.n, of_b));
        let mut gemm = Gemm::<T>::new(queue)?;
        if let Way::Chosen(arithmetic) = self.way {
            gemm = gemm.arithmetic(arithmetic);
        }
        let mut once = || -> Result<Duration, GemmError> {
            let begin = Instant::now();
            let target = MatrixMut::new(&mut c, Shape::row_major(self.m, self.n));
            let _launched = match self.way {
                Way::Chosen(_) => gemm.multiply(queue, alpha, a, b, beta, target)?,
                Way::By(route) => gemm.multiply_with(queue, route, alpha, a, b, beta, target)?,
                Way::Tf32 => T::tf32(&mut gemm, queue, alpha, a, b, beta, target)?,
            };
            queue.finish()?;
            Ok(begin.elapsed())
        };
        once()?;
        (0..self.repeats)
            .map(|_| once().map(|time| time.as_secs_f64()))
            .collect()
    }
}

/// TF32, where the type has it.
trait WithTf32: Real {
    fn tf32(
        _gemm: &mut Gemm<Self>,
        queue: &Queue,
        _alpha: Self::Real,
        _a: Matrix<'_, Self>,
        _b: Matrix<'_, Self>,
        _beta: Self::Real,
        _c: MatrixMut<'_, Self>,
    ) -> Result<Option<Event>, GemmError> {
        Err(GemmError::Unsupported {
            device: queue.device().to_string(),
            what: "TF32 for this type",
        })
    }
}

impl WithTf32 for f32 {
    fn tf32(
        gemm: &mut Gemm<Self>,
        queue: &Queue,
        alpha: Self,
        a: Matrix<'_, Self>,
        b: Matrix<'_, Self>,
        beta: Self,
        c: MatrixMut<'_, Self>,
    ) -> Result<Option<Event>, GemmError> {
        gemm.multiply_tf32(queue, alpha, a, b, beta, c)
    }
}

impl WithTf32 for f64 {}
impl WithTf32 for f16 {}

fn median(times: &[f64]) -> f64 {
    let mut sorted = times.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[sorted.len() / 2]
}
