//! Programs that already use OpenCL: their contexts, queues, buffers and events with launches.

mod bad_objects;
mod images;
mod lifetimes;
mod objects;
#[cfg(feature = "opencl3")]
mod opencl3_types;
mod order;
mod two_devices;
mod without_events;

use cltune::{Buffer, Device, Event, Queue, Result, tunable};
use opencl3::command_queue::{
    CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, CL_QUEUE_PROFILING_ENABLE, CommandQueue,
};
use opencl3::context::Context;
use opencl3::event::{cl_event, create_user_event, set_user_event_status};
use opencl3::memory::{CL_MEM_READ_WRITE, ClMem, cl_mem_flags};
use opencl3::types::CL_TRUE;
use std::ptr;

/// x <- a*x + b
#[tunable(
    name = "interop::affine",
    params(WG = [4, 8]),
    global(n), local(WG),
    tune(n = 64),
)]
fn affine(
    queue: &Queue,
    n: u32,
    a: f32,
    b: f32,
    #[arg(len = n)] x: &mut Buffer<f32>,
) -> Result<Event> {
    "__kernel void affine(const uint n, const float a, const float b, __global float* x) {
        x[get_global_id(0)] = a * x[get_global_id(0)] + b;
    }"
}

/// y <- x
#[tunable(
    name = "interop::duplicate",
    params(WG = [4, 8]),
    global(n), local(WG),
    tune(n = 64),
)]
fn duplicate(
    queue: &Queue,
    n: u32,
    #[arg(len = n)] x: &Buffer<f32>,
    #[arg(len = n, out)] y: &mut Buffer<f32>,
) -> Result<Event> {
    "__kernel void duplicate(const uint n, __global const float* x, __global float* y) {
        y[get_global_id(0)] = x[get_global_id(0)];
    }"
}

const N: u32 = 64;

/// A program of opencl3's, on the device that cltune would select.
struct Program {
    device: Device,
    context: Context,
    queue: CommandQueue,
}

impl Program {
    /// With a plain queue: in order, without profiling.
    fn new() -> Self {
        Self::with(0)
    }

    /// `None` where the device has no such queues.
    fn out_of_order() -> Option<Self> {
        let out_of_order = CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE;
        let device = Device::select().unwrap();
        let has = opencl3::device::Device::new(device.as_raw()).queue_on_host_properties();
        let has = has.is_ok_and(|properties| properties & out_of_order != 0);
        // So that it is known where the tests that need one mean something.
        let must_have = device.info().platform == "Portable Computing Language";
        assert!(has || !must_have, "PoCL has them");
        has.then(|| Self::with(out_of_order | CL_QUEUE_PROFILING_ENABLE))
    }

    /// One with each kind of queue.
    fn of_every_order() -> impl Iterator<Item = Self> {
        [Self::new()].into_iter().chain(Self::out_of_order())
    }

    fn with(properties: u64) -> Self {
        let device = Device::select()
            .expect("these tests need an OpenCL device; scripts/setup installs one");
        let theirs = opencl3::device::Device::new(device.as_raw());
        let context = Context::from_device(&theirs).unwrap();
        let queue = queue(&context, &device, properties);
        Self {
            device,
            context,
            queue,
        }
    }

    /// The queue for cltune.
    fn tuned(&self) -> Queue {
        // SAFETY: the queue is alive.
        unsafe { Queue::from_raw(self.queue.get()) }.unwrap()
    }

    /// A buffer of opencl3's with these values.
    fn buffer(&self, values: &[f32]) -> opencl3::memory::Buffer<f32> {
        let mut buffer = self.buffer_with(CL_MEM_READ_WRITE, values.len());
        // SAFETY: the transfer blocks.
        let event = unsafe {
            self.queue
                .enqueue_write_buffer(&mut buffer, CL_TRUE, 0, values, &[])
        };
        event.unwrap();
        // The transfer may go on, and on a queue out of order nothing waits for it.
        self.queue.finish().unwrap();
        buffer
    }

    fn buffer_with(&self, flags: cl_mem_flags, len: usize) -> opencl3::memory::Buffer<f32> {
        // SAFETY: there is no host memory.
        unsafe { opencl3::memory::Buffer::create(&self.context, flags, len, ptr::null_mut()) }
            .unwrap()
    }

    fn read(&self, buffer: &opencl3::memory::Buffer<f32>) -> Vec<f32> {
        let mut values = vec![0.0; buffer.size().unwrap() / size_of::<f32>()];
        // SAFETY: the transfer blocks.
        let event = unsafe {
            self.queue
                .enqueue_read_buffer(buffer, CL_TRUE, 0, &mut values, &[])
        };
        event.unwrap();
        values
    }

    /// An event that ends when the test says so.
    fn user_event(&self) -> UserEvent {
        UserEvent(create_user_event(self.context.get()).unwrap())
    }
}

/// The same memory for cltune.
fn lent(queue: &Queue, buffer: &opencl3::memory::Buffer<f32>) -> Buffer<f32> {
    let len = buffer.size().unwrap() / size_of::<f32>();
    // SAFETY: the buffer is alive and has no host memory.
    unsafe { Buffer::from_raw(queue.context(), buffer.get(), len) }.unwrap()
}

fn queue(context: &Context, device: &Device, properties: u64) -> CommandQueue {
    // SAFETY: the device is the context's.
    unsafe { CommandQueue::create(context, device.as_raw(), properties) }.unwrap()
}

struct UserEvent(cl_event);

impl UserEvent {
    /// For cltune.
    fn lent(&self) -> Event {
        // SAFETY: the event is alive.
        unsafe { Event::from_raw(self.0) }.unwrap()
    }

    fn end(&self) {
        set_user_event_status(self.0, 0).unwrap();
    }
}

impl Drop for UserEvent {
    fn drop(&mut self) {
        // SAFETY: it is released once.
        unsafe { opencl3::event::release_event(self.0) }.unwrap();
    }
}

/// Whether an event of cltune's has ended.
fn has_ended(event: &Event) -> bool {
    let status = opencl3::event::get_event_info(
        event.as_raw().unwrap(),
        opencl3::event::CL_EVENT_COMMAND_EXECUTION_STATUS,
    );
    i32::from(status.unwrap()) == opencl3::event::CL_COMPLETE
}
