//! The state that the program and the threads of all devices share.

use super::devices::{Condition, DeviceState};
use super::error::ScheduleError;
use super::host_budget::HostBudget;
use super::job::Job;
use super::report::{Progress, RunReport, Totals};
use super::timeline::Span;
use crate::error::Error;
use cltune_core::tasks::{DeviceFacts, Plan, Shape, TaskId, choose};
use std::collections::{BTreeMap, HashMap, VecDeque};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

/// How often idle devices look for tasks of others that are overdue.
const OVERDUE: Duration = Duration::from_millis(20);

/// The number of operations whose blocks are remembered: to choose them takes milliseconds.
const PLANS: usize = 16;

/// The state with what waits for it.
#[derive(Debug)]
pub(super) struct Center {
    id: u64,
    /// What the host's memory moves for all devices, bytes per second.
    host_rate: f64,
    /// Bytes of matrices, and the most there may be.
    host: Arc<HostBudget>,
    /// When times of reports begin.
    epoch: Instant,
    state: Mutex<State>,
    changed: Condvar,
}

/// Everything that changes.
pub(super) struct State {
    pub(super) graph: cltune_core::tasks::Graph,
    /// Operations in the graph.
    pub(super) jobs: BTreeMap<u64, Arc<Job>>,
    /// Operations whose blocks have not been chosen, in order.
    pub(super) undivided: VecDeque<Arc<Job>>,
    /// The blocks that were chosen last, with what they were chosen for.
    plans: VecDeque<(Shape, Vec<DeviceFacts>, Plan)>,
    pub(super) devices: Vec<DeviceState>,
    /// Handles of the program, by matrix.
    pub(super) held: HashMap<u64, usize>,
    /// Matrices that an operation which failed was to write.
    pub(super) spoilt: HashMap<u64, String>,
    /// The first error since the last `finish`.
    pub(super) error: Option<ScheduleError>,
    pub(super) is_stopped: bool,
    /// When the present run began, and its work.
    begun: Option<Instant>,
    work: [f64; 2],
    spans: Vec<Span>,
}

impl std::fmt::Debug for State {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("State")
            .field("graph", &self.graph)
            .finish_non_exhaustive()
    }
}

impl Center {
    pub(super) fn new(devices: Vec<DeviceState>, host_limit: usize, host_rate: f64) -> Arc<Self> {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Arc::new(Self {
            id: NEXT.fetch_add(1, Ordering::Relaxed),
            host_rate,
            host: HostBudget::new(host_limit),
            epoch: Instant::now(),
            state: Mutex::new(State {
                graph: cltune_core::tasks::Graph::default(),
                jobs: BTreeMap::new(),
                undivided: VecDeque::new(),
                plans: VecDeque::new(),
                devices,
                held: HashMap::new(),
                spoilt: HashMap::new(),
                error: None,
                is_stopped: false,
                begun: None,
                work: [0.0; 2],
                spans: Vec::new(),
            }),
            changed: Condvar::new(),
        })
    }

    /// The memory of the host that matrices may take.
    pub(super) const fn host(&self) -> &Arc<HostBudget> {
        &self.host
    }

    pub(super) const fn id(&self) -> u64 {
        self.id
    }

    pub(super) const fn epoch(&self) -> Instant {
        self.epoch
    }

    pub(super) fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Changes the state and wakes who waits.
    pub(super) fn change<R>(&self, change: impl FnOnce(&mut State) -> R) -> R {
        let result = change(&mut self.lock());
        self.changed.notify_all();
        result
    }

    /// Waits for the next change.
    pub(super) fn wait<'a>(&self, state: MutexGuard<'a, State>) -> MutexGuard<'a, State> {
        if state.jobs.is_empty() {
            let state = self.changed.wait(state);
            return state.unwrap_or_else(PoisonError::into_inner);
        }
        // Now and then a task is overdue.
        let state = self.changed.wait_timeout(state, OVERDUE);
        state.unwrap_or_else(PoisonError::into_inner).0
    }

    fn wait_while(&self, condition: impl FnMut(&mut State) -> bool) -> MutexGuard<'_, State> {
        let state = self.changed.wait_while(self.lock(), condition);
        state.unwrap_or_else(PoisonError::into_inner)
    }

    /// A handle of the program more.
    pub(super) fn hold(&self, matrix: u64) {
        *self.lock().held.entry(matrix).or_default() += 1;
    }

    /// A handle less: what nobody needs is given up.
    pub(super) fn release(&self, matrix: u64) {
        let dropped = self.change(|state| {
            if let Some(count) = state.held.get_mut(&matrix) {
                *count -= 1;
                if *count == 0 {
                    state.held.remove(&matrix);
                    state.spoilt.remove(&matrix);
                }
            }
            state.drop_unneeded()
        });
        drop(dropped);
    }

    /// Enqueues an operation. One that reads what an operation was to compute that has failed by
    /// now fails as those do that were enqueued before.
    pub(super) fn enqueue(&self, job: Job) {
        self.change(|state| {
            let mut spoilt = state.spoilt.iter();
            let read = spoilt.find(|(matrix, _)| job.reads(**matrix));
            if let Some(reason) = read.map(|(_, reason)| reason.clone()) {
                state.has_no_values(&job, &reason);
                let error = ScheduleError::NotComputed { reason };
                state.error.get_or_insert(error);
                return;
            }
            state.begun.get_or_insert_with(Instant::now);
            state.work[1] += job.shape.total_work();
            for target in &job.targets {
                state.spoilt.remove(&target.core.id);
            }
            state.undivided.push_back(Arc::new(job));
            state.fail_impossible();
        });
    }

    /// Waits until no operation writes a matrix.
    pub(super) fn wait_until_written(&self, matrix: u64) -> Result<(), ScheduleError> {
        let state = self.wait_while(|state| {
            let mut undivided = state.undivided.iter();
            !state.is_stopped
                && (state.graph.writes(matrix) || undivided.any(|job| job.writes(matrix)))
        });
        match state.spoilt.get(&matrix) {
            Some(reason) => Err(ScheduleError::NotComputed {
                reason: reason.clone(),
            }),
            None => Ok(()),
        }
    }

    /// Hands a matrix to the program once no operation uses it: its values are what the program
    /// writes, also where the operation that was to compute them has failed.
    pub(super) fn hand_over(&self, matrix: u64) {
        let mut state = self.wait_while(|state| {
            let mut undivided = state.undivided.iter();
            let is_used = |job: &Arc<Job>| job.writes(matrix) || job.reads(matrix);
            !state.is_stopped && (state.graph.uses(matrix) || undivided.any(is_used))
        });
        state.spoilt.remove(&matrix);
    }

    /// Waits until all operations have ended.
    pub(super) fn finish(&self) -> Result<RunReport, ScheduleError> {
        let mut state = self.wait_while(|state| {
            !state.is_stopped
                && (state.graph.operations().next().is_some() || !state.undivided.is_empty())
        });
        let elapsed = state.begun.take().map(|begun| begun.elapsed());
        let totals: Vec<Totals> = state
            .devices
            .iter_mut()
            .map(|of| std::mem::take(&mut of.totals))
            .collect();
        let devices = state.devices.iter();
        let devices = devices.map(|of| (of.device.to_string(), lost_reason(of)));
        let report = RunReport::new(
            elapsed.unwrap_or_default(),
            devices.zip(totals).collect(),
            std::mem::take(&mut state.spans),
        );
        state.work = [0.0; 2];
        match state.error.take() {
            Some(error) => Err(error),
            None => Ok(report),
        }
    }

    pub(super) fn progress(&self) -> Progress {
        let state = self.lock();
        // Sums of parts may be a little less than all.
        let has_ended = state.jobs.is_empty() && state.undivided.is_empty();
        Progress {
            done: state.work[usize::from(has_ended)],
            all: state.work[1],
            elapsed: state.begun.map(|begun| begun.elapsed()).unwrap_or_default(),
        }
    }

    /// Ends all threads after their present step, and gives everything up.
    pub(super) fn stop(&self) {
        let dropped = self.change(|state| {
            state.is_stopped = true;
            state.give_all_up()
        });
        drop(dropped);
    }

    /// What was measured of a device before its first task.
    pub(super) fn is_ready(&self, device: usize, rates: cltune_core::tasks::LinkRates) {
        self.change(|state| state.devices[device].condition = Condition::Working(rates));
    }

    /// A device is lost: others do its tasks.
    pub(super) fn lose(&self, device: usize, error: &Error) {
        let name = self.lock().devices[device].device.to_string();
        tracing::warn!(device = name, %error, "a device is lost to the scheduler");
        self.change(|state| state.lose(device, error));
    }

    /// A device cannot compute an operation.
    pub(super) fn refuse(&self, device: usize, operation: Option<u64>, job: &Job, reason: String) {
        self.change(|state| {
            let of = &mut state.devices[device];
            of.is_unable(&job.name, reason);
            if let Some(operation) = operation {
                of.given.retain(|given| given.task.operation != operation);
                state.graph.give_back_of(operation, device);
            }
            state.fail_impossible();
        });
    }

    /// An operation cannot be computed anywhere.
    pub(super) fn fail(&self, operation: Option<u64>, job: &Arc<Job>, error: ScheduleError) {
        self.change(|state| match operation {
            Some(operation) => state.fail(operation, error),
            None => state.fail_undivided(job, error),
        });
    }

    /// Whether a device is to go on with a task.
    pub(super) fn is_wanted(&self, task: TaskId, device: usize) -> bool {
        self.lock().graph.is_wanted(task, device)
    }

    /// Asks for a device to write the results of a task: for each, whether anybody needs it; `None`
    /// where the device is not to write any.
    pub(super) fn commit(&self, task: TaskId, device: usize, job: &Job) -> Option<Vec<bool>> {
        let mut state = self.lock();
        let is_its = state.graph.commit(task, device);
        is_its.then(|| state.needed_results(task.operation, job))
    }

    /// The results of a task are in host memory.
    pub(super) fn end(&self, task: TaskId, device: usize) {
        let job = self.change(|state| {
            let job = state.jobs.get(&task.operation).cloned()?;
            let tiles = job.division().tiles.len();
            state.devices[device].end(task, &job, Instant::now());
            for of in &mut state.devices {
                of.give_up(task);
            }
            state.devices[device].totals.tasks += 1;
            state.devices[device].totals.work += job.shape.total_work() / tiles as f64;
            state.work[0] += job.shape.total_work() / tiles as f64;
            let ended = state.graph.end(task);
            state.forget(task.operation, ended);
            Some(job)
        });
        drop(job);
    }

    /// A device has given a task up that nobody needs from it.
    pub(super) fn leave(&self, task: TaskId, device: usize) {
        self.change(|state| state.devices[device].leave(task, Instant::now()));
    }

    /// Adds to the report.
    pub(super) fn record(
        &self,
        device: usize,
        spans: &mut Vec<Span>,
        add: impl FnOnce(&mut Totals),
    ) {
        let mut state = self.lock();
        add(&mut state.devices[device].totals);
        state.spans.append(spans);
    }

    /// Chooses blocks for operations whose turn has come.
    pub(super) fn divide(&self, state: &mut State) {
        while let Some(job) = state.undivided.front() {
            if !state.can_divide(job) {
                return;
            }
            let facts = facts(&state.devices, &job.name);
            let Some(job) = state.undivided.pop_front() else {
                return;
            };
            let known = state.plans.iter();
            let known = known
                .filter(|(shape, of, _)| *shape == job.shape && *of == facts)
                .map(|(_, _, plan)| plan.clone())
                .next();
            let is_new = known.is_none();
            let chosen = known.map_or_else(|| choose(&job.shape, &facts, self.host_rate), Ok);
            match chosen {
                Ok(plan) => {
                    if is_new {
                        state.plans.truncate(PLANS - 1);
                        state
                            .plans
                            .push_front((job.shape.clone(), facts, plan.clone()));
                    }
                    let division = job.division.get_or_init(|| job.divide(plan.cut));
                    let tiles = division.tiles.iter();
                    let tasks = tiles.map(|tile| job.accesses(tile)).collect();
                    let operation = state.graph.add(tasks);
                    let (name, cut, seconds) = (job.name.as_str(), &plan.cut, plan.seconds);
                    tracing::debug!(operation = name, ?cut, seconds, "divided");
                    state.jobs.insert(operation, job);
                }
                Err(reason) => {
                    let operation = job.name.clone();
                    let error = ScheduleError::Blocks { operation, reason };
                    state.spoil(&job, error);
                }
            }
            self.changed.notify_all();
        }
    }
}

/// What decides about the blocks of an operation. Devices of one kind count as equal: what differs
/// between them is noise of measurements, and so would blocks.
fn facts(devices: &[DeviceState], kernel: &str) -> Vec<DeviceFacts> {
    let of = |device: &DeviceState| {
        let own = device.facts(kernel)?;
        let info = device.device.info();
        let alike = devices.iter().filter(|other| {
            let other = other.device.info();
            (&other.platform, &other.name, &other.driver)
                == (&info.platform, &info.name, &info.driver)
        });
        let (mut rates, mut speed) = (own.rates, own.speed);
        for other in alike {
            if let Some(links) = other.links() {
                rates = rates.faster(links);
            }
            let known = other.kernel_speed(kernel);
            speed = speed.into_iter().chain(known).reduce(f64::max);
        }
        Some(DeviceFacts {
            rates,
            speed,
            ..own
        })
    };
    let able = devices.iter().filter(|device| device.is_able(kernel));
    able.filter_map(of).collect()
}

fn lost_reason(of: &DeviceState) -> Option<String> {
    match &of.condition {
        Condition::Lost(error) => Some(error.to_string()),
        _ => None,
    }
}
