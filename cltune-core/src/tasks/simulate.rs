//! The scheduler with devices that are made up: for tests, and for how the rate grows with devices
//! that nobody has.

use super::blocks::{Cut, Shape};
use super::cost::{Cost, DeviceFacts};
use super::graph::{Access, Graph, TaskId};
use super::sizes::{PlanError, choose};
use super::turns::{Turn, is_worth_repeating, takes};
use std::collections::BTreeSet;

/// A device that is made up.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct SimulatedDevice {
    /// What the scheduler believes of it.
    pub facts: DeviceFacts,
    /// The factor by which it takes longer than the scheduler believes.
    pub slower: f64,
    /// When it fails, seconds from the beginning; infinite for never.
    pub fails: f64,
}

/// Devices and the memory that they share.
#[derive(Clone, Debug, PartialEq)]
pub struct Machine {
    /// The devices.
    pub devices: Vec<SimulatedDevice>,
    /// What the host's memory moves for all of them, bytes per second.
    pub host: f64,
}

/// What came of a task.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Event {
    /// The device.
    pub device: usize,
    /// The position of the task among the tiles.
    pub tile: usize,
    /// When it began and ended, seconds from the beginning.
    pub span: [f64; 2],
    /// Whether its result was taken: not where the device failed, or another one was faster.
    pub is_taken: bool,
}

/// A simulated operation.
#[derive(Clone, Debug, PartialEq)]
pub struct SimulatedRun {
    /// The blocks.
    pub cut: Cut,
    /// When all results were there, seconds; infinite if no device was left.
    pub seconds: f64,
    /// What the devices did, in the order of the ends.
    pub events: Vec<Event>,
    /// The part of what the host's memory can move that was moved.
    pub host_load: f64,
}

/// A task under way.
#[derive(Clone, Copy, Debug)]
struct Running {
    task: TaskId,
    device: usize,
    begin: f64,
    end: f64,
    /// The end as the scheduler expects it.
    expected: f64,
}

/// Runs an operation.
///
/// # Errors
/// [`PlanError`] when no device has the memory for the smallest blocks.
pub fn simulate(shape: &Shape, machine: &Machine) -> Result<SimulatedRun, PlanError> {
    let facts: Vec<DeviceFacts> = machine.devices.iter().map(|of| of.facts).collect();
    let plan = choose(shape, &facts, machine.host)?;
    let tiles = shape.tiles(plan.cut);
    let mut graph = Graph::default();
    let task = |tile| {
        let outputs = shape.outputs.iter().zip(0..);
        let writes = outputs.map(|(output, matrix)| Access {
            matrix,
            rect: shape.result_rect(&output.operand, tile),
        });
        (Vec::new(), writes.collect())
    };
    let operation = graph.add(tiles.iter().map(task).collect());
    let mut simulation = Simulation {
        machine,
        costs: plan.costs,
        graph,
        operation,
        across: shape.counts(plan.cut)[1],
        seen: vec![Seen::default(); machine.devices.len()],
        is_lost: vec![false; machine.devices.len()],
        running: Vec::new(),
        events: Vec::new(),
    };
    let (seconds, traffic) = simulation.run();
    Ok(SimulatedRun {
        cut: plan.cut,
        seconds,
        events: simulation.events,
        host_load: traffic / seconds / machine.host,
    })
}

/// What a device has had of the operands.
#[derive(Clone, Debug, Default)]
struct Seen {
    /// The row of its last tile.
    row: Option<usize>,
    /// The positions of its tiles in their rows.
    columns: BTreeSet<usize>,
}

struct Simulation<'m> {
    machine: &'m Machine,
    costs: Vec<Option<Cost>>,
    graph: Graph,
    operation: u64,
    /// The tiles of a row.
    across: usize,
    seen: Vec<Seen>,
    is_lost: Vec<bool>,
    running: Vec<Running>,
    events: Vec<Event>,
}

impl Simulation<'_> {
    /// The time when all has ended, and the bytes that were moved.
    fn run(&mut self) -> (f64, f64) {
        let (mut now, mut traffic) = (0.0_f64, 0.0);
        while self.graph.has(self.operation) {
            while self.give(now) {}
            let ends = self.running.iter().map(|of| of.end);
            let fails = self.machine.devices.iter().zip(&self.is_lost);
            let fails = fails.filter(|(_, is_lost)| !**is_lost);
            let fails = fails.map(|(device, _)| device.fails);
            let next = ends.chain(fails).fold(f64::INFINITY, f64::min);
            if next.is_infinite() {
                return (f64::INFINITY, traffic);
            }
            now = now.max(next);
            self.fail(now);
            traffic += self.end(now);
        }
        let drain = self.events.last();
        let drain = drain.and_then(|event| self.costs[event.device]);
        (now + drain.map_or(0.0, |cost| cost.end), traffic)
    }

    /// Gives an idle device a task; whether there was one for any.
    fn give(&mut self, now: f64) -> bool {
        let turns: Vec<Option<Turn>> = (0..self.costs.len()).map(|of| self.turn(of, now)).collect();
        for device in 0..turns.len() {
            let is_idle = !self.running.iter().any(|of| of.device == device);
            let Some(Some(turn)) = turns.get(device).filter(|_| is_idle) else {
                continue;
            };
            let open = self.graph.open(self.operation);
            let tile = self.nearest(device);
            let tile = tile.filter(|_| takes(device, open, &turns));
            let Some(tile) = tile.or_else(|| self.repeated(device, now, turn.task)) else {
                continue;
            };
            let task = TaskId {
                operation: self.operation,
                tile,
            };
            if self.graph.begin(task, device) {
                self.start(task, device, now, turn.task);
                return true;
            }
        }
        false
    }

    /// A task of another device that this one would end well before.
    fn repeated(&self, device: usize, now: f64, here: f64) -> Option<usize> {
        let running = self.running.iter().filter(|of| {
            let computing = self.running.iter().filter(|other| other.task == of.task);
            of.device != device && computing.count() == 1
        });
        let is_worth = |of: &&Running| is_worth_repeating(here, left(of, now));
        running.filter(is_worth).map(|of| of.task.tile).next()
    }

    /// The tile of which a device has the most already, as the run time chooses it: rather not in
    /// a row that another device is at.
    fn nearest(&self, device: usize) -> Option<usize> {
        let others = self.running.iter().filter(|of| of.device != device);
        let rows: BTreeSet<usize> = others.map(|of| of.task.tile / self.across).collect();
        let ready = self.graph.ready(self.operation);
        ready.min_by(|one, other| {
            let key = |tile: usize| {
                (
                    self.seconds(device, tile),
                    rows.contains(&(tile / self.across)),
                )
            };
            let (one, other) = (key(*one), key(*other));
            one.0.total_cmp(&other.0).then(one.1.cmp(&other.1))
        })
    }

    /// How long a tile takes on a device with what it has of the operands.
    fn seconds(&self, device: usize, tile: usize) -> f64 {
        let (row, column) = (tile / self.across, tile % self.across);
        let seen = &self.seen[device];
        let is_later = [seen.columns.contains(&column), seen.row == Some(row)];
        let [row, position] = is_later.map(usize::from);
        self.costs[device].map_or(f64::INFINITY, |cost| cost.tiles[row][position])
    }

    fn start(&mut self, task: TaskId, device: usize, now: f64, expected: f64) {
        let seconds = self.seconds(device, task.tile);
        let seen = &mut self.seen[device];
        let is_first = seen.row.replace(task.tile / self.across).is_none();
        seen.columns.insert(task.tile % self.across);
        let begin = self.costs[device].map_or(0.0, |cost| cost.begin);
        let begin = if is_first { now + begin } else { now };
        self.running.push(Running {
            task,
            device,
            begin,
            end: begin + seconds * self.machine.devices[device].slower,
            expected: begin + expected,
        });
    }

    fn turn(&self, device: usize, now: f64) -> Option<Turn> {
        let cost = self.costs[device].filter(|_| !self.is_lost[device])?;
        let own = self.running.iter().filter(|of| of.device == device);
        let free = own.map(|of| left(of, now)).fold(0.0, f64::max);
        let has_begun = self.seen[device].row.is_some();
        let begin = if has_begun { 0.0 } else { cost.begin };
        Some(Turn {
            free: free + begin,
            task: cost.tile,
        })
    }

    /// Devices that fail now lose their tasks to others.
    fn fail(&mut self, now: f64) {
        for device in 0..self.is_lost.len() {
            if self.is_lost[device] || self.machine.devices[device].fails > now {
                continue;
            }
            self.is_lost[device] = true;
            self.graph.give_back(device);
            let lost = self.running.extract_if(.., |of| of.device == device);
            self.events.extend(lost.map(|of| of.event(now, false)));
        }
    }

    /// Ends what has ended; the bytes that were moved.
    fn end(&mut self, now: f64) -> f64 {
        let ended: Vec<Running> = self.running.extract_if(.., |of| of.end <= now).collect();
        let mut traffic = 0.0;
        for of in ended {
            let is_taken = self.graph.commit(of.task, of.device);
            if is_taken {
                self.graph.end(of.task);
            }
            self.events.push(of.event(of.end, is_taken));
            traffic += self.costs[of.device].map_or(0.0, |cost| cost.traffic);
        }
        traffic
    }
}

impl Running {
    const fn event(&self, end: f64, is_taken: bool) -> Event {
        Event {
            device: self.device,
            tile: self.task.tile,
            span: [self.begin, end],
            is_taken,
        }
    }
}

/// How long a task takes further, as far as anybody can know: one that is overdue as long as half
/// of what it has taken.
fn left(of: &Running, now: f64) -> f64 {
    if of.expected > now {
        of.expected - now
    } else {
        0.5 * (now - of.begin)
    }
}

#[cfg(test)]
#[path = "../../tests/unit/tasks_simulate.rs"]
mod tests;
