//! All searches of a session: devices side by side where they do not disturb each other, the
//! searches of a device one after another, and the lockfile written after each.

use super::summary;
use crate::fleet::{PartLog, Unit, UnitResult};
use crate::interrupt::interrupted;
use crate::lockfile_store;
use crate::plan::{Job, rounds};
use crate::session::{
    Block, EntryCheck, Finished, LockfileTarget, Screen, SearchOptions, Update, run as search,
};
use crate::threads::side_by_side;
use cltune_formats::lockfile::Lockfile;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

/// The options and places that all searches share.
pub(super) struct Shared<'a> {
    pub(super) options: &'a SearchOptions,
    pub(super) target: &'a LockfileTarget,
    /// The folder of journals.
    pub(super) state: &'a Path,
    pub(super) screen: &'a Screen,
    /// The part of several machines' work that this is.
    pub(super) part: Option<&'a PartLog>,
}

/// The results of all searches of a session.
#[derive(Debug, Default)]
pub(super) struct SessionResults {
    pub(super) rows: Vec<(Job, Finished)>,
    /// Whether something went wrong that the exit code should tell.
    pub(super) reported: bool,
    /// The lockfiles that results were written to.
    pub(super) written: BTreeSet<PathBuf>,
}

impl SessionResults {
    /// Notes how a search of a part ended.
    fn note(&mut self, shared: &Shared<'_>, job: &Job, outcome: &UnitResult) {
        let Some(part) = shared.part else {
            return;
        };
        // A search that is not noted is done again, or found missing.
        if let Err(error) = part.note(&Unit::of(job), outcome) {
            self.reported = true;
            shared.screen.say(&summary::failed(job, &error.to_string()));
        }
    }
}

/// Searches. Results of devices in the order in which they are tuned.
pub(super) fn run(jobs: Vec<Job>, shared: &Shared<'_>) -> SessionResults {
    let mut results = SessionResults::default();
    let before = before(&jobs, shared.target);
    for round in rounds(jobs) {
        let alone = round.len() == 1;
        let options = SearchOptions {
            // They share the cores that build for them.
            jobs: (shared.options.jobs / round.len()).max(1),
            ..shared.options.clone()
        };
        let of_devices = round.into_iter().map(|searches| {
            let device = searches.first().map_or("", |job| &job.device.name);
            let block = shared.screen.block(device, searches.len(), alone);
            let (options, before) = (&options, &before);
            move || device_searches(searches, block, options, before, shared)
        });
        for of_device in side_by_side(of_devices.collect()) {
            results.rows.extend(of_device.rows);
            results.reported |= of_device.reported;
            results.written.extend(of_device.written);
        }
    }
    results
}

/// The lockfiles of the jobs as they are before any result is written. One that cannot be read was
/// refused before.
fn before(jobs: &[Job], target: &LockfileTarget) -> BTreeMap<PathBuf, Lockfile> {
    let paths: BTreeSet<PathBuf> = jobs.iter().map(|job| target.path(&job.folder)).collect();
    let read = |path: PathBuf| {
        let lockfile = lockfile_store::read(&path).ok().flatten();
        (path, lockfile.unwrap_or_default())
    };
    paths.into_iter().map(read).collect()
}

/// The searches of one device. `before` are the lockfiles as they were when the session began.
fn device_searches(
    searches: Vec<Job>,
    mut block: Block,
    options: &SearchOptions,
    before: &BTreeMap<PathBuf, Lockfile>,
    shared: &Shared<'_>,
) -> SessionResults {
    let (target, screen) = (shared.target, shared.screen);
    let mut results = SessionResults::default();
    let mut lost = false;
    for job in searches {
        if interrupted() {
            break;
        }
        if lost {
            block.skip();
            screen.say(&summary::failed(&job, "skipped, the device was given up"));
            continue;
        }
        let path = target.path(&job.folder);
        let before = &before[&path];
        let finished = match search(&job, shared.state, &path, before, options, &mut block) {
            Ok(finished) => finished,
            Err(error) => {
                results.reported = true;
                screen.say(&summary::failed(&job, &error.to_string()));
                lost = error.is_the_device();
                if !lost {
                    results.note(shared, &job, &UnitResult::Failed(error.to_string()));
                }
                continue;
            }
        };
        let ended = finished.stopped.is_none() && !interrupted();
        if let Some(choice) = &finished.choice {
            let strategy = options.strategy.name();
            let updated = target.update(&job, choice, &finished, &strategy);
            if ended && updated.is_ok() {
                results.note(shared, &job, &UnitResult::Tuned);
            }
            match updated {
                Ok(Update::Written) => drop(results.written.insert(path)),
                Ok(Update::KeptFaster) => screen.say(&summary::kept_entry(&job)),
                // The other searches' results are kept all the same, and the table shows this.
                Err(error) => {
                    results.reported = true;
                    screen.say(&summary::failed(&job, &error.to_string()));
                }
            }
        } else {
            results.reported = true;
            if ended {
                let reason = "every configuration failed".to_owned();
                results.note(shared, &job, &UnitResult::Failed(reason));
            }
            if finished.entry == EntryCheck::Fails {
                screen.say(&summary::entry_fails(&job, &path));
            }
        }
        if let Some(stopped) = &finished.stopped {
            results.reported = true;
            screen.say(&summary::stopped(&job, &stopped.reason));
            lost = stopped.device_lost;
        }
        block.found(&summary::found(&job, &finished));
        results.rows.push((job, finished));
    }
    block.end();
    results
}
