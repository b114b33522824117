//! A sum, in two launches with the work-groups' sums between them, or in one with atomics: one
//! tunable, whose parameter `HOW` decides.

use cltune::{Buffer, Event, Queue, Result, tunable};

/// total <- the sum of x, modulo 2^32
#[tunable(
    source = "kernels/sum.cl",
    params(
        HOW = ["stages", "atomics"],
        WG = [32, 64, 128, 256], GROUPS = [8, 32, 128, 512, 2048], VW = [1, 2, 4],
    ),
    constraints(n % VW == 0, GROUPS * WG <= n),
    scratch(parts: [u32; GROUPS]),
    local_args(sums: [u32; WG]),
    stages(
        clear(total, when(HOW == "atomics")),
        stage(sum_to_total(n, x, total, sums), global(GROUPS * WG), local(WG), when(HOW == "atomics")),
        stage(sum_to_parts(n, x, parts, sums), global(GROUPS * WG), local(WG), when(HOW == "stages")),
        stage(sum_parts(GROUPS as u32, parts, total, sums), global(WG), local(WG), when(HOW == "stages")),
    ),
    tune(n = [1 << 16, 1 << 24]),
    reference(kernel = "sum_reference", global(1)),
    defaults(HOW = "stages", WG = 64, GROUPS = 32, VW = 1),
    bytes(4 * n),
)]
pub fn sum(
    queue: &Queue,
    n: u32,
    #[arg(len = n)] x: &Buffer<u32>,
    #[arg(out, len = 1)] total: &mut Buffer<u32>,
) -> Result<Event>;

fn main() -> Result<()> {
    let queue = Queue::default_device()?;
    println!("{}", queue.device());
    for n in [1 << 16, 1 << 24] {
        let numbers: Vec<u32> = (0..n).collect();
        let x = Buffer::from_slice(&queue, &numbers)?;
        let mut total = Buffer::new(queue.context(), 1)?;
        sum(&queue, n, &x, &mut total)?;

        let total = total.read(&queue)?[0];
        let right = numbers
            .iter()
            .fold(0_u32, |sum, number| sum.wrapping_add(*number));
        let problem = sum::Problem { n: i64::from(n) };
        println!("{}", sum::select(queue.device(), problem)?);
        println!("the sum of {n} numbers is {total}, and has to be {right}");
        assert_eq!(total, right);
    }
    Ok(())
}
