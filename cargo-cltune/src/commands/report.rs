//! `cargo cltune report`: the results of sessions, as a page for a browser.

use super::Exit;
use super::history_args::{History, HistoryArgs};
use super::outputs::check_output;
use crate::exchange::import;
use crate::report::page;
use std::error::Error;
use std::fs;
use std::io::Write;
use std::path::PathBuf;

/// Where to write it, and about what.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct ReportArgs {
    /// The file to write; without this option, report.html beside the journals, in target/cltune,
    /// or with --import in this folder.
    #[arg(long, short, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Show this file and no sessions: a Kernel Tuner cache, T4 results, or CSV with a column
    /// `time_ms`, compressed or not; may be repeated. Files about the same kernel are put together.
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with_all = ["kernel", "device", "problem", "artifact", "lockfile"]
    )]
    import: Vec<PathBuf>,
    #[command(flatten)]
    history: HistoryArgs,
}

/// Writes the page and says where.
pub(crate) fn run(args: &ReportArgs, stdout: &mut dyn Write) -> Result<Exit, Box<dyn Error>> {
    let output = args.output.as_deref();
    let known = if args.import.is_empty() {
        args.history.read(output)?
    } else {
        check_output("--output", output, &args.import)?;
        History {
            kernels: import(&args.import)?,
            // This very folder.
            state: PathBuf::new(),
        }
    };
    let path = if let Some(path) = output {
        path.to_owned()
    } else {
        fs::create_dir_all(&known.state)
            .map_err(|error| format!("cannot write {}: {error}", known.state.display()))?;
        known.state.join("report.html")
    };
    fs::write(&path, page(&known.kernels)).map_err(|error| {
        format!(
            "cannot write {}: {error}; name another file with --output FILE",
            path.display()
        )
    })?;
    writeln!(stdout, "{}", path.display())?;
    Ok(Exit::Done)
}
