//! The order of commands: on queues out of order, and after events.

use super::{N, Program, affine, duplicate, has_ended};
use cltune::{Buffer, Event, Queue, Result, tunable};
use std::thread::sleep;
use std::time::Duration;

/// Long enough for a launch that waits for nothing to end, on any machine that is not lost.
const LONG: Duration = Duration::from_mins(1);

fn ends(event: &Event) -> bool {
    let begin = std::time::Instant::now();
    while !has_ended(event) {
        if begin.elapsed() > LONG {
            return false;
        }
        sleep(Duration::from_millis(1));
    }
    true
}

fn filled(queue: &Queue, value: f32) -> Buffer<f32> {
    Buffer::from_slice(queue, &[value; N as usize]).unwrap()
}

#[test]
fn commands_on_a_queue_out_of_order_run_in_the_order_of_the_program() {
    let Some(program) = Program::out_of_order() else {
        return;
    };
    let queue = program.tuned();
    assert!(queue.is_out_of_order() && queue.is_profiling());
    let mut x = filled(&queue, 0.0);
    let mut y = filled(&queue, 0.0);
    let mut expected = 0.0;
    for round in 0..200_u8 {
        x.write(&queue, &[f32::from(round); N as usize]).unwrap();
        for _ in 0..3 {
            affine(&queue, N, 2.0, 1.0, &mut x).unwrap();
        }
        duplicate(&queue, N, &x, &mut y).unwrap();
        affine(&queue, N, 0.0, -1.0, &mut x).unwrap();
        expected = 8.0 * f32::from(round) + 7.0;
        assert_eq!(
            y.read(&queue).unwrap(),
            [expected; N as usize],
            "round {round}"
        );
    }
    assert!(expected > 0.0);
}

/// Also after a command that cannot begin yet.
#[test]
fn a_launch_waits_for_all_that_the_queue_was_given_before() {
    for program in Program::of_every_order() {
        let queue = program.tuned();
        let mut x = filled(&queue, 1.0);
        let hold = program.user_event();
        let first = affine(&queue.after(&[&hold.lent()]).unwrap(), N, 2.0, 0.0, &mut x).unwrap();
        let second = affine(&queue, N, 1.0, 1.0, &mut x).unwrap();
        queue.flush().unwrap();
        sleep(Duration::from_millis(50));
        assert!(!has_ended(&first) && !has_ended(&second));
        hold.end();
        assert_eq!(x.read(&queue).unwrap(), [3.0; N as usize]);
    }
}

#[test]
fn launches_after_events_of_a_queue_out_of_order_wait_for_nothing_else() {
    let Some(program) = Program::out_of_order() else {
        return;
    };
    if program.device.info().platform == "NVIDIA CUDA" {
        // It begins nothing behind a command that waits for an event (580.159).
        println!("SKIPPED: NVIDIA's queues out of order keep the order");
        return;
    }
    let queue = program.tuned();
    let [mut x, mut y] = [1.0, 1.0].map(|value| filled(&queue, value));
    let hold = program.user_event();
    let held = affine(&queue.after(&[&hold.lent()]).unwrap(), N, 2.0, 0.0, &mut x).unwrap();
    let free = affine(&queue.after(&[]).unwrap(), N, 3.0, 0.0, &mut y).unwrap();
    let next = affine(&queue.after(&[&free]).unwrap(), N, 3.0, 0.0, &mut y).unwrap();
    queue.flush().unwrap();
    assert!(ends(&next));
    assert!(!has_ended(&held));
    // PoCL's transfers that block wait for the whole queue, thus only now.
    hold.end();
    assert_eq!(
        y.read(&queue.after(&[&next]).unwrap()).unwrap(),
        [9.0; N as usize]
    );
    assert_eq!(x.read(&queue).unwrap(), [2.0; N as usize]);
}

/// A function that launches several kernels needs that.
#[test]
fn commands_after_the_same_events_run_in_order_among_themselves() {
    for program in Program::of_every_order() {
        let queue = program.tuned();
        for _ in 0..50 {
            let mut x = filled(&queue, 1.0);
            let hold = program.user_event();
            let strand = queue.after(&[&hold.lent()]).unwrap();
            affine(&strand, N, 2.0, 0.0, &mut x).unwrap();
            affine(&strand, N, 1.0, 1.0, &mut x).unwrap();
            let last = affine(&strand, N, 2.0, 0.0, &mut x).unwrap();
            hold.end();
            x.write(&strand, &[5.0; N as usize]).unwrap();
            last.wait().unwrap();
            affine(&strand, N, 2.0, 1.0, &mut x).unwrap();
            assert_eq!(x.read(&strand).unwrap(), [11.0; N as usize]);
        }
    }
}

#[test]
fn more_events_than_fit_in_a_short_list_are_all_waited_for() {
    let Some(program) = Program::out_of_order() else {
        return;
    };
    let queue = program.tuned();
    let mut x = filled(&queue, 1.0);
    let holds: Vec<_> = (0..20).map(|_| program.user_event()).collect();
    let events: Vec<_> = holds.iter().map(super::UserEvent::lent).collect();
    let (first, rest) = events.split_at(3);
    let wanted = queue.after(&first.iter().collect::<Vec<_>>()).unwrap();
    let wanted = wanted.after(&rest.iter().collect::<Vec<_>>()).unwrap();
    drop(events);
    let event = affine(&wanted, N, 2.0, 0.0, &mut x).unwrap();
    queue.flush().unwrap();
    for hold in &holds {
        sleep(Duration::from_millis(2));
        assert!(!has_ended(&event));
        hold.end();
    }
    event.wait().unwrap();
}

#[test]
fn a_queue_waits_for_another_one() {
    let program = Program::new();
    let one = program.tuned();
    let other = super::queue(&program.context, &program.device, 0);
    // SAFETY: the queue is alive.
    let other = unsafe { Queue::from_raw(other.get()) }.unwrap();
    let mut x = filled(&one, 1.0);
    let hold = program.user_event();
    let first = affine(&one.after(&[&hold.lent()]).unwrap(), N, 2.0, 0.0, &mut x).unwrap();
    one.flush().unwrap();
    let second = affine(&other.after(&[&first]).unwrap(), N, 1.0, 1.0, &mut x).unwrap();
    other.flush().unwrap();
    sleep(Duration::from_millis(20));
    assert!(!has_ended(&second));
    hold.end();
    second.wait().unwrap();
    assert_eq!(x.read(&other).unwrap(), [3.0; N as usize]);
}

/// A command whose event failed never runs, and those who wait are told.
#[test]
fn a_failed_event_is_an_error() {
    let program = Program::new();
    let queue = program.tuned();
    let x = filled(&queue, 1.0);
    let hold = program.user_event();
    let wanted = queue.after(&[&hold.lent()]).unwrap();
    opencl3::event::set_user_event_status(hold.0, -1).unwrap();
    let error = x.read(&wanted).unwrap_err();
    assert!(
        error.to_string().starts_with("clWaitForEvents failed"),
        "{error}"
    );
}

/// x <- 32 x + 31, in five rounds between which two buffers change places.
#[tunable(
    scratch(other: [f32; n]),
    stages(
        clear(other),
        repeat(round in 0..5, stage(double_and_one(x, other), global(n)), swap(x, other)),
        copy(x, other),
    ),
    tune(n = 256),
)]
fn rounds(queue: &Queue, n: u32, #[arg(len = n)] x: &mut Buffer<f32>) -> Result<Event> {
    "__kernel void double_and_one(__global const float* x, __global float* y) {
        y[get_global_id(0)] = 2 * x[get_global_id(0)] + 1;
    }"
}

#[test]
fn the_launches_of_a_group_run_in_order_on_every_queue() {
    for program in Program::of_every_order() {
        let queue = program.tuned();
        for round in 0..50_u8 {
            let first = f32::from(round);
            let mut x = filled(&queue, first);
            rounds(&queue, N, &mut x).unwrap();
            rounds(&queue.after(&[]).unwrap(), N, &mut x)
                .unwrap()
                .wait()
                .unwrap();
            let once = 32.0 * first + 31.0;
            assert_eq!(x.read(&queue).unwrap(), [32.0 * once + 31.0; N as usize]);
        }
    }
}
