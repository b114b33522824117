//! `cargo cltune rules`: the worth of each part of the selection rule on the devices of this
//! machine.
//!
//! | file | owns |
//! |---|---|
//! | `choices` | the choices that a device would get if fewer results were known |
//! | `measure` | the choices, timed in turns |
//! | `print` | results as tables and as JSON |

mod choices;
mod measure;
mod print;

use super::filter_args::FilterArgs;
use super::source_args::SourceArgs;
use super::tuned::AllTuned;
use super::{Exit, MessageFormat};
use crate::interrupt::{interrupted, watch_interrupts};
use crate::plan::{self, Job, check_kernel_filters, choose_devices, kinds};
use crate::session::{SessionLock, list_devices};
use crate::terminal::say;
use crate::worker::DeviceRecord;
use std::error::Error;
use std::io::Write;
use std::time::Duration;

/// How long one configuration may take.
const LIMIT: Duration = Duration::from_mins(1);

/// Times what each device of this machine would get from the lockfile if less were known: if this
/// problem were not tuned, if this device were not, if nothing were; and what other devices' values
/// do here.
///
/// Exit code 1 where a tunable has changed since it was tuned, or a problem cannot be measured; the
/// others are.
#[derive(Clone, Debug, clap::Args)]
pub(crate) struct RulesArgs {
    #[command(flatten, next_help_heading = "Measuring")]
    filter: FilterArgs,
    /// For this problem, `n=1024,m=5`, instead of those in the lockfile; may be repeated.
    #[arg(long, value_name = "SIZES", help_heading = "Measuring")]
    problem: Vec<String>,
    /// What to print on standard output.
    #[arg(long, value_enum, default_value_t = MessageFormat::Human, help_heading = "Output")]
    message_format: MessageFormat,
    #[command(flatten, next_help_heading = "Measuring")]
    source: SourceArgs,
}

/// Measures.
pub(crate) fn run(args: &RulesArgs, stdout: &mut dyn Write) -> Result<Exit, Box<dyn Error>> {
    watch_interrupts();
    let (discovery, lockfile) = args.source.discover()?;
    check_kernel_filters(&discovery.packages, &args.filter.kernel)?;
    let tuned = AllTuned::of(&discovery.packages, &args.filter.kernel, lockfile)?.not_empty()?;
    let devices = choose_devices(&list_devices()?, &args.filter.device)?;
    // Running kernels beside a session that measures would disturb it.
    let _lock = SessionLock::acquire(&discovery.state, |holder| {
        say(format_args!(
            "Blocking: another `cargo cltune` ({holder}) is running; waiting for it"
        ));
    })?;
    for kernel in &tuned.stale {
        say(format_args!(
            "stale: {kernel} has changed since it was tuned; run `cargo cltune --kernel {kernel}`"
        ));
    }
    let mut are_all_measured = true;
    for (job, choices) in plan(&tuned, &devices, &args.problem)? {
        if interrupted() {
            return Ok(Exit::Interrupted);
        }
        print::start(&job);
        match measure::measure(&job, choices, LIMIT) {
            Ok(worth) => print::print(args.message_format, &job, &worth, stdout)?,
            // Another problem, or this one on another device, may have valid configurations.
            Err(error) => {
                print::not_measured(&job, &error);
                are_all_measured = false;
            }
        }
    }
    Ok(if are_all_measured && tuned.stale.is_empty() {
        Exit::Done
    } else {
        Exit::Reported
    })
}

/// What there is to measure: every tuned problem of every kernel, or the given ones, on a device of
/// each kind.
fn plan(
    tuned: &AllTuned,
    devices: &[DeviceRecord],
    given: &[String],
) -> Result<Vec<(Job, Vec<choices::Choice>)>, plan::PlanError> {
    let mut plan = Vec::new();
    for one in &tuned.current {
        let model = &one.declaration.model;
        let known = one
            .table
            .results
            .iter()
            .map(|result| result.problem.to_vec());
        let mut problems: Vec<Vec<i64>> = if given.is_empty() {
            known.collect()
        } else {
            let given = given
                .iter()
                .map(|text| plan::problem(&one.declaration, text));
            given.collect::<Result<_, _>>()?
        };
        problems.sort();
        problems.dedup();
        let database = tuned.database.without(&model.name).table(model);
        for (device, _) in kinds(devices.to_vec()) {
            for dims in &problems {
                let choices = choices::choices(model, &device.info(), dims, &one.table, &database);
                let job = Job {
                    folder: one.folder.clone(),
                    declaration: one.declaration.clone(),
                    device: device.clone(),
                    twins: Vec::new(),
                    dims: dims.clone(),
                };
                plan.push((job, choices));
            }
        }
    }
    Ok(plan)
}
