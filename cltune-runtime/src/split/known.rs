//! What is known of each device for a problem: its configuration and its speed.

use super::problem::Problem;
use crate::device::Device;
use crate::error::Error;
use crate::launch::TunedResults;
use cltune_core::device::DeviceLimits;
use cltune_core::select::{KnownResult, first_valid};
use cltune_core::split::{Balance, Turn, Worth};
use std::collections::HashMap;

/// The sizes of work-groups that are tried where no configuration is valid for the whole problem.
const MOST_GRANULES: usize = 64;

/// What speeds are remembered by: the tunable, the divided dimension, the problem.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(super) struct ProblemKey {
    tunable: usize,
    dimension: u16,
    dims: Box<[i64]>,
}

impl ProblemKey {
    pub(super) fn new(problem: &Problem<'_>) -> Self {
        Self {
            tunable: problem.tunable.address(),
            dimension: problem.division.dimension,
            dims: problem.dims.into(),
        }
    }
}

/// What is known of all devices for a problem.
#[derive(Debug)]
pub(super) struct Known {
    pub(super) pace: Pace,
    /// Which arguments are on the devices already, in calls of this pace.
    are_resident: Box<[bool]>,
    /// The paces of calls in which others are.
    others: HashMap<Box<[bool]>, Pace>,
    /// One for each device of the set.
    pub(super) abilities: Vec<Ability>,
    /// Whether a device has computed a share. A first launch is no measurement: drivers compile and
    /// allocate in it what they have put off.
    launched: Vec<bool>,
}

/// How fast the devices are. Times of calls include their transfers, so calls that need fewer have another pace.
#[derive(Debug)]
pub(super) struct Pace {
    pub(super) balance: Balance,
    pub(super) worth: Worth,
}

/// Whether a device can take part.
#[derive(Debug)]
pub(super) enum Ability {
    /// Nobody has asked yet.
    Unknown,
    Able(Choice),
    /// It cannot compute this problem, though it may compute others.
    Unable(Error),
}

/// What a device computes with.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Choice {
    /// The configuration.
    pub(super) codes: Vec<i64>,
    /// How many positions one of its work-groups covers.
    pub(super) granule: i64,
    /// Whether it is valid for the whole problem, too.
    pub(super) takes_whole: bool,
}

impl Known {
    pub(super) fn new(members: usize, arguments: usize) -> Self {
        Self {
            pace: Pace::new(members),
            are_resident: vec![false; arguments].into(),
            others: HashMap::new(),
            abilities: (0..members).map(|_| Ability::Unknown).collect(),
            launched: vec![false; members],
        }
    }

    /// Begins a call with these arguments on the devices already. Until there are times of such calls, speeds are
    /// expected to be those of the last one.
    pub(super) fn enter(&mut self, are_resident: Box<[bool]>) {
        if are_resident == self.are_resident {
            return;
        }
        let members = self.abilities.len();
        let pace = self.others.remove(&are_resident).unwrap_or_else(|| {
            let mut pace = Pace::new(members);
            for member in 0..members {
                if let Some(speed) = self.pace.balance.speed(member) {
                    pace.balance.expect(member, speed);
                }
            }
            pace
        });
        let before = std::mem::replace(&mut self.pace, pace);
        let were_resident = std::mem::replace(&mut self.are_resident, are_resident);
        self.others.insert(were_resident, before);
    }

    /// Whether these arguments are those that calls of this pace find on the devices.
    pub(super) fn is_usual(&self, are_resident: &[bool]) -> bool {
        *self.are_resident == *are_resident
    }

    /// Finds out what a device computes with, and how fast it is according to tuning.
    pub(super) fn ask(&mut self, problem: &Problem<'_>, member: usize, device: &Device) {
        if !matches!(self.abilities[member], Ability::Unknown) {
            return;
        }
        self.abilities[member] = match choose(problem, device) {
            Some((choice, speed)) => {
                if let Some(speed) = speed {
                    self.pace.balance.expect(member, speed);
                }
                Ability::Able(choice)
            }
            None => Ability::Unable(Error::NoConfiguration {
                kernel: problem.tunable.model().name.to_string(),
                problem: problem.tunable.model().describe_problem(problem.dims),
                device: device.to_string(),
                reason: "no configuration is valid for any share".to_owned(),
            }),
        };
    }

    /// What a device computes with, if it can.
    pub(super) fn choice(&self, member: usize) -> Option<&Choice> {
        match self.abilities.get(member) {
            Some(Ability::Able(choice)) => Some(choice),
            _ => None,
        }
    }

    /// Whether all devices of a round had computed shares before, so that its times tell their speeds.
    pub(super) fn tells(&mut self, turns: &[Turn]) -> bool {
        let told = turns.iter().all(|turn| self.launched[turn.member]);
        for turn in turns {
            self.launched[turn.member] = true;
        }
        told
    }

    /// Forgets which devices are unable, and which were left out.
    pub(super) fn pardon(&mut self) {
        for pace in self.others.values_mut().chain([&mut self.pace]) {
            pace.worth = Worth::new(self.abilities.len());
        }
        for ability in &mut self.abilities {
            if matches!(ability, Ability::Unable(_)) {
                *ability = Ability::Unknown;
            }
        }
    }
}

impl Pace {
    fn new(members: usize) -> Self {
        Self {
            balance: Balance::new(members),
            worth: Worth::new(members),
        }
    }
}

/// The first candidate of the selection rule that is valid for shares, with the speed that tuning
/// promises; else the first configuration that is. The rule asks about the whole problem: a share is nearly as
/// large, and its size changes with every correction of the split.
fn choose(problem: &Problem<'_>, device: &Device) -> Option<(Choice, Option<f64>)> {
    let limits = &device.info().limits;
    let results = TunedResults::of(problem.tunable, device, &problem.policy);
    let mut candidates = results.candidates(device, problem.dims);
    let known = candidates.find_map(|candidate| {
        let choice = usable(problem, limits, &candidate.codes)?;
        let speed = candidate
            .known
            .and_then(|(_, result)| expected_speed(problem, result));
        Some((choice, speed))
    });
    known.or_else(|| Some((first_usable(problem, limits)?, None)))
}

/// A configuration, if it is valid for as many whole work-groups as the problem has room for. That
/// the size of the problem itself is a multiple of anything is not asked for.
fn usable(problem: &Problem<'_>, limits: &DeviceLimits, codes: &[i64]) -> Option<Choice> {
    let granule = problem.division.granule(codes, problem.dims, limits).ok()?;
    let total = problem.whole().len;
    let len = (total / granule * granule).max(granule.min(total));
    let is_valid = |len: i64| {
        let dims = problem.division.share_dims(problem.dims, len);
        problem.tunable.model().check(codes, &dims, limits).is_ok()
    };
    is_valid(len).then(|| Choice {
        codes: codes.to_vec(),
        granule,
        takes_whole: is_valid(total),
    })
}

/// The first configuration that is valid for shares where none is for the whole problem, those with small
/// work-groups first: they leave the least to be computed twice.
fn first_usable(problem: &Problem<'_>, limits: &DeviceLimits) -> Option<Choice> {
    let model = problem.tunable.model();
    let total = problem.whole().len;
    let granules = problem.division.granules(model, problem.dims, limits);
    granules
        .into_iter()
        .take_while(|granule| *granule <= total)
        .take(MOST_GRANULES)
        .find_map(|granule| {
            let dims = problem
                .division
                .share_dims(problem.dims, total / granule * granule);
            usable(problem, limits, &first_valid(model, &dims, limits)?)
        })
}

/// Positions per second of the whole problem, when its time is to that of the tuned one as their sizes
/// are.
fn expected_speed(problem: &Problem<'_>, result: &KnownResult) -> Option<f64> {
    let size = |dims: &[i64]| -> f64 { dims.iter().map(|size| *size as f64).product() };
    let seconds = result.time_us * 1e-6 * size(problem.dims) / size(&result.problem);
    let speed = problem.whole().len as f64 / seconds;
    (speed.is_finite() && speed > 0.0).then_some(speed)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A call with arguments that are there or not, in which the devices need so long for 100 positions.
    fn call(known: &mut Known, is_there: bool, seconds: [f64; 2]) {
        known.enter([is_there].into());
        let turn = |member: usize| Turn {
            member,
            positions: 100,
            seconds: seconds[member],
        };
        known.pace.balance.learn(&[turn(0), turn(1)]);
    }

    fn speeds(known: &Known) -> [Option<f64>; 2] {
        [0, 1].map(|member| known.pace.balance.speed(member))
    }

    #[test]
    fn calls_that_transfer_less_have_speeds_of_their_own() {
        let mut known = Known::new(2, 1);
        call(&mut known, false, [1.0, 2.0]);
        known.enter([true].into());
        // Expected only, so the first measurement replaces it.
        assert_eq!(speeds(&known), [Some(100.0), Some(50.0)]);
        call(&mut known, true, [0.5, 0.5]);
        assert_eq!(speeds(&known), [Some(200.0), Some(200.0)]);
        known.enter([false].into());
        assert_eq!(speeds(&known), [Some(100.0), Some(50.0)]);
        assert!(known.is_usual(&[false]) && !known.is_usual(&[true]));
        known.enter([true].into());
        assert_eq!(speeds(&known), [Some(200.0), Some(200.0)]);
    }

    #[test]
    fn all_paces_are_pardoned() {
        let mut known = Known::new(2, 1);
        for is_there in [false, true] {
            known.enter([is_there].into());
            // One with the second device is as long as one without is short.
            for _ in 0..40 {
                let parts = [1.0, 0.1];
                let seconds = if known.pace.worth.is_left_out(1) {
                    0.5
                } else {
                    1.0
                };
                known.pace.worth.ended(seconds, &parts);
            }
            assert!(known.pace.worth.is_left_out(1));
        }
        known.pardon();
        for is_there in [false, true] {
            known.enter([is_there].into());
            assert!(!known.pace.worth.is_left_out(1));
        }
    }
}
