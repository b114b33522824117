//! Devices that work at the same time, each on its share.

use super::argument::SplitArg;
use super::blame::Failure;
use super::device_set::{DeviceSet, Member};
use super::known::Known;
use super::operands::turns;
use super::portions::Portion;
use super::problem::Problem;
use super::turn::Ended;
use crate::error::{Error, Result};
use cltune_core::split::Share;
use std::thread;

/// What became of a share.
pub(super) type Outcome = Result<Ended, Failure>;

/// Lets every device compute its share, all at the same time; returns when all have ended. No device
/// has two shares.
///
/// # Errors
/// Arguments that cannot be divided. What devices fail with is in the outcomes, which are in the order
/// of the shares.
pub(super) fn work(
    problem: &Problem<'_>,
    devices: &mut DeviceSet,
    known: &Known,
    args: &mut [SplitArg<'_>],
    shares: &[Share],
) -> Result<Vec<Outcome>> {
    let portion = |share: &Share| {
        let member = &devices.members[share.member];
        Portion::new(problem, known, member, devices.transfers, args, *share)
    };
    let portions: Vec<Portion> = shares.iter().map(portion).collect();
    let turns = turns(problem, known, args, &portions)?;
    let mut workers: Vec<Option<&mut Member>> = devices.members.iter_mut().map(Some).collect();
    thread::scope(|scope| {
        let mut started = Vec::with_capacity(turns.len());
        for (share, turn) in shares.iter().zip(turns) {
            let Some(member) = workers.get_mut(share.member).and_then(Option::take) else {
                started.push(Err(Failure::before(Error::NoDevice)));
                continue;
            };
            let work = move || match &mut member.state {
                Ok(worker) => worker.run(turn),
                Err(lost) => Err(Failure::during(lost.clone())),
            };
            // Not `scope.spawn`, which panics where the system has no thread left.
            let thread = thread::Builder::new().spawn_scoped(scope, work);
            started.push(thread.map_err(|error| {
                Failure::before(Error::NoThread {
                    reason: error.to_string(),
                })
            }));
        }
        let ended = started.into_iter().map(|thread| {
            let joined = thread?.join();
            joined.unwrap_or_else(|panic| std::panic::resume_unwind(panic))
        });
        Ok(ended.collect())
    })
}
