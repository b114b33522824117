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
                line: 0.0,
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

/// C = (A + B)(A - B) on GPUs as they were measured: a part of the sum of both alone. With tensor
/// cores and 16384 the links decide: each device is sent one and a half times A and B twice, for
/// which 54 GB/s take 60 ms, longer than half of the arithmetic (42 ms).
#[test]
fn two_devices_reach_most_of_the_sum_of_both() {
    let gpu = |memory: usize, speed: f64, line: f64| {
        let mut gpu = device(speed);
        gpu.facts.memory = memory;
        gpu.facts.largest = memory;
        gpu.facts.rates = LinkRates {
            up: 54e9,
            down: 54e9,
            memory: 3683e9,
            launch: 2e-5,
            line,
        };
        gpu
    };
    let expression = |size: usize| {
        let mut shape = product(size);
        for input in &mut shape.inputs {
            input.leaves = 2;
            input.is_computed = true;
        }
        shape.workspace = 1.25;
        shape
    };
    // What a line costs an H200 beside launches, seconds.
    let measured = 1.27e-7;
    for (size, speed, limit, line, least) in [
        (16384, 52.9e12, 2, 0.0, 0.95),
        (16384, 52.9e12, 4, 0.0, 0.93),
        (16384, 106e12, 2, 0.0, 0.85),
        (16384, 106e12, 4, 0.0, 0.82),
        (32768, 52.9e12, 2, 0.0, 0.97),
        (32768, 52.9e12, 4, 0.0, 0.97),
        (32768, 106e12, 2, 0.0, 0.97),
        (32768, 106e12, 4, 0.0, 0.96),
        (16384, 52.9e12, 2, measured, 0.95),
        (16384, 52.9e12, 4, measured, 0.9),
        (32768, 52.9e12, 2, measured, 0.95),
        (32768, 52.9e12, 4, measured, 0.95),
    ] {
        let gpu = gpu(limit * 1_000_000_000, speed, line);
        let [one, two] = [1, 2].map(|count| run_shape(&expression(size), &vec![gpu; count]));
        let part = one.seconds / two.seconds / 2.0;
        assert!(
            part > least,
            "{size}, {speed}, {limit} GB, {line} s: {part} {one:?} {two:?}"
        );
    }
}

/// Where everything is sent for a first row of tiles, arithmetic has to hide it: flat tiles, of
/// which most need little, are no way around it.
#[test]
fn a_first_row_takes_as_long_as_what_is_sent_for_it() {
    let shape = product(16384);
    let gpu = device(100e12).facts;
    let flat = Cost::of(&shape, Cut([512, 16384, 2048]), &gpu, 100e12, 16.0);
    let sent = (512.0 + 16384.0) * 16384.0 * 4.0 / 55e9;
    let [[first, _], [later, _]] = flat.tiles;
    assert!(first >= sent && later < 0.5 * sent, "{flat:?} {sent}");
    let mean = (first + 15.0 * later) / 16.0;
    // A little less than 16 rows: the rest of the right operand has no room.
    assert!((flat.tile / mean - 1.0).abs() < 0.05, "{flat:?} {mean}");
}

/// Lines of blocks that are far apart cost something: then blocks have longer ones.
#[test]
fn where_lines_cost_time_blocks_have_long_ones() {
    let shape = product(16384);
    let deep = |line: f64| {
        let mut slow = device(100e12);
        slow.facts.rates.line = line;
        run_shape(&shape, &[slow])
    };
    let (free, costly) = (deep(0.0), deep(2e-7));
    let lines =
        |of: &SimulatedRun| shape.sizes[0] * shape.counts(of.cut)[2] * shape.counts(of.cut)[1];
    assert!(lines(&costly) < lines(&free), "{free:?} {costly:?}");
    assert!(costly.seconds >= free.seconds);
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
