//! The rates of devices alone, together, and with too little memory, all in one run.

use crate::arguments::{self, Bench, Bytes};
use crate::expression::Expression;
use crate::{memory, scaling};
use cltune::schedule::{RunReport, ScheduleError, Scheduler, SchedulerOptions};
use cltune::{Buffer, Device, Queue};
use cltune_kernels::gemm::{Arithmetic, Gemm, Matrix, MatrixMut, Shape};
use std::error::Error;
use std::path::Path;
use std::process;
use std::time::Instant;

type Result<T, E = Box<dyn Error>> = std::result::Result<T, E>;

/// The target for two devices, as a part of the sum of their rates (the paper's figure).
const TARGET: f64 = 0.9;

pub(crate) fn run(bench: &Bench) -> Result<()> {
    let devices = arguments::devices(&bench.devices)?;
    println!("devices:");
    for device in &devices {
        println!("  {device}");
    }
    println!("host memory before: {}", megabytes(memory::peak()));
    let mut kinds = vec![Arithmetic::Plain];
    if bench.automatic {
        kinds.push(Arithmetic::Automatic);
    }
    for &size in &bench.sizes {
        for (position, &limit) in bench.limits.iter().enumerate() {
            together(bench, &devices, size, limit, &kinds, position == 0)?;
        }
        for &kind in &kinds {
            out_of_core(bench, &devices[0], size, kind)?;
        }
        if let Some(helper) = &bench.helper {
            helped(bench, &devices[0], helper, size)?;
        }
        peers(bench, size)?;
    }
    println!("host memory, most: {}", megabytes(memory::peak()));
    Ok(())
}

/// Each device alone, and all together; with `is_simulated`, more devices as well.
fn together(
    bench: &Bench,
    devices: &[Device],
    size: usize,
    limit: Bytes,
    kinds: &[Arithmetic],
    is_simulated: bool,
) -> Result<()> {
    let before = memory::peak();
    let scheduler = Scheduler::with(devices, &options(bench, limit))?;
    let mut matrices = Expression::new(&scheduler, size)?;
    let words = 3.0 * matrices.bytes();
    println!(
        "C = (A + B)(A - B), {size} x {size}, at most {:.0} MB on each device",
        limit.0 as f64 / 1e6
    );
    for &kind in kinds {
        // What is built and measured first does not count.
        only(&scheduler, devices.len(), None);
        let _ = once(&scheduler, &mut matrices, kind)?;
        let mut sum = 0.0;
        for position in 0..devices.len() {
            only(&scheduler, devices.len(), Some(position));
            let (rate, report) = rate(bench, &scheduler, &mut matrices, kind)?;
            println!(
                "  {kind:?}, device {position} alone: {:.2} TFLOPS",
                rate / 1e12
            );
            println!("{}", indented(&report));
            sum += rate;
            let links = scheduler.link_rates();
            if let (0, Some(Some(rates))) = (position, links.first()) {
                println!(
                    "  link of device 0: {:.1} GB/s to it, {:.1} back, {:.0} within, a launch {:.1} us, \
                     a line {:.3} us",
                    rates.up / 1e9,
                    rates.down / 1e9,
                    rates.memory / 1e9,
                    rates.launch * 1e6,
                    rates.line * 1e6
                );
                if is_simulated && kind == kinds[0] {
                    let kernel = in_core(bench, &devices[0], size, kind)?;
                    scaling::print(size, limit.0, *rates, kernel.unwrap_or(rate));
                }
            }
        }
        only(&scheduler, devices.len(), None);
        let (rate, report) = rate(bench, &scheduler, &mut matrices, kind)?;
        println!(
            "  {kind:?}, all {} devices: {:.2} TFLOPS, {:.1} % of the sum (target {:.0} %)",
            devices.len(),
            rate / 1e12,
            100.0 * rate / sum,
            100.0 * TARGET
        );
        println!("{}", indented(&report));
        println!(
            "  the largest error is {:.1e} of what rounding may be",
            matrices.check()?
        );
    }
    let grown = memory::peak().zip(before).map(|(now, before)| now - before);
    println!(
        "  host memory: matrices {:.1} MB (3 n^2 words), the process has grown by {}, most {}",
        words / 1e6,
        megabytes(grown),
        megabytes(memory::peak())
    );
    drop((matrices, scheduler));
    if let Some(folder) = &bench.timelines {
        let file = folder.join(format!("timeline-{size}-{}.json", limit.0 / 1_000_000));
        timeline(bench, devices, limit, size, &file, |matrices, scheduler| {
            matrices.enqueue(scheduler, kinds[0])
        })?;
    }
    Ok(())
}

/// A product with an eighth of its operands' memory, beside the same in the device's memory.
fn out_of_core(bench: &Bench, device: &Device, size: usize, kind: Arithmetic) -> Result<()> {
    let in_core = in_core(bench, device, size, kind)?;
    let limit = Bytes(3 * size * size * size_of::<f32>() / 8);
    let scheduler = Scheduler::with(std::slice::from_ref(device), &options(bench, limit))?;
    let mut matrices = Expression::new(&scheduler, size)?;
    let mut times = Vec::new();
    let mut last = None;
    for _ in 0..=bench.rounds {
        matrices.enqueue_product(&scheduler, kind)?;
        let report = scheduler.finish()?;
        times.push(report.elapsed.as_secs_f64());
        last = Some(report);
    }
    let rate = matrices.work() / median(&times[1..]);
    println!(
        "C = A B, {size} x {size}, {kind:?}: in core {}, with {:.0} MB {:.2} TFLOPS{}",
        in_core.map_or("does not fit".to_owned(), |rate| format!(
            "{:.2} TFLOPS",
            rate / 1e12
        )),
        limit.0 as f64 / 1e6,
        rate / 1e12,
        in_core.map_or(String::new(), |in_core| {
            format!(", {:.1} % (target 80 %)", 100.0 * rate / in_core)
        })
    );
    if let Some(report) = last {
        println!("{}", indented(&report));
    }
    drop((matrices, scheduler));
    if let Some(folder) = &bench.timelines {
        let file = folder.join(format!("timeline-{size}-product-{kind:?}.json"));
        timeline(
            bench,
            std::slice::from_ref(device),
            limit,
            size,
            &file,
            |matrices, scheduler| matrices.enqueue_product(scheduler, kind),
        )?;
    }
    Ok(())
}

/// Writes the timeline of the second run: in the first one, much is built and measured.
fn timeline(
    bench: &Bench,
    devices: &[Device],
    limit: Bytes,
    size: usize,
    file: &Path,
    enqueue: impl Fn(&mut Expression, &Scheduler) -> Result<(), ScheduleError>,
) -> Result<()> {
    let traced = Scheduler::with(devices, &options(bench, limit).traced())?;
    let mut matrices = Expression::new(&traced, size)?;
    enqueue(&mut matrices, &traced)?;
    let _ = traced.finish()?;
    enqueue(&mut matrices, &traced)?;
    let report = traced.finish()?;
    std::fs::write(file, report.timeline())?;
    println!("  {}, recorded in this run", file.display());
    println!("{}", indented(&report));
    Ok(())
}

/// The rate of a product whose operands are on the device; `None` where they do not fit.
fn in_core(bench: &Bench, device: &Device, size: usize, kind: Arithmetic) -> Result<Option<f64>> {
    let queue = Queue::for_device(device)?;
    let matrix = || Buffer::<f32>::new(queue.context(), size * size);
    let (Ok(mut a), Ok(mut b), Ok(mut c)) = (matrix(), matrix(), matrix()) else {
        return Ok(None);
    };
    let values: Vec<f32> = (0..size * size)
        .map(|at| (at % 1021) as f32 / 1021.0 - 0.5)
        .collect();
    a.write(&queue, &values)?;
    b.write(&queue, &values)?;
    let mut gemm = Gemm::<f32>::new(&queue)?.arithmetic(kind);
    let shape = Shape::row_major(size, size);
    let mut times = Vec::new();
    for _ in 0..=bench.rounds {
        let begin = Instant::now();
        let (left, right) = (Matrix::new(&a, shape), Matrix::new(&b, shape));
        let _ = gemm.multiply(&queue, 1.0, left, right, 0.0, MatrixMut::new(&mut c, shape))?;
        queue.finish()?;
        times.push(begin.elapsed().as_secs_f64());
    }
    Ok(Some(2.0 * (size as f64).powi(3) / median(&times[1..])))
}

/// A device alone, and with a slow one that must not make it slower; in turns.
fn helped(bench: &Bench, device: &Device, helper: &str, size: usize) -> Result<()> {
    let mut devices = vec![device.clone()];
    devices.extend(arguments::devices(&[helper.to_owned()])?);
    let limit = bench.limits.last().copied().unwrap_or(Bytes(1 << 30));
    let scheduler = Scheduler::with(&devices, &options(bench, limit))?;
    let mut matrices = Expression::new(&scheduler, size)?;
    // With the probe of the slow device, and without.
    let (first, _) = once(&scheduler, &mut matrices, Arithmetic::Plain)?;
    let mut times = [Vec::new(), Vec::new()];
    let mut last = None;
    for _ in 0..bench.rounds.max(3) {
        for (position, times) in times.iter_mut().enumerate() {
            only(&scheduler, devices.len(), (position == 0).then_some(0));
            let (seconds, report) = once(&scheduler, &mut matrices, Arithmetic::Plain)?;
            times.push(seconds);
            last = Some(report);
        }
    }
    let [alone, both] = times.map(|times| median(&times));
    println!(
        "{size} x {size}, device 0 alone {alone:.3} s, with `{helper}` {both:.3} s, {:.1} % (first run, with probes \
         {first:.3} s)",
        100.0 * both / alone
    );
    if let Some(report) = last {
        println!("{}", indented(&report));
    }
    Ok(())
}

/// Lets only one device work, or all.
fn only(scheduler: &Scheduler, devices: usize, one: Option<usize>) {
    for position in 0..devices {
        scheduler.set_resting(position, one.is_some_and(|one| one != position));
    }
}

/// The median rate, and the report of the last round.
fn rate(
    bench: &Bench,
    scheduler: &Scheduler,
    matrices: &mut Expression,
    kind: Arithmetic,
) -> Result<(f64, RunReport)> {
    // Other devices mean other blocks, for which memory is allocated first.
    let (_, mut report) = once(scheduler, matrices, kind)?;
    let mut times = Vec::new();
    for _ in 0..bench.rounds.max(1) {
        let (seconds, next) = once(scheduler, matrices, kind)?;
        times.push(seconds);
        report = next;
    }
    Ok((matrices.work() / median(&times), report))
}

/// From host memory to host memory, seconds.
fn once(
    scheduler: &Scheduler,
    matrices: &mut Expression,
    kind: Arithmetic,
) -> Result<(f64, RunReport)> {
    matrices.enqueue(scheduler, kind)?;
    let report = scheduler.finish()?;
    Ok((report.elapsed.as_secs_f64(), report))
}

/// The peers: cuBLASXt, which has no limits, and PyTorch with blocks by hand and the same limits.
fn peers(bench: &Bench, size: usize) -> Result<()> {
    let Some(python) = &bench.python else {
        return Ok(());
    };
    let run = |script: &Path, numbers: &[usize]| -> Result<()> {
        let numbers = numbers.iter().map(ToString::to_string);
        let status = process::Command::new(python)
            .arg(script)
            .args(numbers)
            .status()?;
        if !status.success() {
            println!("{} ended with {status}", script.display());
        }
        Ok(())
    };
    run(&bench.cublasxt, &[size, bench.rounds])?;
    for Bytes(limit) in &bench.limits {
        run(&bench.peer, &[size, *limit, bench.rounds])?;
    }
    Ok(())
}

fn options(bench: &Bench, Bytes(limit): Bytes) -> SchedulerOptions {
    let options = SchedulerOptions::new().device_memory(&[limit]);
    match bench.host_rate {
        Some(rate) => options.host_rate(rate * 1e9),
        None => options,
    }
}

fn indented(report: &RunReport) -> String {
    let lines = report.to_string();
    let lines: Vec<String> = lines.lines().map(|line| format!("    {line}")).collect();
    lines.join("\n")
}

fn megabytes(bytes: Option<f64>) -> String {
    bytes.map_or("unknown".to_owned(), |bytes| {
        format!("{:.1} MB", bytes / 1e6)
    })
}

fn median(times: &[f64]) -> f64 {
    let mut times = times.to_vec();
    times.sort_by(f64::total_cmp);
    times.get(times.len() / 2).copied().unwrap_or(f64::NAN)
}
