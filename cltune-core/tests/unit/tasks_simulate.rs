//! Devices that are made up: slow ones, ones that fail, many.

use super::*;
use crate::tasks::{Axis, Grain, LinkRates, Operand, Output, Reach};
use proptest::prelude::*;

fn device(speed: f64) -> SimulatedDevice {
    SimulatedDevice {
        facts: DeviceFacts {
            memory: 2 << 30,
            largest: 2 << 30,
            rates: LinkRates {
                up: 55e9,
                down: 55e9,
                memory: 3e12,
                launch: 2e-5,
            },
            speed: Some(speed),
        },
        slower: 1.0,
        fails: f64::INFINITY,
    }
}

fn operand(axes: [Axis; 2]) -> Operand {
    Operand {
        axes,
        reach: [Reach::ONE; 2],
        origin: [0; 2],
        element: 4,
        leaves: 1,
        is_computed: false,
        is_padded: true,
    }
}

fn product(size: usize) -> Shape {
    Shape {
        sizes: [size; 3],
        grains: [Grain::ONE; 2],
        outputs: vec![Output {
            operand: operand([Axis::I, Axis::J]),
            is_read: false,
        }],
        inputs: vec![operand([Axis::I, Axis::K]), operand([Axis::K, Axis::J])],
        work: 2.0,
        workspace: 1.0,
    }
}

/// So many results from the elements at one position of two matrices.
fn map(size: usize, results: usize) -> Shape {
    let both = operand([Axis::I, Axis::J]);
    let output = Output {
        operand: both,
        is_read: false,
    };
    Shape {
        sizes: [size, size, 1],
        outputs: vec![output; results],
        inputs: vec![both; 2],
        work: results as f64,
        workspace: 0.0,
        ..product(size)
    }
}

fn run(size: usize, devices: &[SimulatedDevice]) -> SimulatedRun {
    run_shape(&product(size), devices)
}

fn run_shape(shape: &Shape, devices: &[SimulatedDevice]) -> SimulatedRun {
    let devices = devices.to_vec();
    let host = 150e9;
    let outcome = simulate(shape, &Machine { devices, host }).unwrap();
    let tiles = shape.tiles(outcome.cut).len();
    let mut taken: Vec<usize> = outcome
        .events
        .iter()
        .filter(|event| event.is_taken)
        .map(|event| event.tile)
        .collect();
    taken.sort_unstable();
    if outcome.seconds.is_finite() {
        assert_eq!(taken, (0..tiles).collect::<Vec<_>>(), "each once");
    }
    outcome
}

#[test]
fn two_devices_are_nearly_twice_as_fast_as_one() {
    for size in [16384, 32768] {
        let one = run(size, &[device(50e12)]);
        let two = run(size, &[device(50e12), device(50e12)]);
        assert!(two.seconds < one.seconds / 1.8, "{one:?} {two:?}");
    }
}

#[test]
fn a_device_that_is_a_hundred_times_slower_delays_nothing() {
    for size in [2048, 16384, 32768] {
        let alone = run(size, &[device(50e12)]);
        let both = run(size, &[device(50e12), device(0.5e12)]);
        assert!(both.seconds <= alone.seconds * 1.02, "{alone:?} {both:?}");
    }
}

#[test]
fn a_device_that_is_slower_than_it_says_is_helped() {
    let alone = run(32768, &[device(50e12)]);
    let stuck = SimulatedDevice {
        slower: 100.0,
        ..device(50e12)
    };
    let both = run(32768, &[device(50e12), stuck]);
    // Its tile is computed a second time.
    assert!(both.seconds < alone.seconds * 1.3, "{alone:?} {both:?}");
}

#[test]
fn the_others_do_what_a_device_has_not_ended() {
    let failing = SimulatedDevice {
        fails: 0.3,
        ..device(50e12)
    };
    let all = run(32768, &[device(50e12), failing, device(25e12)]);
    assert!(all.seconds.is_finite());
    assert!(
        all.events
            .iter()
            .any(|event| event.device == 1 && event.is_taken)
    );
    assert!(
        all.events
            .iter()
            .all(|event| event.device != 1 || event.span[1] <= 0.3)
    );
    let none = run(32768, &[failing]);
    assert!(none.seconds.is_infinite());
}

/// Where transfers decide, two results of one operation take little longer than one: what they read
/// is sent once for both, and results leave beside. With three devices the host's memory decides,
/// through which four matrices go instead of three.
#[test]
fn results_of_one_operation_share_what_is_sent() {
    for (count, factor) in [(1, 1.2), (3, 1.45)] {
        let devices = vec![device(1e12); count];
        let one = run_shape(&map(30_000, 1), &devices);
        let both = run_shape(&map(30_000, 2), &devices);
        assert!(both.seconds < factor * one.seconds, "{one:?} {both:?}");
    }
}

#[test]
fn several_results_are_taken_once_where_devices_fail_or_are_slow() {
    let failing = SimulatedDevice {
        fails: 0.02,
        ..device(1e12)
    };
    let stuck = SimulatedDevice {
        slower: 100.0,
        ..device(1e12)
    };
    let all = run_shape(&map(30_000, 3), &[device(1e12), failing, stuck]);
    assert!(all.seconds.is_finite());
    let is_of_failed = |event: &&Event| event.device == 1;
    assert!(all.events.iter().filter(is_of_failed).count() > 0);
}

#[test]
fn the_rate_grows_until_the_host_can_move_no_more() {
    let seconds = |count: usize, host: f64| {
        let devices = vec![device(50e12); count];
        let machine = Machine { devices, host };
        simulate(&product(65536), &machine).unwrap()
    };
    let one = seconds(1, 150e9).seconds;
    let eight = seconds(8, 150e9).seconds;
    assert!(eight < one / 6.0, "{one} {eight}");
    let (bound, free) = (seconds(64, 150e9), seconds(64, 1e13));
    assert!(bound.seconds > 1.5 * free.seconds, "{bound:?} {free:?}");
    assert!(bound.host_load > 0.7, "{}", bound.host_load);
}

/// Where the host's memory is the limit, blocks for more devices than it serves would be smaller
/// and move more: then some have nothing to do.
#[test]
fn devices_that_the_host_cannot_serve_cost_nothing() {
    let seconds = |count: usize| {
        let devices = vec![device(50e12); count];
        let machine = Machine {
            devices,
            host: 150e9,
        };
        simulate(&product(32768), &machine).unwrap().seconds
    };
    let mut least = f64::INFINITY;
    for count in [1, 2, 4, 8, 16, 32, 64] {
        let seconds = seconds(count);
        assert!(seconds < 1.05 * least, "{count}: {seconds} {least}");
        least = least.min(seconds);
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(40))]
    /// Whatever devices do, results are taken once, and a device never makes it slower by more than
    /// a task that another one would have had.
    #[test]
    fn one_device_more_costs_little(
        size in 1000_usize..20_000,
        speeds in proptest::collection::vec(0.1_f64..60.0, 1..4),
        another in 0.01_f64..60.0,
    ) {
        let mut devices: Vec<_> = speeds.iter().map(|speed| device(speed * 1e12)).collect();
        let before = run(size, &devices);
        devices.push(device(another * 1e12));
        let after = run(size, &devices);
        prop_assert!(after.seconds <= before.seconds * 1.15, "{before:?} {after:?}");
    }
}
