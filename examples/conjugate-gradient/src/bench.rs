//! Fused statements against one kernel for each statement, in turns.

use crate::kernels::{axpy, copy, inner, pair, product, update};
use cltune_runtime::{Buffer, Queue, Result};
use std::time::Instant;

/// The elements of vectors.
const SIZES: [usize; 3] = [1 << 18, 1 << 22, 1 << 26];
/// How often each way is measured.
const ROUNDS: usize = 9;

/// Seconds of a call, measured over as many calls as take some milliseconds.
type Way<'a> = Box<dyn FnMut() -> Result<()> + 'a>;

/// Prints a line for each size and group of statements.
pub(crate) fn run(queue: &Queue) -> Result<()> {
    println!(
        "microseconds of a call, medians of {ROUNDS} (least to most); GB/s of what has to be moved"
    );
    for n in SIZES {
        let vector = |seed: usize| {
            let values: Vec<f32> = (0..n)
                .map(|at| ((at * 7 + seed) % 13) as f32 / 6.0 - 1.0)
                .collect();
            Buffer::from_slice(queue, &values)
        };
        let (mut a, mut b, mut c, d) = (vector(1)?, vector(2)?, vector(3)?, vector(4)?);
        let mut s = Buffer::from_slice(queue, &[1.0])?;
        let n32 = n as u32;
        let bytes = 4 * n;

        let copied = measured(
            queue,
            &mut [Box::new(|| copy(queue, n32, &d, &mut c).map(drop))],
        )?;
        report("y = x", n, &copied, &[2 * bytes]);

        let product_times = {
            let mut t = vector(5)?;
            let mut s_fused = Buffer::<f32>::new(queue.context(), 1)?;
            let mut fused = || product(queue, n32, &a, &b, &mut s_fused).map(drop);
            // t = 2 a + b as BLAS has it, with b copied before: its time is left out.
            let mut calls = || {
                axpy(queue, n32, 2.0, &a, &mut t)?;
                inner(queue, n32, &a, &t, &mut s).map(drop)
            };
            measured(queue, &mut [Box::new(&mut fused), Box::new(&mut calls)])?
        };
        report(
            "s = dot(x, 2 x + y), then axpy and dot",
            n,
            &product_times,
            &[2 * bytes, 5 * bytes],
        );

        let problem = pair::Problem { n: n as i64 };
        let best = pair::select(queue.device(), problem)?.params;
        let all = pair::Params {
            FUSE: pair::FUSE::all,
            ..best
        };
        let none = pair::Params {
            FUSE: pair::FUSE::none,
            ..best
        };
        let times = {
            let (mut u, mut v) = (vector(6)?, vector(7)?);
            let cell = std::cell::RefCell::new((&mut u, &mut v));
            let with = |params: pair::Params| {
                let (cell, a, b) = (&cell, &a, &b);
                move || {
                    let (u, v) = &mut *cell.borrow_mut();
                    pair::launch_with(&params, queue, n32, a, b, u, v).map(drop)
                }
            };
            measured(queue, &mut [Box::new(with(all)), Box::new(with(none))])?
        };
        report("u = a + b; v = a - b", n, &times, &[4 * bytes, 6 * bytes]);

        let problem = update::Problem { n: n as i64 };
        let best = update::select(queue.device(), problem)?.params;
        let all = update::Params {
            FUSE: update::FUSE::all,
            ..best
        };
        let none = update::Params {
            FUSE: update::FUSE::none,
            ..best
        };
        let mut rr = Buffer::from_slice(queue, &[1.0])?;
        let cell = std::cell::RefCell::new((&mut a, &mut b, &mut c, &mut rr));
        let with = |params: update::Params| {
            let (cell, d) = (&cell, &d);
            move || {
                let (x, r, p, rr) = &mut *cell.borrow_mut();
                update::launch_with(&params, queue, n32, x, r, p, d, rr).map(drop)
            }
        };
        let times = measured(queue, &mut [Box::new(with(all)), Box::new(with(none))])?;
        report(
            "a step of conjugate gradients",
            n,
            &times,
            &[11 * bytes, 12 * bytes],
        );
    }
    Ok(())
}

/// The times of each way in seconds, measured in turns.
fn measured(queue: &Queue, ways: &mut [Way<'_>]) -> Result<Vec<Vec<f64>>> {
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

fn report(what: &str, n: usize, times: &[Vec<f64>], bytes: &[usize]) {
    let median = |times: &[f64]| times[times.len() / 2];
    print!("n = {n:9}  {what:40}");
    for (times, bytes) in times.iter().zip(bytes) {
        let (least, most) = (times[0] * 1e6, times[times.len() - 1] * 1e6);
        let time = median(times);
        print!(
            "  {:10.1} ({least:.1} to {most:.1}) {:7.0} GB/s",
            time * 1e6,
            *bytes as f64 / time / 1e9
        );
    }
    if let [fused, other] = times {
        print!("  ratio {:.2}", median(other) / median(fused));
    }
    println!();
}
