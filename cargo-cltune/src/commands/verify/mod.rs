//! `cargo cltune verify`: verifies the lockfiles' entries on inputs that they were not tuned with.
//!
//! | file | owns |
//! |---|---|
//! | `entries` | the entries of lockfiles that are to be verified |
//! | `problems` | larger and uneven problems on which an entry can be run |
//! | `attempt` | one entry, problem and device in a worker process |
//! | `plan` | the attempts |
//! | `from_capture` | the attempts on a capture's problems and data |
//! | `print` | results as a table and as JSON |

mod attempt;
mod entries;
mod from_capture;
mod plan;
mod print;
mod problems;

use super::filter_args::FilterArgs;
use super::source_args::SourceArgs;
use super::tuned::AllTuned;
use super::{Exit, LONGEST_LIMIT, MessageFormat};
use crate::interrupt::{interrupted, watch_interrupts};
use crate::plan::check_kernel_filters;
use crate::session::SessionLock;
use crate::terminal::say;
use cltune_formats::declaration::Declaration;
use entries::Entries;
use print::Printer;
use std::error::Error;
use std::io::Write;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

/// Runs the lockfile's configurations again, and compares their results with the reference's: on
/// fresh random inputs, and on larger and uneven problems than those they were tuned for. What was
/// not tuned is run with what a launch would select, such as the default.
///
/// Exit code 1 when one is wrong, cannot be run, or is stale.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct VerifyArgs {
    #[command(flatten, next_help_heading = "Verification")]
    filter: FilterArgs,
    /// Run on this problem, `n=1024,m=5`, instead of those in the lockfile and larger (with
    /// --oclgrind: smaller) ones; may be repeated.
    #[arg(long, value_name = "SIZES", help_heading = "Verification")]
    problem: Vec<String>,
    /// Run the kernels that a program recorded in this folder on what it launched, with its data
    /// where that was kept (`CLTUNE_CAPTURE=FOLDER`, `CLTUNE_CAPTURE_DATA=1`); all other kernels as
    /// ever.
    #[arg(
        long,
        value_name = "FOLDER",
        conflicts_with_all = ["problem", "oclgrind"],
        help_heading = "Verification"
    )]
    captured: Option<PathBuf>,
    /// How many draws of random inputs to run on (default: 8, or as many as are declared if that is
    /// more; with --oclgrind 1; where no input is random always 1).
    #[arg(
        long,
        value_name = "NUMBER",
        value_parser = clap::value_parser!(u16).range(1..),
        help_heading = "Verification"
    )]
    draws: Option<u16>,
    /// The seed of the inputs (default: another one each time; it is printed).
    #[arg(long, value_name = "NUMBER", help_heading = "Verification")]
    seed: Option<u64>,
    /// By how much larger every dimension above 32 of the larger problems is, or one of them where
    /// the constraints do not allow all; 1 for no problems but the tuned ones, uneven ones neither.
    #[arg(
        long,
        value_name = "FACTOR",
        default_value_t = 2,
        value_parser = clap::value_parser!(u16).range(1..),
        help_heading = "Verification"
    )]
    larger: u16,
    /// Run under Oclgrind, an OpenCL simulator that watches every access: finds data races,
    /// uninitialised reads and accesses out of bounds. Needs no device, takes what was tuned on any
    /// and the defaults of what was not, and uses small problems. With --device: only what was tuned
    /// on that device.
    #[arg(long, help_heading = "Verification")]
    oclgrind: bool,
    /// How long one run may take before it is given up, seconds (default: 60, with --oclgrind 600).
    #[arg(
        long,
        value_name = "SECONDS",
        value_parser = clap::value_parser!(u64).range(1..=LONGEST_LIMIT),
        help_heading = "Verification"
    )]
    time_limit: Option<u64>,
    /// What to print on standard output.
    #[arg(long, value_enum, default_value_t = MessageFormat::Human, help_heading = "Output")]
    message_format: MessageFormat,
    #[command(flatten, next_help_heading = "Verification")]
    source: SourceArgs,
}

impl VerifyArgs {
    /// How many random draws, given what is declared.
    fn draws(&self, declaration: &Declaration) -> usize {
        const DRAWS: u32 = 8;
        if !declaration.has_random_inputs() {
            return 1;
        }
        let default = match declaration.draws {
            _ if self.oclgrind => 1,
            Some(declared) => declared.max(DRAWS),
            None => DRAWS,
        };
        self.draws.map_or(default as usize, usize::from)
    }

    fn time_limit(&self) -> Duration {
        let default = if self.oclgrind { 600 } else { 60 };
        Duration::from_secs(self.time_limit.unwrap_or(default))
    }

    /// The seed given, or one that was never used before.
    fn seed(&self) -> u64 {
        let now = || SystemTime::now().duration_since(SystemTime::UNIX_EPOCH);
        // Whole numbers of a length that can be typed again; a clock before 1970 gives one too.
        self.seed
            .unwrap_or_else(|| now().map_or(1, |time| time.as_millis() as u64))
    }
}

/// Verifies.
pub(crate) fn run(args: &VerifyArgs, stdout: &mut dyn Write) -> Result<Exit, Box<dyn Error>> {
    watch_interrupts();
    let (discovery, lockfile) = args.source.discover()?;
    check_kernel_filters(&discovery.packages, &args.filter.kernel)?;
    let all = AllTuned::of(&discovery.packages, &args.filter.kernel, lockfile)?;
    let entries = Entries::from(all);
    let plan = plan::plan(&entries, args)?;
    // Running kernels beside a session that measures would disturb it.
    let _lock = SessionLock::acquire(&discovery.state, |holder| {
        say(format_args!(
            "Blocking: another `cargo cltune` ({holder}) is running; waiting for it"
        ));
    })?;
    let mut printer = Printer::new(args.message_format, stdout);
    let mut wrong = !entries.stale.is_empty();
    let mut is_any_run = false;
    printer.begin(&entries, &plan)?;
    for attempt in &plan.attempts {
        if interrupted() {
            break;
        }
        printer.start(attempt);
        let result = attempt.run();
        if interrupted() && (result.is_right() || result.is_not_run()) {
            // It may not have run on all draws, or not to its end.
            break;
        }
        wrong |= !(result.is_right() || attempt.says_nothing(&result));
        is_any_run |= !result.is_not_run();
        printer.result(attempt, &result)?;
    }
    printer.end(interrupted().then_some(plan.attempts.len()))?;
    // Where none could be run, it must not look like a success.
    wrong |= !is_any_run;
    Ok(match (interrupted(), wrong) {
        (true, _) => Exit::Interrupted,
        (false, true) => Exit::Reported,
        (false, false) => Exit::Done,
    })
}
