//! The end of work-groups that share columns: the last one reads the parts of all others, launch
//! after launch.

use super::queue;
use cltune::{Buffer, Event, Queue, Result, fused};

/// The work-groups that share columns leave parts, which the last of them adds up.
#[fused(tune(m = 1024, n = 1024))]
fn down(
    queue: &Queue,
    m: u32,
    n: u32,
    #[arg(matrix = [m, n])] a: &Buffer<f32>,
    #[arg(len = m)] x: &Buffer<f32>,
    #[arg(out, len = n)] y: &mut Buffer<f32>,
) -> Result<Event> {
    y = a.t() * x;
}

/// The same of a vector, of which the work-groups' first work-items leave parts.
#[fused(tune(n = 1 << 20))]
fn product(
    queue: &Queue,
    n: u32,
    #[arg(len = n)] x: &Buffer<f32>,
    #[arg(len = n)] z: &Buffer<f32>,
    #[arg(out, len = 1)] s: &mut Buffer<f32>,
) -> Result<Event> {
    s = dot(x, z);
}

/// On an H200 2 in 1000 launches read parts that were not there yet, while the fence before the
/// count was one of the work-group.
fn rounds() -> usize {
    if cltune_tests::is_full() { 20_000 } else { 200 }
}

/// Inputs change from launch to launch, since parts that an earlier launch has left would be right
/// otherwise.
#[test]
fn the_parts_of_columns_are_those_of_this_launch() -> Result<()> {
    let queue = queue();
    let side = 1024;
    let a = Buffer::from_slice(&queue, &vec![1.0_f32; side * side])?;
    let [ones, twos] = [1.0_f32, 2.0].map(|value| Buffer::from_slice(&queue, &vec![value; side]));
    let inputs = [(ones?, 1024.0), (twos?, 2048.0)];
    let mut y = Buffer::new(queue.context(), side)?;
    let params = down::Params {
        VW: 4,
        WGX: 8,
        WGY: 16,
        UNROLL: 2,
        TAIL: 0,
        SUMS: 1,
        SLICES: 16,
        FINISH: down::FINISH::r#loop,
    };
    for round in 0..rounds() {
        let (x, sum) = &inputs[round % 2];
        down::launch_with(&params, &queue, side as u32, side as u32, &a, x, &mut y)?;
        let found = y.read(&queue)?;
        assert!(found.iter().all(|y| y == sum), "round {round}: {found:?}");
    }
    Ok(())
}

#[test]
fn the_parts_of_vectors_are_those_of_this_launch() -> Result<()> {
    let queue = queue();
    let n = 1 << 16;
    let ones = Buffer::from_slice(&queue, &vec![1.0_f32; n])?;
    let twos = Buffer::from_slice(&queue, &vec![2.0_f32; n])?;
    let inputs = [(&ones, 65536.0), (&twos, 131_072.0)];
    let mut s = Buffer::new(queue.context(), 1)?;
    let params = product::Params {
        VW: 4,
        WG: 64,
        GROUPS: 256,
        FETCH: product::FETCH::strided,
        ACCUMULATORS: 1,
        FINISH: product::FINISH::r#loop,
    };
    for round in 0..rounds() {
        let (x, sum) = inputs[round % 2];
        product::launch_with(&params, &queue, n as u32, x, &ones, &mut s)?;
        assert_eq!(s.read(&queue)?, [sum], "round {round}");
    }
    Ok(())
}
