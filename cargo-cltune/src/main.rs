//! `cargo cltune`: finds the best parameter values of OpenCL kernels.

#![forbid(unsafe_code)]

mod artifact;
mod cli;
mod commands;
mod json;
mod lockfile_store;
mod replay;
#[cfg(test)]
mod samples;
mod session;
mod worker;

use std::process::ExitCode;

fn main() -> ExitCode {
    cli::run(std::env::args_os())
}
