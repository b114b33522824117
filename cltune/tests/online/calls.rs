//! Calls of one process.

use cltune::{Buffer, Context, Event, Image2d, Policy, Queue, Result, tunable, with_policy};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// Adds 2 to each element, but for one configuration that is wrong.
#[tunable(
    source = "tests/kernels/add.cl",
    params(A = 0..=6),
    global(n), local(4),
    tune(n = 64),
    defaults(A = 0),
)]
pub(super) fn add(queue: &Queue, n: u32, #[arg(len = n)] y: &mut Buffer<f32>) -> Result<Event>;

/// The same for programs that do not check.
#[tunable(
    source = "tests/kernels/add.cl",
    kernel = "add",
    params(A = 0..=6),
    constraints(A != 5),
    global(n), local(4),
    tune(n = 64),
    defaults(A = 0),
)]
pub fn sum(queue: &Queue, n: u32, #[arg(len = n)] y: &mut Buffer<f32>) -> Result<Event>;

/// Writes how many elements there are; 1 does nothing, which is right as long as the buffer holds
/// the results of an earlier call.
#[tunable(params(A = 0..=2), global(n), local(4), tune(n = 64), defaults(A = 0))]
pub fn count(queue: &Queue, n: u32, #[arg(out, len = n)] y: &mut Buffer<f32>) -> Result<Event> {
    "
    __kernel void count(const uint n, __global float* y) {
        if (A == 1) return;
        float waste = get_global_id(0);
        for (int i = 0; i < (A == 0 ? 25000 : 5000); i++) waste = waste * 0.75f + 0.125f * waste + 1.0f;
        y[get_global_id(0)] = waste > 1e30f ? 1 : n;
    }
    "
}

/// Writes what a buffer holds into an image: 1 writes nothing, and 3 something else.
#[tunable(
    params(A = 0..=3, MEM = ["buffer", "image"]),
    global(n, 2),
    tune(n = 32),
    defaults(A = 0, MEM = "buffer"),
)]
pub fn draw(
    queue: &Queue,
    n: u32,
    #[arg(len = n, memory = MEM, image = [n, 1])] x: &Buffer<f32>,
    #[arg(out, size = [n, 2])] picture: &mut Image2d<[f32; 4]>,
) -> Result<Event> {
    "
    #ifdef MEM_image
    __constant sampler_t NEAREST = CLK_NORMALIZED_COORDS_FALSE | CLK_ADDRESS_CLAMP | CLK_FILTER_NEAREST;
    #define X read_only image2d_t x
    #define AT(i) read_imagef(x, NEAREST, (int2)(i, 0)).x
    #else
    #define X __global const float* x
    #define AT(i) x[i]
    #endif
    __kernel void draw(const uint n, X, write_only image2d_t picture) {
        if (A == 1) return;
        float waste = get_global_id(0);
        for (int i = 0; i < (A == 0 ? 25000 : 5000); i++) waste = waste * 0.75f + 0.125f * waste + 1.0f;
        const float value = waste > 1e30f || A == 3 ? 0 : AT(get_global_id(0));
        write_imagef(picture, (int2)(get_global_id(0), get_global_id(1)), value);
    }
    "
}

#[test]
fn images_are_tuned_with_their_calls() {
    if cltune_tests::is_left_to_full() {
        return;
    }
    let _alone = alone();
    let queue = queue(false);
    if queue.device().info().limits.image_support == 0 {
        cltune_tests::skip("the device has no images");
        return;
    }
    let policy: Policy = "online:60s".parse().unwrap();
    with_policy(&policy, || {
        let values: Vec<f32> = (0..32).map(|i| i as f32).collect();
        let x = Buffer::from_slice(&queue, &values).unwrap();
        let mut picture = Image2d::new(queue.context(), [32, 2]).unwrap();
        let begin = Instant::now();
        loop {
            let explained = draw::explain(&queue, draw::Problem { n: 32 }).unwrap();
            let said = explained.to_string();
            if said.contains("> A = 2") && said.contains("from this user's cache, for this problem")
            {
                break;
            }
            assert!(begin.elapsed() < PATIENCE, "it does not converge: {said}");
            picture.write(&queue, &[[-1.0; 4]; 64]).unwrap();
            draw(&queue, 32, &x, &mut picture).unwrap().wait().unwrap();
            let pixels = picture.read(&queue).unwrap();
            assert!(
                (0..64).all(|at| pixels[at] == [values[at % 32]; 4]),
                "{pixels:?}"
            );
        }
    });
}

#[test]
fn a_view_is_tuned_with_its_calls_and_what_is_around_it_stays() {
    let _alone = alone();
    let queue = queue(false);
    let step = queue.device().info().limits.mem_base_addr_align;
    let step = usize::try_from(step).unwrap().max(1);
    let policy: Policy = "online:60s".parse().unwrap();
    with_policy(&policy, || {
        let mut y = Buffer::from_slice(&queue, &vec![-1.0_f32; 3 * step + 64]).unwrap();
        let begin = Instant::now();
        loop {
            let explained = count::explain(&queue, count::Problem { n: 32 }).unwrap();
            let said = explained.to_string();
            if said.contains("from this user's cache, for this problem") {
                break;
            }
            assert!(begin.elapsed() < PATIENCE, "it does not converge: {said}");
            let mut part = y.slice_mut(step..step + 32).unwrap();
            count(&queue, 32, &mut part).unwrap().wait().unwrap();
            assert_eq!(part.read(&queue).unwrap(), [32.0; 32]);
        }
        let all = y.read(&queue).unwrap();
        let around = all[..step].iter().chain(&all[step + 32..]);
        assert!(around.eq(vec![&-1.0; all.len() - 32]), "{all:?}");
    });
}

#[test]
fn who_writes_nothing_is_found_where_the_results_are_there_already() {
    let _alone = alone();
    let queue = queue(false);
    let policy: Policy = "online:60s".parse().unwrap();
    with_policy(&policy, || {
        let mut y = Buffer::from_slice(&queue, &[0.0_f32; 64]).unwrap();
        let begin = Instant::now();
        loop {
            let explained = count::explain(&queue, count::Problem { n: 64 }).unwrap();
            let said = explained.to_string();
            if said.contains("> A = 2: from this user's cache, for this problem") {
                break;
            }
            assert!(!said.contains("> A = 1"), "{said}");
            assert!(begin.elapsed() < PATIENCE, "it does not converge: {said}");
            count(&queue, 64, &mut y).unwrap().wait().unwrap();
        }
    });
}

/// What `explain` says in the end.
pub(super) const FOUND: &str = "> A = 4: from this user's cache, for this problem";

/// One test at a time: searches that disturb each other's times take several times as long.
pub(super) fn alone() -> MutexGuard<'static, ()> {
    static ALONE: Mutex<()> = Mutex::new(());
    ALONE.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Longer than any test takes on a busy machine.
pub(super) const PATIENCE: Duration = Duration::from_mins(2);

pub(super) fn queue(profiling: bool) -> Queue {
    let queue = Queue::default_device()
        .expect("these tests need an OpenCL device; scripts/setup installs one");
    if profiling {
        Queue::with_profiling(queue.context()).unwrap()
    } else {
        queue
    }
}

type Call = fn(&Queue, u32, &mut Buffer<f32>) -> Result<Event>;

/// Calls until `explain` says so; every call adds 2, whichever configuration it ran with.
fn call_until(queue: &Queue, call: Call, n: u32, explain: impl Fn() -> String, end: &str) {
    let mut y = Buffer::from_slice(queue, &vec![0.0_f32; n as usize]).unwrap();
    let begin = Instant::now();
    let mut expected = 0.0;
    loop {
        let said = explain();
        if said.contains(end) {
            return;
        }
        assert!(begin.elapsed() < PATIENCE, "it does not converge: {said}");
        for _ in 0..50 {
            call(queue, n, &mut y).unwrap();
            expected += 2.0;
        }
        let found = y.read(queue).unwrap();
        assert!(
            found.iter().all(|value| *value == expected),
            "{expected}: {found:?}"
        );
        if expected > 1e6 {
            y = Buffer::from_slice(queue, &vec![0.0_f32; n as usize]).unwrap();
            expected = 0.0;
        }
    }
}

pub(super) fn explain(queue: &Queue, n: u32) -> String {
    let explanation = add::explain(queue, add::Problem { n: n.into() }).unwrap();
    explanation.to_string()
}

#[test]
fn calls_are_right_while_they_tune_and_the_fastest_is_found() {
    let _alone = alone();
    for (profiling, text) in [(false, "online:1000%"), (true, "online:60s")] {
        let queue = queue(profiling);
        let policy: Policy = text.parse().unwrap();
        // Sizes of their own, since this process knows what it found. The second begins with that.
        let n = 64 + 4 * u32::from(profiling);
        with_policy(&policy, || {
            let said = explain(&queue, n);
            assert!(said.contains(&format!("policy {text}\n> A = ")), "{said}");
            call_until(&queue, add, n, || explain(&queue, n), FOUND);
            let said = explain(&queue, n);
            assert!(!said.contains("tuning"), "{said}");
        });
    }
}

/// What a program does on a queue in order tunes for its other queues as well.
#[test]
fn calls_on_a_queue_out_of_order_and_after_events_are_served_and_do_not_tune() {
    if cltune_tests::is_left_to_full() {
        return;
    }
    let _alone = alone();
    let plain = queue(false);
    let context = plain.context().to_opencl3().unwrap();
    let properties = opencl3::command_queue::CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE;
    let device = plain.device().as_raw();
    // SAFETY: the device is the context's.
    let theirs = unsafe {
        opencl3::command_queue::CommandQueue::create(&context, device, properties).unwrap()
    };
    let out_of_order = Queue::from_opencl3(&theirs).unwrap();
    assert_eq!(out_of_order.context(), plain.context());
    let mut y = Buffer::from_slice(&plain, &[0.0_f32; 76]).unwrap();
    plain.finish().unwrap();
    let after = plain.after(&[]).unwrap();
    with_policy(&"online:60s".parse().unwrap(), || {
        for _ in 0..200 {
            add(&out_of_order, 76, &mut y).unwrap();
            out_of_order.finish().unwrap();
            add(&after, 76, &mut y).unwrap();
            after.finish().unwrap();
        }
        assert_eq!(y.read(&plain).unwrap(), [800.0; 76]);
        let said = explain(&plain, 76);
        assert!(said.contains("do not tune"), "{said}");
        call_until(&plain, add, 76, || explain(&plain, 76), FOUND);
        add(&out_of_order, 76, &mut y).unwrap();
        assert_eq!(y.read(&out_of_order).unwrap(), [802.0; 76]);
    });
}

#[test]
fn without_a_check_the_same_for_results_that_are_all_right() {
    let _alone = alone();
    let queue = queue(false);
    let policy: Policy = "online:60s,unchecked".parse().unwrap();
    with_policy(&policy, || {
        let problem = sum::Problem { n: 32 };
        let explain = || sum::explain(&queue, problem).unwrap().to_string();
        call_until(&queue, sum, 32, explain, FOUND);
    });
}

#[test]
fn threads_and_problems_tune_at_the_same_time() {
    let _alone = alone();
    let queue = queue(false);
    let policy: Policy = "online:60s".parse().unwrap();
    std::thread::scope(|scope| {
        for thread in 0..4 {
            let (queue, policy) = (&queue, &policy);
            // Two threads for each of two problems.
            let n = [16, 128][thread % 2];
            scope.spawn(move || {
                with_policy(policy, || {
                    call_until(queue, add, n, || explain(queue, n), FOUND);
                });
            });
        }
    });
}

#[test]
fn a_context_may_be_dropped_at_any_time() {
    let _alone = alone();
    let policy: Policy = "online:500%".parse().unwrap();
    for calls in [1, 6, 40] {
        let queue = Queue::new(&Context::new(queue(false).device()).unwrap()).unwrap();
        let mut y = Buffer::from_slice(&queue, &[0.0_f32; 256]).unwrap();
        with_policy(&policy, || {
            for _ in 0..calls {
                add(&queue, 256, &mut y).unwrap();
            }
        });
        let expected = 2.0 * calls as f32;
        assert_eq!(y.read(&queue).unwrap(), [expected; 256]);
    }
}

#[test]
fn an_overhead_in_time_ends() {
    let _alone = alone();
    let queue = queue(false);
    let policy: Policy = "online:1ms".parse().unwrap();
    with_policy(&policy, || {
        let end = "for this problem: n = 512";
        call_until(&queue, add, 512, || explain(&queue, 512), end);
    });
}
