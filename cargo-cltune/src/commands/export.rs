//! `cargo cltune export`: the results of sessions, in the formats of other tools; and a database of
//! template defaults.

use super::Exit;
use super::history_args::HistoryArgs;
use crate::exchange::{Export, Layout};
use crate::history::{Kernel, OnDevice};
use crate::session::file_name;
use cltune_core::model::Model;
use std::error::Error;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

/// What to write, about what and where.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct ExportArgs {
    /// The format.
    #[arg(
        long,
        value_enum,
        value_name = "FORMAT",
        required_unless_present = "database"
    )]
    format: Option<Layout>,
    /// Instead: add what lockfiles hold of `#[fused]` functions to this database of template
    /// defaults, which is made where there is none.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["format", "output", "measure"])]
    database: Option<PathBuf>,
    /// The file to write, where the results are of one kernel, device and problem; or a folder that
    /// exists, for a file of each. Without this option, the folder target/cltune/export.
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    #[command(flatten)]
    history: HistoryArgs,
}

/// Writes a file for each kernel, device and problem, and says which.
pub(crate) fn run(args: &ExportArgs, stdout: &mut dyn Write) -> Result<Exit, Box<dyn Error>> {
    if let Some(file) = &args.database {
        return args.history.export_database(file, stdout);
    }
    let format = args.format.ok_or("--format is missing")?;
    let known = args.history.read(args.output.as_deref())?;
    let exports = exports(&known.kernels);
    if exports.is_empty() {
        return Err(
            "only lockfiles know of these kernels: what was measured is in journals, on the \
                    machines that they were tuned on; export there"
                .into(),
        );
    }
    let folder = match &args.output {
        Some(folder) if folder.is_dir() => folder.clone(),
        Some(file) => {
            let [export] = exports[..] else {
                return Err(several(&exports, file).into());
            };
            return write(&export, format, file, stdout).map(|()| Exit::Done);
        }
        None => known.state.join("export"),
    };
    fs::create_dir_all(&folder)
        .map_err(|error| format!("cannot make {}: {error}", folder.display()))?;
    for export in exports {
        let file = folder.join(file_name(
            export.model,
            export.on.key(),
            export.dims,
            export.measure,
            format.ending(),
        ));
        write(&export, format, &file, stdout)?;
    }
    Ok(Exit::Done)
}

/// Everything that was measured.
fn exports(kernels: &[Kernel]) -> Vec<Export<'_>> {
    let mut exports = Vec::new();
    for kernel in kernels {
        for problem in &kernel.problems {
            let measured = |on: &&OnDevice| !on.results.is_empty();
            exports.extend(problem.devices.iter().filter(measured).map(|on| Export {
                model: &kernel.declaration.model,
                measure: kernel.declaration.measure,
                dims: &problem.dims,
                on,
            }));
        }
    }
    exports
}

fn write(
    export: &Export<'_>,
    layout: Layout,
    file: &Path,
    stdout: &mut dyn Write,
) -> Result<(), Box<dyn Error>> {
    fs::write(file, layout.write(export)).map_err(|error| {
        format!(
            "cannot write {}: {error}; name another file or folder with --output",
            file.display()
        )
    })?;
    writeln!(stdout, "{}", file.display())?;
    Ok(())
}

/// Why one file is not enough.
fn several(exports: &[Export<'_>], file: &Path) -> String {
    let about = |export: &Export<'_>| {
        let Model { name, .. } = export.model;
        let problem = export.model.describe_problem(export.dims);
        format!("{name} on {} for {problem}", export.on.device)
    };
    let about: Vec<String> = exports.iter().map(about).collect();
    format!(
        "a file is about one kernel, device and problem, and there are {}: {}; choose one with \
         --kernel, --device and --problem, or let {} be a folder",
        exports.len(),
        about.join("; "),
        file.display()
    )
}
