//! All searches of a session: devices side by side where they do not disturb each other, the searches
//! of a device one after another, and the lockfile written after each.

use super::summary;
use crate::interrupt::interrupted;
use crate::session::{
    Block, Entry, Finished, Job, Keeper, Kept, Screen, SearchOptions, rounds, run as search,
};
use std::path::Path;
use std::sync::{Mutex, PoisonError};

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
}

/// Searches. Results of devices in the order in which they are tuned.
pub(super) fn run(jobs: Vec<Job>, shared: &Shared<'_>) -> Found {
    let mut found = Found::default();
    // Lockfiles are read, changed and written again.
    let lockfiles = Mutex::new(());
    for round in rounds(jobs) {
        let alone = round.len() == 1;
        let options = SearchOptions {
            // They share the cores that build for them.
            jobs: (shared.options.jobs / round.len()).max(1),
            ..shared.options.clone()
        };
        let of_round = std::thread::scope(|scope| {
            let threads = round.into_iter().map(|searches| {
                let device = searches.first().map_or("", |job| &job.device.name);
                let block = shared.screen.block(device, searches.len(), alone);
                let (options, lockfiles) = (&options, &lockfiles);
                scope.spawn(move || device_searches(searches, block, options, shared, lockfiles))
            });
            let threads: Vec<_> = threads.collect();
            let joined = threads.into_iter().map(std::thread::ScopedJoinHandle::join);
            // A panic is passed on.
            let joined =
                joined.map(|found| found.unwrap_or_else(|of| std::panic::resume_unwind(of)));
            joined.collect::<Vec<Found>>()
        });
        for of_device in of_round {
            found.rows.extend(of_device.rows);
            found.reported |= of_device.reported;
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
    lockfiles: &Mutex<()>,
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
            let lock = lockfiles.lock().unwrap_or_else(PoisonError::into_inner);
            let kept = keeper.keep(&job, choice, evaluated, valid, &strategy, is_complete);
            drop(lock);
            match kept {
                Ok(Kept::Written) => {}
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
