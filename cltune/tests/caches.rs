//! Times with cold caches, on a real device.

use cltune::tuning::{MeasureOptions, Measurer, Outcome};
use cltune::{Buffer, Device, Event, Queue, Result, fused, tunable};
use cltune_core::device::DeviceType;
use cltune_core::measure::Measure;
use cltune_formats::declaration::Declaration;
use std::process::Command;

/// Reads a table that fits into the caches of the device; `SLOW` computes far longer.
#[tunable(
    params(SLOW = [false, true]),
    global(n / 16), local(16),
    tune(n = 16384),
    even_work = true,
    measure(cold),
)]
fn read(
    queue: &Queue,
    n: u32,
    #[arg(len = n)] x: &Buffer<[f32; 4]>,
    #[arg(out, len = n / 16)] sums: &mut Buffer<f32>,
) -> Result<Event> {
    "__kernel void read(uint n, __global const float4* x, __global float* sums) {
        const uint i = get_global_id(0);
        float4 all = 0;
        for (uint k = 0; k < 16; k++) {
            all += x[k * (n / 16) + i];
        }
#if SLOW
        float waste = all.x;
        for (int step = 0; step < 100000; step++) waste = waste * 0.75f + 0.125f * waste + 1.0f;
        if (waste == 0.0f) all.x = waste;
#endif
        sums[i] = all.x + all.y + all.z + all.w;
    }"
}

/// Follows chains through a table that fits into the caches of the device, one line of a cache
/// after another. Where the next line lies is known when one has been read, so that no device
/// reads ahead, however fast its memory is.
#[tunable(
    params(STEPS = [64]),
    global(n / 64), local(1),
    tune(n = 4096),
    measure(cold),
)]
fn follow(
    queue: &Queue,
    n: u32,
    #[arg(len = n, fill = zeros)] x: &Buffer<[u32; 16]>,
    #[arg(out, len = n / 64)] ends: &mut Buffer<u32>,
) -> Result<Event> {
    "__kernel void follow(uint n, __global const uint16* x, __global uint* ends) {
        __global const uint* words = (__global const uint*)x;
        const uint i = get_global_id(0);
        uint at = i * 64;
        for (int step = 0; step < STEPS; step++) {
            /* Of full period: no chain comes to a line twice. */
            at = (at * 1664525 + 1013904223 + words[at * 16]) % n;
        }
        ends[i] = at;
    }"
}

#[fused(tune(n = 1024), measure(cold))]
fn scaled(
    queue: &Queue,
    n: u32,
    a: f32,
    #[arg(len = n)] x: &Buffer<f32>,
    #[arg(out, len = n)] y: &mut Buffer<f32>,
) -> Result<Event> {
    y = a * x;
}

#[test]
fn fused_statements_declare_it_too() {
    let declared = scaled::TUNABLE.declaration().unwrap();
    assert_eq!(declared.measure, Measure::COLD);
    let _ = scaled;
}

fn is_cpu() -> bool {
    let device = Device::select().expect("these tests need an OpenCL device");
    device.info().device_type == DeviceType::Cpu
}

fn measurer(measure: Measure) -> Measurer {
    let declared = read::TUNABLE.declaration().unwrap();
    assert_eq!(declared.measure, Measure::COLD);
    let declaration = Declaration {
        measure,
        ..declared
    };
    let device = Device::select().expect("these tests need an OpenCL device");
    let options = MeasureOptions::default();
    Measurer::new(&device, &declaration, &[16384], &options).unwrap()
}

/// The child's part, with a policy and a cache of its own.
#[test]
fn child_calls() {
    if std::env::var_os("CALLS").is_none() {
        return;
    }
    let queue = Queue::default_device().unwrap();
    let x = Buffer::from_slice(&queue, &vec![[1.0_f32; 4]; 16384]).unwrap();
    let mut sums = Buffer::from_slice(&queue, &[0.0_f32; 1024]).unwrap();
    read(&queue, 16384, &x, &mut sums).unwrap().wait().unwrap();
    assert_eq!(sums.read(&queue).unwrap(), [64.0; 1024]);
}

#[test]
fn the_first_call_tunes_as_is_declared() {
    let cache = tempfile::tempdir().unwrap();
    let mut program = Command::new(std::env::current_exe().unwrap());
    program
        .args(["--exact", "child_calls", "--nocapture"])
        .env("CALLS", "1")
        .env("CLTUNE_POLICY", "tune-once:4")
        .env("CLTUNE_CACHE", cache.path());
    let output = program.output().unwrap();
    assert!(output.status.success(), "{output:?}");
    let files = std::fs::read_dir(cache.path().join("v1/notes")).unwrap();
    let texts = files.map(|file| std::fs::read_to_string(file.unwrap().path()).unwrap());
    let results: Vec<String> = texts
        .flat_map(|text| text.lines().map(str::to_owned).collect::<Vec<_>>())
        .filter(|line| line.starts_with("result"))
        .collect();
    assert_eq!(results.len(), 1, "{results:?}");
    assert!(results[0].ends_with("\tcold"), "{results:?}");
}

#[test]
fn a_chain_through_a_buffer_that_fits_the_caches_takes_longer_where_they_are_cold() {
    let measurer = |measure| {
        let declared = follow::TUNABLE.declaration().unwrap();
        Measurer::new(
            &Device::select().unwrap(),
            &Declaration {
                measure,
                ..declared
            },
            &[4096],
            &MeasureOptions::default(),
        )
        .unwrap()
    };
    let least = |measurer: &mut Measurer| match measurer.measure(&[64], None, None) {
        Outcome::Ok(measurement) => measurement.samples_us.into_iter().fold(f64::MAX, f64::min),
        other => panic!("{other:?}"),
    };
    let (mut warm, mut cold) = (measurer(Measure::WARM), measurer(Measure::COLD));
    // Whatever else the machine does makes launches longer: the shortest of both were disturbed
    // least.
    let (mut warm_us, mut cold_us) = (f64::MAX, f64::MAX);
    for _ in 0..5 {
        warm_us = warm_us.min(least(&mut warm));
        cold_us = cold_us.min(least(&mut cold));
    }
    let factor = if is_cpu() { 2.0 } else { 1.0 };
    assert!(cold_us > factor * warm_us, "{cold_us} and {warm_us}");
}

#[test]
fn configurations_are_verified_and_compared_as_with_warm_caches() {
    let mut measurer = measurer(Measure::COLD);
    let outcome = measurer.measure(&[0], None, None);
    let Outcome::Ok(measurement) = &outcome else {
        panic!("{outcome:?}");
    };
    assert!(measurement.samples_us.len() >= 3, "{measurement:?}");
    assert!(measurer.verify(&[0]).is_ok());
    let compared = measurer.compare(&[vec![0]]);
    let compared = compared[0].as_ref().unwrap();
    assert!(compared.samples_us.len() >= 11);
    let once = measurer.measure(&[0], Some(1e-6), None);
    assert!(
        matches!(&once, Outcome::Ok(one) if one.samples_us.len() == 1),
        "clearly slower than the best: {once:?}"
    );
}

#[test]
fn a_part_shows_that_a_configuration_is_far_too_slow_also_with_cold_caches() {
    let mut measurer = measurer(Measure::COLD);
    let slow = measurer.measure(&[1], Some(1000.0), None);
    if is_cpu() {
        assert!(matches!(slow, Outcome::TooSlow { .. }), "{slow:?}");
    }
    let run = measurer.measure(&[1], Some(1e12), None);
    assert!(run.time_us().is_some(), "{run:?}");
}
