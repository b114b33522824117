//! Solves the Poisson equation by conjugate gradients; `bench` measures fused statements.

mod bench;
mod kernels;
mod matrices;
mod products;

use cltune::{Buffer, Context, Device, Queue, Result};
use kernels::{stencil, update};

/// The points of a side of the grid.
const SIDE: usize = 512;
/// The residual at which a solution is good enough, as a part of the right-hand side.
const ENOUGH: f32 = 1e-4;

fn main() -> Result<()> {
    // Steps are short launches, and nobody waits for a single one.
    let queue = Queue::without_events(&Context::new(&Device::select()?)?)?;
    println!("{}", queue.device());
    if std::env::args().nth(1).as_deref() == Some("bench") {
        bench::run(&queue)?;
        matrices::run(&queue)?;
        return products::run(&queue);
    }
    let n = SIDE * SIDE;
    let right: Vec<f32> = (0..n).map(|at| (at % 17) as f32 / 8.0 - 1.0).collect();
    let (solution, steps) = solve(&queue, &right)?;
    let residual = residual(&solution, &right);
    println!("{steps} steps; the residual is {residual:.1e} of the right-hand side");
    assert!(residual < 2.0 * f64::from(ENOUGH), "this is no solution");
    println!(
        "{}",
        update::select(queue.device(), update::Problem { n: n as i64 })?
    );
    Ok(())
}

/// The solution of A x = `right`, and the number of steps that it took.
fn solve(queue: &Queue, right: &[f32]) -> Result<(Vec<f32>, usize)> {
    let points = right.len();
    let begin: f32 = right.iter().map(|value| value * value).sum();
    let mut solution = Buffer::from_slice(queue, &vec![0.0; points])?;
    let mut residual = Buffer::from_slice(queue, right)?;
    let mut direction = Buffer::from_slice(queue, right)?;
    let mut product = Buffer::new(queue.context(), points)?;
    let mut square = Buffer::from_slice(queue, &[begin])?;
    for step in 1..=4 * SIDE {
        stencil(queue, SIDE as u32, &direction, &mut product)?;
        update(
            queue,
            points as u32,
            &mut solution,
            &mut residual,
            &mut direction,
            &product,
            &mut square,
        )?;
        // The host looks now and then; all else stays on the device.
        if step % 32 == 0 && square.read(queue)?[0] < ENOUGH * ENOUGH * begin {
            return Ok((solution.read(queue)?, step));
        }
    }
    Ok((solution.read(queue)?, 4 * SIDE))
}

/// The length of `right` - A x as a part of that of `right`, computed on the host.
fn residual(x: &[f32], right: &[f32]) -> f64 {
    let value = |x_at: usize, y_at: usize| f64::from(x[y_at * SIDE + x_at]);
    let mut squares = [0.0, 0.0];
    for y in 0..SIDE {
        for x in 0..SIDE {
            let mut product = 4.0 * value(x, y);
            if x > 0 {
                product -= value(x - 1, y);
            }
            if x + 1 < SIDE {
                product -= value(x + 1, y);
            }
            if y > 0 {
                product -= value(x, y - 1);
            }
            if y + 1 < SIDE {
                product -= value(x, y + 1);
            }
            let right = f64::from(right[y * SIDE + x]);
            squares[0] += (right - product).powi(2);
            squares[1] += right * right;
        }
    }
    (squares[0] / squares[1]).sqrt()
}
