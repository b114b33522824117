//! Queues whose launches have no events: what is asked of a call is asked of its queue.

use super::{N, affine, duplicate, has_ended};
use cltune::{Buffer, Context, Device, Error, Event, Queue, Result, tunable};
use opencl3::error_codes::CL_PROFILING_INFO_NOT_AVAILABLE;

/// x is cleared, and gets round numbers added in turns with another buffer.
#[tunable(
    name = "without_events::rounds",
    params(ROUNDS = [3, 4]),
    scratch(other: [f32; n]),
    stages(
        clear(other),
        repeat(round in 0..ROUNDS, stage(add_round(round as u32, x, other), global(n)), swap(x, other)),
        copy(x, other, when(ROUNDS % 2 == 1)),
    ),
    tune(n = 64),
)]
fn rounds(queue: &Queue, n: u32, #[arg(len = n)] x: &mut Buffer<f32>) -> Result<Event> {
    "__kernel void add_round(const uint round, __global const float* x, __global float* y) {
        y[get_global_id(0)] = x[get_global_id(0)] + round;
    }"
}

fn context() -> Context {
    let device = Device::select();
    Context::new(&device.expect("these tests need an OpenCL device; scripts/setup installs one"))
        .unwrap()
}

fn filled(queue: &Queue, value: f32) -> Buffer<f32> {
    Buffer::from_slice(queue, &[value; N as usize]).unwrap()
}

#[test]
fn calls_do_what_they_do_on_any_queue() {
    let queue = Queue::without_events(&context()).unwrap();
    assert!(!queue.is_profiling() && !queue.is_out_of_order());
    let mut x = filled(&queue, 1.0);
    for _ in 0..100 {
        affine(&queue, N, 1.0, 1.0, &mut x).unwrap();
    }
    assert_eq!(x.read(&queue).unwrap(), [101.0; N as usize]);
    for (count, sum) in [(3, 3.0), (4, 6.0)] {
        let params = rounds::Params { ROUNDS: count };
        rounds::launch_with(&params, &queue, N, &mut x).unwrap();
        x.read(&queue).unwrap();
        rounds::launch_with(&params, &queue, N, &mut x).unwrap();
        affine(&queue, N, 1.0, -2.0 * sum, &mut x).unwrap();
        assert_eq!(
            x.read(&queue).unwrap(),
            [101.0; N as usize],
            "{count} rounds"
        );
    }
}

#[test]
fn waiting_for_a_call_waits_for_it() {
    let queue = Queue::without_events(&context()).unwrap();
    let mut x = filled(&queue, 1.0);
    let first = affine(&queue, N, 2.0, 0.0, &mut x).unwrap();
    let second = affine(&queue, N, 1.0, 1.0, &mut x).unwrap();
    first.wait().unwrap();
    second.wait().unwrap();
    assert!(has_ended(&first) && has_ended(&second));
    // The handle stays the same one as long as the value lives.
    assert_eq!(first.as_raw().unwrap(), first.as_raw().unwrap());
    drop(queue);
    first.wait().unwrap();
    let theirs = second.into_raw().unwrap();
    opencl3::event::Event::new(theirs).wait().unwrap();
}

/// Whether the queue was flushed after the launch or not: nobody can flush what is made later.
#[test]
fn another_queue_waits_for_a_call() {
    let context = context();
    let one = Queue::without_events(&context).unwrap();
    let other = Queue::without_events(&context).unwrap();
    let mut x = filled(&one, 0.0);
    let mut y = filled(&one, 0.0);
    for round in 0..100_u8 {
        let written = affine(&one, N, 0.0, f32::from(round), &mut x).unwrap();
        one.flush().unwrap();
        let after = other.after(&[&written]).unwrap();
        let read = duplicate(&after, N, &x, &mut y).unwrap();
        assert_eq!(y.read(&other).unwrap(), [f32::from(round); N as usize]);
        // What overwrites x waits for its being read.
        affine(&one.after(&[&read]).unwrap(), N, 0.0, -1.0, &mut x).unwrap();
    }
}

#[test]
fn times_are_not_known() {
    let queue = Queue::without_events(&context()).unwrap();
    let mut x = filled(&queue, 1.0);
    let call = affine(&queue, N, 2.0, 0.0, &mut x).unwrap();
    let error = call.duration().unwrap_err();
    let Error::OpenCl { call, status } = error else {
        panic!("{error}");
    };
    assert_eq!(status.0, CL_PROFILING_INFO_NOT_AVAILABLE);
    assert_eq!(call, "clGetEventProfilingInfo");
}
