//! Profiles of devices for a problem: the configuration and the speed of each.

use super::problem::{Divided, Problem};
use crate::device::Device;
use crate::error::Error;
use crate::launch::TunedResults;
use cltune_core::device::DeviceLimits;
use cltune_core::select::{TunedResult, first_valid};
use cltune_core::split::{Balance, ShareTime, Worth};
use std::collections::HashMap;

/// The sizes of work-groups that are tried where no configuration is valid for the whole problem.
const MOST_GRANULES: usize = 64;

/// The key of profiles: the tunable, the divided dimension, the problem.
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

/// The profiles of all devices for a problem.
#[derive(Debug)]
pub(super) struct DeviceProfiles {
    /// Those of calls like the present one.
    pub(super) speeds: Speeds,
    /// For each argument whether such calls find it on the devices.
    are_resident: Box<[bool]>,
    /// The speeds of calls that find other arguments there.
    others: HashMap<Box<[bool]>, Speeds>,
    /// One for each device of the set.
    pub(super) abilities: Vec<Ability>,
    /// Whether a device has computed a share. A first launch is no measurement: drivers compile and
    /// allocate in it what they have put off.
    launched: Vec<bool>,
}

/// Speeds of the devices. Times of calls include their transfers, so calls that need fewer have
/// speeds of their own.
#[derive(Debug)]
pub(super) struct Speeds {
    pub(super) balance: Balance,
    pub(super) worth: Worth,
}

/// Whether a device can take part.
#[derive(Debug)]
pub(super) enum Ability {
    /// Not chosen yet.
    Unknown,
    Able(Choice),
    /// It cannot compute this problem, though it may compute others.
    Unable(Error),
}

/// The configuration of a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Choice {
    /// The configuration.
    pub(crate) codes: Vec<i64>,
    /// The number of positions that one of its work-groups covers.
    pub(crate) granule: i64,
    /// Whether it is valid for the whole problem, too.
    pub(crate) takes_whole: bool,
}

impl DeviceProfiles {
    pub(super) fn new(members: usize, arguments: usize) -> Self {
        Self {
            speeds: Speeds::new(members),
            are_resident: vec![false; arguments].into(),
            others: HashMap::new(),
            abilities: (0..members).map(|_| Ability::Unknown).collect(),
            launched: vec![false; members],
        }
    }

    /// Begins a call with these arguments on the devices already. Until there are times of such
    /// calls, speeds are expected to be those of the last one.
    pub(super) fn enter(&mut self, are_resident: Box<[bool]>) {
        if are_resident == self.are_resident {
            return;
        }
        let members = self.abilities.len();
        let speeds = self.others.remove(&are_resident).unwrap_or_else(|| {
            let mut speeds = Speeds::new(members);
            for member in 0..members {
                if let Some(speed) = self.speeds.balance.speed(member) {
                    speeds.balance.expect(member, speed);
                }
            }
            speeds
        });
        let before = std::mem::replace(&mut self.speeds, speeds);
        let were_resident = std::mem::replace(&mut self.are_resident, are_resident);
        self.others.insert(were_resident, before);
    }

    /// Whether these arguments are those that calls with the present speeds find on the devices.
    pub(super) fn is_typical(&self, are_resident: &[bool]) -> bool {
        *self.are_resident == *are_resident
    }

    /// Chooses the configuration of a device, with its speed according to tuning.
    pub(super) fn profile(&mut self, problem: &Problem<'_>, member: usize, device: &Device) {
        if !matches!(self.abilities[member], Ability::Unknown) {
            return;
        }
        let problem = problem.divided();
        self.abilities[member] = match choose(&problem, device) {
            Some((choice, speed)) => {
                if let Some(speed) = speed {
                    self.speeds.balance.expect(member, speed);
                }
                Ability::Able(choice)
            }
            None => Ability::Unable(problem.no_configuration(device)),
        };
    }

    /// The configuration of a device, if it has one.
    pub(super) fn choice(&self, member: usize) -> Option<&Choice> {
        match self.abilities.get(member) {
            Some(Ability::Able(choice)) => Some(choice),
            _ => None,
        }
    }

    /// Whether all devices of a round had computed shares before, so that its times tell their
    /// speeds.
    pub(super) fn are_measurements(&mut self, timings: &[ShareTime]) -> bool {
        let measured = timings.iter().all(|timing| self.launched[timing.member]);
        for timing in timings {
            self.launched[timing.member] = true;
        }
        measured
    }

    /// Forgets which devices are unable, and which were left out.
    pub(super) fn readmit(&mut self) {
        for speeds in self.others.values_mut().chain([&mut self.speeds]) {
            speeds.worth = Worth::new(self.abilities.len());
        }
        for ability in &mut self.abilities {
            if matches!(ability, Ability::Unable(_)) {
                *ability = Ability::Unknown;
            }
        }
    }
}

impl Speeds {
    fn new(members: usize) -> Self {
        Self {
            balance: Balance::new(members),
            worth: Worth::new(members),
        }
    }
}

/// The first candidate of the selection rule that is valid for shares, with the speed that tuning
/// promises; else the first configuration that is. The rule asks about the whole problem: a share
/// is nearly as large, and its size changes with every correction of the split.
pub(crate) fn choose(problem: &Divided<'_>, device: &Device) -> Option<(Choice, Option<f64>)> {
    let limits = &device.info().limits;
    let results = TunedResults::of(problem.tunable, device, problem.policy);
    let mut candidates = results.candidates(device, problem.dims);
    let selected = candidates.find_map(|candidate| {
        let choice = usable(problem, limits, &candidate.codes)?;
        let speed = candidate
            .known
            .and_then(|(_, result)| expected_speed(problem, result));
        Some((choice, speed))
    });
    selected.or_else(|| Some((first_usable(problem, limits)?, None)))
}

/// A configuration, if it is valid for as many whole work-groups as the problem has room for. The
/// size of the problem itself need not be a multiple of anything.
fn usable(problem: &Divided<'_>, limits: &DeviceLimits, codes: &[i64]) -> Option<Choice> {
    let granule = problem.division.granule(codes, problem.dims, limits).ok()?;
    let total = problem.total();
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

/// The first configuration that is valid for shares where none is for the whole problem, those with
/// small work-groups first: they leave the least to be computed twice.
fn first_usable(problem: &Divided<'_>, limits: &DeviceLimits) -> Option<Choice> {
    let model = problem.tunable.model();
    let total = problem.total();
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

/// Positions per second of the whole problem, when its time is to that of the tuned one as their
/// sizes are.
fn expected_speed(problem: &Divided<'_>, result: &TunedResult) -> Option<f64> {
    let size = |dims: &[i64]| -> f64 { dims.iter().map(|size| *size as f64).product() };
    let seconds = result.time_us * 1e-6 * size(problem.dims) / size(&result.problem);
    let speed = problem.total() as f64 / seconds;
    (speed.is_finite() && speed > 0.0).then_some(speed)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A call with arguments that are there or not, in which the devices need so long for 100
    /// positions.
    fn call(profiles: &mut DeviceProfiles, is_there: bool, seconds: [f64; 2]) {
        profiles.enter([is_there].into());
        let time = |member: usize| ShareTime {
            member,
            positions: 100,
            seconds: seconds[member],
        };
        profiles.speeds.balance.learn(&[time(0), time(1)]);
    }

    fn speeds(profiles: &DeviceProfiles) -> [Option<f64>; 2] {
        [0, 1].map(|member| profiles.speeds.balance.speed(member))
    }

    #[test]
    fn calls_that_transfer_less_have_speeds_of_their_own() {
        let mut profiles = DeviceProfiles::new(2, 1);
        call(&mut profiles, false, [1.0, 2.0]);
        profiles.enter([true].into());
        // Expected only, so the first measurement replaces it.
        assert_eq!(speeds(&profiles), [Some(100.0), Some(50.0)]);
        call(&mut profiles, true, [0.5, 0.5]);
        assert_eq!(speeds(&profiles), [Some(200.0), Some(200.0)]);
        profiles.enter([false].into());
        assert_eq!(speeds(&profiles), [Some(100.0), Some(50.0)]);
        assert!(profiles.is_typical(&[false]) && !profiles.is_typical(&[true]));
        profiles.enter([true].into());
        assert_eq!(speeds(&profiles), [Some(200.0), Some(200.0)]);
    }

    #[test]
    fn devices_are_readmitted_for_all_speeds() {
        let mut profiles = DeviceProfiles::new(2, 1);
        for is_there in [false, true] {
            profiles.enter([is_there].into());
            // A call with the second device takes twice as long as one without.
            for _ in 0..40 {
                let parts = [1.0, 0.1];
                let seconds = if profiles.speeds.worth.is_left_out(1) {
                    0.5
                } else {
                    1.0
                };
                profiles.speeds.worth.ended(seconds, &parts);
            }
            assert!(profiles.speeds.worth.is_left_out(1));
        }
        profiles.readmit();
        for is_there in [false, true] {
            profiles.enter([is_there].into());
            assert!(!profiles.speeds.worth.is_left_out(1));
        }
    }
}
