//! A split call from its first share to its last: rounds in which devices compute shares side by
//! side.

use super::chunking::ChunkedShare;
use super::device_set::{self, DeviceSet, Sharing, is_resident};
use super::operands::share_work;
use super::probe::{Candidate, Probe};
use super::problem::{Given, Problem, Role, SplitArg, addresses};
use super::profiles::{Ability, DeviceProfiles, ProblemKey};
use super::report::{SplitReport, SplitShare};
use super::work::{Attribution, DeferredResults, Failure, InputBytes, ShareDone};
use super::worker::Worker;
use crate::device::Device;
use crate::error::{Error, Result};
use crate::kernel::Tunable;
use cltune_core::split::{
    Division, Layout, Member, Share, ShareTime, Span, divide, factors, theoretical_best,
};
use std::num::NonZeroU64;
use std::thread;
use std::time::{Duration, Instant};

/// Only rounds that are at least this part of the problem correct the split: smaller ones are
/// shares done again, whose times are mostly startup.
const TELLING: i64 = 2;

/// Computes a tunable on several devices, divided among them along one dimension; along the others
/// a device may compute its share chunk by chunk.
///
/// # Errors
/// See [`crate::Error`]; [`Error::NoDeviceLeft`] when every device failed. Arguments that the
/// kernel only writes then hold anything, those that it reads and writes what they held before.
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
    let mut profiles = devices.take_profiles(&key, args.len());
    let versions = problem.versions.iter().zip(args.iter());
    let is_there = |(version, arg): (&Option<NonZeroU64>, &SplitArg<'_>)| {
        version.is_some_and(|version| devices.has(version, &addresses(arg.bytes())))
    };
    profiles.enter(versions.map(is_there).collect());
    let result = SplitCall::new(&problem, devices, &mut profiles).run(args);
    devices.keep_profiles(key, profiles);
    result
}

/// A call under way.
struct SplitCall<'a> {
    problem: &'a Problem<'a>,
    devices: &'a mut DeviceSet,
    profiles: &'a mut DeviceProfiles,
    probe: Option<Probe>,
    done: Vec<SplitShare>,
    dropped: Vec<(Device, Error)>,
    /// Results that wait for the end of the call.
    deferred: Vec<DeferredResults>,
}

impl<'a> SplitCall<'a> {
    fn new(
        problem: &'a Problem<'a>,
        devices: &'a mut DeviceSet,
        profiles: &'a mut DeviceProfiles,
    ) -> Self {
        Self {
            problem,
            devices,
            profiles,
            probe: None,
            done: Vec::new(),
            dropped: Vec::new(),
            deferred: Vec::new(),
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
            let outcomes =
                compute_shares(self.problem, self.devices, self.profiles, args, &shares)?;
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
            self.profiles
                .speeds
                .worth
                .ended(report.elapsed.as_secs_f64(), &parts);
        }
        Ok(report)
    }

    /// The devices that are able to compute shares, and have none.
    fn left_out(&self) -> Vec<Device> {
        let is_left_out = |(member, _): &(usize, &device_set::Member)| {
            self.devices.sharing == Sharing::Balanced
                && self.is_able(*member)
                && self.profiles.speeds.worth.is_left_out(*member)
        };
        let members = self.devices.members.iter().enumerate();
        let devices = members.filter(is_left_out);
        devices.map(|(_, member)| member.device.clone()).collect()
    }

    /// Determines the devices that can take part, and those that have to be probed.
    fn admit(&mut self) {
        let mut unknown = Vec::new();
        for (position, member) in self.devices.members.iter().enumerate() {
            if member.state.is_err() {
                continue;
            }
            self.profiles
                .profile(self.problem, position, &member.device);
            let is_able = self.profiles.choice(position).is_some();
            if is_able && self.profiles.speeds.balance.speed(position).is_none() {
                unknown.push(position);
            }
        }
        let able = (0..self.devices.members.len()).filter(|member| self.is_able(*member));
        // One device alone has nobody to share with.
        let is_shared = self.devices.sharing == Sharing::Balanced && able.count() > 1;
        self.probe = Probe::of(unknown).filter(|_| is_shared);
    }

    fn is_able(&self, member: usize) -> bool {
        let is_there = |member: &device_set::Member| member.state.is_ok();
        self.devices.members.get(member).is_some_and(is_there)
            && self.profiles.choice(member).is_some()
    }

    /// The next part of what is left, and the devices that compute it.
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
        let choice = self
            .profiles
            .choice(member)
            .filter(|_| self.is_able(member))?;
        let limits = &self.devices.members[member].device.info().limits;
        Some(Candidate {
            granule: choice.granule,
            compute_units: limits.compute_units,
            speed: self.profiles.speeds.balance.speed(member),
        })
    }

    /// The devices with their factors; 0 for those that cannot take part.
    fn members(&self) -> Vec<Member> {
        let count = self.devices.members.len();
        let wanted = match &self.devices.sharing {
            Sharing::Balanced => {
                let mut factors = self.profiles.speeds.balance.factors();
                for (member, factor) in factors.iter_mut().enumerate() {
                    if self.profiles.speeds.worth.is_left_out(member) {
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
                granule: self
                    .profiles
                    .choice(member)
                    .map_or(1, |choice| choice.granule),
                takes_whole: self
                    .profiles
                    .choice(member)
                    .is_some_and(|choice| choice.takes_whole),
            })
            .collect();
        // Only devices without a factor are left: they compute it all the same.
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
        outcomes: Vec<ShareResult>,
        left: &mut Vec<Span>,
    ) -> Result<()> {
        let mut timings = Vec::with_capacity(shares.len());
        let mut input_bytes = vec![InputBytes::default(); self.problem.roles.len()];
        for (share, outcome) in shares.iter().zip(outcomes) {
            match outcome {
                Ok(ended) => {
                    timings.push(ShareTime {
                        member: share.member,
                        positions: share.computed.len,
                        seconds: ended.elapsed.as_secs_f64(),
                    });
                    for (all, input) in input_bytes.iter_mut().zip(&ended.input_bytes) {
                        all.needed += input.needed;
                        all.sent += input.sent;
                    }
                    self.done.push(self.share(*share, &ended));
                    self.deferred.extend(ended.deferred);
                }
                Err(failure) if self.makes_room(share.member, &failure) => left.push(share.owned),
                Err(failure) => {
                    self.drop_out(share.member, failure)?;
                    left.push(share.owned);
                }
            }
        }
        self.learn(span, &timings, &input_bytes);
        Ok(())
    }

    /// Whether a device that had too little memory for a share may have enough at a second attempt:
    /// when it kept inputs, which it gives up.
    fn makes_room(&mut self, member: usize, failure: &Failure) -> bool {
        let worker = self.devices.members[member].state.as_mut();
        failure.is_of_memory() && worker.is_ok_and(Worker::give_up)
    }

    fn share(&self, share: Share, ended: &ShareDone) -> SplitShare {
        let choice = self.profiles.choice(share.member);
        let choice = choice.filter(|_| ended.as_asked);
        let model = self.problem.tunable.model();
        SplitShare {
            member: share.member,
            device: self.devices.members[share.member].device.clone(),
            owned: share.owned.start..share.owned.end(),
            computed: share.computed.start..share.computed.end(),
            configuration: choice.map(|choice| model.describe(&choice.codes)),
            chunks: ended.chunks,
            sent: ended.input_bytes.iter().map(|input| input.sent).sum(),
            resident: ended
                .input_bytes
                .iter()
                .map(|input| input.needed - input.sent)
                .sum(),
            elapsed: ended.elapsed,
        }
    }

    fn learn(&mut self, span: Span, timings: &[ShareTime], input_bytes: &[InputBytes]) {
        if !self.profiles.are_measurements(timings) {
            return;
        }
        if let Some(probe) = &mut self.probe {
            for timing in timings {
                let speed = timing.positions as f64 / timing.seconds;
                self.profiles.speeds.balance.expect(timing.member, speed);
            }
            let slowest = timings
                .iter()
                .map(|timing| timing.seconds)
                .fold(0.0, f64::max);
            if !probe.goes_on(Duration::from_secs_f64(slowest)) {
                self.probe = None;
            }
        } else if span.len >= self.problem.whole().len / TELLING && self.is_typical(input_bytes) {
            self.profiles.speeds.balance.learn(timings);
        }
    }

    /// Whether devices were sent what they are sent in calls with these speeds. They are not when
    /// the split has moved, for example.
    fn is_typical(&self, input_bytes: &[InputBytes]) -> bool {
        let is_there = |(input, version): (&InputBytes, &Option<NonZeroU64>)| {
            version.is_some() && is_resident(input.needed - input.sent, input.needed)
        };
        let are_there: Vec<bool> = input_bytes
            .iter()
            .zip(&self.problem.versions)
            .map(is_there)
            .collect();
        self.profiles.is_typical(&are_there)
    }

    /// Leaves a device out: for this problem, or for good when it is broken.
    ///
    /// # Errors
    /// Those that are the caller's and would be the same on every device.
    fn drop_out(&mut self, member: usize, failure: Failure) -> Result<()> {
        let (error, attribution) = (*failure.error, failure.attribution);
        match attribution {
            Attribution::Call => return Err(error),
            Attribution::Device => self.devices.members[member].state = Err(error.clone()),
            Attribution::Problem => {
                self.profiles.abilities[member] = Ability::Unable(error.clone());
            }
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
                (&member.state, &self.profiles.abilities[position])
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

    /// The time of algorithm 1 with the speeds as they are known now.
    fn theoretical(&self) -> Option<Duration> {
        let total = self.problem.whole().len as f64;
        let mut times = Vec::new();
        for member in (0..self.devices.members.len()).filter(|member| self.is_able(*member)) {
            times.push(total / self.profiles.speeds.balance.speed(member)?);
        }
        let best = theoretical_best(&factors(&times), &times);
        Duration::try_from_secs_f64(best)
            .ok()
            .filter(|best| !best.is_zero())
    }

    /// Puts results into slices that were read until now.
    fn place(&mut self, args: &mut [SplitArg<'_>]) {
        for deferred in self.deferred.drain(..) {
            let (
                Some(arg),
                Some(Role::Buffer {
                    element, layout, ..
                }),
            ) = (
                args.get_mut(deferred.argument),
                self.problem.roles.get(deferred.argument),
            )
            else {
                continue;
            };
            if let (Given::Written(target), Some(layout)) = (&mut arg.0, layout) {
                scatter(&deferred, target, *layout, *element);
            }
        }
    }
}

/// Copies rows that follow each other to where a share's results belong.
fn scatter(deferred: &DeferredResults, target: &mut [u8], layout: Layout, element: usize) {
    let own = layout.own_part(deferred.share.owned);
    for (row, source) in deferred.bytes.chunks(own.width * element).enumerate() {
        let first = (own.first + row * own.pitch) * element;
        if let Some(place) = target.get_mut(first..first + source.len()) {
            place.copy_from_slice(source);
        }
    }
}

/// A share, computed or not.
type ShareResult = Result<ShareDone, Failure>;

/// Lets every device compute its share, all at the same time; returns when all have ended. No
/// device has two shares.
///
/// # Errors
/// Arguments that cannot be divided. Failures of devices are in the results, which are in the order
/// of the shares.
fn compute_shares(
    problem: &Problem<'_>,
    devices: &mut DeviceSet,
    profiles: &DeviceProfiles,
    args: &mut [SplitArg<'_>],
    shares: &[Share],
) -> Result<Vec<ShareResult>> {
    let chunk = |share: &Share| {
        let member = &devices.members[share.member];
        ChunkedShare::new(problem, profiles, member, devices.transfers, args, *share)
    };
    let chunked: Vec<ChunkedShare> = shares.iter().map(chunk).collect();
    let work = share_work(problem, profiles, args, &chunked)?;
    let mut workers: Vec<Option<&mut device_set::Member>> =
        devices.members.iter_mut().map(Some).collect();
    thread::scope(|scope| {
        let mut started = Vec::with_capacity(work.len());
        for (share, work) in shares.iter().zip(work) {
            let Some(member) = workers.get_mut(share.member).and_then(Option::take) else {
                started.push(Err(Failure::before(Error::NoDevice)));
                continue;
            };
            let run = move || match &mut member.state {
                Ok(worker) => worker.run(work),
                Err(lost) => Err(Failure::during(lost.clone())),
            };
            // Not `scope.spawn`, which panics where the system has no thread left.
            let thread = thread::Builder::new().spawn_scoped(scope, run);
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
