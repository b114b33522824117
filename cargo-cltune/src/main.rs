//! `cargo cltune`: finds the best parameter values of OpenCL kernels.

#![forbid(unsafe_code)]

mod artifact;
mod captured;
mod chart;
mod cli;
mod commands;
mod exchange;
mod fleet;
mod history;
mod interrupt;
mod json;
mod kernel_filter;
mod lockfile_store;
mod newer_version;
mod oclgrind;
mod plan;
mod replay;
mod report;
#[cfg(test)]
#[path = "../tests/unit/samples.rs"]
mod samples;
mod session;
mod statistics;
mod terminal;
mod threads;
mod units;
mod worker;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::run(std::env::args_os())
}
