//! Rates of devices that are not there, simulated from what one device was measured to do.

use crate::arguments::Scale;
use cltune_core::tasks::{
    Axis, DeviceFacts, Grain, LinkRates, Machine, Operand, Output, Reach, Shape, SimulatedDevice,
    simulate,
};

/// The kinds of links: by name, bytes per second in each direction, and what the host's memory
/// moves for all of them; `None` for the measured link.
const LINKS: [(&str, Option<f64>, f64); 3] = [
    ("PCIe as measured, host 175 GB/s", None, 175e9),
    ("PCIe as measured, host 500 GB/s", None, 500e9),
    ("NVLink-class, 450 GB/s, host 500 GB/s", Some(450e9), 500e9),
];

/// The part of the rate that devices lose to the host's memory where that counts as the limit.
const LOST: f64 = 0.1;

pub(crate) fn run(scale: &Scale) {
    let rates = LinkRates {
        up: scale.link * 1e9,
        down: scale.link * 1e9,
        memory: scale.memory * 1e9,
        launch: scale.launch * 1e-6,
        line: scale.line * 1e-6,
    };
    print(scale.size, scale.limit.0, rates, scale.kernel * 1e12);
}

/// Prints the rates of 1 to 64 devices like one that was measured, whose product reaches `speed`
/// (operations per second) in its own memory, and from how many on the host's memory is the limit.
pub(crate) fn print(size: usize, memory: usize, rates: LinkRates, speed: f64) {
    for (name, link, host) in LINKS {
        let rates = link.map_or(rates, |rate| LinkRates {
            up: rate,
            down: rate,
            ..rates
        });
        println!("  simulated, {size} x {size}, {name}:");
        let facts = DeviceFacts {
            memory,
            largest: memory,
            rates,
            speed: Some(speed),
        };
        let (mut one, mut limited) = (None, None);
        for count in [1, 2, 4, 8, 16, 32, 64] {
            let (Some((rate, load)), Some((free, _))) = (
                simulated(size, facts, count, host),
                simulated(size, facts, count, f64::INFINITY),
            ) else {
                println!("    {count:>2}: blocks do not fit");
                continue;
            };
            let alone = *one.get_or_insert(rate);
            if rate < (1.0 - LOST) * free {
                limited.get_or_insert(count);
            }
            println!(
                "    {count:>2} devices {:>8.1} TFLOPS, {:>3.0} % of {count} times one, host memory {:>3.0} % busy; \
                 {:>8.1} without its limit",
                rate / 1e12,
                100.0 * rate / alone / count as f64,
                100.0 * load,
                free / 1e12
            );
        }
        match limited {
            Some(count) => println!("    from {count} devices on, the host's memory is the limit"),
            None => println!("    the host's memory is no limit"),
        }
    }
}

/// The rate of so many devices, operations per second, and the part of what the host's memory can
/// move that is moved; `None` where blocks do not fit.
fn simulated(size: usize, facts: DeviceFacts, count: usize, host: f64) -> Option<(f64, f64)> {
    let shape = shape(size);
    let device = SimulatedDevice {
        facts,
        slower: 1.0,
        fails: f64::INFINITY,
    };
    let devices = vec![device; count];
    let outcome = simulate(&shape, &Machine { devices, host }).ok()?;
    Some((shape.total_work() / outcome.seconds, outcome.host_load))
}

/// C = (A + B)(A - B).
fn shape(size: usize) -> Shape {
    let operand = |axes, leaves: usize| Operand {
        axes,
        reach: [Reach::ONE; 2],
        origin: [0; 2],
        element: size_of::<f32>(),
        leaves,
        is_computed: leaves > 1,
        is_padded: true,
    };
    Shape {
        sizes: [size; 3],
        grains: [Grain::ONE; 2],
        outputs: vec![Output {
            operand: operand([Axis::I, Axis::J], 1),
            is_read: false,
        }],
        inputs: vec![
            operand([Axis::I, Axis::K], 2),
            operand([Axis::K, Axis::J], 2),
        ],
        work: 2.0,
        workspace: 1.25,
    }
}
