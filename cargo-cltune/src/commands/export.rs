//! `cargo cltune export`: what sessions measured, in the formats of other tools.

use super::Outcome;
use super::history_args::HistoryArgs;
use crate::exchange::{Found, Layout};
use crate::history::{Kernel, OnDevice};
use crate::session::{Place, file_name};
use cltune_core::model::Model;
use std::error::Error;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

/// What to write, about what and where.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct ExportArgs {
    /// The format.
    #[arg(long, value_enum, value_name = "FORMAT")]
    format: Layout,
    /// The file to write, where the results are of one kernel, device and problem; or a folder that
    /// exists, for a file of each. Without this option, the folder target/cltune/export.
    #[arg(long, short, alias = "output", value_name = "FILE")]
    out: Option<PathBuf>,
    #[command(flatten)]
    history: HistoryArgs,
}

/// Writes a file for each kernel, device and problem, and says which.
pub(crate) fn run(args: &ExportArgs, stdout: &mut dyn Write) -> Result<Outcome, Box<dyn Error>> {
    let known = args.history.read()?;
    let found = found(&known.kernels);
    if found.is_empty() {
        return Err(
            "only lockfiles know of these kernels: what was measured is in journals, on the \
                    machines that they were tuned on; export there"
                .into(),
        );
    }
    let folder = match &args.out {
        Some(folder) if folder.is_dir() => folder.clone(),
        Some(file) => {
            let [found] = found[..] else {
                return Err(several(&found, file).into());
            };
            return write(&found, args.format, file, stdout).map(|()| Outcome::Done);
        }
        None => known.state.join("export"),
    };
    fs::create_dir_all(&folder)
        .map_err(|error| format!("cannot make {}: {error}", folder.display()))?;
    for found in found {
        let file = folder.join(file_name(found.model, &place(&found), args.format.ending()));
        write(&found, args.format, &file, stdout)?;
    }
    Ok(Outcome::Done)
}

/// Everything that was measured.
fn found(kernels: &[Kernel]) -> Vec<Found<'_>> {
    let mut found = Vec::new();
    for kernel in kernels {
        for problem in &kernel.problems {
            let measured = |on: &&OnDevice| !on.results.is_empty();
            found.extend(problem.devices.iter().filter(measured).map(|on| Found {
                model: &kernel.declaration.model,
                dims: &problem.dims,
                on,
            }));
        }
    }
    found
}

fn place(found: &Found<'_>) -> Place {
    Place {
        platform: found.on.platform.clone(),
        device: found.on.device.clone(),
        problem: found.dims.to_vec(),
    }
}

fn write(
    found: &Found<'_>,
    layout: Layout,
    file: &Path,
    stdout: &mut dyn Write,
) -> Result<(), Box<dyn Error>> {
    fs::write(file, found.write(layout)).map_err(|error| {
        format!(
            "cannot write {}: {error}; name another file or folder with --out",
            file.display()
        )
    })?;
    writeln!(stdout, "{}", file.display())?;
    Ok(())
}

/// Why one file is not enough.
fn several(found: &[Found<'_>], file: &Path) -> String {
    let about = |found: &Found<'_>| {
        let Model { name, .. } = found.model;
        let problem = found.model.describe_problem(found.dims);
        format!("{name} on {} for {problem}", found.on.device)
    };
    let about: Vec<String> = found.iter().map(about).collect();
    format!(
        "a file is about one kernel, device and problem, and there are {}: {}; choose one with \
         --kernel, --device and --problem, or let {} be a folder",
        found.len(),
        about.join("; "),
        file.display()
    )
}
