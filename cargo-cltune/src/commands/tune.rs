//! `cargo cltune [tune]`: tunes every tunable on every device, for every declared problem.

use super::measure::MeasureArgs;
use super::strategy_help::strategy_help;
use super::tuned::template_defaults;
use super::wanted::{Wanted, WantedArgs};
use super::{Exit, LONGEST_LIMIT, MessageFormat, warn_of_unused_parameters};
use crate::artifact::{CargoArgs, Discovery, PackageTunables, discover_to_tune, touch_sources};
use crate::captured::{self, Captured};
use crate::fleet::{Part, PartPlan, Partition, Unit, artifact_fingerprint, units};
use crate::interrupt::{interrupted, watch_interrupts};
use crate::lockfile_store;
use crate::oclgrind::Method;
use crate::plan::Job;
use crate::session::{
    Earlier, IdleWorkers, LockfileTarget, Messages, Screen, SearchOptions, SessionLock,
    start_workers,
};
use crate::terminal::say;
use cltune_core::expr::TextError;
use cltune_formats::formula::{Type, check_text};
use cltune_runtime::Budget;
use cltune_search::{Chosen, Confidence, DEFAULT, find};
use std::collections::BTreeSet;
use std::error::Error;
use std::io::Write;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::thread::available_parallelism;
use std::time::Duration;

mod energy;
mod searches;
mod summary;

use searches::{SessionResults, Shared};

/// Tunes kernels and writes cltune.lock.
#[derive(Clone, Debug, clap::Args)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "each is a flag of the command line"
)]
pub(crate) struct TuneArgs {
    #[command(flatten)]
    wanted: WantedArgs,
    #[command(flatten, next_help_heading = "Tuning")]
    measure: MeasureArgs,
    /// How to search, `NAME` or `NAME:OPTION=VALUE,…`.
    #[arg(
        long,
        value_name = "NAME",
        default_value = DEFAULT,
        value_parser = find,
        long_help = strategy_help(),
        help_heading = "Tuning"
    )]
    strategy: Chosen,
    /// How many configurations to measure, or how long, for each kernel, device and problem. A time
    /// includes making the device ready: a second or more for the first search on a GPU. The
    /// summary says where that took most of it.
    #[arg(
        long,
        value_name = "200|30s|5m",
        default_value = "300",
        help_heading = "Tuning"
    )]
    budget: Budget,
    /// End a search before its budget is used up, once going on for a tenth longer is likely to
    /// gain less than 1 %. How likely is up to you: 0.95 without a value. docs/strategies.md has
    /// the rule, and how often it is wrong.
    #[arg(
        long,
        value_name = "CONFIDENCE",
        num_args = 0..=1,
        require_equals = true,
        default_missing_value = "0.95",
        help_heading = "Tuning"
    )]
    stop_when_stagnant: Option<Confidence>,
    /// The seed of the search and of the inputs: where the same is known, the same seed proposes
    /// the same configurations.
    #[arg(
        long,
        value_name = "NUMBER",
        default_value_t = 0,
        help_heading = "Tuning"
    )]
    seed: u64,
    /// Search without what is known from other devices, problem sizes and versions of the kernel: the
    /// lockfile's entries, the journals of earlier sessions and template defaults.
    #[arg(long, help_heading = "Tuning")]
    no_warm_start: bool,
    /// Leave out configurations with fewer work-groups than the device has compute units, unless
    /// that leaves nothing. They can run, and for small problems one may be the best;
    /// `cargo cltune list --explain` shows how many they are.
    #[arg(long, help_heading = "Tuning")]
    fill_device: bool,
    /// Leave out configurations that break this constraint, besides those that the kernel declares:
    /// a formula over its parameters, problem dimensions and `device` limits in Rust syntax, such
    /// as `WG * WPT <= 1024`. For this session; may be repeated.
    #[arg(
        long,
        value_name = "FORMULA",
        value_parser = formula,
        help_heading = "Tuning"
    )]
    constraint: Vec<String>,
    /// Go on where the last search for the same kernel, device and problem ended, without measuring
    /// anything twice. A configuration during which that session was killed is tried last, and
    /// never again if that happened twice.
    #[arg(long, conflicts_with = "fresh", help_heading = "Tuning")]
    resume: bool,
    /// Start over, without a word about searches that ended early. Without --resume and --fresh a
    /// search starts over too, and says what --resume could go on with.
    #[arg(long, help_heading = "Tuning")]
    fresh: bool,
    /// How many processes may compile at the same time, at most 16; without this option, one for
    /// each core.
    #[arg(
        long,
        short,
        value_name = "NUMBER",
        value_parser = clap::value_parser!(u16).range(1..),
        help_heading = "Tuning"
    )]
    jobs: Option<u16>,
    /// Give a configuration up after this many seconds. Where configurations that work take long,
    /// it gets more.
    #[arg(
        long,
        value_name = "SECONDS",
        default_value_t = 60,
        value_parser = clap::value_parser!(u64).range(1..=LONGEST_LIMIT),
        help_heading = "Tuning"
    )]
    time_limit: u64,
    /// What checks the best configuration for races and accesses out of bounds before it is
    /// written; one that has them loses to the next best. Without this option Oclgrind, where it is
    /// installed. It takes a quarter of the search's time at most, or 5 seconds.
    #[arg(long, value_enum, value_name = "METHOD", help_heading = "Tuning")]
    soundness: Option<Method>,
    /// Tune what this executable or library holds, with neither cargo nor sources. The lockfile is
    /// written into the current folder.
    #[arg(
        long,
        value_name = "FILE",
        conflicts_with_all = CargoArgs::OPTIONS,
        help_heading = "Tuning"
    )]
    artifact: Option<PathBuf>,
    /// Tune one part of what there is to tune, as one of several machines: `slice:2/4` is the
    /// second of 4 parts of nearly the same size, and `hash:2/4` one that keeps its kernels when
    /// others come. All problems of a kernel on a device are in one part. `cargo cltune merge`
    /// unites the parts.
    #[arg(
        long,
        value_name = "slice:K/N",
        requires = "artifact",
        help_heading = "Tuning"
    )]
    partition: Option<Partition>,
    /// Write results to this file instead of each package's cltune.lock.
    #[arg(long, value_name = "FILE", help_heading = "Tuning")]
    lockfile: Option<PathBuf>,
    /// What to print on standard output.
    #[arg(long, value_enum, default_value_t = MessageFormat::Human, help_heading = "Output")]
    message_format: MessageFormat,
    /// Print only results and errors.
    #[arg(long, short, help_heading = "Output")]
    quiet: bool,
    #[command(flatten)]
    cargo: CargoArgs,
}

/// Refuses a constraint that is a formula of no kernel.
fn formula(text: &str) -> Result<String, TextError> {
    check_text(text, Type::Bool).map(|()| text.to_owned())
}

/// Tunes.
pub(crate) fn run(args: &TuneArgs, stdout: &mut dyn Write) -> Result<Exit, Box<dyn Error>> {
    watch_interrupts();
    let (artifact, lockfile) = (args.artifact.as_deref(), args.lockfile.as_deref());
    let processes = args.jobs.map_or_else(
        || available_parallelism().map_or(1, NonZeroUsize::get),
        usize::from,
    );
    // They start while packages are built.
    let workers = start_workers(args.wanted.devices(), processes, args.budget.evaluations());
    let mut discovery = discover_to_tune(artifact, lockfile, &args.cargo)?;
    args.measure.apply(&mut discovery.packages);
    let checks_winners = Method::is_possible(args.soundness)?;
    let messages = Messages {
        enabled: args.message_format == MessageFormat::Json,
    };
    let (devices, idle) = workers.devices()?;
    let Wanted { mut jobs, captured } = args.wanted.jobs(&discovery.packages, &devices)?;
    let target = LockfileTarget {
        file: args.lockfile.clone(),
    };
    advise(args, &discovery, &jobs, captured.is_some());
    check_places(&discovery.packages, &jobs, &target)?;
    let _lock = SessionLock::acquire(&discovery.state, |holder| {
        idle.clear();
        say(format_args!(
            "Blocking: another `cargo cltune` ({holder}) is tuning; waiting for it"
        ));
    })?;
    let part = match args.partition {
        Some(partition) => Some(plan_part(args, partition, &discovery, &jobs, &target)?),
        None => None,
    };
    if let Some(part) = &part {
        let is_open = part.is_open();
        jobs.retain(|job| is_open(&Unit::of(job)));
        if !args.quiet {
            say(part);
        }
    }
    let mut announced: Vec<usize> = Vec::new();
    for job in &jobs {
        if !announced.contains(&job.device.index) {
            announced.push(job.device.index);
            messages.device(&job.device);
        }
    }
    let options = search_options(args, &jobs, processes, idle, checks_winners, messages)?;
    // Not before it is known that the part can be tuned as it was asked for: the file of one that
    // cannot be would stand in the way of the next try.
    let part = part.map(PartPlan::begin).transpose()?;
    let screen = Screen::new(args.quiet || messages.enabled);
    let shared = Shared {
        options: &options,
        target: &target,
        state: &discovery.state,
        screen: &screen,
        part: part.as_ref(),
    };
    let results = searches::run(jobs, &shared);
    for package in discovery.packages.iter().filter(|package| !package.is_copy) {
        touch_sources(&package.manifest_dir, &package.declarations);
    }
    let captured = captured.as_deref();
    report(
        args,
        &results,
        captured,
        &discovery.packages,
        messages,
        stdout,
    )?;
    Ok(match (interrupted(), results.reported) {
        (true, _) => Exit::Interrupted,
        (false, true) => Exit::Reported,
        (false, false) => Exit::Done,
    })
}

/// Says what is odd about the declarations and the choice of what to tune.
fn advise(args: &TuneArgs, discovery: &Discovery, jobs: &[Job], is_captured: bool) {
    // What is tuned again now needs no advice to do so.
    for warning in &discovery.held_back {
        let mut tuned = jobs.iter().map(|job| &job.declaration.model.name);
        if args.lockfile.is_some() || !tuned.any(|name| warning.is_about(name)) {
            warning.print();
        }
    }
    if jobs.is_empty() && !is_captured {
        say(
            "nothing to tune: by their clause `tune_if`, these tunables have no problems for these devices; \
             `--problem` tunes others",
        );
    }
    // Once for all devices and problems.
    let mut known = BTreeSet::new();
    for declaration in jobs.iter().map(|job| &job.declaration) {
        if !args.quiet && known.insert(&declaration.model.name) {
            warn_of_unused_parameters(declaration);
        }
    }
}

/// Checks that the results of every job could be kept, before anything is measured.
fn check_places(
    packages: &[PackageTunables],
    jobs: &[Job],
    target: &LockfileTarget,
) -> Result<(), Box<dyn Error>> {
    for folder in folders(jobs) {
        let mut packages = packages.iter();
        let copy = packages.find(|package| package.is_copy && package.manifest_dir == folder);
        if let (Some(copy), None) = (copy, &target.file) {
            return Err(no_place(&copy.package).into());
        }
        target.check(folder)?;
    }
    Ok(())
}

/// The part that this machine tunes. Its file is written once its searches begin.
fn plan_part(
    args: &TuneArgs,
    partition: Partition,
    discovery: &Discovery,
    jobs: &[Job],
    target: &LockfileTarget,
) -> Result<PartPlan, Box<dyn Error>> {
    // Parts are of an artifact, thus all results are in one lockfile.
    let lockfile = lockfile_store::read(&target.path(Path::new(".")))?;
    let part = Part {
        partition,
        artifact: artifact_fingerprint(&discovery.packages),
        lockfile: target.name(),
        units: units(jobs),
    };
    let lockfile = lockfile.unwrap_or_default();
    let resumed = args.resume.then_some(&lockfile);
    Ok(PartPlan::new(&discovery.state, part, resumed)?)
}

/// The options of every search, with what has to be known before the first one.
fn search_options(
    args: &TuneArgs,
    jobs: &[Job],
    processes: usize,
    idle: IdleWorkers,
    checks_winners: bool,
    messages: Messages,
) -> Result<SearchOptions, Box<dyn Error>> {
    let warm_start = if args.no_warm_start {
        None
    } else {
        let declared = jobs.iter().map(|job| &job.declaration);
        Some(Arc::new(template_defaults(declared)?))
    };
    Ok(SearchOptions {
        strategy: args.strategy.clone(),
        budget: args.budget,
        stop_when_stagnant: args.stop_when_stagnant,
        seed: args.seed,
        warm_start,
        fill_device: args.fill_device,
        constraints: args.constraint.clone(),
        limit: Duration::from_secs(args.time_limit),
        earlier: match (args.resume, args.fresh) {
            (true, _) => Earlier::Resume,
            (false, true) => Earlier::Ignore,
            (false, false) => Earlier::Mention,
        },
        jobs: processes,
        idle_powers: energy::idle_powers(jobs, &idle, messages, args.quiet)?,
        idle,
        checks_winners,
        messages,
    })
}

/// Prints what was found, and how much of a capture it covers.
fn report(
    args: &TuneArgs,
    results: &SessionResults,
    captured: Option<&[Captured]>,
    packages: &[PackageTunables],
    messages: Messages,
    stdout: &mut dyn Write,
) -> Result<(), Box<dyn Error>> {
    if !messages.enabled {
        let printed = summary::print(&results.rows, stdout);
        if !args.quiet {
            for file in &results.written {
                say(format_args!("\nThe results are in {}", file.display()));
            }
        }
        printed?;
    }
    if let Some(captured) = captured {
        let coverage = captured::coverage(captured, packages, args.lockfile.as_deref())?;
        if messages.enabled {
            messages.captured(&coverage);
        } else {
            writeln!(stdout, "\n{coverage}")?;
        }
    }
    if interrupted() && !args.quiet {
        say("\nInterrupted; `--resume` continues the search");
    }
    Ok(())
}

/// Why results of a package whose folder is cargo's copy are not kept there, and where they are.
fn no_place(package: &str) -> String {
    format!(
        "{package} is a dependency from a registry or from git, and its folder is cargo's copy, where results would be \
         lost. Name a file with `--lockfile FILE`, and build your program with CLTUNE_LOCK=/path/to/FILE"
    )
}

/// Each folder once.
fn folders(jobs: &[Job]) -> Vec<&Path> {
    let mut folders: Vec<&Path> = Vec::new();
    for job in jobs {
        if !folders.contains(&job.folder.as_path()) {
            folders.push(&job.folder);
        }
    }
    folders
}
