//! The graph of tasks: which waits for which, and what becomes of them.
//!
//! A task computes a tile of the results of an operation. It waits for the tasks of earlier
//! operations that write what it reads, that read what it writes, or that write the same.

use super::blocks::Rect;
use std::collections::{BTreeMap, BTreeSet};

/// A part of a matrix that a task reads or writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Access {
    /// The matrix.
    pub matrix: u64,
    /// The part of it.
    pub rect: Rect,
}

impl Access {
    fn overlaps(&self, other: &Self) -> bool {
        self.matrix == other.matrix && self.rect.overlaps(&other.rect)
    }
}

/// A task: an operation and a tile of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct TaskId {
    /// The operation.
    pub operation: u64,
    /// The position of the tile among its tiles.
    pub tile: usize,
}

/// How an operation has left the graph.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OperationEnd {
    /// All of its tasks have ended.
    Done,
    /// It was given up: nobody needs its results, or it cannot be computed.
    Abandoned,
}

/// Operations that have not ended, divided into tasks.
#[derive(Debug, Default)]
pub struct Graph {
    operations: BTreeMap<u64, Operation>,
    next: u64,
}

#[derive(Debug)]
struct Operation {
    tasks: Vec<Task>,
    /// Those that can begin.
    ready: BTreeSet<usize>,
    /// The number of those that have not ended.
    left: usize,
    /// Whether nobody needs it any more, but results are still being written.
    is_abandoned: bool,
    /// The matrices that are read and written.
    reads: BTreeSet<u64>,
    writes: BTreeSet<u64>,
}

#[derive(Debug)]
struct Task {
    reads: Vec<Access>,
    writes: Vec<Access>,
    state: State,
    /// The number of tasks that have to end before.
    waits: usize,
    /// Those that wait for it.
    successors: Vec<TaskId>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
enum State {
    /// Nobody computes it.
    Open,
    /// These devices do.
    Running(Vec<usize>),
    /// This device writes the results.
    Writing(usize),
    Done,
}

impl Graph {
    /// Adds an operation, whose tasks read and write these parts of matrices, all of them parts of
    /// the same matrices written. Returns its number; later operations have larger ones.
    pub fn add(&mut self, tasks: Vec<(Vec<Access>, Vec<Access>)>) -> u64 {
        let number = self.next;
        self.next += 1;
        let mut operation = Operation {
            left: tasks.len(),
            is_abandoned: false,
            ready: BTreeSet::new(),
            reads: matrices(tasks.iter().flat_map(|(reads, _)| reads)),
            writes: matrices(tasks.iter().flat_map(|(_, writes)| writes)),
            tasks: tasks.into_iter().map(Task::new).collect(),
        };
        for (&earlier, before) in &mut self.operations {
            if !before.concerns(&operation) {
                continue;
            }
            for (tile, task) in operation.tasks.iter_mut().enumerate() {
                let id = TaskId {
                    operation: number,
                    tile,
                };
                task.wait_for(id, before);
            }
            debug_assert!(earlier < number);
        }
        let tasks = operation.tasks.iter().enumerate();
        let ready = tasks.filter(|(_, task)| task.waits == 0);
        operation.ready = ready.map(|(tile, _)| tile).collect();
        self.operations.insert(number, operation);
        number
    }

    /// The operations that have not ended, in order.
    pub fn operations(&self) -> impl DoubleEndedIterator<Item = u64> {
        self.operations.keys().copied()
    }

    /// Whether an operation has not ended.
    pub fn has(&self, operation: u64) -> bool {
        self.operations.contains_key(&operation)
    }

    /// Whether an operation after this one that has not ended reads a matrix.
    pub fn is_read_after(&self, operation: u64, matrix: u64) -> bool {
        let mut later = self.operations.range(operation + 1..);
        later.any(|(_, later)| later.reads.contains(&matrix))
    }

    /// Whether an operation that has not ended reads or writes a matrix.
    pub fn uses(&self, matrix: u64) -> bool {
        let mut operations = self.operations.values();
        operations.any(|of| of.writes.contains(&matrix) || of.reads.contains(&matrix))
    }

    /// Whether an operation that has not ended writes a matrix.
    pub fn writes(&self, matrix: u64) -> bool {
        let mut operations = self.operations.values();
        operations.any(|operation| operation.writes.contains(&matrix))
    }

    /// The tiles of an operation that can begin and that nobody computes, in order.
    pub fn ready(&self, operation: u64) -> impl Iterator<Item = usize> {
        let operation = self.operations.get(&operation);
        operation
            .into_iter()
            .flat_map(|of| of.ready.iter().copied())
    }

    /// The number of tasks of an operation that nobody computes, those included that cannot begin.
    pub fn open(&self, operation: u64) -> usize {
        let is_open = |task: &&Task| task.state == State::Open;
        self.operations
            .get(&operation)
            .map_or(0, |of| of.tasks.iter().filter(is_open).count())
    }

    /// The tasks that devices compute and whose results nobody writes yet, each with the devices.
    pub fn running(&self) -> impl Iterator<Item = (TaskId, &[usize])> {
        self.operations.iter().flat_map(|(number, operation)| {
            let tasks = operation.tasks.iter().enumerate();
            tasks.filter_map(|(tile, task)| match &task.state {
                State::Running(devices) => {
                    let operation = *number;
                    Some((TaskId { operation, tile }, devices.as_slice()))
                }
                _ => None,
            })
        })
    }

    /// The operations of which a device writes results.
    pub fn writing(&self, device: usize) -> impl Iterator<Item = u64> {
        let is_writing = move |(_, of): &(&u64, &Operation)| {
            of.tasks
                .iter()
                .any(|task| task.state == State::Writing(device))
        };
        self.operations
            .iter()
            .filter(is_writing)
            .map(|(number, _)| *number)
    }

    /// Gives a task to a device: one that is ready, or one that another device computes, too.
    /// Whether it is to be computed there.
    pub fn begin(&mut self, id: TaskId, device: usize) -> bool {
        let Some(operation) = self.operations.get_mut(&id.operation) else {
            return false;
        };
        let is_ready = operation.ready.remove(&id.tile);
        match operation.tasks.get_mut(id.tile).map(|task| &mut task.state) {
            Some(state @ State::Open) if is_ready => {
                *state = State::Running(vec![device]);
                true
            }
            Some(State::Running(devices)) if !devices.contains(&device) => {
                devices.push(device);
                true
            }
            _ => false,
        }
    }

    /// Asks for a device to write the results of its task, all of them. No other device writes any
    /// if this is true; if not, another one does, or nobody needs them.
    pub fn commit(&mut self, id: TaskId, device: usize) -> bool {
        match self.state(id) {
            Some(state @ State::Running(_)) => {
                let State::Running(devices) = &*state else {
                    return false;
                };
                let is_its = devices.contains(&device);
                if is_its {
                    *state = State::Writing(device);
                }
                is_its
            }
            _ => false,
        }
    }

    /// Ends a task whose results are there. Returns the end of its operation if that was its last.
    pub fn end(&mut self, id: TaskId) -> Option<OperationEnd> {
        let state = self.state(id)?;
        if *state == State::Done {
            return None;
        }
        *state = State::Done;
        let operation = self.operations.get_mut(&id.operation)?;
        operation.left -= 1;
        let is_last = operation.left == 0;
        let successors = std::mem::take(&mut operation.tasks[id.tile].successors);
        self.release(successors);
        if !is_last {
            return None;
        }
        let ended = self.operations.remove(&id.operation)?;
        Some(if ended.is_abandoned {
            OperationEnd::Abandoned
        } else {
            OperationEnd::Done
        })
    }

    /// Takes all tasks from a device that has not ended them, so that others compute them. Results
    /// that it was writing are written once more.
    pub fn give_back(&mut self, device: usize) {
        for operation in self.operations.values_mut() {
            operation.give_back(device);
        }
        let abandoned = self.operations.iter().filter(|(_, of)| of.is_abandoned);
        for operation in abandoned.map(|(number, _)| *number).collect::<Vec<_>>() {
            self.abandon(operation);
        }
    }

    /// Takes the tasks of one operation from a device.
    pub fn give_back_of(&mut self, operation: u64, device: usize) {
        if let Some(operation) = self.operations.get_mut(&operation) {
            operation.give_back(device);
        }
    }

    /// Gives an operation up: nobody needs its results, or it cannot be computed. What waits for it
    /// need not wait any more, except for results that are being written. Returns the end of the
    /// operation if there are none of these.
    pub fn abandon(&mut self, operation: u64) -> Option<OperationEnd> {
        let of = self.operations.get_mut(&operation)?;
        of.is_abandoned = true;
        of.ready.clear();
        let mut successors = Vec::new();
        for task in &mut of.tasks {
            if matches!(task.state, State::Open | State::Running(_)) {
                task.state = State::Done;
                of.left -= 1;
                successors.append(&mut task.successors);
            }
        }
        let is_empty = of.left == 0;
        self.release(successors);
        is_empty.then(|| {
            self.operations.remove(&operation);
            OperationEnd::Abandoned
        })
    }

    /// Whether a device is to go on with a task that it was given.
    pub fn is_wanted(&self, id: TaskId, device: usize) -> bool {
        let operation = self.operations.get(&id.operation);
        match operation
            .and_then(|of| of.tasks.get(id.tile))
            .map(|task| &task.state)
        {
            Some(State::Running(devices)) => devices.contains(&device),
            _ => false,
        }
    }

    /// The operations that read what an operation writes, or what these write, and come later.
    pub fn dependents(&self, operation: u64) -> Vec<u64> {
        let of = self.operations.get(&operation);
        let mut matrices = of.map(|of| of.writes.clone()).unwrap_or_default();
        let mut found = Vec::new();
        for (number, later) in self.operations.range(operation + 1..) {
            if !later.reads.is_disjoint(&matrices) {
                matrices.extend(&later.writes);
                found.push(*number);
            }
        }
        found
    }

    /// The operations of which nobody needs any result: no operation reads one, and `is_held` says
    /// that the program does not. What only such operations read is not needed either.
    pub fn unneeded(&self, is_held: impl Fn(u64) -> bool) -> Vec<u64> {
        let mut found = BTreeSet::new();
        for (number, operation) in self.operations.iter().rev() {
            let mut later = self.operations.range(number + 1..);
            let is_read = later.any(|(number, later)| {
                !found.contains(number) && !later.reads.is_disjoint(&operation.writes)
            });
            if !is_read && !operation.writes.iter().any(|matrix| is_held(*matrix)) {
                found.insert(*number);
            }
        }
        found.into_iter().collect()
    }

    fn state(&mut self, id: TaskId) -> Option<&mut State> {
        let operation = self.operations.get_mut(&id.operation)?;
        Some(&mut operation.tasks.get_mut(id.tile)?.state)
    }

    fn release(&mut self, successors: Vec<TaskId>) {
        for id in successors {
            let Some(operation) = self.operations.get_mut(&id.operation) else {
                continue;
            };
            let task = &mut operation.tasks[id.tile];
            task.waits -= 1;
            if task.waits == 0 && task.state == State::Open {
                operation.ready.insert(id.tile);
            }
        }
    }
}

impl Operation {
    fn give_back(&mut self, device: usize) {
        for (tile, task) in self.tasks.iter_mut().enumerate() {
            let is_open = match &mut task.state {
                State::Running(devices) => {
                    devices.retain(|other| *other != device);
                    devices.is_empty()
                }
                State::Writing(writer) => *writer == device,
                State::Open | State::Done => false,
            };
            if is_open {
                task.state = State::Open;
                if !self.is_abandoned {
                    self.ready.insert(tile);
                }
            }
        }
    }

    /// Whether one of them may have to wait for the other.
    fn concerns(&self, later: &Self) -> bool {
        !later.reads.is_disjoint(&self.writes)
            || !self.reads.is_disjoint(&later.writes)
            || !self.writes.is_disjoint(&later.writes)
    }
}

impl Task {
    fn new((reads, writes): (Vec<Access>, Vec<Access>)) -> Self {
        Self {
            reads,
            writes,
            state: State::Open,
            waits: 0,
            successors: Vec::new(),
        }
    }

    /// Lets this one, whose number is `id`, wait for tasks of an earlier operation.
    fn wait_for(&mut self, id: TaskId, before: &mut Operation) {
        let earlier = before.tasks.iter_mut();
        for task in earlier.filter(|task| task.state != State::Done) {
            let reads_result = overlap(&self.reads, &task.writes);
            let overwrites = overlap(&task.reads, &self.writes);
            if reads_result || overwrites || overlap(&task.writes, &self.writes) {
                task.successors.push(id);
                self.waits += 1;
            }
        }
    }
}

/// The matrices of parts.
fn matrices<'a>(accesses: impl Iterator<Item = &'a Access>) -> BTreeSet<u64> {
    accesses.map(|access| access.matrix).collect()
}

/// Whether an element belongs to parts of both lists.
fn overlap(some: &[Access], others: &[Access]) -> bool {
    some.iter()
        .any(|one| others.iter().any(|other| one.overlaps(other)))
}

#[cfg(test)]
#[path = "../../tests/unit/tasks_graph.rs"]
mod tests;
