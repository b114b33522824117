//! `cargo cltune man`: manual pages.

use super::Exit;
use clap::Command;
use clap_mangen::Man;
use std::error::Error;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};

/// Where to.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct ManArgs {
    /// Write a page for each command into this folder, for example /usr/local/share/man/man1;
    /// without this option the page about `cargo cltune` goes to standard output.
    #[arg(long, short, value_name = "FOLDER")]
    output: Option<PathBuf>,
}

/// Writes the pages. `command` is what cargo calls, with `cltune` as its subcommand.
pub(crate) fn run(
    args: &ManArgs,
    command: Command,
    stdout: &mut dyn Write,
) -> Result<Exit, Box<dyn Error>> {
    let mut command =
        command.mut_subcommand("cltune", |cltune| cltune.disable_help_subcommand(true));
    // Names each command by the way to it: cargo-cltune-tune.
    command.build();
    let cltune = command
        .find_subcommand("cltune")
        .ok_or("there is no command `cltune`")?;
    match &args.output {
        None => page(cltune).render(stdout)?,
        Some(folder) => {
            let error = |error| format!("cannot write into {}: {error}", folder.display());
            fs::create_dir_all(folder).map_err(error)?;
            write(cltune, folder, stdout).map_err(error)?;
        }
    }
    Ok(Exit::Done)
}

/// Writes the page of a command and those of its subcommands, and says which.
fn write(command: &Command, folder: &Path, stdout: &mut dyn Write) -> std::io::Result<()> {
    let path = page(command).generate_to(folder)?;
    writeln!(stdout, "{}", path.display())?;
    let mut commands = command.get_subcommands().filter(|of| !of.is_hide_set());
    commands.try_for_each(|command| write(command, folder, stdout))
}

fn page(command: &Command) -> Man {
    Man::new(command.clone())
        .source(concat!("cargo-cltune ", env!("CARGO_PKG_VERSION")))
        .manual("cltune")
}
