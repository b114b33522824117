//! `cargo cltune report`: what sessions found, as a page for a browser.

use super::Outcome;
use super::history_args::HistoryArgs;
use crate::report::page;
use std::error::Error;
use std::fs;
use std::io::Write;
use std::path::PathBuf;

/// Where to write it, and about what.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct ReportArgs {
    /// The file to write; without this option, `report.html` beside the journals, in target/cltune.
    #[arg(long, short, value_name = "FILE")]
    out: Option<PathBuf>,
    #[command(flatten)]
    history: HistoryArgs,
}

/// Writes the page and says where.
pub(crate) fn run(args: &ReportArgs, stdout: &mut dyn Write) -> Result<Outcome, Box<dyn Error>> {
    let known = args.history.read()?;
    let path = if let Some(path) = &args.out {
        path.clone()
    } else {
        fs::create_dir_all(&known.state)
            .map_err(|error| format!("cannot write {}: {error}", known.state.display()))?;
        known.state.join("report.html")
    };
    fs::write(&path, page(&known.kernels)).map_err(|error| {
        format!(
            "cannot write {}: {error}; name another file with --out FILE",
            path.display()
        )
    })?;
    writeln!(stdout, "{}", path.display())?;
    Ok(Outcome::Done)
}
