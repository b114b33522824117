//! All searches of a session: devices side by side where they do not disturb each other, the searches
//! of a device one after another, and the lockfile written after each.

use super::summary;
use crate::interrupt::interrupted;
use crate::session::{
    Block, Entry, Finished, Job, Keeper, Kept, Screen, SearchOptions, rounds, run as search,
};
use crate::threads::side_by_side;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

/// What all searches share.
pub(super) struct Shared<'a> {
    pub(super) options: &'a SearchOptions,
    pub(super) keeper: &'a Keeper,
    /// The folder of journals.
    pub(super) state: &'a Path,
    pub(super) screen: &'a Screen,
}

/// What came of them.
#[derive(Debug, Default)]
pub(super) struct Found {
    pub(super) rows: Vec<(Job, Finished)>,
    /// Whether something went wrong that the exit code should tell.
    pub(super) reported: bool,
    /// The lockfiles that results were written to.
    pub(super) written: BTreeSet<PathBuf>,
}

/// Searches. Results of devices in the order in which they are tuned.
pub(super) fn run(jobs: Vec<Job>, shared: &Shared<'_>) -> Found {
    let mut found = Found::default();
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
            let options = &options;
            move || device_searches(searches, block, options, shared)
        });
        for of_device in side_by_side(of_devices.collect()) {
            found.rows.extend(of_device.rows);
            found.reported |= of_device.reported;
            found.written.extend(of_device.written);
        }
    }
    found
}

/// The searches of one device.
fn device_searches(
    searches: Vec<Job>,
    mut block: Block,
    options: &SearchOptions,
    shared: &Shared<'_>,
) -> Found {
    let (keeper, screen) = (shared.keeper, shared.screen);
    let mut found = Found::default();
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
        let path = keeper.path(&job.folder);
        let finished = match search(&job, shared.state, &path, options, &mut block) {
            Ok(finished) => finished,
            Err(error) => {
                found.reported = true;
                screen.say(&summary::failed(&job, &error.to_string()));
                lost = error.is_the_device();
                continue;
            }
        };
        if let Some(choice) = &finished.choice {
            let is_complete = match finished.entry {
                Entry::Works => finished.stopped.is_none() && !interrupted(),
                Entry::Fails => true,
                Entry::Unmeasured => false,
            };
            let strategy = options.strategy.name();
            let (evaluated, valid) = (finished.evaluated, finished.valid);
            let kept = keeper.keep(&job, choice, evaluated, valid, &strategy, is_complete);
            match kept {
                Ok(Kept::Written) => drop(found.written.insert(path)),
                Ok(Kept::Faster) => screen.say(&summary::stays(&job)),
                // The other searches' results are kept all the same, and the table shows this.
                Err(error) => {
                    found.reported = true;
                    screen.say(&summary::failed(&job, &error.to_string()));
                }
            }
        } else {
            found.reported = true;
            if finished.entry == Entry::Fails {
                screen.say(&summary::entry_fails(&job, &path));
            }
        }
        if let Some(stopped) = &finished.stopped {
            found.reported = true;
            screen.say(&summary::stopped(&job, &stopped.reason));
            lost = stopped.device_lost;
        }
        found.rows.push((job, finished));
    }
    block.end();
    found
}
