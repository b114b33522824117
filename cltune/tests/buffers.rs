//! Buffers and scalars of every type, through the device and back.

use cltune::{Buffer, Context, Error, Event, Queue, Result, tunable};
#[cfg(feature = "f16")]
use cltune::{bf16, f16};

fn queue() -> Queue {
    Queue::default_device().expect("these tests need an OpenCL device; scripts/setup installs one")
}

/// A test that copies a buffer in a kernel and puts a scalar behind it. `$opencl` is the type that
/// the kernel uses: one with the same bits where devices need not support the type itself.
macro_rules! every_bit_survives {
    ($($name:ident: $ty:ty as $opencl:literal, $values:expr;)+) => { $(
        #[test]
        fn $name() {
            #[tunable(kernel = "copy", params(T = [$opencl]), global(n), tune(n = 3), defaults(T = $opencl))]
            fn $name(
                queue: &Queue,
                n: u32,
                #[arg(value = 1)] last: $ty,
                #[arg(len = n)] x: &Buffer<$ty>,
                #[arg(out, len = n + 1)] y: &mut Buffer<$ty>,
            ) -> Result<Event> {
                "__kernel void copy(const uint n, const T last, __global const T* x, __global T* y) {
                    const uint i = get_global_id(0);
                    y[i] = x[i];
                    if (i == 0) y[n] = last;
                }"
            }
            let queue = queue();
            let values: [$ty; 3] = $values;
            let x = Buffer::from_slice(&queue, &values).unwrap();
            assert_eq!(x.read(&queue).unwrap(), values);
            let mut y = Buffer::new(queue.context(), 4).unwrap();
            $name(&queue, 3, values[1], &x, &mut y).unwrap();
            let [a, b, c] = values;
            assert_eq!(y.read(&queue).unwrap(), [a, b, c, b]);
        }
    )+ };
}

every_bit_survives! {
    i8_survives: i8 as "char", [1, i8::MIN, i8::MAX];
    u8_survives: u8 as "uchar", [1, u8::MAX, 0];
    i16_survives: i16 as "short", [1, i16::MIN, i16::MAX];
    u16_survives: u16 as "ushort", [1, u16::MAX, 0];
    i32_survives: i32 as "int", [1, i32::MIN, i32::MAX];
    u32_survives: u32 as "uint", [1, u32::MAX, 0];
    i64_survives: i64 as "long", [1, i64::MIN, i64::MAX];
    u64_survives: u64 as "ulong", [1, u64::MAX, 0];
    f32_survives: f32 as "float", [1.5, f32::MAX, f32::NEG_INFINITY];
    f64_survives: f64 as "ulong", [1.5, f64::MAX, f64::NEG_INFINITY];
}

#[cfg(feature = "f16")]
every_bit_survives! {
    f16_survives: f16 as "ushort", [f16::from_f32(1.5), f16::MAX, f16::NEG_INFINITY];
    bf16_survives: bf16 as "ushort", [bf16::from_f32(1.5), bf16::MAX, bf16::NEG_INFINITY];
}

#[test]
fn empty_buffers_are_ordinary() {
    let queue = queue();
    let mut none = Buffer::<f64>::from_slice(&queue, &[]).unwrap();
    assert!(none.is_empty());
    none.write(&queue, &[]).unwrap();
    assert!(none.read(&queue).unwrap().is_empty());
    assert!(Buffer::<u8>::new(queue.context(), 0).unwrap().is_empty());
}

#[test]
fn slices_must_be_as_long_as_the_buffer() {
    let queue = queue();
    let mut buffer = Buffer::from_slice(&queue, &[1_u8, 2, 3]).unwrap();
    let mismatch = |error| {
        matches!(
            error,
            Error::LengthMismatch {
                buffer: 3,
                slice: 2
            }
        )
    };
    assert!(mismatch(buffer.write(&queue, &[9, 9]).unwrap_err()));
    assert!(mismatch(buffer.read_into(&queue, &mut [0, 0]).unwrap_err()));
    assert_eq!(buffer.read(&queue).unwrap(), [1, 2, 3]);
    let mut target = [0; 3];
    buffer.read_into(&queue, &mut target).unwrap();
    assert_eq!(target, [1, 2, 3]);
}

#[test]
fn a_queue_of_another_context_is_refused() {
    let queue = queue();
    let other = Queue::new(&Context::new(queue.device()).unwrap()).unwrap();
    let mut buffer = Buffer::from_slice(&queue, &[1_u8]).unwrap();
    let refused = |error| matches!(error, Error::OtherContext { .. });
    assert!(refused(buffer.write(&other, &[2]).unwrap_err()));
    assert!(refused(buffer.read(&other).unwrap_err()));
    let second = Queue::new(queue.context()).unwrap();
    assert_eq!(buffer.read(&second).unwrap(), [1]);
}

#[test]
fn impossible_sizes_are_errors() {
    let queue = queue();
    let error = Buffer::<f64>::new(queue.context(), usize::MAX).unwrap_err();
    assert!(matches!(error, Error::TooLarge { .. }), "{error}");
    // NVIDIA's driver makes such a buffer, and fails when it is used.
    let error = Buffer::<u8>::new(queue.context(), isize::MAX as usize).unwrap_err();
    assert!(matches!(error, Error::LargerThanMemory { .. }), "{error}");
}

#[test]
fn a_buffer_and_its_queue_outlive_the_context_value() {
    let (queue, buffer) = {
        let context = Context::new(queue().device()).unwrap();
        let queue = Queue::new(&context).unwrap();
        let buffer = Buffer::from_slice(&queue, &[7_i32; 5]).unwrap();
        (queue, buffer)
    };
    assert_eq!(buffer.read(&queue).unwrap(), [7; 5]);
}

#[test]
fn events_know_their_time_only_on_profiling_queues() {
    /// Does nothing.
    #[tunable(params(WG = [1]), global(n), local(WG), tune(n = 4))]
    fn nothing(queue: &Queue, n: u32) -> Result<Event> {
        "__kernel void nothing(const uint n) {}"
    }
    let plain = queue();
    let error = nothing(&plain, 4).unwrap().duration().unwrap_err();
    assert!(error.to_string().contains("with_profiling"), "{error}");
    let profiling = Queue::with_profiling(plain.context()).unwrap();
    assert!(profiling.is_profiling());
    nothing(&profiling, 4).unwrap().duration().unwrap();
}
