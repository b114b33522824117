//! The time of selecting a configuration for a problem that was never seen, with a table of 1000
//! results: 10 devices with 100 problems each, and one device with 1000.

use cltune_core::Text;
use cltune_core::device::{DeviceField, DeviceInfo, DeviceLimits, DeviceType};
use cltune_core::model::{Model, Stage, Step};
use cltune_core::parameter::{Domain, Parameter};
use cltune_core::select::{Table, TunedDevice, TunedResult, select};
use cltune_formats::formula::{Scope, Type};
use std::hint::black_box;
use std::time::Instant;

const ROUNDS: usize = 2000;

fn main() {
    // `cargo test` runs benches, too; there is nothing to check here.
    if !std::env::args().any(|argument| argument == "--bench") {
        return;
    }
    let model = model();
    println!(
        "protocol  median of {ROUNDS} problems, each selected once; target: at most 2 microseconds"
    );
    for (devices, per_device) in [(10, 100), (1, 1000)] {
        let table = table(devices, per_device);
        for (device, what) in [(0, "this device"), (devices, "a similar device")] {
            let info = device_info(device);
            let mut times: Vec<f64> = problems()
                .map(|dims| {
                    let begin = Instant::now();
                    let found = select(&model, &info, black_box(&dims), &table, &Table::EMPTY);
                    let time = begin.elapsed().as_secs_f64() * 1e6;
                    assert!(found.is_some_and(|found| found.known.is_some()));
                    time
                })
                .collect();
            times.sort_by(f64::total_cmp);
            let at = |part: usize| times[(times.len() - 1) * part / 100];
            println!(
                "{devices:2} devices, {per_device:4} problems each, tuned on {what:16}  {:.2} median, {:.2} \
                 at 90 % microseconds",
                at(50),
                at(90)
            );
        }
    }
}

/// A matrix multiplication's dimensions.
fn model() -> Model {
    let parameters = ["WGM", "WGN", "WPT", "VW"].map(|name| Parameter {
        name: name.into(),
        domain: Domain::PowersOfTwo { first: 1, last: 64 },
    });
    let dimensions: Vec<Text> = vec!["m".into(), "n".into(), "k".into()];
    let scope = Scope {
        parameters: &parameters,
        dimensions: &dimensions,
    };
    let formula =
        |text, expected| cltune_formats::formula::parse(text, &scope, expected).expect("it is one");
    Model {
        name: "bench::gemm".into(),
        fingerprint: "b3:0".into(),
        source: "".into(),
        options: vec![].into(),
        constraints: vec![formula("WPT % VW == 0", Type::Bool)].into(),
        defines: vec![].into(),
        arguments: vec![].into(),
        scratch: vec![].into(),
        steps: vec![Step::Launch(Stage {
            global: vec![formula("m * WGM", Type::Int), formula("n * WGN", Type::Int)].into(),
            local: vec![formula("WGM", Type::Int), formula("WGN", Type::Int)].into(),
            ..Stage::new("gemm".into())
        })]
        .into(),
        default: None,
        template: None,
        parameters: parameters.to_vec().into(),
        dimensions: dimensions.into(),
    }
}

fn device_info(number: usize) -> DeviceInfo {
    DeviceInfo {
        platform: "Platform".into(),
        name: format!("Device {number}"),
        vendor: "Vendor".into(),
        device_type: DeviceType::Gpu,
        driver: "1".into(),
        version: "OpenCL 3.0".into(),
        limits: DeviceLimits::NONE
            .with(DeviceField::ComputeUnits, 16 + number as i64)
            .with(DeviceField::LocalMemSize, 48 << 10)
            .with(DeviceField::MaxWorkGroupSize, 1024)
            .with(DeviceField::MaxWorkItemSizeX, 1024)
            .with(DeviceField::MaxWorkItemSizeY, 1024)
            .with(DeviceField::MaxWorkItemSizeZ, 64),
    }
}

/// Sizes from 16 to 16384 in three dimensions, sorted as in a lockfile.
fn table(devices: usize, per_device: i64) -> Table {
    let steps = if per_device > 100 { 10 } else { 5 };
    // Five steps of a factor of four reach as far as ten of two.
    let size = |least: i64, step: i64| least << (step * 10 / steps);
    let results = (0..devices).flat_map(|device| {
        let problem = move |i: i64| {
            let (m, n, k) = (i % steps, i / steps % steps, i / (steps * steps));
            vec![size(16, m), size(24, n), size(32, k)]
        };
        let mut problems: Vec<Vec<i64>> = (0..per_device).map(problem).collect();
        problems.sort();
        problems.into_iter().map(move |problem| TunedResult {
            device: device as u16,
            problem: problem.into(),
            values: vec![8, 8, 4, 2].into(),
            time_us: 1.0,
        })
    });
    Table {
        devices: (0..devices)
            .map(|number| TunedDevice::of(&device_info(number)))
            .collect(),
        results: results.collect(),
    }
}

/// Problems that no table has, spread over the same sizes.
fn problems() -> impl Iterator<Item = [i64; 3]> {
    let mut state = 1_u64;
    let mut size = move || {
        state = state
            .wrapping_mul(6_364_136_223_846_793_005)
            .wrapping_add(1);
        (16.0 * 512.0_f64.powf((state >> 40) as f64 / f64::from(1 << 24))) as i64 | 1
    };
    (0..ROUNDS).map(move |_| [size(), size(), size()])
}
