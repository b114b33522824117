//! The rate of multiplications of matrices.

use crate::way::{Way, WithTf32};
use cltune::{Buffer, Queue, bf16, f16};
use cltune_kernels::gemm::{GemmError, Matrix, MatrixMut, Route, Shape};
use std::error::Error;
use std::io::BufRead;
use std::time::{Duration, Instant};

/// Calls run so long before those that are measured: a GPU that was idle has to speed up, and
/// threads of a CPU's device may share a core at first.
const UNCOUNTED: Duration = Duration::from_millis(20);

/// A multiplication to measure.
struct Case {
    m: usize,
    n: usize,
    k: usize,
    layouts: [bool; 2],
    way: Way,
    repeats: usize,
    /// How many such products at once, where it is a batch.
    count: Option<usize>,
}

/// Every route, one after the other.
pub(crate) fn show(queue: &Queue, size: usize) -> Result<(), Box<dyn Error>> {
    println!("{}, single precision, {size} x {size}:", queue.device());
    for route in [
        "auto",
        "direct",
        "pipelined",
        "tensor",
        "warpgroup",
        "panels",
        "pipelinedparts",
        "tensorparts",
    ] {
        let case = Case {
            m: size,
            n: size,
            k: size,
            layouts: [false, false],
            way: Way::named(route)?,
            repeats: 5,
            count: None,
        };
        match case.times(queue, &|_: usize| 1.0_f32) {
            Ok(times) => {
                let rate = 2.0 * (size as f64).powi(3) / median(&times) / 1e9;
                println!("{route:>14}: {rate:.1} GFLOPS");
            }
            Err(GemmError::Unsupported { what, .. }) => println!("{route:>14}: no {what}"),
            Err(error) => return Err(error.into()),
        }
    }
    Ok(())
}

/// Answers measurements until the input ends.
pub(crate) fn serve(queue: &Queue) -> Result<(), Box<dyn Error>> {
    println!("{}", queue.device());
    for line in std::io::stdin().lock().lines() {
        match answer(queue, &line?) {
            Ok(answer) => println!("{answer}"),
            Err(error) => println!("error: {error}"),
        }
    }
    Ok(())
}

fn answer(queue: &Queue, line: &str) -> Result<String, Box<dyn Error>> {
    let words: Vec<&str> = line.split_whitespace().collect();
    let (words, count) = match words[..] {
        [ref words @ .., count] if words.len() == 7 => (words, Some(count.parse()?)),
        ref words => (words, None),
    };
    let &[kind, m, n, k, layouts, route, repeats] = words else {
        return Err(
            "seven or eight words are needed: TYPE M N K LAYOUTS ROUTE REPEATS [COUNT]".into(),
        );
    };
    let is_choice = route == "choice";
    let way = if kind == "tf32" {
        Way::Tf32
    } else {
        Way::named(if is_choice { "auto" } else { route })?
    };
    let case = Case {
        m: m.parse()?,
        n: n.parse()?,
        k: k.parse()?,
        layouts: [layouts.starts_with('t'), layouts.ends_with('t')],
        way,
        repeats: repeats.parse()?,
        count,
    };
    // All bits differ from one to the next, as in data: a GPU is faster where they do not.
    let bits = |at: usize| {
        let mixed = (at as u64 + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        (mixed ^ mixed >> 29).wrapping_mul(0xbf58_476d_1ce4_e5b9)
    };
    let value = |at: usize| (bits(at) >> 40) as f32 / 2.0_f32.powi(24) - 0.5;
    let double = |at: usize| (bits(at) >> 11) as f64 / 2.0_f64.powi(53) - 0.5;
    match kind {
        "f32" | "tf32" => case.answer(queue, is_choice, &value),
        "f64" => case.answer(queue, is_choice, &double),
        "f16" => case.answer(queue, is_choice, &|at| f16::from_f32(value(at))),
        "bf16" => case.answer(queue, is_choice, &|at| bf16::from_f32(value(at))),
        other => Err(format!("no type `{other}`: f32, f64, f16, bf16 and tf32 are there").into()),
    }
}

impl Case {
    /// The seconds of each repeat, or the route that is chosen.
    fn answer<T: WithTf32>(
        &self,
        queue: &Queue,
        is_choice: bool,
        value: &dyn Fn(usize) -> T,
    ) -> Result<String, Box<dyn Error>> {
        if is_choice {
            let route = self.choice::<T>(queue)?;
            return Ok(route.map_or_else(
                || "none".to_owned(),
                |route| format!("{route:?}").to_lowercase(),
            ));
        }
        let times = self.times(queue, value)?;
        let words: Vec<String> = times.iter().map(f64::to_string).collect();
        Ok(words.join(" "))
    }

    /// A and B in these buffers, with those of other products of a batch behind them.
    fn operands<'a, T: WithTf32>(&self, a: &'a Buffer<T>, b: &'a Buffer<T>) -> [Matrix<'a, T>; 2] {
        let [of_a, of_b] = self.layouts;
        [
            Matrix::new(a, shape(self.m, self.k, of_a)),
            Matrix::new(b, shape(self.k, self.n, of_b)),
        ]
    }

    /// The route that is chosen.
    fn choice<T: WithTf32>(&self, queue: &Queue) -> Result<Option<Route>, GemmError> {
        let buffer = |count: usize| Buffer::<T>::new(queue.context(), count);
        let (a, b) = (buffer(self.m * self.k)?, buffer(self.k * self.n)?);
        let mut c = buffer(self.m * self.n)?;
        let [a, b] = self.operands(&a, &b);
        let c = MatrixMut::new(&mut c, Shape::row_major(self.m, self.n));
        self.way.multiplier::<T>(queue)?.route(T::ONE, a, b, c)
    }

    /// The seconds of each repeat, from the call until the device has done, after one that builds
    /// what is needed.
    fn times<T: WithTf32>(
        &self,
        queue: &Queue,
        value: &dyn Fn(usize) -> T,
    ) -> Result<Vec<f64>, GemmError> {
        let filled = |count: usize| {
            let values: Vec<T> = (0..count).map(value).collect();
            Buffer::from_slice(queue, &values)
        };
        let count = self.count.unwrap_or(1);
        let (a, b) = (
            filled(count * self.m * self.k)?,
            filled(count * self.k * self.n)?,
        );
        let bias = filled(self.n)?;
        let mut c = Buffer::new(queue.context(), count * self.m * self.n)?;
        let [a, b] = self.operands(&a, &b);
        let mut gemm = self.way.multiplier::<T>(queue)?;
        let shape_of_c = Shape::row_major(self.m, self.n);
        let target = MatrixMut::new(&mut c, shape_of_c);
        self.way.prepare(&mut gemm, queue, a, b, target)?;
        let mut once = || -> Result<Duration, GemmError> {
            let begin = Instant::now();
            let target = MatrixMut::new(&mut c, shape_of_c);
            let way = self.way;
            let _launched = match self.count {
                None => way.multiply(&mut gemm, queue, a, b, target, Some(&bias))?,
                Some(count) => way.multiply_batched(&mut gemm, queue, a, b, target, count)?,
            };
            queue.finish()?;
            Ok(begin.elapsed())
        };
        let begin = Instant::now();
        while begin.elapsed() < UNCOUNTED {
            once()?;
        }
        (0..self.repeats)
            .map(|_| once().map(|time| time.as_secs_f64()))
            .collect()
    }
}

fn shape(rows: usize, columns: usize, by_columns: bool) -> Shape {
    if by_columns {
        Shape::column_major(rows, columns)
    } else {
        Shape::row_major(rows, columns)
    }
}

fn median(times: &[f64]) -> f64 {
    let mut sorted = times.to_vec();
    sorted.sort_by(f64::total_cmp);
    sorted[sorted.len() / 2]
}
