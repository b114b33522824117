//! The types of opencl3.

use super::{N, Program, affine, duplicate};
use cltune::{Buffer, Context, Device, Error, Event, Queue};
use opencl3::memory::ClMem;

#[test]
fn buffers_are_lent_for_a_call() {
    let program = Program::new();
    let queue = Queue::from_opencl3(&program.queue).unwrap();
    let mut x = program.buffer(&[1.0; N as usize]);
    let mut y = program.buffer(&[0.0; N as usize]);
    let (x, y) = (&mut x, &mut y);
    affine(&queue, N, 2.0, 1.0, &mut queue.lend_mut(x).unwrap()).unwrap();
    let event = duplicate(
        &queue,
        N,
        &queue.lend(x).unwrap(),
        &mut queue.lend_mut(y).unwrap(),
    );
    event.unwrap().into_opencl3().unwrap().wait().unwrap();
    assert_eq!(program.read(y), [3.0; N as usize]);
}

#[test]
fn a_call_waits_for_their_events_and_they_for_its() {
    let Some(program) = Program::out_of_order() else {
        return;
    };
    let queue = Queue::from_opencl3(&program.queue).unwrap();
    let mut x = program.buffer(&[1.0; N as usize]);
    let written = vec![4.0; N as usize];
    // SAFETY: the values live longer than the transfer.
    let write = unsafe {
        program
            .queue
            .enqueue_write_buffer(&mut x, 0, 0, &written, &[])
    };
    let write = Event::from_opencl3(&write.unwrap()).unwrap();
    let mut lent = queue.lend_mut(&mut x).unwrap();
    let scaled = affine(&queue.after(&[&write]).unwrap(), N, 2.0, 1.0, &mut lent).unwrap();
    let mut found = vec![0.0; N as usize];
    let wait = [scaled.as_raw().unwrap()];
    // SAFETY: the transfer blocks.
    let read = unsafe {
        program
            .queue
            .enqueue_read_buffer(&x, 1, 0, &mut found, &wait)
    };
    read.unwrap();
    assert_eq!(found, [9.0; N as usize]);
}

#[test]
fn contexts_queues_and_buffers_go_both_ways() {
    let program = Program::new();
    let device = Device::from_raw(program.context.default_device()).unwrap();
    let context = Context::from_opencl3(&program.context, &device).unwrap();
    let queue = Queue::from_opencl3(&program.queue).unwrap();
    assert_eq!(context, *queue.context());
    assert_eq!(context.to_opencl3().unwrap().get(), program.context.get());
    let again = queue.to_opencl3().unwrap();
    assert_eq!(again.get(), program.queue.get());
    assert_eq!(
        again.max_work_item_dimensions(),
        program.queue.max_work_item_dimensions()
    );

    let theirs = program.buffer(&[1.0; N as usize]);
    let handle = theirs.get();
    let ours = Buffer::from_opencl3(&context, theirs).unwrap();
    assert_eq!((ours.len(), ours.as_raw()), (N as usize, handle));
    let theirs = ours.into_opencl3();
    assert_eq!(theirs.reference_count().unwrap(), 1);
    assert_eq!(program.read(&theirs), [1.0; N as usize]);
}

#[test]
fn a_buffer_of_another_context_is_refused() {
    let (program, other) = (Program::new(), Program::new());
    let queue = Queue::from_opencl3(&program.queue).unwrap();
    let mut theirs = other.buffer(&[1.0; N as usize]);
    let error = queue.lend(&theirs).unwrap_err();
    assert!(matches!(error, Error::OtherContext { .. }), "{error}");
    let error = queue.lend_mut(&mut theirs).unwrap_err();
    assert!(matches!(error, Error::OtherContext { .. }), "{error}");
    let error = Buffer::from_opencl3(queue.context(), theirs).unwrap_err();
    assert!(matches!(error, Error::OtherContext { .. }), "{error}");
}
