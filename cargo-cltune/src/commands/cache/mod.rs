//! `cargo cltune cache`: the results that programs of this user have tuned at run time.
//!
//! | file | owns |
//! |---|---|
//! | `list` | printing what there is |
//! | `export` | what was tuned as a lockfile |

mod export;
mod list;

use super::outputs::check_output;
use super::{Exit, Format};
use clap::builder::NonEmptyStringValueParser;
use cltune_runtime::cache::{Folder, Listing, clear};
use std::error::Error;
use std::io::Write;
use std::path::PathBuf;

/// What to do with the cache.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct CacheArgs {
    #[command(subcommand)]
    action: Action,
}

#[derive(Clone, Debug, clap::Subcommand)]
enum Action {
    /// List what was tuned at run time, what drivers refused, and how many programs are kept.
    List {
        /// How to print the list.
        #[arg(long, value_enum, default_value_t = Format::Text)]
        format: Format,
    },
    /// Remove everything. Programs that run meanwhile go on.
    Clear,
    /// Write what was tuned at run time as a lockfile.
    ///
    /// `cargo cltune merge` unites it with the lockfile of the package that declares the kernels.
    /// Of a kernel that was tuned in several versions the latest is taken. A lockfile that is there
    /// keeps its entries: those of its versions of kernels are added, and of two for the same the
    /// faster one stays.
    Export {
        /// Only kernels whose name contains this.
        #[arg(long, value_name = "NAME", value_parser = NonEmptyStringValueParser::new())]
        kernel: Option<String>,
        /// The file to write, or to add to. Without it, standard output.
        #[arg(long, short, value_name = "FILE")]
        output: Option<PathBuf>,
    },
}

/// Does it.
pub(crate) fn run(
    args: &CacheArgs,
    stdout: &mut dyn Write,
    stderr: &mut dyn Write,
) -> Result<Exit, Box<dyn Error>> {
    let folder = Folder::of_user()?;
    match &args.action {
        Action::Clear => {
            let removed = clear(&folder)?;
            writeln!(
                stdout,
                "removed {removed} files from {}",
                folder.path().display()
            )?;
        }
        Action::List { format } => {
            let listing = Listing::of(&folder)?;
            match format {
                Format::Text => list::print(&folder, &listing, stdout)?,
                Format::Json => writeln!(stdout, "{}", list::json(&folder, &listing))?,
            }
            warn(&listing, stderr)?;
        }
        Action::Export { kernel, output } => {
            let output = output.as_deref();
            check_output("--output", output, [folder.path()])?;
            let listing = Listing::of(&folder)?;
            warn(&listing, stderr)?;
            return export::run(&listing, kernel.as_deref(), output, stdout, stderr);
        }
    }
    Ok(Exit::Done)
}

fn warn(listing: &Listing, stderr: &mut dyn Write) -> std::io::Result<()> {
    let mut unreadable = listing.unreadable.iter();
    unreadable.try_for_each(|error| writeln!(stderr, "warning: ignored: {error}"))
}
