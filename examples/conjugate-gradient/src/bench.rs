//! Fused statements against one kernel for each statement, in turns.

use crate::kernels::{axpy, copy, inner, pair, product, stencil, update};
use cltune::{Buffer, Queue, Result};
use std::cell::RefCell;
use std::time::Instant;

/// The elements of vectors.
const SIZES: [usize; 5] = [1 << 10, 1 << 14, 1 << 18, 1 << 22, 1 << 26];
/// The sides of grids on which an equation is solved.
const SIDES: [usize; 2] = [512, 4096];
/// The steps of a solution.
const STEPS: usize = 32;
/// How often each way is measured.
const ROUNDS: usize = 9;

/// A call that is measured.
pub(crate) type Way<'a> = Box<dyn FnMut() -> Result<()> + 'a>;

/// Prints a line for each size and group of statements.
pub(crate) fn run(queue: &Queue) -> Result<()> {
    println!(
        "microseconds of a call, medians of {ROUNDS} (least to most); GB/s of what has to be moved"
    );
    for n in SIZES {
        copies(queue, n)?;
        products(queue, n)?;
        pairs(queue, n)?;
        updates(queue, n)?;
    }
    SIDES.into_iter().try_for_each(|side| solves(queue, side))
}

/// So many numbers.
fn vector(queue: &Queue, n: usize, seed: usize) -> Result<Buffer<f32>> {
    let values = (0..n).map(|at| ((at * 7 + seed) % 13) as f32 / 6.0 - 1.0);
    Buffer::from_slice(queue, &values.collect::<Vec<f32>>())
}

fn copies(queue: &Queue, n: usize) -> Result<()> {
    let from = vector(queue, n, 1)?;
    let mut to = vector(queue, n, 2)?;
    let way: Way<'_> = Box::new(|| copy(queue, n as u32, &from, &mut to).map(drop));
    report("y = x", n, &measured(queue, &mut [way])?, &[2]);
    Ok(())
}

fn products(queue: &Queue, n: usize) -> Result<()> {
    let (x, y) = (vector(queue, n, 1)?, vector(queue, n, 2)?);
    let mut sum = vector(queue, n, 3)?;
    let mut results = [
        Buffer::new(queue.context(), 1)?,
        Buffer::new(queue.context(), 1)?,
    ];
    let [of_fused, of_calls] = &mut results;
    let fused: Way<'_> = Box::new(|| product(queue, n as u32, &x, &y, of_fused).map(drop));
    // As BLAS has it: 2 x is added to what is there. Copying y before is left out.
    let calls: Way<'_> = Box::new(|| {
        axpy(queue, n as u32, 2.0, &x, &mut sum)?;
        inner(queue, n as u32, &x, &sum, of_calls).map(drop)
    });
    let times = measured(queue, &mut [fused, calls])?;
    report("s = dot(x, 2 x + y), then axpy and dot", n, &times, &[2, 5]);
    Ok(())
}

fn pairs(queue: &Queue, n: usize) -> Result<()> {
    let inputs = (vector(queue, n, 1)?, vector(queue, n, 2)?);
    let outputs = RefCell::new((vector(queue, n, 3)?, vector(queue, n, 4)?));
    let best = pair::select(queue.device(), pair::Problem { n: n as i64 })?.params;
    let way = |fuse| -> Way<'_> {
        let params = pair::Params { FUSE: fuse, ..best };
        let (inputs, outputs) = (&inputs, &outputs);
        Box::new(move || {
            let (sum, difference) = &mut *outputs.borrow_mut();
            pair::launch_with(
                &params, queue, n as u32, &inputs.0, &inputs.1, sum, difference,
            )
            .map(drop)
        })
    };
    let times = measured(queue, &mut [way(pair::FUSE::all), way(pair::FUSE::none)])?;
    report("u = a + b; v = a - b", n, &times, &[4, 6]);
    Ok(())
}

fn updates(queue: &Queue, n: usize) -> Result<()> {
    let product = vector(queue, n, 1)?;
    let vectors = [2, 3, 4].map(|seed| vector(queue, n, seed));
    let [solution, residual, direction] = vectors;
    let state = RefCell::new((solution?, residual?, direction?));
    let square = RefCell::new(Buffer::from_slice(queue, &[1.0])?);
    let best = update::select(queue.device(), update::Problem { n: n as i64 })?.params;
    let way = |fuse| -> Way<'_> {
        let params = update::Params { FUSE: fuse, ..best };
        let (product, state, square) = (&product, &state, &square);
        Box::new(move || {
            let (solution, residual, direction) = &mut *state.borrow_mut();
            let square = &mut *square.borrow_mut();
            let n = n as u32;
            update::launch_with(
                &params, queue, n, solution, residual, direction, product, square,
            )
            .map(drop)
        })
    };
    let times = measured(
        queue,
        &mut [way(update::FUSE::all), way(update::FUSE::none)],
    )?;
    report("a step of conjugate gradients", n, &times, &[11, 12]);
    Ok(())
}

/// The first steps of a solution: what the host does not wait for.
fn solves(queue: &Queue, side: usize) -> Result<()> {
    let n = side * side;
    let right = vector(queue, n, 1)?;
    let begin = Buffer::from_slice(queue, &[right.read(queue)?.iter().map(|x| x * x).sum()])?;
    let [solution, residual, direction] = [2, 3, 4].map(|seed| vector(queue, n, seed));
    let product = Buffer::new(queue.context(), n)?;
    let square = Buffer::new(queue.context(), 1)?;
    let state = RefCell::new((solution?, residual?, direction?, product, square));
    let best = update::select(queue.device(), update::Problem { n: n as i64 })?.params;
    let way = |fuse| -> Way<'_> {
        let params = update::Params { FUSE: fuse, ..best };
        let (right, begin, state) = (&right, &begin, &state);
        Box::new(move || {
            let (solution, residual, direction, product, square) = &mut *state.borrow_mut();
            let n = n as u32;
            copy(queue, n, right, residual)?;
            copy(queue, n, right, direction)?;
            copy(queue, 1, begin, square)?;
            for _ in 0..STEPS {
                stencil(queue, side as u32, direction, product)?;
                update::launch_with(
                    &params, queue, n, solution, residual, direction, product, square,
                )?;
            }
            Ok(())
        })
    };
    let times = measured(
        queue,
        &mut [way(update::FUSE::all), way(update::FUSE::none)],
    )?;
    let what = format!("{STEPS} steps of a solution");
    report(&what, n, &times, &[13 * STEPS + 4, 14 * STEPS + 4]);
    Ok(())
}

/// The times of each way in seconds, measured in turns.
pub(crate) fn measured(queue: &Queue, ways: &mut [Way<'_>]) -> Result<Vec<Vec<f64>>> {
    let mut times = vec![Vec::new(); ways.len()];
    let mut calls = vec![1_u32; ways.len()];
    // The first calls build kernels; then as many calls as take 20 ms.
    for (way, calls) in ways.iter_mut().zip(&mut calls) {
        for _ in 0..3 {
            way()?;
        }
        queue.finish()?;
        let begin = Instant::now();
        for _ in 0..5 {
            way()?;
        }
        queue.finish()?;
        let each = begin.elapsed().as_secs_f64() / 5.0;
        *calls = (0.02 / each).clamp(1.0, 2000.0) as u32;
    }
    for _ in 0..ROUNDS {
        for ((way, calls), times) in ways.iter_mut().zip(&calls).zip(&mut times) {
            let begin = Instant::now();
            for _ in 0..*calls {
                way()?;
            }
            queue.finish()?;
            times.push(begin.elapsed().as_secs_f64() / f64::from(*calls));
        }
    }
    for times in &mut times {
        times.sort_by(f64::total_cmp);
    }
    Ok(times)
}

/// Prints a line; `vectors` says how often each way has to move a vector.
fn report(what: &str, n: usize, times: &[Vec<f64>], vectors: &[usize]) {
    let bytes: Vec<usize> = vectors.iter().map(|vectors| 4 * n * vectors).collect();
    print(&n.to_string(), what, times, &bytes);
}

/// Prints a line for a size; `bytes` says how much each way has to move.
pub(crate) fn print(size: &str, what: &str, times: &[Vec<f64>], bytes: &[usize]) {
    let median = |times: &[f64]| times[times.len() / 2];
    print!("n = {size:>11}  {what:40}");
    for (times, bytes) in times.iter().zip(bytes) {
        let (least, most) = (times[0] * 1e6, times[times.len() - 1] * 1e6);
        let time = median(times);
        let rate = *bytes as f64 / time / 1e9;
        print!(
            "  {:10.1} ({least:.1} to {most:.1}) {rate:7.0} GB/s",
            time * 1e6
        );
    }
    if let [fused, other] = times {
        print!("  ratio {:.2}", median(other) / median(fused));
    }
    println!();
}
