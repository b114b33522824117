//! `cargo cltune completions`: a script that completes this command line in a shell.
//!
//! clap writes the script for `cargo-cltune cltune …`. People type `cargo cltune …`, which belongs
//! to cargo's own completion, so each script gets a part that puts itself before or beside that:
//! `completions/cargo.*`.

use super::Exit;
use clap::Command;
use clap_complete::{Shell, generate};
use std::error::Error;
use std::io::Write;

/// The program that cargo runs for `cargo cltune`.
const PROGRAM: &str = "cargo-cltune";

/// For which shell.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct CompletionsArgs {
    /// The shell.
    #[arg(value_enum)]
    shell: Shell,
}

/// Prints the script. `command` is what cargo calls, with `cltune` as its subcommand.
pub(crate) fn run(
    args: &CompletionsArgs,
    command: Command,
    stdout: &mut dyn Write,
) -> Result<Exit, Box<dyn Error>> {
    stdout.write_all(script(args.shell, command)?.as_bytes())?;
    Ok(Exit::Done)
}

fn script(shell: Shell, command: Command) -> Result<String, Box<dyn Error>> {
    // What the script's function is called after: in zsh ours has the program's name, since cargo
    // calls it; for bash clap gets names with a hyphen wrong.
    let name = match shell {
        Shell::Bash => "cargo_cltune",
        Shell::Zsh => "cargo-cltune-words",
        _ => PROGRAM,
    };
    let mut script = Vec::new();
    generate(shell, &mut command.name(name), name, &mut script);
    let script = String::from_utf8(script)?;
    Ok(match shell {
        Shell::Bash => script + include_str!("completions/cargo.bash"),
        // The first line says which command a file in `fpath` is for.
        Shell::Zsh => {
            let script = script.replacen(name, PROGRAM, 1);
            script + include_str!("completions/cargo.zsh")
        }
        Shell::Fish => script + include_str!("completions/cargo.fish"),
        Shell::Elvish => script + include_str!("completions/cargo.elv"),
        // It skips the first word, whatever that is.
        Shell::PowerShell => script.replacen(
            "-CommandName 'cargo-cltune'",
            "-CommandName 'cargo-cltune', 'cargo'",
            1,
        ),
        other => return Err(format!("there is no script for {other}").into()),
    })
}
