//! The time of a kernel's first launch: with nothing kept of an earlier run, and with what cltune's
//! cache, the driver's own, or both have kept. Each is in a process of its own, which runs this
//! benchmark again.
//!
//! Three times: in a process that has done nothing before, from its beginning until the results are
//! there, so that finding devices, making a context and buffers count; in the same process from the
//! call; and from the call in a process that has used the device with another kernel.
//!
//! `--rounds N` makes N of each instead of 5.

use cltune::{Buffer, Event, Queue, Result, tunable};
use cltune_kernels::conv2d::conv2d_direct;
use cltune_kernels::gemm::gemm_classic;
use std::error::Error;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

const ROUNDS: usize = 5;
/// What is launched, and what its name says of it.
const KERNELS: [(&str, &str); 3] = [
    ("stencil", "8 points, 16 steps unrolled"),
    ("convolution", "11 x 11 weights unrolled for 4 x 4 pixels"),
    ("gemm", "tiles of 128 x 128, 8 x 8 in registers"),
];
/// Sizes of what the kernels compute: small, since it is not their time that is measured.
const POINTS: u32 = 4096;
const PICTURE: i32 = 256;
const FILTER: i32 = 11;
const MATRIX: i32 = 128;

/// Milliseconds until the results of a first launch are there.
#[derive(Clone, Copy)]
struct Took {
    /// Since the process began.
    process: f64,
    /// Since the call.
    call: f64,
}

/// What is kept of an earlier run, in the order of the table: nothing, cltune's cache, the
/// driver's, both.
type Row = [Vec<Took>; 4];

/// A kernel, in new processes and on used devices.
type MeasuredLaunch = (&'static str, Row, Row);

/// A number for each column of a table.
type Columns = fn(&MeasuredLaunch) -> [f64; 4];

/// 16 unrolled steps of an 8-point stencil.
#[tunable(
    params(WG = [64]),
    global(n), local(WG),
    tune(n = 4096),
)]
fn stencil(
    queue: &Queue,
    n: u32,
    #[arg(len = n)] x: &Buffer<f32>,
    #[arg(out, len = n)] y: &mut Buffer<f32>,
) -> Result<Event> {
    "__kernel void stencil(const uint n, __global const float* x, __global float* y) {
        const uint i = get_global_id(0);
        float sum = 0.0f;
        #pragma unroll
        for (int step = 1; step <= 16; step++) {
            #pragma unroll
            for (int k = 0; k < 8; k++) {
                const float value = x[(i + step * k) % n];
                sum += value > 0.5f ? native_sin(value) * step : sqrt(fabs(value)) - k;
            }
        }
        y[i] = sum;
    }"
}

/// What has used the device before.
#[tunable(params(WG = [64]), global(n), local(WG), tune(n = 64))]
fn touch(queue: &Queue, n: u32, #[arg(out, len = n)] y: &mut Buffer<f32>) -> Result<Event> {
    "__kernel void touch(const uint n, __global float* y) { y[get_global_id(0)] = n; }"
}

fn main() -> Result<(), Box<dyn Error>> {
    let begin = Instant::now();
    let arguments: Vec<String> = std::env::args().collect();
    if let Some(position) = arguments.iter().position(|word| word == "--launch") {
        let is_used = arguments.iter().any(|word| word == "--used");
        let kernel = arguments.get(position + 1).map_or("", String::as_str);
        let took = first_launch(kernel, is_used, begin)?;
        println!("{} {}", took.process, took.call);
        return Ok(());
    }
    // `cargo test` runs benches, too; there is nothing to check here.
    if !arguments.iter().any(|word| word == "--bench") {
        return Ok(());
    }
    let rounds = arguments
        .iter()
        .skip_while(|word| *word != "--rounds")
        .nth(1);
    let rounds = rounds
        .and_then(|number| number.parse().ok())
        .unwrap_or(ROUNDS);
    let queue = Queue::default_device()?;
    let info = queue.device().info();
    println!(
        "device    {} ({}), driver {}",
        info.name, info.platform, info.driver
    );
    println!(
        "protocol  {rounds} processes each, interleaved; median milliseconds (times as fast as with nothing kept)"
    );
    drop(queue);
    let mut rows = Vec::new();
    for (kernel, _) in KERNELS {
        let new = measure(kernel, false, rounds);
        match new.and_then(|new| Ok((kernel, new, measure(kernel, true, rounds)?))) {
            Ok(row) => rows.push(row),
            // Not every device has the local memory.
            Err(reason) => println!("{reason}"),
        }
    }
    report(&rows);
    for (kernel, what) in KERNELS {
        println!("{kernel}: {what}");
    }
    Ok(())
}

/// A table for each way to count.
fn report(rows: &[MeasuredLaunch]) {
    let tables: [(&str, Columns); 3] = [
        ("since a new process began", |(_, new, _)| {
            medians(new, |took| took.process)
        }),
        ("since the call, in a new process", |(_, new, _)| {
            medians(new, |took| took.call)
        }),
        ("since the call, on a used device", |(_, _, used)| {
            medians(used, |took| took.call)
        }),
    ];
    for (since, columns) in tables {
        println!("{since}, with what is kept of an earlier run:");
        println!(
            "  {:12} {:>8} {:>19} {:>19} {:>19}",
            "", "nothing", "cltune's cache", "the driver's", "both"
        );
        for row in rows {
            let [nothing, kept @ ..] = columns(row);
            print!("  {:12} {nothing:8.1}", row.0);
            for time in kept {
                print!(" {time:9.1} ({:6.1}x)", nothing / time);
            }
            println!();
        }
    }
}

/// Runs a kernel's launches.
fn measure(kernel: &str, is_used: bool, rounds: usize) -> Result<Row, Box<dyn Error>> {
    let folder = tempfile::tempdir()?;
    let empty = |name: &str| -> std::io::Result<PathBuf> {
        let path = folder.path().join(name);
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir(&path)?;
        Ok(path)
    };
    let off = Path::new("off");
    let mut times = Row::default();
    for _ in 0..rounds {
        let driver = empty("driver")?;
        times[0].push(launch(kernel, is_used, off, &driver)?);
        times[2].push(launch(kernel, is_used, off, &driver)?);
        let (driver, cltune) = (empty("driver")?, empty("cltune")?);
        launch(kernel, is_used, &cltune, &driver)?;
        times[3].push(launch(kernel, is_used, &cltune, &driver)?);
        times[1].push(launch(kernel, is_used, &cltune, &empty("driver")?)?);
    }
    Ok(times)
}

/// A first launch in another process, with these caches.
fn launch(
    kernel: &str,
    is_used: bool,
    cltune: &Path,
    driver: &Path,
) -> Result<Took, Box<dyn Error>> {
    let mut command = Command::new(std::env::current_exe()?);
    command.args(["--launch", kernel]);
    if is_used {
        command.arg("--used");
    }
    command.env("CLTUNE_CACHE", cltune);
    // The drivers': PoCL's, NVIDIA's, and Mesa's for rusticl.
    for name in ["POCL_CACHE_DIR", "CUDA_CACHE_PATH", "MESA_SHADER_CACHE_DIR"] {
        command.env(name, driver);
    }
    let output = command.output()?;
    let said = String::from_utf8(output.stdout)?;
    let took = said.trim().split_once(' ').and_then(|(process, call)| {
        let (process, call) = (process.parse().ok()?, call.parse().ok()?);
        Some(Took { process, call })
    });
    took.ok_or_else(|| {
        let errors = String::from_utf8_lossy(&output.stderr);
        format!("{kernel}: {said}{errors}").into()
    })
}

/// Launches a kernel in this process, which began when `begin` says.
fn first_launch(kernel: &str, is_used: bool, begin: Instant) -> Result<Took> {
    let queue = Queue::default_device()?;
    let buffer = |len| Buffer::from_slice(&queue, &vec![0.75_f32; len]);
    if is_used {
        touch(&queue, 64, &mut buffer(64)?)?.wait()?;
    }
    let time = |launch: &mut dyn FnMut() -> Result<Event>| -> Result<Took> {
        let call = Instant::now();
        launch()?.wait()?;
        let [process, call] = [begin, call].map(|since| since.elapsed().as_secs_f64() * 1e3);
        Ok(Took { process, call })
    };
    match kernel {
        "stencil" => {
            let (x, mut y) = (buffer(POINTS as usize)?, buffer(POINTS as usize)?);
            time(&mut || stencil(&queue, POINTS, &x, &mut y))
        }
        "convolution" => {
            let pixels = (PICTURE * PICTURE) as usize;
            let weights = buffer((FILTER * FILTER) as usize)?;
            let (input, mut output) = (buffer(pixels)?, buffer(pixels)?);
            let params = conv2d_direct::Params {
                XWG: 16,
                YWG: 8,
                XWPT: 4,
                YWPT: 4,
                CACHE: 1,
                VW: 4,
                PAD: 1,
                UNR: 1,
            };
            time(&mut || {
                conv2d_direct::launch_with(
                    &params,
                    &queue,
                    PICTURE,
                    PICTURE,
                    FILTER,
                    1,
                    &weights,
                    &input,
                    &mut output,
                )
            })
        }
        _ => {
            let elements = (MATRIX * MATRIX) as usize;
            let (a, b, mut c) = (buffer(elements)?, buffer(elements)?, buffer(elements)?);
            let params = gemm_classic::Params {
                MWG: 128,
                NWG: 128,
                KWG: 32,
                MDIMC: 16,
                NDIMC: 16,
                MDIMA: 16,
                NDIMB: 16,
                KWI: 8,
                VWM: 4,
                VWN: 4,
                STRM: 0,
                STRN: 0,
                SA: 1,
                SB: 1,
            };
            time(&mut || {
                gemm_classic::launch_with(&params, &queue, MATRIX, MATRIX, MATRIX, &a, &b, &mut c)
            })
        }
    }
}

fn medians(row: &Row, part: fn(&Took) -> f64) -> [f64; 4] {
    [0, 1, 2, 3].map(|kept: usize| {
        let mut times: Vec<f64> = row[kept].iter().map(part).collect();
        times.sort_by(f64::total_cmp);
        times[times.len() / 2]
    })
}
