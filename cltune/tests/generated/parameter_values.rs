//! Values of parameters that are not plain integers.

use cltune::{Buffer, Device, Event, Queue, Result, tunable};
use std::collections::HashSet;

/// y[i] <- SHARE of x[i] from the front, nothing of the others
#[tunable(
    params(SHARE = [0.25, 0.5, 1.0], SHIFT = [-0.5, 0.0]),
    constraints(SHARE > SHIFT && SHARE <= 1.0),
    global(n),
    tune(n = 64),
    defaults(SHARE = 1.0, SHIFT = 0.0),
)]
fn shared(
    queue: &Queue,
    n: u32,
    #[arg(len = n)] x: &Buffer<f64>,
    #[arg(out, len = n)] y: &mut Buffer<f64>,
) -> Result<Event> {
    "__kernel void shared(const uint n, __global const double* x, __global double* y) {
        const uint i = get_global_id(0);
        y[i] = i < n * SHARE ? x[i] * SHARE + SHIFT : 0.0;
    }"
}

#[test]
fn fractions_reach_the_kernel_as_they_were_declared() -> Result<()> {
    let queue = Queue::default_device()?;
    let x = Buffer::from_slice(&queue, &[3.0; 64])?;
    let mut y = Buffer::new(queue.context(), 64)?;
    let params = shared::Params {
        SHARE: 0.25,
        SHIFT: -0.5,
    };
    shared::launch_with(&params, &queue, 64, &x, &mut y)?.wait()?;
    let expected: Vec<f64> = (0..64).map(|i| if i < 16 { 0.25 } else { 0.0 }).collect();
    assert_eq!(y.read(&queue)?, expected);
    let wrong = shared::Params {
        SHARE: 0.3,
        SHIFT: 0.0,
    };
    let error = shared::launch_with(&wrong, &queue, 64, &x, &mut y).unwrap_err();
    assert!(
        error.to_string().contains("`SHARE` cannot be 0.3"),
        "{error}"
    );
    Ok(())
}

#[test]
fn configurations_with_fractions_are_compared_and_hashed() -> Result<()> {
    let device = Device::select()?;
    let chosen = shared::select(&device, shared::Problem { n: 64 })?;
    let params = |share, shift| shared::Params {
        SHARE: share,
        SHIFT: shift,
    };
    assert_eq!(chosen.params, params(1.0, 0.0));
    assert_eq!(params(0.5, 0.0), params(0.5, -0.0));
    assert_ne!(params(0.5, 0.0), params(0.25, 0.0));
    let set: HashSet<_> = [params(0.5, 0.0), params(0.5, -0.0)].into();
    assert_eq!(set.len(), 1);
    assert_eq!(
        shared::Params::from_codes(&params(0.5, -0.5).to_codes()),
        Some(params(0.5, -0.5))
    );
    Ok(())
}

/// y[i] <- SHARE * x[i] + RATE
#[tunable(
    params(SHARE = -0.5..=2.0, RATE = logarithmic(0.01..=100.0)),
    constraints(SHARE < 1.5 || RATE <= 1.0),
    global(n),
    tune(n = 64),
    defaults(SHARE = 0.3, RATE = 0.1),
)]
fn ranged(
    queue: &Queue,
    n: u32,
    #[arg(len = n)] x: &Buffer<f64>,
    #[arg(out, len = n)] y: &mut Buffer<f64>,
) -> Result<Event> {
    "__kernel void ranged(const uint n, __global const double* x, __global double* y) {
        const uint i = get_global_id(0);
        y[i] = x[i] * (SHARE) + RATE;
    }"
}

#[test]
fn every_number_of_a_range_reaches_the_kernel_exactly() -> Result<()> {
    let queue = Queue::default_device()?;
    let x = Buffer::from_slice(&queue, &[1.0; 64])?;
    let mut y = Buffer::new(queue.context(), 64)?;
    // Numbers that no search draws, and the bounds.
    for (share, rate) in [
        (0.1 + 0.2, 1.0 / 3.0),
        (-0.5, 100.0),
        (2.0, 0.01),
        (1e-300, 0.02),
    ] {
        let params = ranged::Params {
            SHARE: share,
            RATE: rate,
        };
        ranged::launch_with(&params, &queue, 64, &x, &mut y)?.wait()?;
        assert_eq!(y.read(&queue)?, [share + rate; 64]);
        assert_eq!(ranged::Params::from_codes(&params.to_codes()), Some(params));
    }
    for (share, rate, reason) in [
        (
            2.1,
            0.5,
            "`SHARE` cannot be 2.1: its values are the numbers from -0.5 to 2.0",
        ),
        (f64::NAN, 0.5, "`SHARE` cannot be NaN"),
        (0.5, 0.0, "`RATE` cannot be 0.0"),
        (1.6, 1.1, "SHARE < 1.5 || RATE <= 1.0"),
    ] {
        let wrong = ranged::Params {
            SHARE: share,
            RATE: rate,
        };
        let error = ranged::launch_with(&wrong, &queue, 64, &x, &mut y).unwrap_err();
        assert!(error.to_string().contains(reason), "{error}");
    }
    Ok(())
}

#[test]
fn the_default_may_be_any_number_of_a_range() -> Result<()> {
    let device = Device::select()?;
    let chosen = ranged::select(&device, ranged::Problem { n: 64 })?;
    let default = ranged::Params {
        SHARE: 0.3,
        RATE: 0.1,
    };
    assert_eq!(chosen.params, default);
    Ok(())
}

/// y[i] <- whether the option was given
#[tunable(
    params(TWO = [false, true], WG = [2, 4]),
    options("-DVALUE=1" if !TWO, "-DVALUE=2 -DBOTH" if TWO),
    global(n), local(WG),
    tune(n = 64),
)]
fn optional(queue: &Queue, n: u32, #[arg(out, len = n)] y: &mut Buffer<i32>) -> Result<Event> {
    "__kernel void optional(const uint n, __global int* y) {
        y[get_global_id(0)] = VALUE;
    }"
}

#[test]
fn options_are_given_where_a_parameter_says_so() -> Result<()> {
    let queue = Queue::default_device()?;
    let mut y = Buffer::new(queue.context(), 64)?;
    for (two, expected) in [(false, 1), (true, 2), (false, 1)] {
        let params = optional::Params { TWO: two, WG: 4 };
        optional::launch_with(&params, &queue, 64, &mut y)?.wait()?;
        assert_eq!(y.read(&queue)?, [expected; 64]);
    }
    Ok(())
}

/// y[i] <- the chosen value
#[tunable(
    params(BLOCKS = [3, device.compute_units, 2 * device.compute_units]),
    global(n),
    tune(n = 64),
)]
fn per_device(queue: &Queue, n: u32, #[arg(out, len = n)] y: &mut Buffer<i32>) -> Result<Event> {
    "__kernel void per_device(const uint n, __global int* y) {
        y[get_global_id(0)] = BLOCKS;
    }"
}

#[test]
fn values_that_depend_on_the_device_are_those_of_the_device_at_hand() -> Result<()> {
    let queue = Queue::default_device()?;
    let units = Device::select()?.info().limits.compute_units;
    let mut y = Buffer::new(queue.context(), 64)?;
    for blocks in [3, units, 2 * units] {
        let params = per_device::Params { BLOCKS: blocks };
        per_device::launch_with(&params, &queue, 64, &mut y)?.wait()?;
        assert_eq!(i64::from(y.read(&queue)?[63]), blocks);
    }
    let params = per_device::Params {
        BLOCKS: 5 * units + 3,
    };
    let error = per_device::launch_with(&params, &queue, 64, &mut y).unwrap_err();
    let expected =
        "on this device: its values are 3, device.compute_units, 2 * device.compute_units";
    assert!(error.to_string().contains(expected), "{error}");
    Ok(())
}
