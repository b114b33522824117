//! Computes a convolution or a matrix product on several devices at once, and compares the time
//! with that of each device alone and with the best possible.
//!
//! | file | owns |
//! |---|---|
//! | `kernels` | the tunables, with what is divided and how |
//! | `memory` | what the data is in |
//! | `problem` | the problems with their data, and whether results are right |
//! | `measure` | times of each device alone and of all together |
//! | `sweep` | times of other splits |
//! | `table` | results and sweeps as CSV |

#![forbid(unsafe_code)]

mod kernels;
mod measure;
mod memory;
mod problem;
mod sweep;
mod table;

use clap::{Parser, ValueEnum};
use cltune::{Device, DeviceSet, Transfers};
use measure::Alone;
use problem::{Along, Convolution, Multiplication, Problem};
use std::path::PathBuf;
use std::process::ExitCode;

/// Computes one problem on several devices, and compares with each device alone.
#[derive(Parser)]
#[command(version)]
struct Arguments {
    /// What to compute
    #[arg(value_enum, default_value_t = Kind::Convolution)]
    problem: Kind,
    /// Elements of the convolution [default: 65536], or rows and columns of the matrices, a
    /// multiple of 8 [default: 1024]
    #[arg(long, short, value_parser = clap::value_parser!(u32).range(64..=1 << 31))]
    n: Option<u32>,
    /// Rows of the first matrix and of the result, a multiple of 8 if columns are divided [default:
    /// as many as the second has]
    #[arg(long, value_parser = clap::value_parser!(u32).range(64..=1 << 31))]
    rows: Option<u32>,
    /// The mask of the convolution, elements
    #[arg(long, default_value_t = 625, value_parser = clap::value_parser!(u32).range(1..=10_000))]
    mask: u32,
    /// How the matrices are divided
    #[arg(long, value_enum, default_value_t = Along::Rows)]
    along: Along,
    /// The devices, by index or parts of names: `0,nvidia` [default: all]
    #[arg(long, value_delimiter = ',')]
    devices: Vec<String>,
    /// The memory that arguments and results are in
    #[arg(long, value_enum, default_value_t = memory::Kind::Pinned)]
    memory: memory::Kind,
    /// What of that which is read changes from call to call
    #[arg(long, value_enum, default_value_t = memory::Changing::All)]
    changing: memory::Changing,
    /// How data gets to devices and back
    #[arg(long, value_enum, default_value_t = Way::ByDevice)]
    transfers: Way,
    /// Compute it once, check the result, and time nothing
    #[arg(long, conflicts_with = "sweep")]
    once: bool,
    /// Also time other splits of two devices, and write them as CSV
    #[arg(long, value_name = "FILE")]
    sweep: Option<PathBuf>,
    /// Add the result to a CSV file
    #[arg(long, value_name = "FILE", conflicts_with = "once")]
    results: Option<PathBuf>,
    /// Splits of the sweep
    #[arg(long, default_value_t = 20, value_parser = clap::value_parser!(u32).range(2..=1000))]
    steps: u32,
}

/// Rows and columns of the smallest tile of a multiplication.
const TILE: usize = 8;

#[derive(Clone, Copy, ValueEnum)]
enum Kind {
    Convolution,
    Multiplication,
}

/// See [`Transfers`].
#[derive(Clone, Copy, ValueEnum)]
enum Way {
    ByDevice,
    Direct,
    Pinned,
}

impl From<Way> for Transfers {
    fn from(way: Way) -> Self {
        match way {
            Way::ByDevice => Self::ByDevice,
            Way::Direct => Self::Direct,
            Way::Pinned => Self::Pinned,
        }
    }
}

/// Why the program ends without having done its work.
#[derive(Debug, thiserror::Error)]
enum Failure {
    #[error(transparent)]
    OpenCl(#[from] cltune::Error),
    #[error("{0} of the results are wrong")]
    Wrong(usize),
    #[error("--{0} {1}: it has to be a multiple of {TILE}, the smallest tile of a multiplication")]
    NoTiles(&'static str, usize),
    #[error("nothing was measured")]
    NoTime,
    #[error("{0} cannot be written: {1}")]
    File(PathBuf, std::io::Error),
    #[error("a sweep is about two devices; name them with --devices")]
    NotTwo,
}

fn main() -> ExitCode {
    match run(&Arguments::parse()) {
        Ok(()) => ExitCode::SUCCESS,
        Err(failure) => {
            eprintln!("several-devices: {failure}");
            ExitCode::FAILURE
        }
    }
}

fn run(arguments: &Arguments) -> Result<(), Failure> {
    let devices = devices(&arguments.devices)?;
    let set = |devices: &[Device]| -> Result<DeviceSet, Failure> {
        let mut set = DeviceSet::new(devices)?;
        set.set_transfers(arguments.transfers.into());
        Ok(set)
    };
    let mut all = set(&devices)?;
    let mut problem = problem(arguments, &all)?;
    let problem = problem.as_mut();
    if arguments.once {
        return once(&mut all, problem);
    }
    let alone = devices
        .iter()
        .map(|device| measure::alone(&mut set(std::slice::from_ref(device))?, problem))
        .collect::<Result<Vec<Alone>, Failure>>()?;
    let times: Vec<f64> = alone.iter().map(|alone| alone.time).collect();
    let together = measure::together(&mut all, problem)?;
    let optimal = cltune::split_factors(&times);
    let adjusted = together.report.factors(devices.len());
    println!("{}", problem.title());
    println!(
        "{:>12}  {:>8}  {:>8}  device",
        "alone", "optimal", "adjusted"
    );
    for (position, device) in devices.iter().enumerate() {
        let Alone { time, is_scaled } = alone[position];
        let about = if is_scaled { "~" } else { "" };
        let time = format!("{about}{time:.3} ms");
        let (optimal, adjusted) = (optimal[position], adjusted[position]);
        println!("{time:>12}  {optimal:>8.4}  {adjusted:>8.4}  {device}");
    }
    let result = table::Result {
        problem: problem.title(),
        names: devices
            .iter()
            .map(|device| device.info().name.clone())
            .collect(),
        best: cltune::theoretical_best(&optimal, &times),
        alone,
        optimal,
        adjusted,
        together: together.time,
    };
    println!(
        "together {:.3} ms, theoretical best {:.3} ms: {:.1} %",
        result.together,
        result.best,
        100.0 * result.best / result.together
    );
    println!("{}", together.report);
    if let Some(file) = &arguments.results {
        result.add_to(file)?;
    }
    if let Some(file) = &arguments.sweep {
        let [first, second] = &*result.alone else {
            return Err(Failure::NotTwo);
        };
        let points = sweep::run(&mut all, problem, [first, second], arguments.steps)?;
        table::write_sweep(file, &result, &points)?;
    }
    Ok(())
}

/// What to compute, in memory for these devices.
fn problem(arguments: &Arguments, devices: &DeviceSet) -> Result<Box<dyn Problem>, Failure> {
    let n = |default: u32| arguments.n.unwrap_or(default) as usize;
    let data = memory::Data {
        memory: arguments.memory,
        changing: arguments.changing,
    };
    Ok(match arguments.problem {
        Kind::Convolution => Box::new(Convolution::new(
            devices,
            data,
            n(1 << 16),
            arguments.mask as usize,
        )?),
        Kind::Multiplication => {
            let (n, along) = (n(1024), arguments.along);
            let rows = arguments.rows.map_or(n, |rows| rows as usize);
            // What is divided among devices need not be whole tiles.
            let undivided = [("n", n), ("rows", rows)];
            let undivided = &undivided[..if along == Along::Columns { 2 } else { 1 }];
            if let Some((name, size)) = undivided.iter().find(|of| !of.1.is_multiple_of(TILE)) {
                return Err(Failure::NoTiles(name, *size));
            }
            Box::new(Multiplication::new(devices, data, [rows, n], along)?)
        }
    })
}

fn once(set: &mut DeviceSet, problem: &mut dyn Problem) -> Result<(), Failure> {
    println!("{}", problem.title());
    let report = problem.compute(set, problem.positions())?;
    println!("{report}");
    for (device, error) in set.lost() {
        println!("lost: {device}: {error}");
    }
    match problem.wrong() {
        0 => Ok(()),
        wrong => Err(Failure::Wrong(wrong)),
    }
}

/// The devices that filters mean, in the order of the filters.
fn devices(filters: &[String]) -> Result<Vec<Device>, Failure> {
    let all = Device::all()?;
    if filters.is_empty() {
        return Ok(all);
    }
    let mut chosen = Vec::new();
    for filter in filters {
        chosen.extend(Device::find(&all, filter)?);
    }
    Ok(chosen)
}
