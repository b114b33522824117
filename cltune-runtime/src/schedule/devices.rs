//! The state of each device: its rates, the speeds of kernels, and what it was given.

use super::job::Job;
use super::report::Totals;
use crate::device::Device;
use crate::error::Error;
use cltune_core::tasks::{Cost, Cut, DeviceFacts, LinkRates, Speed, TaskId, Turn};
use std::collections::HashMap;
use std::time::Instant;

/// A device of the scheduler.
#[derive(Debug)]
pub(super) struct DeviceState {
    pub(super) device: Device,
    pub(super) memory: usize,
    pub(super) largest: usize,
    /// Whether data has to be transferred to it.
    pub(super) has_own_memory: bool,
    pub(super) condition: Condition,
    /// Whether it gets no tasks, because the program says so.
    pub(super) is_resting: bool,
    /// By the names of kernels.
    abilities: HashMap<String, Ability>,
    /// The blocks of the last task of each kernel: drivers compile in the first launch of a size,
    /// which is no measurement.
    begun: HashMap<String, Cut>,
    /// What it computes and has been given to compute, in order.
    pub(super) given: Vec<Given>,
    pub(super) totals: Totals,
}

/// The condition of a device.
#[derive(Debug)]
pub(super) enum Condition {
    /// Its rates are being measured.
    Starting,
    Working(LinkRates),
    Lost(Error),
}

/// What a device can do with a kernel.
#[derive(Debug)]
enum Ability {
    Able(Speed),
    Unable(String),
}

/// A task of a device.
#[derive(Clone, Copy, Debug)]
pub(super) struct Given {
    pub(super) task: TaskId,
    /// When it was given, or the task before it ended.
    pub(super) begin: Instant,
    /// How long it is expected to take, seconds.
    pub(super) seconds: f64,
    /// Whether the report counts it as given up already.
    pub(super) is_given_up: bool,
}

impl DeviceState {
    pub(super) fn new(device: &Device, memory: usize) -> Self {
        let largest = device.info().limits.max_mem_alloc_size;
        Self {
            device: device.clone(),
            memory,
            largest: usize::try_from(largest).unwrap_or(0).min(memory),
            has_own_memory: !device.shares_host_memory(),
            condition: Condition::Starting,
            is_resting: false,
            abilities: HashMap::new(),
            begun: HashMap::new(),
            given: Vec::new(),
            totals: Totals::default(),
        }
    }

    pub(super) const fn is_lost(&self) -> bool {
        matches!(self.condition, Condition::Lost(_))
    }

    /// What decides about blocks; `None` for a device that is lost or not ready.
    pub(super) fn facts(&self, kernel: &str) -> Option<DeviceFacts> {
        let rates = self.links().filter(|_| !self.is_resting)?;
        Some(DeviceFacts {
            memory: self.memory,
            largest: self.largest,
            rates,
            speed: self.kernel_speed(kernel),
        })
    }

    /// Work per second of a kernel; `None` where it has not been measured.
    pub(super) fn kernel_speed(&self, kernel: &str) -> Option<f64> {
        self.speed(kernel).and_then(Speed::of_kernel)
    }

    /// How fast data moves, once that has been measured.
    pub(super) const fn links(&self) -> Option<LinkRates> {
        match self.condition {
            Condition::Working(rates) => Some(rates),
            _ => None,
        }
    }

    fn speed(&self, kernel: &str) -> Option<&Speed> {
        match self.abilities.get(kernel) {
            Some(Ability::Able(speed)) => Some(speed),
            _ => None,
        }
    }

    /// Whether it is known what the device can do with a kernel.
    pub(super) fn has_answered(&self, kernel: &str) -> bool {
        self.is_lost() || self.abilities.contains_key(kernel)
    }

    /// Whether it may be given tasks of a kernel.
    pub(super) fn is_able(&self, kernel: &str) -> bool {
        !self.is_lost() && !matches!(self.abilities.get(kernel), Some(Ability::Unable(_)))
    }

    /// The result of a probe: work per second.
    pub(super) fn is_fast(&mut self, kernel: &str, speed: f64) {
        let mut known = Speed::default();
        known.probe(speed);
        self.abilities
            .insert(kernel.to_owned(), Ability::Able(known));
    }

    pub(super) fn is_unable(&mut self, kernel: &str, reason: String) {
        self.abilities
            .insert(kernel.to_owned(), Ability::Unable(reason));
    }

    /// Why it cannot compute a kernel.
    pub(super) fn reason(&self, kernel: &str) -> String {
        let reason = match (&self.condition, self.abilities.get(kernel)) {
            (Condition::Lost(error), _) => error.to_string(),
            (_, Some(Ability::Unable(reason))) => reason.clone(),
            _ => "it has too little memory".to_owned(),
        };
        format!("{}: {reason}", self.device)
    }

    /// How long a tile of a job takes here, seconds; `None` where it cannot be computed.
    pub(super) fn seconds(&self, job: &Job, tiles: f64) -> Option<f64> {
        let facts = self.facts(&job.name).filter(|facts| job.fits(facts))?;
        let speed = self.speed(&job.name)?;
        let cost = Cost::of(
            &job.shape,
            job.division().cut,
            &facts,
            speed.of_kernel()?,
            tiles,
        );
        Some(cost.tile * speed.excess())
    }

    /// Its next turn with a job.
    pub(super) fn turn(&self, job: &Job, tiles: f64, now: Instant) -> Option<Turn> {
        Some(Turn {
            free: self.given.iter().map(|given| given.left(now)).sum(),
            task: self.seconds(job, tiles)?,
        })
    }

    /// Takes a task that it need not do from what it was given.
    pub(super) fn leave(&mut self, task: TaskId, now: Instant) {
        self.give_up(task);
        self.take(task, now);
    }

    /// Counts a task that it was given and need not do, once. It may be in the middle of it, and
    /// leaves it when the run that is reported has long ended.
    pub(super) fn give_up(&mut self, task: TaskId) {
        let mut given = self.given.iter_mut();
        if let Some(given) = given.find(|given| given.task == task && !given.is_given_up) {
            given.is_given_up = true;
            self.totals.given_up += 1;
        }
    }

    /// Takes a task that has ended from what it was given, and corrects what is expected of the
    /// kernel.
    pub(super) fn end(&mut self, task: TaskId, job: &Job, now: Instant) {
        let Some((given, true)) = self.take(task, now) else {
            return;
        };
        let cut = job.division().cut;
        if self.begun.insert(job.name.clone(), cut) != Some(cut) {
            return;
        }
        if let Some(Ability::Able(speed)) = self.abilities.get_mut(&job.name) {
            let taken = now.duration_since(given.begin).as_secs_f64();
            speed.learn(given.seconds, taken);
        }
    }

    /// A task out of those that it was given; whether it was the first, so that its time is known.
    fn take(&mut self, task: TaskId, now: Instant) -> Option<(Given, bool)> {
        let position = self.given.iter().position(|given| given.task == task)?;
        let given = self.given.remove(position);
        if position == 0
            && let Some(next) = self.given.first_mut()
        {
            next.begin = now;
        }
        Some((given, position == 0))
    }
}

impl Given {
    /// How long it will take further, seconds, as far as anybody can know: when it is overdue, half
    /// as long as it has taken.
    pub(super) fn left(&self, now: Instant) -> f64 {
        let taken = now.duration_since(self.begin).as_secs_f64();
        if taken < self.seconds {
            self.seconds - taken
        } else {
            0.5 * (taken - self.seconds)
        }
    }
}
