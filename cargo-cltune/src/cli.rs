//! The command line: the commands, and the exit code.

#[cfg(test)]
mod documented;
mod examples;

use crate::commands::{self, Exit};
use crate::interrupt::interrupted;
use crate::terminal::{Output, Stderr, printable, shortened};
use crate::worker;
use clap::{CommandFactory, Parser, Subcommand};
use std::ffi::OsString;
use std::io::{ErrorKind, IsTerminal, Write};
use std::path::Path;
use std::process::ExitCode;

/// What cargo calls: `cargo-cltune cltune …`. `cargo-cltune …` is the same.
#[derive(Parser)]
#[command(
    name = "cargo",
    bin_name = "cargo",
    styles = clap_cargo::style::CLAP_STYLING,
    mut_subcommands(with_negative_values)
)]
enum Cargo {
    Cltune(Cltune),
}

/// Finds the best values of OpenCL kernels' parameters on this machine's devices.
///
/// A kernel is declared in Rust with `#[tunable]` (crate cltune). `cargo cltune` builds
/// the package, finds its tunables in what was built, measures configurations on every OpenCL
/// device, and writes the best of each to `cltune.lock` beside Cargo.toml. The next `cargo build`
/// compiles them into the program. Commit cltune.lock.
///
/// Without a command it tunes; the options below are those of `cargo cltune tune`.
///
/// Exit codes: 0 done, 1 found something to report, 2 wrong usage or environment, 130 interrupted
/// (everything measured so far is kept).
#[derive(clap::Args)]
#[command(version, args_conflicts_with_subcommands = true, after_help = examples::CLTUNE)]
struct Cltune {
    #[command(subcommand)]
    command: Option<Command>,
    #[command(flatten)]
    tune: commands::tune::TuneArgs,
}

#[derive(Subcommand)]
enum Command {
    /// Tune kernels and write cltune.lock (what `cargo cltune` alone does).
    ///
    /// For each kernel, device and problem it searches the configurations that the constraints and
    /// the device allow. Each is built, run on fresh inputs, compared with the reference and timed,
    /// by processes that may crash or hang without harm. The fastest are timed again in turns with
    /// the default, and the lockfile is written after each search. Ctrl-C keeps what was found.
    #[command(after_help = examples::TUNE)]
    Tune(Box<commands::tune::TuneArgs>),
    /// List tunables with their parameters, the size of their spaces and the lockfile's state.
    #[command(after_help = examples::LIST)]
    List(Box<commands::list::ListArgs>),
    /// Print the source of a tunable with the macros and the launches of a configuration.
    ///
    /// The configuration is the one that a launch on the device would get for the problem, or has
    /// the values of --config. Kernels that `#[fused]` made have the statements as comments.
    #[command(after_help = examples::SHOW)]
    Show(Box<commands::show::ShowArgs>),
    /// List the OpenCL devices with the facts that tuning uses.
    Devices(commands::devices::DevicesArgs),
    /// Check that lockfiles are up to date, for CI; needs no device.
    ///
    /// Every problem that a tunable declares must be tuned, for the tunable as it is now, on every
    /// device that its lockfile names. Exit code 1 where one is not. What only examples, benchmarks
    /// and tests declare may be missing, unless --all-targets or other targets are given; what is
    /// tuned of it must be current. Tunables of dependencies come with their own results and are
    /// not judged, unless -p names the package.
    #[command(after_help = examples::CHECK)]
    Check(Box<CheckCommand>),
    /// Run the lockfile's configurations again on fresh inputs and larger problems.
    ///
    /// Results are compared with the reference's. What was not tuned is run with what a launch
    /// would select: a new kernel with its default. With --oclgrind a simulator looks for data
    /// races, uninitialised reads and accesses out of bounds. Exit code 1 where a configuration is
    /// wrong, cannot be run, or is stale.
    #[command(after_help = examples::VERIFY)]
    Verify(Box<commands::verify::VerifyArgs>),
    /// Time what devices would get from the lockfile if less were known.
    ///
    /// For each problem: this device's own values, those for another problem, a similar device's,
    /// those of the database of template defaults without this tunable's own, the default, and what
    /// every other device's values do here, as parts of the fastest. Results are verified before
    /// they are timed.
    #[command(after_help = examples::RULES)]
    Rules(Box<commands::rules::RulesArgs>),
    /// Write a page for the browser about what sessions found.
    ///
    /// One HTML file without scripts, which needs no network: how each search went, how all its
    /// configurations are distributed, what each parameter and pair of parameters makes of the
    /// time, what failed and why, and what each device's best values cost on the other devices.
    #[command(after_help = examples::REPORT)]
    Report(Box<commands::report::ReportArgs>),
    /// Write what sessions measured in the formats of other tools.
    ///
    /// A file for each kernel, device and problem: a Kernel Tuner cache, which its dashboard and
    /// its simulation mode open; T4 results; or CSV. `cargo cltune simulate` and `cargo cltune
    /// report --import` read all three. With --database, a database of template defaults is made
    /// from lockfiles instead.
    #[command(after_help = examples::EXPORT)]
    Export(Box<commands::export::ExportArgs>),
    /// Unite lockfiles that were tuned on different machines.
    ///
    /// A file may also be one in which git left conflict markers: both sides are united. Where two
    /// files hold results for the same device and problem, the faster one stays. Databases of
    /// template defaults are united in the same way. Parts of `tune --partition` are united where
    /// none is missing and all have done what they should have. What a contribution has is added,
    /// and replaces nothing.
    #[command(after_help = examples::MERGE)]
    Merge(commands::merge::MergeArgs),
    /// List the units of tuning work, for an engine that divides them among machines.
    ///
    /// A JSON object on each line, for a kernel on a device with all its problems: the smallest
    /// part that a machine can tune. Its `partition` is what `tune --partition` takes, and there
    /// are as many lines as there can be parts that have something to do.
    #[command(after_help = examples::UNITS)]
    Units(Box<commands::units::UnitsArgs>),
    /// Write what this machine's devices were found to like into one file, for somebody else.
    ///
    /// The file holds the lockfile's entries for these devices, their limits and driver, and the
    /// release of cltune: no source, no paths, no names of machines or users. `cargo cltune merge`
    /// takes it.
    #[command(after_help = examples::CONTRIBUTE)]
    Contribute(Box<commands::contribute::ContributeArgs>),
    /// List, clear or export what programs found out at run time.
    ///
    /// The user's cache, in the folder that CLTUNE_CACHE names or in the platform's folder for
    /// caches: what programs tuned themselves, what drivers refused, and program binaries.
    #[command(after_help = examples::CACHE)]
    Cache(commands::cache::CacheArgs),
    /// Build a search space from its definition in JSON: count, explain and sample it.
    ///
    /// The definition is one JSON object: `name`, `parameters` (a list of `{"name", "values": […]}`
    /// or `{"name", "range": [first, last, step]}`) and `restrictions_c` (conditions in C syntax).
    /// Exit code 1 when it states a `valid_count` or `cartesian_size` that is not what is found.
    #[command(after_help = examples::SPACE)]
    Space(commands::space::SpaceArgs),
    /// Run a search strategy on recorded spaces, without a device.
    ///
    /// Prints which fraction of the optimum the runs have reached after 20, 50, 100 and 200
    /// evaluations: the best time in the recording divided by the best time found.
    #[command(after_help = examples::SIMULATE)]
    Simulate(commands::simulate::SimulateArgs),
    /// Print a script that completes this command line in a shell.
    #[command(after_help = examples::COMPLETIONS)]
    Completions(commands::completions::CompletionsArgs),
    /// Write manual pages.
    #[command(after_help = examples::MAN)]
    Man(commands::man::ManArgs),
    /// Serve a tuning session (used by `tune`).
    #[command(hide = true)]
    Worker,
}

/// `check` with what to check.
#[derive(clap::Args)]
struct CheckCommand {
    #[command(flatten)]
    check: commands::check::CheckArgs,
    #[command(flatten)]
    cargo: crate::artifact::CargoArgs,
}

/// Has the values of a command's options begin with `-` and a digit, as well: the value is what is
/// wrong with `--seed -1`, and not a second option.
fn with_negative_values(command: clap::Command) -> clap::Command {
    command
        .mut_subcommands(with_negative_values)
        .mut_args(|of| {
            let is_option = !of.is_positional() && of.get_action().takes_values();
            of.allow_negative_numbers(is_option)
        })
}

/// The command line that cargo would give: a person who starts `cargo-cltune tune` leaves its own
/// name out.
fn as_from_cargo(arguments: impl Iterator<Item = OsString>) -> Vec<OsString> {
    let mut arguments: Vec<OsString> = arguments.collect();
    if arguments.get(1).is_none_or(|first| first != "cltune") {
        arguments.insert(arguments.len().min(1), "cltune".into());
    }
    arguments
}

/// Runs a command line and says how the process should end.
pub(crate) fn run(arguments: impl Iterator<Item = OsString>) -> ExitCode {
    let cltune = match Cargo::try_parse_from(as_from_cargo(arguments)) {
        Ok(Cargo::Cltune(cltune)) => cltune,
        Err(error) => {
            // Help and version are errors for clap, with exit code 0; usage errors have 2.
            return match error.print() {
                Err(lost) if is_news(lost.kind()) => failed(&unwritten(lost.kind())),
                _ => ExitCode::from(u8::try_from(error.exit_code()).unwrap_or(2)),
            };
        }
    };
    // Not locked: searches side by side print their messages too.
    let is_terminal = std::io::stdout().is_terminal();
    let mut stdout = Output::new(anstream::stdout(), is_terminal);
    let outcome = match cltune.command {
        None => finish(commands::tune::run(&cltune.tune, &mut stdout)),
        Some(Command::Tune(args)) => finish(commands::tune::run(&args, &mut stdout)),
        Some(Command::List(args)) => finish(commands::list::run(&args, &mut stdout)),
        Some(Command::Show(args)) => finish(commands::show::run(&args, &mut stdout)),
        Some(Command::Devices(args)) => finish(commands::devices::run(&args, &mut stdout)),
        Some(Command::Check(args)) => finish(check(&args, &mut stdout)),
        Some(Command::Verify(args)) => finish(commands::verify::run(&args, &mut stdout)),
        Some(Command::Rules(args)) => finish(commands::rules::run(&args, &mut stdout)),
        Some(Command::Report(args)) => finish(commands::report::run(&args, &mut stdout)),
        Some(Command::Export(args)) => finish(commands::export::run(&args, &mut stdout)),
        Some(Command::Merge(args)) => finish(commands::merge::run(&args, &mut stdout, &mut Stderr)),
        Some(Command::Units(args)) => finish(commands::units::run(&args, &mut stdout)),
        Some(Command::Contribute(args)) => finish(commands::contribute::run(&args, &mut stdout)),
        Some(Command::Cache(args)) => finish(commands::cache::run(&args, &mut stdout, &mut Stderr)),
        Some(Command::Space(args)) => finish(commands::space::run(&args, &mut stdout)),
        Some(Command::Simulate(args)) => finish(commands::simulate::run(&args, &mut stdout)),
        Some(Command::Completions(args)) => finish(commands::completions::run(
            &args,
            Cargo::command(),
            &mut stdout,
        )),
        Some(Command::Man(args)) => {
            finish(commands::man::run(&args, Cargo::command(), &mut stdout))
        }
        Some(Command::Worker) => {
            return if worker::serve().is_ok() {
                ExitCode::SUCCESS
            } else {
                ExitCode::from(2)
            };
        }
    };
    // What fails is noted.
    let _ = stdout.flush();
    let message = match (outcome, stdout.failure()) {
        (_, Some(kind)) if is_news(kind) => unwritten(kind),
        (Ok(Exit::Done), _) => return ExitCode::SUCCESS,
        (Ok(Exit::Reported), _) => return ExitCode::from(1),
        (Ok(Exit::Interrupted), _) => return ExitCode::from(130),
        // The reader has gone, and needs no words.
        (Err(_), Some(_)) => return ExitCode::from(2),
        (Err(message), None) => message,
    };
    failed(&message)
}

/// Says what went wrong. Where that cannot be read, the exit code says it.
fn failed(message: &str) -> ExitCode {
    let red = anstyle::AnsiColor::Red.on_default().bold();
    let message = shortened(message);
    let message = printable(&message);
    let _ = writeln!(anstream::stderr(), "{red}error{red:#}: {message}");
    ExitCode::from(if interrupted() { 130 } else { 2 })
}

/// The error where standard output cannot be written to.
fn unwritten(kind: ErrorKind) -> String {
    format!("cannot write to standard output: {kind}")
}

/// Whether a failure of standard output is worth a word: not where the reader has gone.
fn is_news(kind: ErrorKind) -> bool {
    kind != ErrorKind::BrokenPipe
}

fn check(args: &CheckCommand, stdout: &mut dyn Write) -> Result<Exit, Box<dyn std::error::Error>> {
    let artifact = args.check.artifact.as_deref();
    let discovery = crate::artifact::discover(artifact, &args.cargo)?;
    for package in discovery.packages.iter().filter(|package| !package.is_copy) {
        crate::artifact::touch_sources(&package.manifest_dir, &package.declarations);
    }
    let override_lock = std::env::var_os("CLTUNE_LOCK").filter(|path| !path.is_empty());
    Ok(commands::check::run(
        &args.check,
        discovery,
        override_lock.as_deref().map(Path::new),
        stdout,
    )?)
}

fn finish<E: std::fmt::Display>(result: Result<Exit, E>) -> Result<Exit, String> {
    result.map_err(|error| error.to_string())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_command_line_is_consistent() {
        Cargo::command().debug_assert();
    }

    #[test]
    fn its_own_name_may_be_left_out() {
        let whole = |line: &str| {
            let words = line.split_whitespace().map(OsString::from);
            as_from_cargo(words).join(" ".as_ref())
        };
        for line in ["cargo-cltune cltune list", "cargo-cltune list"] {
            assert_eq!(whole(line), "cargo-cltune cltune list");
        }
        assert_eq!(whole("cargo-cltune"), "cargo-cltune cltune");
        assert_eq!(whole("cargo-cltune -V"), "cargo-cltune cltune -V");
        assert_eq!(whole(""), "cltune");
    }

    #[test]
    fn tuning_is_the_default_command() {
        let parse = |line: &str| Cargo::try_parse_from(line.split(' '));
        let Ok(Cargo::Cltune(bare)) = parse("cargo cltune -p mine --budget 30s") else {
            panic!()
        };
        assert!(bare.command.is_none());
        assert!(parse("cargo cltune tune --kernel a --device 0 --problem n=4").is_ok());
        assert!(parse("cargo cltune --stop-when-stagnant --device 0").is_ok());
        assert!(parse("cargo cltune --stop-when-stagnant=0.9").is_ok());
        assert!(parse("cargo cltune --stop-when-stagnant=1").is_err());
        assert!(parse("cargo cltune --strategy pso:s=6,alpha=0.3").is_ok());
        assert!(parse("cargo cltune --strategy pso:t=6").is_err());
        assert!(parse("cargo cltune verify --oclgrind --kernel a --draws 3 --seed 1").is_ok());
        assert!(parse("cargo cltune verify --draws 0").is_err());
        assert!(parse("cargo cltune tune --budget never").is_err());
        assert!(parse("cargo cltune tune --jobs 8").is_ok());
        assert!(parse("cargo cltune tune --jobs 0").is_err());
        assert!(parse("cargo cltune --strategy nonsense").is_err());
    }

    /// What is said of a command line that is none.
    fn refusal(line: &str) -> String {
        // A word for each empty value, too.
        let refused = Cargo::try_parse_from(line.split(' ')).err();
        refused.unwrap_or_else(|| panic!("{line}")).to_string()
    }

    #[test]
    fn cargos_options_are_refused_with_an_artifact() {
        const OF_CARGO: [&str; 4] = [
            "Package Selection",
            "Target Selection",
            "Compilation Options",
            "Manifest Options",
        ];
        let mut cargo = Cargo::command();
        cargo.build();
        let cltune = cargo.find_subcommand("cltune").unwrap();
        let mut refused = 0;
        for command in cltune.get_subcommands() {
            let all = || command.get_arguments();
            if !all().any(|option| option.get_id() == "artifact") {
                continue;
            }
            let is_of_cargo = |option: &&clap::Arg| {
                let heading = option.get_help_heading();
                heading.is_some_and(|heading| OF_CARGO.contains(&heading))
            };
            for option in all().filter(is_of_cargo) {
                let long = option.get_long().unwrap();
                let value = if option.get_action().takes_values() {
                    " x"
                } else {
                    ""
                };
                let rest = match command.get_name() {
                    "show" => " name",
                    "export" => " --format csv",
                    _ => "",
                };
                let line = format!(
                    "cargo cltune {}{rest} --artifact app --{long}{value}",
                    command.get_name()
                );
                let said = refusal(&line);
                let begin = format!(
                    "error: the argument '--artifact <FILE>' cannot be used with '--{long}"
                );
                assert!(said.starts_with(&begin), "{line}: {said}");
                refused += 1;
            }
        }
        assert!(refused > 200, "{refused}");
    }

    #[test]
    fn values_that_mean_nothing_are_refused_and_their_option_is_named() {
        for (line, option) in [
            ("--device ", "--device"),
            ("--kernel ", "--kernel"),
            ("verify --device ", "--device"),
            ("report --kernel ", "--kernel"),
            ("show ", "<NAME>"),
            ("--budget -5", "'-5' for '--budget"),
            ("--seed -1", "'-1' for '--seed"),
            ("--jobs -1", "'-1' for '--jobs"),
            ("verify --draws -1", "'-1' for '--draws"),
            ("space a.json --sample -1", "'-1' for '--sample"),
            ("simulate a.csv --budget -1 b.csv", "'-1' for '--budget"),
            ("simulate -1", "unexpected argument '-1'"),
            ("merge a.lock -1", "unexpected argument '-1'"),
            ("--time-limit 0", "--time-limit"),
            ("--time-limit 18446744073709551615", "--time-limit"),
            ("verify --time-limit 18446744073709551615", "--time-limit"),
            ("simulate a.csv --repeats 18446744073709551615", "--repeats"),
        ] {
            let said = refusal(&format!("cargo cltune {line}"));
            assert!(said.contains(option), "{line}: {said}");
        }
    }
}
