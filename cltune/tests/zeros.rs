//! Scratch buffers that hold zeros between calls, and reductions in one launch, which count
//! work-groups in one.

use cltune::tuning::{MeasureOptions, Measurer, Outcome};
use cltune::{Buffer, Device, Event, Queue, Result, fused, tunable};

/// Adds up `x` in the order in which work-groups come, if the counter is 0 at the begin.
#[tunable(
    params(WG = [32, 64], RESET = [true, false]),
    scratch(before: [u32; 8], count: [u32; 2] = 0),
    stages(
        stage(spoil(before), global(8), local(8)),
        stage(number(count, places), global(n), local(WG)),
    ),
    tune(n = 256),
    defaults(WG = 32, RESET = true),
    reference(stage(expected(places), global(n))),
)]
fn numbered(queue: &Queue, n: u32, #[arg(out, len = n)] places: &mut Buffer<u32>) -> Result<Event> {
    "__kernel void spoil(__global uint* before) { before[get_global_id(0)] = 77; }
     // 1 for all work-items, if the counter began at 0.
     __kernel void number(volatile __global uint* count, __global uint* places) {
         __local uint mine;
         if (get_local_id(0) == 0) mine = atomic_inc(count);
         barrier(CLK_LOCAL_MEM_FENCE);
         places[get_global_id(0)] = mine < get_num_groups(0);
         if (RESET && get_local_id(0) == 0 && atomic_inc(count + 1) + 1 == get_num_groups(0)) {
             atomic_xchg(count, 0u);
             atomic_xchg(count + 1, 0u);
         }
     }
     __kernel void expected(__global uint* places) { places[get_global_id(0)] = 1; }"
}

/// Numbers of 4 bytes.
#[fused(tune(n = 5000))]
fn product(
    queue: &Queue,
    n: u32,
    #[arg(len = n)] x: &Buffer<f32>,
    #[arg(len = n)] y: &Buffer<f32>,
    #[arg(out, len = 1)] s: &mut Buffer<f32>,
) -> Result<Event> {
    s = dot(x, y);
}

/// Of 8 bytes, two of them, and a number that the loop reads and the end writes.
#[fused(tune(n = 5000))]
fn scaled(
    queue: &Queue,
    n: u32,
    #[arg(len = n)] x: &mut Buffer<i64>,
    #[arg(len = 1)] s: &mut Buffer<i64>,
    #[arg(out, len = 1)] place: &mut Buffer<u64>,
) -> Result<Event> {
    x = x + s;
    s = sum(x) % 1000;
    place = index_of_max(x);
}

fn queue() -> Queue {
    Queue::default_device().expect("these tests need an OpenCL device; scripts/setup installs one")
}

#[test]
fn calls_find_the_zeros_that_the_call_before_has_left() -> Result<()> {
    let queue = queue();
    for n in [64, 256, 128, 1024] {
        let mut places = Buffer::from_slice(&queue, &vec![7; n])?;
        numbered(&queue, n as u32, &mut places)?;
        assert_eq!(places.read(&queue)?, vec![1; n]);
    }
    Ok(())
}

#[test]
fn a_configuration_that_leaves_no_zeros_is_wrong() {
    let device = Device::select().expect("these tests need an OpenCL device");
    let declaration = numbered::TUNABLE.declaration().unwrap();
    let options = MeasureOptions::default();
    let mut measurer = Measurer::new(&device, &declaration, &[256], &options).unwrap();
    for (wg, reset, is_right) in [
        (32, 1, true),
        (32, 0, false),
        (32, 1, true),
        (64, 0, false),
        (64, 1, true),
    ] {
        let codes = [wg, reset];
        let measured = measurer.measure(&codes, None, None);
        let found = matches!(measured, Outcome::Ok(_)) && measurer.verify(&codes).is_ok();
        assert_eq!(found, is_right, "{codes:?}: {measured:?}");
        if let Outcome::WrongResult(wrong) = measured {
            let message = wrong.to_string();
            assert!(
                message.contains("count") && message.contains("zeros"),
                "{message}"
            );
        }
    }
}

/// The parts are added up in the same order, whichever work-group ends last.
#[test]
fn one_launch_gives_the_bits_of_two() -> Result<()> {
    let queue = queue();
    let n = 5000;
    let values = |seed: u32| -> Vec<f32> {
        let number = |i: u32| (i.wrapping_mul(2_654_435_761) ^ seed) >> 9;
        (0..n).map(|i| number(i) as f32 / 1e6 - 4.0).collect()
    };
    let (x, y) = (
        Buffer::from_slice(&queue, &values(1))?,
        Buffer::from_slice(&queue, &values(2))?,
    );
    let mut s = Buffer::new(queue.context(), 1)?;
    for groups in [1, 4, 64, 4096] {
        let mut found = Vec::new();
        for finish in [product::FINISH::launch, product::FINISH::r#loop] {
            let params = product::Params {
                VW: 4,
                WG: 32,
                GROUPS: groups,
                FETCH: product::FETCH::strided,
                ACCUMULATORS: 2,
                FINISH: finish,
            };
            for _ in 0..20 {
                product::launch_with(&params, &queue, n, &x, &y, &mut s)?;
                found.push(s.read(&queue)?[0].to_bits());
            }
        }
        assert!(
            found.iter().all(|bits| *bits == found[0]),
            "{groups}: {found:?}"
        );
    }
    Ok(())
}

#[test]
fn numbers_of_eight_bytes_pass_from_group_to_group() -> Result<()> {
    let queue = queue();
    let n = 3001_usize;
    let mut x: Vec<i64> = (0..n as i64).map(|i| ((i * 7919) % 10_007) << 33).collect();
    let mut s = 5;
    let mut xs = Buffer::from_slice(&queue, &x)?;
    let mut ss = Buffer::from_slice(&queue, &[s])?;
    let mut place = Buffer::new(queue.context(), 1)?;
    for (groups, finish) in [
        (16, scaled::FINISH::r#loop),
        (64, scaled::FINISH::launch),
        (256, scaled::FINISH::r#loop),
        (1, scaled::FINISH::r#loop),
    ] {
        let params = scaled::Params {
            FUSE: scaled::FUSE::all,
            VW: 2,
            WG: 32,
            GROUPS: groups,
            FETCH: scaled::FETCH::contiguous,
            ACCUMULATORS: 4,
            FINISH: finish,
        };
        scaled::launch_with(&params, &queue, n as u32, &mut xs, &mut ss, &mut place)?;
        for x in &mut x {
            *x += s;
        }
        s = x.iter().sum::<i64>() % 1000;
        assert_eq!(ss.read(&queue)?, [s], "{groups}");
        let most = x.iter().max().unwrap();
        let first = x.iter().position(|x| x == most).unwrap();
        assert_eq!(place.read(&queue)?, [first as u64], "{groups}");
    }
    assert_eq!(xs.read(&queue)?, x);
    Ok(())
}
