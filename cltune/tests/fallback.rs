//! A selected configuration that does not build or launch is followed by the next of the rule.

use cltune::__private::core::select::{Table, TunedDevice, TunedResult};
use cltune::__private::{Arg, launch};
use cltune::{Buffer, Error, Event, Queue, Result, Tunable, tunable};
use std::borrow::Cow;

/// Writes which configuration runs.
#[tunable(
    params(WG = [1, 2, 4, 8]),
    global(n), local(WG),
    tune(n = 8),
    defaults(WG = 2),
)]
pub fn which(queue: &Queue, n: u32, #[arg(out, len = n)] y: &mut Buffer<i32>) -> Result<Event> {
    "
    #if WG == 4
    #error four does not compile
    #endif
    #if WG == 8
    __attribute__((reqd_work_group_size(16, 1, 1)))
    #endif
    __kernel void which(const uint n, __global int* y) { y[get_global_id(0)] = WG; }
    "
}

/// Compiles with no value.
#[tunable(
    params(WG = [1, 2, 4, 8]),
    global(n), local(WG),
    tune(n = 8),
    defaults(WG = 2),
)]
pub fn broken(queue: &Queue, n: u32, #[arg(out, len = n)] y: &mut Buffer<i32>) -> Result<Event> {
    "__kernel void broken(const uint n, __global int* y) { not C for WG at all }"
}

/// Declares more local memory than any device has, of its own and so known to nobody before.
#[tunable(
    params(WG = [1, 2, 4, 8]),
    global(n), local(WG),
    tune(n = 8),
    defaults(WG = 2),
)]
pub fn greedy(queue: &Queue, n: u32, #[arg(out, len = n)] y: &mut Buffer<i32>) -> Result<Event> {
    "
    #if WG == 8
    #define ELEMENTS (1 << 24)
    #else
    #define ELEMENTS WG
    #endif
    __kernel void greedy(const uint n, __global int* y) {
        __local int tile[ELEMENTS];
        for (int i = get_local_id(0); i < ELEMENTS; i += WG)
            tile[i] = WG;
        barrier(CLK_LOCAL_MEM_FENCE);
        y[get_global_id(0)] = tile[(get_local_id(0) + n) % ELEMENTS];
    }
    "
}

fn queue() -> Queue {
    Queue::default_device().expect("these tests need an OpenCL device; scripts/setup installs one")
}

/// The tunable with results for this device: for the problem `n = 8` the first, for larger ones
/// the others.
fn tuned(tunable: &Tunable, queue: &Queue, values: &[i64]) -> &'static Tunable {
    let info = queue.device().info();
    let device = TunedDevice {
        platform: Cow::Owned(info.platform.clone()),
        name: Cow::Owned(info.name.clone()),
        vendor: Cow::Owned(info.vendor.clone()),
        device_type: info.device_type,
        compute_units: info.limits.compute_units,
        max_work_group_size: info.limits.max_work_group_size,
        local_mem_size: info.limits.local_mem_size,
    };
    let results = (3_u32..).zip(values).map(|(exponent, value)| TunedResult {
        device: 0,
        problem: Cow::Owned(vec![1 << exponent]),
        values: Cow::Owned(vec![*value]),
        time_us: 1.0,
    });
    let table = Table {
        devices: Cow::Owned(vec![device]),
        results: Cow::Owned(results.collect()),
    };
    Box::leak(Box::new(Tunable::new(tunable.model().clone(), table)))
}

fn run(tunable: &'static Tunable, queue: &Queue) -> Result<i32> {
    let mut y = Buffer::from_slice(queue, &[0_i32; 8])?;
    let args = [Arg::scalar(&8_u32), Arg::buffer_mut(&mut y)];
    launch(tunable, queue, &[8], &args)?;
    let values = y.read(queue)?;
    assert!(values.iter().all(|value| *value == values[0]), "{values:?}");
    Ok(values[0])
}

#[test]
fn the_tuned_configuration_runs() {
    let queue = queue();
    assert_eq!(
        run(tuned(&which::TUNABLE, &queue, &[1]), &queue).unwrap(),
        1
    );
}

#[test]
fn one_that_does_not_build_is_followed_by_the_next_result() {
    let queue = queue();
    let tunable = tuned(&which::TUNABLE, &queue, &[4, 1]);
    for _ in 0..2 {
        assert_eq!(run(tunable, &queue).unwrap(), 1);
    }
}

#[test]
fn one_that_the_driver_refuses_to_launch_is_followed_by_the_default() {
    let queue = queue();
    let tunable = tuned(&which::TUNABLE, &queue, &[8, 4]);
    for _ in 0..2 {
        assert_eq!(run(tunable, &queue).unwrap(), 2);
    }
}

#[test]
fn threads_that_meet_a_refusal_at_once_all_get_their_result() {
    let queue = queue();
    let tunable = tuned(&which::TUNABLE, &queue, &[8, 4]);
    std::thread::scope(|scope| {
        for _ in 0..10 {
            scope.spawn(|| assert_eq!(run(tunable, &queue).unwrap(), 2));
        }
    });
}

#[test]
fn when_nothing_is_left_the_first_failure_is_the_error_each_time() {
    let queue = queue();
    let tunable = tuned(&broken::TUNABLE, &queue, &[8, 4, 1]);
    for _ in 0..2 {
        let error = run(tunable, &queue).unwrap_err();
        assert!(
            matches!(&error, Error::Build { options, .. } if options.contains("-DWG=8")),
            "{error}"
        );
    }
}

#[test]
fn a_configuration_given_by_the_caller_is_never_replaced() {
    let queue = queue();
    let mut y = Buffer::from_slice(&queue, &[0_i32; 8]).unwrap();
    let error = which::launch_with(&which::Params { WG: 4 }, &queue, 8, &mut y).unwrap_err();
    assert!(matches!(error, Error::Build { .. }), "{error}");
    let error = which::launch_with(&which::Params { WG: 8 }, &queue, 8, &mut y).unwrap_err();
    assert!(
        matches!(
            error,
            Error::OpenCl { .. } | Error::WorkGroupTooLarge { .. }
        ),
        "{error}"
    );
}

#[test]
fn one_that_needs_too_much_local_memory_is_followed_by_the_next_result() {
    let queue = queue();
    let tunable = tuned(&greedy::TUNABLE, &queue, &[8, 1]);
    assert_eq!(run(tunable, &queue).unwrap(), 1);

    let mut y = Buffer::from_slice(&queue, &[0_i32; 8]).unwrap();
    let error = greedy::launch_with(&greedy::Params { WG: 8 }, &queue, 8, &mut y).unwrap_err();
    // Some drivers refuse to build it.
    assert!(
        matches!(
            error,
            Error::LocalMemoryTooLarge { .. } | Error::Build { .. } | Error::OpenCl { .. }
        ),
        "{error}"
    );
}
