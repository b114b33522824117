//! C = (A + B)(A - B) of matrices that are larger than the memory of the devices.
//!
//! | file | owns |
//! |---|---|
//! | `arguments` | the command line |
//! | `expression` | the expression, its matrices, and the check of its result |
//! | `chain` | a chain of operations, one of them a tunable |
//! | `bench` | the rates of devices alone, together, and with too little memory |
//! | `largest` | the largest matrices that a limit of host memory allows |
//! | `scaling` | how rates grow with devices that are not there |
//! | `memory` | what the process has used of the host's memory |

mod arguments;
mod bench;
mod chain;
mod expression;
mod largest;
mod memory;
mod scaling;

use arguments::{Arguments, Command};
use clap::Parser;
use cltune::schedule::{Scheduler, SchedulerOptions};
use expression::Expression;
use std::error::Error;
use std::time::Duration;

fn main() -> Result<(), Box<dyn Error>> {
    let arguments = Arguments::parse();
    match &arguments.command {
        Some(Command::Bench(bench)) => bench::run(bench),
        Some(Command::Chain(chain)) => chain::run(chain),
        Some(Command::Largest(largest)) => largest::run(largest),
        Some(Command::Scale(scale)) => {
            scaling::run(scale);
            Ok(())
        }
        None => demonstrate(&arguments),
    }
}

/// Computes the expression once, with progress on the way and a timeline in the end.
fn demonstrate(arguments: &Arguments) -> Result<(), Box<dyn Error>> {
    let devices = arguments::devices(&arguments.devices)?;
    let mut options = SchedulerOptions::new().device_memory(&[arguments.limit.0]);
    if arguments.timeline.is_some() {
        options = options.traced();
    }
    let scheduler = Scheduler::with(&devices, &options)?;
    let mut matrices = Expression::new(&scheduler, arguments.size)?;
    println!(
        "C = (A + B)(A - B), {0} x {0}: {1:.1} MB in host memory, at most {2:.1} MB on each device",
        arguments.size,
        3.0 * matrices.bytes() / 1e6,
        arguments.limit.0 as f64 / 1e6
    );
    matrices.enqueue(&scheduler, arguments.arithmetic())?;
    // The program goes on meanwhile; this one looks how far it is.
    while scheduler.progress().part() < 1.0 {
        std::thread::sleep(Duration::from_millis(500));
        println!("{:>5.1} %", 100.0 * scheduler.progress().part());
    }
    let report = scheduler.finish()?;
    println!("{report}");
    println!(
        "{:.1} GFLOPS",
        matrices.work() / report.elapsed.as_secs_f64() / 1e9
    );
    println!(
        "the largest error is {:.1e} of what rounding may be",
        matrices.check()?
    );
    if let Some(file) = &arguments.timeline {
        std::fs::write(file, report.timeline())?;
        println!(
            "{}: open it in chrome://tracing or ui.perfetto.dev",
            file.display()
        );
    }
    Ok(())
}
