//! Owners: who releases what, in which order, on which thread.

use super::{N, Program, affine, lent, queue};
use cltune::{Buffer, Context, Event, Queue};
use opencl3::memory::ClMem;
use std::thread;

/// An owner of something, given up at a time of the test's choice.
type Owner = Box<dyn std::any::Any>;

/// All orders of so many things.
fn orders(len: usize) -> Vec<Vec<usize>> {
    if len == 0 {
        return vec![Vec::new()];
    }
    let shorter = orders(len - 1);
    let insert = |order: &Vec<usize>| {
        let order = order.clone();
        (0..len).map(move |place| {
            let mut order = order.clone();
            order.insert(place, len - 1);
            order
        })
    };
    shorter.iter().flat_map(insert).collect()
}

/// What both sides own after a command that may be under way, if need be a launch: their context,
/// queue and buffer, and cltune's queue, buffer and event.
fn owners(is_launch: bool) -> [Owner; 6] {
    let program = Program::new();
    let theirs = program.buffer(&[1.0; N as usize]);
    let queue = program.tuned();
    let mut ours = lent(&queue, &theirs);
    let event = if is_launch {
        affine(&queue, N, 2.0, 1.0, &mut ours).unwrap()
    } else {
        // SAFETY: there are no events to wait for, and the new one is alive.
        unsafe {
            let marker = program.queue.enqueue_marker_with_wait_list(&[]).unwrap();
            Event::from_raw(marker.get()).unwrap()
        }
    };
    let Program {
        context,
        queue: their_queue,
        ..
    } = program;
    [
        Box::new(context),
        Box::new(their_queue),
        Box::new(theirs),
        Box::new(queue),
        Box::new(ours),
        Box::new(event),
    ]
}

#[test]
fn objects_can_be_dropped_in_every_order() {
    // Building takes a while, so that launches are left out of most.
    for (number, order) in orders(6).into_iter().enumerate() {
        let mut owners = owners(number % 40 == 0).map(Some);
        for position in order {
            owners[position] = None;
        }
    }
}

#[test]
fn cltune_keeps_what_its_owner_has_released() {
    let program = Program::new();
    let theirs = program.buffer(&[1.0; N as usize]);
    let queue = program.tuned();
    let mut ours = lent(&queue, &theirs);
    drop((theirs, program));
    affine(&queue, N, 2.0, 1.0, &mut ours).unwrap();
    assert_eq!(ours.read(&queue).unwrap(), [3.0; N as usize]);
    let (context, buffer) = (queue.context().clone(), ours);
    drop(queue);
    let queue = Queue::new(&context).unwrap();
    assert_eq!(buffer.read(&queue).unwrap(), [3.0; N as usize]);
}

#[test]
fn references_are_given_back() {
    let program = Program::new();
    let theirs = program.buffer(&[1.0; N as usize]);
    let counts = || {
        (
            program.context.reference_count().unwrap(),
            program.queue.reference_count().unwrap(),
            theirs.reference_count().unwrap(),
        )
    };
    let before = counts();
    for _ in 0..3 {
        let queue = program.tuned();
        let mut ours = lent(&queue, &theirs);
        let event = affine(&queue, N, 1.0, 0.0, &mut ours).unwrap();
        let after = queue.after(&[&event, &event]).unwrap();
        affine(&after, N, 1.0, 0.0, &mut ours).unwrap();
        queue.finish().unwrap();
        // What is refused is not kept, either.
        // SAFETY: both are alive.
        unsafe {
            Buffer::<f32>::from_raw(queue.context(), theirs.get(), usize::MAX / 8).unwrap_err();
            Buffer::<f32>::from_raw(queue.context(), theirs.get(), 1000).unwrap_err();
        }
    }
    program.queue.finish().unwrap();
    assert_eq!(counts(), before);
}

#[test]
fn threads_use_one_foreign_queue_and_buffers_of_their_own() {
    fn is_shared<T: Send + Sync>() {}
    is_shared::<Context>();
    is_shared::<Queue>();
    is_shared::<Buffer<f32>>();
    is_shared::<Event>();
    for program in Program::of_every_order() {
        let tuned = program.tuned();
        thread::scope(|scope| {
            for number in 0..8_u8 {
                let (program, tuned) = (&program, &tuned);
                scope.spawn(move || {
                    let theirs = program.buffer(&[f32::from(number); N as usize]);
                    let shared = lent(tuned, &theirs);
                    let own = queue(&program.context, &program.device, 0);
                    // SAFETY: the queue is alive.
                    let own = unsafe { Queue::from_raw(own.get()) }.unwrap();
                    assert_eq!(own.context(), tuned.context());
                    let mut shared = shared;
                    for _ in 0..20 {
                        let event = affine(tuned, N, 1.0, 1.0, &mut shared).unwrap();
                        tuned.flush().unwrap();
                        let after = own.after(&[&event]).unwrap();
                        affine(&after, N, 1.0, 1.0, &mut shared).unwrap();
                        own.finish().unwrap();
                    }
                    let expected = f32::from(number) + 40.0;
                    assert_eq!(shared.read(&own).unwrap(), [expected; N as usize]);
                });
            }
        });
    }
}

/// Who drops the last reference may be a thread that others do not know.
#[test]
fn objects_are_dropped_on_other_threads() {
    for _ in 0..20 {
        let program = Program::new();
        let theirs = program.buffer(&[1.0; N as usize]);
        let queue = program.tuned();
        let mut ours = lent(&queue, &theirs);
        let event = affine(&queue, N, 2.0, 1.0, &mut ours).unwrap();
        let threads = [
            thread::spawn(move || drop(program)),
            thread::spawn(move || drop(theirs)),
            thread::spawn(move || drop(queue)),
            thread::spawn(move || drop(ours)),
            thread::spawn(move || event.wait().unwrap()),
        ];
        for thread in threads {
            thread.join().unwrap();
        }
    }
}
