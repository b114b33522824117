//! Objects that work: nothing is copied, and what both sides do is seen by both.

use super::{N, Program, affine, duplicate, lent, queue};
use cltune::{Buffer, Context, Device, Error, Event, Queue};
use opencl3::command_queue::{CL_QUEUE_PROFILING_ENABLE, CommandQueue};
use opencl3::memory::{CL_MEM_READ_ONLY, CL_MEM_READ_WRITE, CL_MEM_WRITE_ONLY, ClMem};

#[test]
fn a_launch_works_on_the_memory_of_another_program() {
    let program = Program::new();
    let theirs = program.buffer(&[1.0; N as usize]);
    let queue = program.tuned();
    assert!(!queue.is_profiling() && !queue.is_out_of_order());
    assert_eq!(*queue.device(), program.device);
    let mut ours = lent(&queue, &theirs);
    assert_eq!(ours.as_raw(), theirs.get());
    affine(&queue, N, 2.0, 1.0, &mut ours).unwrap();
    assert_eq!(program.read(&theirs), [3.0; N as usize]);
    ours.write(&queue, &[5.0; N as usize]).unwrap();
    assert_eq!(program.read(&theirs), [5.0; N as usize]);
    assert_eq!(ours.read(&queue).unwrap(), [5.0; N as usize]);
}

#[test]
fn a_part_of_a_buffer_is_a_buffer() {
    let program = Program::new();
    let theirs = program.buffer(&[1.0; 1024]);
    // SAFETY: 512 elements are a multiple of every device's alignment.
    let half = unsafe { theirs.create_sub_buffer(CL_MEM_READ_WRITE, 512, 512) }.unwrap();
    let queue = program.tuned();
    let mut ours = lent(&queue, &half);
    assert_eq!(ours.len(), 512);
    affine(&queue, 512, 0.0, 7.0, &mut ours).unwrap();
    let values = program.read(&theirs);
    assert_eq!(values[..512], [1.0; 512]);
    assert_eq!(values[512..], [7.0; 512]);
}

#[test]
fn one_context_and_device_are_one_context_however_often_they_are_handed_in() {
    let program = Program::new();
    let (first, second) = (program.tuned(), program.tuned());
    assert_eq!(first.context(), second.context());
    // SAFETY: the context is alive.
    let context = unsafe { Context::from_raw(program.context.get(), &program.device) }.unwrap();
    assert_eq!(context, *first.context());
    assert_eq!(context.as_raw(), program.context.get());
    assert_ne!(context, *Program::new().tuned().context());
    // And one that cltune made, too.
    let ours = Queue::for_device(&program.device).unwrap();
    // SAFETY: the queue is alive.
    let again = unsafe { Queue::from_raw(ours.as_raw()) }.unwrap();
    assert_eq!(again.context(), ours.context());
}

#[test]
fn flags_of_a_buffer_say_which_kernels_may_use_it() {
    let program = Program::new();
    let queue = program.tuned();
    let len = N as usize;
    let [read_only, write_only] = [CL_MEM_READ_ONLY, CL_MEM_WRITE_ONLY];
    let [read_only, write_only] =
        [read_only, write_only].map(|flag| program.buffer_with(flag, len));
    let mut input = lent(&queue, &read_only);
    let mut output = lent(&queue, &write_only);
    input.write(&queue, &[3.0; N as usize]).unwrap();
    duplicate(&queue, N, &input, &mut output).unwrap();
    assert_eq!(program.read(&write_only), [3.0; N as usize]);

    let error = affine(&queue, N, 1.0, 1.0, &mut input).unwrap_err();
    assert!(matches!(error, Error::BufferAccess { .. }), "{error}");
    assert_eq!(
        error.to_string(),
        "kernel `cltune::interop::affine`: buffer `x` was made with CL_MEM_READ_ONLY, and the kernel writes \
         to it: make it with CL_MEM_READ_WRITE"
    );
    let error = affine(&queue, N, 1.0, 1.0, &mut output).unwrap_err();
    assert_eq!(
        error.to_string(),
        "kernel `cltune::interop::affine`: buffer `x` was made with CL_MEM_WRITE_ONLY, and the kernel may \
         read from it: make it with CL_MEM_READ_WRITE, or declare the argument with `#[arg(out)]` if \
         the kernel only writes to it"
    );
}

#[test]
fn a_queue_with_profiling_knows_times_and_one_without_says_so() {
    let program = Program::new();
    let theirs = program.buffer(&[1.0; N as usize]);
    let plain = program.tuned();
    let mut ours = lent(&plain, &theirs);
    let event = affine(&plain, N, 1.0, 1.0, &mut ours).unwrap();
    // rusticl knows some time for every event.
    if let Err(error) = event.duration() {
        let said = error.to_string();
        assert!(said.contains("CL_QUEUE_PROFILING_ENABLE"), "{said}");
    }

    let with_times = queue(&program.context, &program.device, CL_QUEUE_PROFILING_ENABLE);
    // SAFETY: the queue is alive.
    let with_times = unsafe { Queue::from_raw(with_times.get()) }.unwrap();
    assert!(with_times.is_profiling());
    let event = affine(&with_times, N, 1.0, 1.0, &mut ours).unwrap();
    assert!(event.duration().unwrap().as_nanos() < 60_000_000_000);
}

#[test]
fn objects_of_cltune_serve_other_programs() {
    let queue = Queue::default_device().unwrap();
    let buffer = Buffer::from_slice(&queue, &[2.0_f32; N as usize]).unwrap();
    let context = queue.context().clone();
    let dimensions = 3;
    // Each of these owns a reference from now on, and releases it.
    let their_buffer = opencl3::memory::Buffer::<f32>::new(buffer.into_raw());
    let their_context =
        opencl3::context::Context::new(context.into_raw().unwrap(), &[queue.device().as_raw()]);
    let their_queue = CommandQueue::new(queue.into_raw(), dimensions);
    assert_eq!(their_buffer.context().unwrap(), their_context.get());
    let mut values = vec![0.0; N as usize];
    // SAFETY: the transfer blocks.
    let event = unsafe { their_queue.enqueue_read_buffer(&their_buffer, 1, 0, &mut values, &[]) };
    assert_eq!(values, [2.0; N as usize]);
    // SAFETY: the event is alive.
    let event = unsafe { Event::from_raw(event.unwrap().get()) }.unwrap();
    event.wait().unwrap();
    opencl3::event::Event::new(event.into_raw().unwrap())
        .wait()
        .unwrap();
}

#[test]
fn devices_are_found_by_their_handles() {
    for device in Device::all().unwrap() {
        assert_eq!(Device::from_raw(device.as_raw()).unwrap(), device);
    }
}

/// Memory of both the host and the device that a program made itself: OpenCL's shared virtual
/// memory reaches kernels as a buffer that uses its pointer.
#[test]
fn shared_virtual_memory_is_used_through_a_buffer() {
    let program = Program::new();
    let device = opencl3::device::Device::new(program.device.as_raw());
    if device.svm_mem_capability() & opencl3::device::CL_DEVICE_SVM_COARSE_GRAIN_BUFFER == 0 {
        return;
    }
    let mut values = opencl3::svm::SvmVec::<f32>::allocate(&program.context, N as usize).unwrap();
    if !values.is_fine_grained() {
        return;
    }
    values.fill(2.0);
    let flags = CL_MEM_READ_WRITE | opencl3::memory::CL_MEM_USE_HOST_PTR;
    let pointer = values.as_mut_ptr().cast();
    // SAFETY: the memory has these elements, and lives longer than the buffer.
    let theirs = unsafe {
        opencl3::memory::Buffer::<f32>::create(&program.context, flags, N as usize, pointer)
    };
    let theirs = theirs.unwrap();
    let queue = program.tuned();
    let mut ours = lent(&queue, &theirs);
    affine(&queue, N, 2.0, 1.0, &mut ours)
        .unwrap()
        .wait()
        .unwrap();
    drop((ours, theirs));
    assert_eq!(values[..], [5.0; N as usize]);
}
