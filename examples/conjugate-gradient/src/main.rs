//! Solves the Poisson equation by conjugate gradients; `bench` measures fused statements.

mod bench;
mod host;
mod kernels;
mod matrices;
mod products;

use cltune::{Buffer, Context, Device, Queue, Result};
use kernels::{stencil, update};

/// The points of a side of the grid, where the command line names none.
const SIDE: usize = 512;
/// The residual at which a solution is good enough, as a part of the right-hand side.
const ENOUGH: f32 = 1e-5;
/// How far it may be from the host's, as a part of its largest value: the matrix makes more of what
/// is left than the residual shows.
const NEAR: f64 = 1e-2;

fn main() -> Result<()> {
    // Steps are short launches, and nobody waits for a single one.
    let queue = Queue::without_events(&Context::new(&Device::select()?)?)?;
    println!("{}", queue.device());
    let argument = std::env::args().nth(1);
    if argument.as_deref() == Some("bench") {
        bench::run(&queue)?;
        matrices::run(&queue)?;
        return products::run(&queue);
    }
    let side = match argument.map(|text| text.parse::<usize>()) {
        None => SIDE,
        Some(Ok(side)) if (16..=4096).contains(&side) && side % 16 == 0 => side,
        _ => {
            eprintln!(
                "usage: conjugate-gradient [SIDE | bench], where SIDE is a multiple of 16 up to 4096"
            );
            std::process::exit(2);
        }
    };
    let n = side * side;
    let right: Vec<f32> = (0..n).map(|at| (at % 17) as f32 / 8.0 - 1.0).collect();
    let (solution, steps) = solve(&queue, side, &right)?;
    let residual = host::residual(&solution, &right, side);
    println!("{steps} steps; the residual is {residual:.1e} of the right-hand side");
    assert!(residual < 2.0 * f64::from(ENOUGH), "this is no solution");
    let expected = host::solution(&right, side);
    let largest = expected.iter().fold(0.0, |most: f64, x| most.max(x.abs()));
    let differences = solution.iter().zip(&expected);
    let differences = differences.map(|(found, expected)| (f64::from(*found) - expected).abs());
    let difference = differences.fold(0.0, f64::max);
    println!("the host's solution, of up to {largest:.3e}, differs by {difference:.1e} at most");
    assert!(difference < NEAR * largest, "this is another solution");
    println!(
        "{}",
        update::select(queue.device(), update::Problem { n: n as i64 })?
    );
    Ok(())
}

/// The solution of A x = `right`, and the number of steps that it took.
fn solve(queue: &Queue, side: usize, right: &[f32]) -> Result<(Vec<f32>, usize)> {
    let points = right.len();
    let begin: f32 = right.iter().map(|value| value * value).sum();
    let mut solution = Buffer::from_slice(queue, &vec![0.0; points])?;
    let mut residual = Buffer::from_slice(queue, right)?;
    let mut direction = Buffer::from_slice(queue, right)?;
    let mut product = Buffer::new(queue.context(), points)?;
    let mut square = Buffer::from_slice(queue, &[begin])?;
    for step in 1..=4 * side {
        stencil(queue, side as u32, &direction, &mut product)?;
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
    Ok((solution.read(queue)?, 4 * side))
}
