//! A thread's next order, and what becomes of operations that nobody needs or can compute.

use super::center::State;
use super::devices::{Condition, DeviceState, Given};
use super::error::ScheduleError;
use super::job::Job;
use crate::error::Error;
use cltune_core::tasks::{OperationEnd, TaskId, Turn, is_worth_repeating, takes};
use std::sync::Arc;
use std::time::Instant;

/// What a device is to do next.
pub(super) enum Order {
    /// To measure an operation's kernel.
    Probe(Arc<Job>),
    /// To compute a task.
    Task(TaskId, Arc<Job>),
    /// Nothing new.
    Nothing,
    /// To end.
    Stop,
}

/// The number of tasks that are compared by what a device has of their operands: enough for the
/// rest of a row and the next one.
const COMPARED: usize = 128;

impl State {
    /// The next order of a device. `is_idle` says whether it has nothing to do, `is_early` whether
    /// it could wait for more, and `missing` how many bytes it has to be sent for a task.
    pub(super) fn order(
        &mut self,
        device: usize,
        is_idle: bool,
        is_early: bool,
        missing: impl Fn(&Job, usize) -> usize,
    ) -> Order {
        if self.is_stopped || self.devices[device].is_lost() {
            return Order::Stop;
        }
        let mut undivided = self.undivided.iter();
        let unknown = undivided.find(|job| !self.devices[device].has_answered(&job.name));
        if let Some(job) = unknown {
            return Order::Probe(Arc::clone(job));
        }
        let now = Instant::now();
        for (operation, job) in &self.jobs {
            let open = self.graph.open(*operation);
            // The last tasks are for those that have nothing else to do.
            let left = if is_early { self.devices.len() } else { 0 };
            if open <= left || !takes(device, open, &self.turns(job, now)) {
                continue;
            }
            let ready = self.graph.ready(*operation).take(COMPARED);
            let rows = self.rows_of_others(device, *operation, job);
            let tile = ready.min_by_key(|tile| {
                let row = job.division().tiles[*tile].first[0];
                (missing(job, *tile), rows.contains(&row))
            });
            let Some(tile) = tile else { continue };
            let (operation, job) = (*operation, Arc::clone(job));
            return self.give(device, TaskId { operation, tile }, job, now);
        }
        match self.repeated(device, now).filter(|_| is_idle) {
            Some((task, job)) => self.give(device, task, job, now),
            None => Order::Nothing,
        }
    }

    /// The rows of tiles that other devices are at: what these have in common is sent to each
    /// device that computes one of them.
    fn rows_of_others(&self, device: usize, operation: u64, job: &Job) -> Vec<usize> {
        let running = self.graph.running();
        let of_others = running
            .filter(|(task, devices)| task.operation == operation && !devices.contains(&device));
        let tiles = &job.division().tiles;
        of_others
            .map(|(task, _)| tiles[task.tile].first[0])
            .collect()
    }

    fn give(&mut self, device: usize, task: TaskId, job: Arc<Job>, now: Instant) -> Order {
        let of = &mut self.devices[device];
        let seconds = of.seconds(&job, 1.0_f64.max(job.division().tiles.len() as f64));
        if !self.graph.begin(task, device) {
            return Order::Nothing;
        }
        self.devices[device].given.push(Given {
            task,
            begin: now,
            seconds: seconds.unwrap_or_default(),
            is_given_up: false,
        });
        Order::Task(task, job)
    }

    /// When each device has a turn with a job.
    fn turns(&self, job: &Job, now: Instant) -> Vec<Option<Turn>> {
        let tiles = job.division().tiles.len() as f64;
        let devices = self.devices.iter();
        devices.map(|of| of.turn(job, tiles, now)).collect()
    }

    /// A task that another device computes, and that this one would end well before.
    fn repeated(&self, device: usize, now: Instant) -> Option<(TaskId, Arc<Job>)> {
        let mut running = self.graph.running();
        running.find_map(|(task, devices)| {
            let [other] = devices else { return None };
            let job = self.jobs.get(&task.operation)?;
            // What it reads may be overwritten meanwhile.
            if *other == device || job.shape.reads_outputs() {
                return None;
            }
            let given = &self.devices[*other].given;
            let before = given.iter().take_while(|given| given.task != task);
            let own = given.iter().find(|given| given.task == task)?;
            let left: f64 = before.chain([own]).map(|given| given.left(now)).sum();
            let here = self.devices[device].seconds(job, 1.0)?;
            is_worth_repeating(here, left).then(|| (task, Arc::clone(job)))
        })
    }

    /// Whether all is known that an operation's blocks depend on. A device with memory of its own
    /// does not wait for what the host's processor can do.
    pub(super) fn can_divide(&self, job: &Job) -> bool {
        let is_there = |of: &&DeviceState| of.is_able(&job.name) && !of.is_resting;
        let able = || self.devices.iter().filter(is_there);
        let has_fast = able().any(|of| of.has_own_memory);
        let awaited = || able().filter(|of| of.has_own_memory || !has_fast);
        awaited().count() > 0 && awaited().all(|of| of.has_answered(&job.name))
    }

    /// An operation has left the graph.
    pub(super) fn forget(&mut self, operation: u64, ended: Option<OperationEnd>) {
        if ended.is_some() {
            self.jobs.remove(&operation);
        }
    }

    /// For each result of an operation that is being computed, whether anybody needs it: the
    /// program, or a later operation.
    pub(super) fn needed_results(&self, operation: u64, job: &Job) -> Vec<bool> {
        let is_needed = |matrix: u64| {
            self.held.contains_key(&matrix)
                || self.graph.is_read_after(operation, matrix)
                || self.undivided.iter().any(|job| job.reads(matrix))
        };
        let targets = job.targets.iter();
        targets.map(|target| is_needed(target.core.id)).collect()
    }

    /// Gives up operations of which nobody needs any result. The jobs are to be dropped where the
    /// state is not locked.
    pub(super) fn drop_unneeded(&mut self) -> Vec<Arc<Job>> {
        let mut dropped = Vec::new();
        for position in (0..self.undivided.len()).rev() {
            let later = self.undivided.range(position + 1..);
            let is_needed = self.undivided[position].targets.iter().any(|target| {
                let matrix = target.core.id;
                self.held.contains_key(&matrix) || later.clone().any(|job| job.reads(matrix))
            });
            if !is_needed {
                dropped.extend(self.undivided.remove(position));
            }
        }
        let undivided = &self.undivided;
        let is_needed = |matrix: u64| {
            self.held.contains_key(&matrix) || undivided.iter().any(|job| job.reads(matrix))
        };
        for operation in self.graph.unneeded(is_needed) {
            dropped.extend(self.abandon(operation));
        }
        dropped
    }

    /// Gives an operation up.
    fn abandon(&mut self, operation: u64) -> Option<Arc<Job>> {
        let job = self.jobs.get(&operation).cloned();
        let ended = self.graph.abandon(operation);
        self.forget(operation, ended);
        job
    }

    /// Gives all operations up, because the scheduler ends.
    pub(super) fn give_all_up(&mut self) -> Vec<Arc<Job>> {
        let operations: Vec<u64> = self.graph.operations().collect();
        let given_up = operations
            .into_iter()
            .filter_map(|operation| self.abandon(operation));
        let mut jobs: Vec<Arc<Job>> = given_up.collect();
        jobs.extend(self.undivided.drain(..));
        for job in &jobs {
            self.has_no_values(
                job,
                "its scheduler was dropped before it had ended; call `finish` before",
            );
        }
        jobs
    }

    /// An operation cannot be computed, and neither can those that need its result.
    pub(super) fn fail(&mut self, operation: u64, error: ScheduleError) {
        let reason = error.to_string();
        let dependents = self.graph.dependents(operation);
        for failed in std::iter::once(operation).chain(dependents) {
            if let Some(job) = self.abandon(failed) {
                self.has_no_values(&job, &reason);
                self.spoil_readers(&job, &reason);
            }
        }
        self.error.get_or_insert(error);
    }

    /// The same of one whose blocks have not been chosen.
    pub(super) fn fail_undivided(&mut self, job: &Arc<Job>, error: ScheduleError) {
        self.undivided.retain(|other| !Arc::ptr_eq(other, job));
        self.spoil(job, error);
    }

    /// An operation that is in no list any more has failed.
    pub(super) fn spoil(&mut self, job: &Job, error: ScheduleError) {
        let reason = error.to_string();
        self.has_no_values(job, &reason);
        self.spoil_readers(job, &reason);
        self.error.get_or_insert(error);
    }

    /// The results of an operation have no values.
    pub(super) fn has_no_values(&mut self, job: &Job, reason: &str) {
        for target in &job.targets {
            self.spoilt.insert(target.core.id, reason.to_owned());
        }
    }

    /// Gives up what was to read a result of an operation that has no values.
    fn spoil_readers(&mut self, failed: &Job, reason: &str) {
        let results = |job: &Job| job.targets.iter().map(|of| of.core.id).collect::<Vec<_>>();
        let mut matrices = results(failed);
        let mut kept = std::collections::VecDeque::new();
        for job in std::mem::take(&mut self.undivided) {
            if matrices.iter().any(|matrix| job.reads(*matrix)) {
                matrices.extend(results(&job));
                self.has_no_values(&job, reason);
            } else {
                kept.push_back(job);
            }
        }
        self.undivided = kept;
    }

    /// A device is lost.
    pub(super) fn lose(&mut self, device: usize, error: &Error) {
        let of = &mut self.devices[device];
        of.condition = Condition::Lost(error.clone());
        of.given.clear();
        let name = of.device.to_string();
        // What was overwritten in part cannot be computed again.
        let writing: Vec<u64> = self.graph.writing(device).collect();
        for operation in writing {
            let job = self
                .jobs
                .get(&operation)
                .filter(|job| job.shape.reads_outputs());
            if let Some(job) = job {
                let error = ScheduleError::PartlyOverwritten {
                    operation: job.name.clone(),
                    device: name.clone(),
                    reason: error.to_string(),
                };
                self.fail(operation, error);
            }
        }
        self.graph.give_back(device);
        let graph = &self.graph;
        self.jobs.retain(|operation, _| graph.has(*operation));
        self.fail_impossible();
    }

    /// Fails what no device can compute any more.
    pub(super) fn fail_impossible(&mut self) {
        let impossible = |state: &Self, job: &Job| {
            let is_divided = job.division.get().is_some();
            let mut devices = state.devices.iter();
            devices.all(|of| {
                let has_no_room =
                    is_divided && of.facts(&job.name).is_some_and(|facts| !job.fits(&facts));
                !of.is_able(&job.name) || has_no_room
            })
        };
        let error = |state: &Self, job: &Job| ScheduleError::NoDeviceLeft {
            operation: job.name.clone(),
            reasons: state
                .devices
                .iter()
                .map(|of| of.reason(&job.name))
                .collect(),
        };
        let jobs: Vec<(u64, Arc<Job>)> = self
            .jobs
            .iter()
            .map(|(operation, job)| (*operation, Arc::clone(job)))
            .collect();
        for (operation, job) in jobs {
            if self.graph.has(operation) && impossible(self, &job) {
                let error = error(self, &job);
                self.fail(operation, error);
            }
        }
        for job in self.undivided.clone() {
            if impossible(self, &job) {
                let error = error(self, &job);
                self.fail_undivided(&job, error);
            }
        }
    }
}
