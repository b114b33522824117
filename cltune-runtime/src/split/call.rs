//! A split call from its first share to its last.

use super::argument::{Given, SplitArg};
use super::blame::{Blame, Failure};
use super::device_set::{DeviceSet, Sharing, is_resident};
use super::known::{Ability, Known, ProblemKey};
use super::probe::{Candidate, Probe};
use super::problem::{Problem, Role, addresses};
use super::report::{SplitReport, SplitShare};
use super::round::{self, Outcome};
use super::turn::{Ended, Kept, Supply};
use super::worker::Worker;
use crate::device::Device;
use crate::error::{Error, Result};
use crate::kernel::Tunable;
use cltune_core::split::{
    Division, Layout, Member, Share, Span, Turn, divide, factors, theoretical_best,
};
use std::num::NonZeroU64;
use std::time::{Duration, Instant};

/// Only rounds that are at least this part of the problem correct the split: smaller ones are
/// shares done again, whose times are mostly those of beginning.
const TELLING: i64 = 2;

/// Computes a tunable on several devices, divided among them along one dimension; along the others a device
/// may compute its share piece by piece.
///
/// # Errors
/// See [`crate::Error`]; [`Error::NoDeviceLeft`] when every device failed. Arguments that the kernel
/// only writes then hold anything, those that it reads and writes what they held before.
pub fn split(
    tunable: &'static Tunable,
    division: &Division,
    others: &[Division],
    devices: &mut DeviceSet,
    dims: &[i64],
    args: &mut [SplitArg<'_>],
) -> Result<SplitReport> {
    let working = devices.members.iter().filter(|member| member.state.is_ok());
    let limits: Vec<_> = working.map(|member| &member.device.info().limits).collect();
    let problem = Problem::new(tunable, division, others, dims, args, &limits)?;
    let key = ProblemKey::new(&problem);
    let mut known = devices.take_known(&key, args.len());
    let stamps = problem.stamps.iter().zip(args.iter());
    let is_there = |(stamp, arg): (&Option<NonZeroU64>, &SplitArg<'_>)| {
        stamp.is_some_and(|stamp| devices.has(stamp, &addresses(arg.bytes())))
    };
    known.enter(stamps.map(is_there).collect());
    let result = Call::new(&problem, devices, &mut known).run(args);
    devices.keep_known(key, known);
    result
}

/// A call under way.
struct Call<'a> {
    problem: &'a Problem<'a>,
    devices: &'a mut DeviceSet,
    known: &'a mut Known,
    probe: Option<Probe>,
    done: Vec<SplitShare>,
    dropped: Vec<(Device, Error)>,
    /// Results that wait for the end of the call.
    kept: Vec<Kept>,
}

impl<'a> Call<'a> {
    fn new(problem: &'a Problem<'a>, devices: &'a mut DeviceSet, known: &'a mut Known) -> Self {
        Self {
            problem,
            devices,
            known,
            probe: None,
            done: Vec::new(),
            dropped: Vec::new(),
            kept: Vec::new(),
        }
    }

    fn run(mut self, args: &mut [SplitArg<'_>]) -> Result<SplitReport> {
        let begin = Instant::now();
        self.admit();
        let was_probed = self.probe.is_some();
        let theoretical = self.theoretical();
        let mut left = vec![self.problem.whole()];
        while let Some(span) = left.pop() {
            let (now, members) = self.next(span);
            let shares = divide(now, self.problem.whole().len, &members);
            if shares.is_empty() && now.len > 0 {
                return Err(self.nobody_left());
            }
            let end = shares.last().map_or(now.end(), |last| last.owned.end());
            let now = Span {
                start: now.start,
                len: end - now.start,
            };
            let rest = Span {
                start: end,
                len: span.end() - end,
            };
            if rest.len > 0 {
                left.push(rest);
            }
            let outcomes = round::work(self.problem, self.devices, self.known, args, &shares)?;
            self.take(now, &shares, outcomes, &mut left)?;
        }
        self.place(args);
        let left_out = self.left_out();
        let report = SplitReport {
            shares: self.done,
            total: self.problem.whole().len,
            theoretical,
            elapsed: begin.elapsed(),
            left_out,
            dropped: self.dropped,
        };
        let went_as_planned = !was_probed && report.dropped.is_empty();
        if went_as_planned && self.devices.sharing == Sharing::Balanced {
            let parts = report.factors(self.devices.members.len());
            self.known
                .pace
                .worth
                .ended(report.elapsed.as_secs_f64(), &parts);
        }
        Ok(report)
    }

    /// The devices that could work and are not asked to.
    fn left_out(&self) -> Vec<Device> {
        let is_left_out = |(member, _): &(usize, &super::device_set::Member)| {
            self.devices.sharing == Sharing::Balanced
                && self.is_able(*member)
                && self.known.pace.worth.is_left_out(*member)
        };
        let members = self.devices.members.iter().enumerate();
        let devices = members.filter(is_left_out);
        devices.map(|(_, member)| member.device.clone()).collect()
    }

    /// Finds out who can take part, and who has to be probed.
    fn admit(&mut self) {
        let mut unknown = Vec::new();
        for (position, member) in self.devices.members.iter().enumerate() {
            if member.state.is_err() {
                continue;
            }
            self.known.ask(self.problem, position, &member.device);
            let is_able = self.known.choice(position).is_some();
            if is_able && self.known.pace.balance.speed(position).is_none() {
                unknown.push(position);
            }
        }
        let able = (0..self.devices.members.len()).filter(|member| self.is_able(*member));
        // One device alone has nobody to share with.
        let is_shared = self.devices.sharing == Sharing::Balanced && able.count() > 1;
        self.probe = Probe::of(unknown).filter(|_| is_shared);
    }

    fn is_able(&self, member: usize) -> bool {
        let is_there = |member: &super::device_set::Member| member.state.is_ok();
        self.devices.members.get(member).is_some_and(is_there)
            && self.known.choice(member).is_some()
    }

    /// What is done next of what is left, and by whom.
    fn next(&mut self, left: Span) -> (Span, Vec<Member>) {
        if let Some(probe) = &self.probe {
            let candidates: Vec<Option<Candidate>> = (0..self.devices.members.len())
                .map(|member| self.candidate(member))
                .collect();
            if let Some(next) = probe.next(left, &candidates) {
                return next;
            }
            self.probe = None;
        }
        (left, self.members())
    }

    fn candidate(&self, member: usize) -> Option<Candidate> {
        let choice = self.known.choice(member).filter(|_| self.is_able(member))?;
        let limits = &self.devices.members[member].device.info().limits;
        Some(Candidate {
            granule: choice.granule,
            compute_units: limits.compute_units,
            speed: self.known.pace.balance.speed(member),
        })
    }

    /// The devices with their factors; 0 for those that cannot take part.
    fn members(&self) -> Vec<Member> {
        let count = self.devices.members.len();
        let wanted = match &self.devices.sharing {
            Sharing::Balanced => {
                let mut factors = self.known.pace.balance.factors();
                for (member, factor) in factors.iter_mut().enumerate() {
                    if self.known.pace.worth.is_left_out(member) {
                        *factor = 0.0;
                    }
                }
                factors
            }
            Sharing::Fixed(factors) => factors.clone(),
        };
        let mut members: Vec<Member> = (0..count)
            .map(|member| Member {
                factor: wanted
                    .get(member)
                    .copied()
                    .filter(|factor| factor.is_finite() && *factor > 0.0)
                    .filter(|_| self.is_able(member))
                    .unwrap_or(0.0),
                granule: self.known.choice(member).map_or(1, |choice| choice.granule),
                takes_whole: self
                    .known
                    .choice(member)
                    .is_some_and(|choice| choice.takes_whole),
            })
            .collect();
        // Those who are left are the only ones without a factor: they do it all the same.
        if members.iter().all(|member| member.factor == 0.0) {
            for (position, member) in members.iter_mut().enumerate() {
                member.factor = f64::from(u8::from(self.is_able(position)));
            }
        }
        members
    }

    /// Keeps what went well, and puts what did not back to what is left.
    fn take(
        &mut self,
        span: Span,
        shares: &[Share],
        outcomes: Vec<Outcome>,
        left: &mut Vec<Span>,
    ) -> Result<()> {
        let mut turns = Vec::with_capacity(shares.len());
        let mut supplies = vec![Supply::default(); self.problem.roles.len()];
        for (share, outcome) in shares.iter().zip(outcomes) {
            match outcome {
                Ok(ended) => {
                    turns.push(Turn {
                        member: share.member,
                        positions: share.computed.len,
                        seconds: ended.elapsed.as_secs_f64(),
                    });
                    for (all, supply) in supplies.iter_mut().zip(&ended.supplies) {
                        all.needed += supply.needed;
                        all.sent += supply.sent;
                    }
                    self.done.push(self.share(*share, &ended));
                    self.kept.extend(ended.kept);
                }
                Err(failure) if self.makes_room(share.member, &failure) => left.push(share.owned),
                Err(failure) => {
                    self.drop_out(share.member, failure)?;
                    left.push(share.owned);
                }
            }
        }
        self.learn(span, &turns, &supplies);
        Ok(())
    }

    /// Whether a device that had too little memory for a share may have enough when it is asked again: when it kept
    /// inputs, which it gives up.
    fn makes_room(&mut self, member: usize, failure: &Failure) -> bool {
        let worker = self.devices.members[member].state.as_mut();
        failure.is_of_memory() && worker.is_ok_and(Worker::give_up)
    }

    fn share(&self, share: Share, ended: &Ended) -> SplitShare {
        let choice = self.known.choice(share.member);
        let choice = choice.filter(|_| ended.as_asked);
        let model = self.problem.tunable.model();
        SplitShare {
            member: share.member,
            device: self.devices.members[share.member].device.clone(),
            owned: share.owned.start..share.owned.end(),
            computed: share.computed.start..share.computed.end(),
            configuration: choice.map(|choice| model.describe(&choice.codes)),
            pieces: ended.pieces,
            sent: ended.supplies.iter().map(|supply| supply.sent).sum(),
            resident: ended
                .supplies
                .iter()
                .map(|supply| supply.needed - supply.sent)
                .sum(),
            elapsed: ended.elapsed,
        }
    }

    fn learn(&mut self, span: Span, turns: &[Turn], supplies: &[Supply]) {
        if !self.known.tells(turns) {
            return;
        }
        if let Some(probe) = &mut self.probe {
            for turn in turns {
                let speed = turn.positions as f64 / turn.seconds;
                self.known.pace.balance.expect(turn.member, speed);
            }
            let slowest = turns.iter().map(|turn| turn.seconds).fold(0.0, f64::max);
            if !probe.goes_on(Duration::from_secs_f64(slowest)) {
                self.probe = None;
            }
        } else if span.len >= self.problem.whole().len / TELLING && self.is_usual(supplies) {
            self.known.pace.balance.learn(turns);
        }
    }

    /// Whether devices were sent what they are sent in calls of this pace. They are not when the split has moved, say.
    fn is_usual(&self, supplies: &[Supply]) -> bool {
        let is_there = |(supply, stamp): (&Supply, &Option<NonZeroU64>)| {
            stamp.is_some() && is_resident(supply.needed - supply.sent, supply.needed)
        };
        let are_there: Vec<bool> = supplies
            .iter()
            .zip(&self.problem.stamps)
            .map(is_there)
            .collect();
        self.known.is_usual(&are_there)
    }

    /// Leaves a device out: for this problem, or for good when it is broken.
    ///
    /// # Errors
    /// Those that are the caller's and would be the same on every device.
    fn drop_out(&mut self, member: usize, failure: Failure) -> Result<()> {
        let (error, blame) = (*failure.error, failure.blame);
        match blame {
            Blame::Caller => return Err(error),
            Blame::Device => self.devices.members[member].state = Err(error.clone()),
            Blame::Problem => self.known.abilities[member] = Ability::Unable(error.clone()),
        }
        let device = self.devices.members[member].device.clone();
        tracing::warn!(
            kernel = %self.problem.tunable.model().name,
            %device,
            %error,
            "a device dropped out; the others do its share"
        );
        self.dropped.push((device, error));
        Ok(())
    }

    fn nobody_left(&self) -> Error {
        let reasons = self.devices.members.iter().enumerate();
        let reasons = reasons.filter_map(|(position, member)| {
            let ((Err(reason), _) | (Ok(_), Ability::Unable(reason))) =
                (&member.state, &self.known.abilities[position])
            else {
                return None;
            };
            Some(format!("{}: {reason}", member.device))
        });
        Error::NoDeviceLeft {
            kernel: self.problem.tunable.model().name.to_string(),
            reasons: reasons.collect(),
        }
    }

    /// Algorithm 1 with the speeds as they are known now.
    fn theoretical(&self) -> Option<Duration> {
        let total = self.problem.whole().len as f64;
        let mut times = Vec::new();
        for member in (0..self.devices.members.len()).filter(|member| self.is_able(*member)) {
            times.push(total / self.known.pace.balance.speed(member)?);
        }
        let best = theoretical_best(&factors(&times), &times);
        Duration::try_from_secs_f64(best)
            .ok()
            .filter(|best| !best.is_zero())
    }

    /// Puts results into slices that were read until now.
    fn place(&mut self, args: &mut [SplitArg<'_>]) {
        for kept in self.kept.drain(..) {
            let (
                Some(arg),
                Some(Role::Buffer {
                    element, layout, ..
                }),
            ) = (
                args.get_mut(kept.argument),
                self.problem.roles.get(kept.argument),
            )
            else {
                continue;
            };
            if let (Given::Written(target), Some(layout)) = (&mut arg.0, layout) {
                scatter(&kept, target, *layout, *element);
            }
        }
    }
}

/// Copies rows that follow each other to where a share's results belong.
fn scatter(kept: &Kept, target: &mut [u8], layout: Layout, element: usize) {
    let own = layout.own_part(kept.share.owned);
    for (row, source) in kept.bytes.chunks(own.width * element).enumerate() {
        let first = (own.first + row * own.pitch) * element;
        if let Some(place) = target.get_mut(first..first + source.len()) {
            place.copy_from_slice(source);
        }
    }
}
