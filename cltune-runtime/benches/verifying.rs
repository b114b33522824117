//! What it takes to run, verify and time a configuration once it is built, by who compares its result with the
//! reference's: the host, which reads it back, or the device. In turns; medians, with the least and the most.

use cltune_core::declaration::{Declaration, Fill, Reference, Tolerance};
use cltune_core::expr::{Formula, Scope, Type};
use cltune_core::model::{Access, Argument, ArgumentKind, Memory, Model, ScalarType};
use cltune_core::parameter::{Domain, Parameter};
use cltune_runtime::Device;
use cltune_runtime::tuning::{MeasureOptions, Measurer, Outcome};
use std::time::Instant;

/// Elements of the result, four bytes each.
const SIZES: [i64; 3] = [1 << 20, 1 << 22, 1 << 24];
const ROUNDS: usize = 15;
/// `V` rounds in another way, so that results differ from the reference's as they do in earnest.
const SOURCE: &str = "
__kernel void copy(const uint n, __global const float* x, __global float* y) {
    const uint i = get_global_id(0);
    y[i] = x[i] * (1.0f + V * 2e-7f);
}";

fn main() {
    // `cargo bench` passes --bench; a smoke run by `cargo test` passes nothing and measures little.
    let is_measuring = std::env::args().any(|argument| argument == "--bench");
    let device = match Device::select() {
        Ok(device) => device,
        Err(error) => return println!("{error}"),
    };
    let info = device.info();
    println!(
        "device    {} ({}), driver {}",
        info.name, info.platform, info.driver
    );
    println!("milliseconds for a configuration, {ROUNDS} times each, in turns");
    println!(
        "{:>6}  {:>26}  {:>26}",
        "MiB", "the host compares", "the device compares"
    );
    let sizes = if is_measuring { &SIZES } else { &SIZES[..1] };
    for size in sizes {
        let mut measurers = [false, true].map(|on_device| {
            let options = MeasureOptions {
                compare_on_device: Some(on_device),
                draws: Some(1),
                least_repeats: 1,
                most_repeats: 1,
                ..MeasureOptions::default()
            };
            Measurer::new(&device, &declaration(), &[*size], &options)
        });
        let mut times = [Vec::new(), Vec::new()];
        for _ in 0..if is_measuring { ROUNDS } else { 1 } {
            for (measurer, times) in measurers.iter_mut().zip(&mut times) {
                match measurer {
                    Ok(measurer) => times.push(configuration_ms(measurer)),
                    Err(error) => return println!("{error}"),
                }
            }
        }
        let [host, on_device] = times.map(summary);
        println!("{:>6}  {host:>26}  {on_device:>26}", (size * 4) >> 20);
    }
}

/// # Panics
/// When the configuration is wrong: no time would mean anything.
fn configuration_ms(measurer: &mut Measurer) -> f64 {
    measurer.load(&[2], None);
    let begin = Instant::now();
    let outcome = measurer.measure(&[2], None, None);
    let taken = begin.elapsed();
    assert!(matches!(outcome, Outcome::Ok(_)), "{outcome:?}");
    taken.as_secs_f64() * 1e3
}

fn summary(mut times: Vec<f64>) -> String {
    times.sort_by(f64::total_cmp);
    let [least, median, most] = [0, times.len() / 2, times.len() - 1].map(|at| times[at]);
    format!("{median:.2} ({least:.2} to {most:.2})")
}

fn declaration() -> Declaration {
    let scope = Scope {
        parameters: &[],
        dimensions: &["n".into()],
    };
    let n = Formula::parse("n", &scope, Type::Int).expect("a dimension is a formula");
    let buffer = |name: &'static str, access| Argument {
        name: name.into(),
        kind: ArgumentKind::Buffer {
            element: ScalarType::F32,
            access,
            len: Some(n.clone()),
            memory: Memory::Buffer,
        },
    };
    let count = Argument {
        name: "n".into(),
        kind: ArgumentKind::Scalar {
            scalar: ScalarType::U32,
            dimension: Some(0),
        },
    };
    let values = Domain::Range {
        first: 1,
        last: 2,
        step: 1,
    };
    let model = Model {
        name: "bench::copy".into(),
        fingerprint: "b3:0".into(),
        kernel: "copy".into(),
        source: SOURCE.into(),
        options: vec![].into(),
        parameters: vec![Parameter {
            name: "V".into(),
            domain: values,
        }]
        .into(),
        dimensions: vec!["n".into()].into(),
        constraints: vec![].into(),
        global: vec![n.clone()].into(),
        local: vec![].into(),
        offset: vec![].into(),
        local_memory: None,
        defines: vec![].into(),
        arguments: vec![count, buffer("x", Access::Read), buffer("y", Access::Write)].into(),
        default: None,
    };
    let (low, high) = (1.0, 2.0);
    Declaration {
        model,
        package: "bench".into(),
        version: "0.1.0".into(),
        source_file: "benches/verifying.rs".into(),
        lockfile_seen: "absent".into(),
        problems: vec![vec![SIZES[0]]],
        tune_if: None,
        reference: Reference::Default,
        tolerance: Tolerance::default(),
        draws: None,
        fills: vec![Fill::None, Fill::Uniform { low, high }, Fill::None],
        bytes: None,
        flops: None,
        even_work: false,
    }
}
