//! A warm launch allocates nothing: counted by a global allocator, in a test binary of its own.
//! Drivers are C and do not use it.

use cltune::{Buffer, Event, Policy, Queue, Result, tunable, with_policy};
use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;
use std::time::{Duration, Instant};

thread_local! {
    static ALLOCATIONS: Cell<u64> = const { Cell::new(0) };
}

struct Counting;

// SAFETY: every call is passed on to the system's allocator; counting does not allocate, since
// the counter is a constant-initialised thread-local without a destructor.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        ALLOCATIONS.with(|count| count.set(count.get() + 1));
        // SAFETY: the caller's promises are passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: the caller's promises are passed on.
        unsafe { System.dealloc(pointer, layout) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// y <- a*x + y
#[tunable(
    name = "allocation::saxpy",
    params(WG = [4, 8], WPT = [1, 2]),
    constraints(n % (WG * WPT) == 0),
    global(n / WPT), local(WG),
    local_args(tile: [f32; WG] before y),
    tune(n = 64),
    defaults(WG = 8, WPT = 2),
)]
fn saxpy(
    queue: &Queue,
    n: u32,
    a: f32,
    #[arg(len = n)] x: &Buffer<f32>,
    #[arg(len = n)] y: &mut Buffer<f32>,
) -> Result<Event> {
    "__kernel void saxpy(const uint n, const float a, __global const float* x,
                         __local float* tile, __global float* y) {
        for (uint i = 0; i < WPT; i++) y[get_global_id(0) * WPT + i] += a * x[get_global_id(0) * WPT + i];
    }"
}

/// Rounds over two buffers that change places, after one is cleared.
#[tunable(
    params(ROUNDS = [3, 4]),
    scratch(other: [f32; n]),
    stages(
        clear(other),
        repeat(round in 0..ROUNDS, stage(add_round(round as u32, x, other), global(n)), swap(x, other)),
        copy(x, other, when(ROUNDS % 2 == 1)),
    ),
    tune(n = 64),
)]
fn steps(queue: &Queue, n: u32, #[arg(len = n)] x: &mut Buffer<f32>) -> Result<Event> {
    "__kernel void add_round(const uint round, __global const float* x, __global float* y) {
        y[get_global_id(0)] = x[get_global_id(0)] + round;
    }"
}

/// y <- x, of which x is an image.
#[tunable(
    params(MEM = ["image"]),
    global(n),
    tune(n = 64),
)]
fn from_image(
    queue: &Queue,
    n: u32,
    #[arg(len = n, memory = MEM, image = [n, 1])] x: &Buffer<f32>,
    #[arg(out, len = n)] y: &mut Buffer<f32>,
) -> Result<Event> {
    "__constant sampler_t NEAREST = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST;
    __kernel void from_image(const uint n, read_only image2d_t x, __global float* y) {
        y[get_global_id(0)] = read_imagef(x, NEAREST, (int2)(get_global_id(0), 0)).x;
    }"
}

fn allocations_of(mut action: impl FnMut()) -> u64 {
    let before = ALLOCATIONS.with(Cell::get);
    action();
    ALLOCATIONS.with(Cell::get) - before
}

#[test]
fn warm_launches_do_not_allocate() {
    let queue = Queue::default_device()
        .expect("these tests need an OpenCL device; scripts/setup installs one");
    let x = Buffer::from_slice(&queue, &[1.0_f32; 64]).unwrap();
    let mut y = Buffer::from_slice(&queue, &[0.0_f32; 64]).unwrap();
    let explicit = saxpy::Params { WG: 4, WPT: 1 };

    let cold = allocations_of(|| {
        saxpy(&queue, 64, 1.0, &x, &mut y).unwrap();
        saxpy::launch_with(&explicit, &queue, 64, 1.0, &x, &mut y).unwrap();
        saxpy(&queue, 32, 1.0, &x, &mut y).unwrap();
    });
    assert!(cold > 0, "the counter counts");

    let warm = allocations_of(|| {
        for _ in 0..100 {
            saxpy(&queue, 64, 1.0, &x, &mut y).unwrap();
            saxpy::launch_with(&explicit, &queue, 64, 1.0, &x, &mut y).unwrap();
            saxpy(&queue, 32, 1.0, &x, &mut y).unwrap().wait().unwrap();
        }
    });
    assert_eq!(warm, 0);
    assert_eq!(y.read(&queue).unwrap()[0], 303.0);
}

#[test]
fn warm_launches_with_images_of_buffers_do_not_allocate() {
    let queue = Queue::default_device()
        .expect("these tests need an OpenCL device; scripts/setup installs one");
    if queue.device().info().limits.image_support == 0 {
        cltune_tests::skip("the device has no images");
        return;
    }
    let x = Buffer::from_slice(&queue, &[1.5_f32; 64]).unwrap();
    let mut y = Buffer::from_slice(&queue, &[0.0_f32; 64]).unwrap();
    from_image(&queue, 64, &x, &mut y).unwrap();
    let warm = allocations_of(|| {
        for _ in 0..100 {
            from_image(&queue, 64, &x, &mut y).unwrap().wait().unwrap();
        }
    });
    assert_eq!(warm, 0);
    assert_eq!(y.read(&queue).unwrap(), [1.5; 64]);
}

#[test]
fn warm_groups_of_launches_do_not_allocate() {
    let queue = Queue::default_device()
        .expect("these tests need an OpenCL device; scripts/setup installs one");
    let mut x = Buffer::from_slice(&queue, &[0.0_f32; 64]).unwrap();
    steps(&queue, 64, &mut x).unwrap();
    steps(&queue, 32, &mut x).unwrap();
    let warm = allocations_of(|| {
        for _ in 0..100 {
            steps(&queue, 64, &mut x).unwrap();
            steps(&queue, 32, &mut x).unwrap().wait().unwrap();
        }
    });
    assert_eq!(warm, 0);
    // Each call adds 0, 1 and 2.
    let x = x.read(&queue).unwrap();
    assert_eq!((x[0], x[63]), (606.0, 303.0));
}

#[test]
fn warm_launches_after_events_do_not_allocate() {
    let queue = Queue::default_device()
        .expect("these tests need an OpenCL device; scripts/setup installs one");
    let x = Buffer::from_slice(&queue, &[1.0_f32; 64]).unwrap();
    let mut y = Buffer::from_slice(&queue, &[0.0_f32; 64]).unwrap();
    let mut last = saxpy(&queue, 64, 1.0, &x, &mut y).unwrap();
    let warm = allocations_of(|| {
        for _ in 0..100 {
            let after = queue.after(&[&last; 7]).unwrap();
            last = saxpy(&after, 64, 1.0, &x, &mut y).unwrap();
        }
    });
    assert_eq!(warm, 0);
    assert_eq!(y.read(&queue).unwrap()[0], 101.0);
}

/// In a module of this name, so that `scripts/test` can run it with nothing beside, as `tests/online`.
mod online {
    use super::*;

    /// Under every policy, once what it does has been done.
    #[test]
    fn warm_launches_do_not_allocate_under_any_policy() {
        let queue = Queue::default_device()
            .expect("these tests need an OpenCL device; scripts/setup installs one");
        let x = Buffer::from_slice(&queue, &[1.0_f32; 64]).unwrap();
        let mut y = Buffer::from_slice(&queue, &[0.0_f32; 64]).unwrap();
        let mut policies = vec!["baked", "offline:none.lock"];
        if cfg!(feature = "tuning") {
            policies.extend(["online:1000%,unchecked", "tune-once:4"]);
        }
        for policy in policies {
            let policy: Policy = policy.parse().unwrap();
            let mut calls = || {
                with_policy(&policy, || {
                    for _ in 0..100 {
                        saxpy(&queue, 64, 1.0, &x, &mut y).unwrap();
                    }
                });
                queue.finish().unwrap();
            };
            // It takes a while until calls have tuned themselves; then they never allocate again.
            let begin = Instant::now();
            let tunes = !matches!(policy, Policy::Baked | Policy::Offline(_));
            let is_tuned = || {
                let explain = || saxpy::explain(&queue, saxpy::Problem { n: 64 }).unwrap();
                let said = with_policy(&policy, explain).to_string();
                said.contains("cache, for this problem")
            };
            calls();
            while tunes && !is_tuned() {
                assert!(begin.elapsed() < Duration::from_mins(2), "{policy}");
                calls();
            }
            assert_eq!(allocations_of(&mut calls), 0, "{policy}");
        }
    }
}
