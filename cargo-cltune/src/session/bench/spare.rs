//! Workers that have nothing to do, for the next search: their drivers have started, and they have contexts,
//! which on a GPU takes longer than measuring many a configuration does.

use super::lane::lock;
use crate::worker::Worker;
use std::sync::{Arc, Mutex};
use std::thread::Builder;

/// The idle workers of a session, for whoever asks first. They end with the last clone of this.
#[derive(Clone, Debug, Default)]
pub(crate) struct Spare(Arc<Mutex<Idle>>);

#[derive(Debug, Default)]
struct Idle {
    /// Those that measure, and how many configurations they have measured.
    measuring: Vec<(Worker, usize)>,
    /// Those that build.
    building: Vec<Worker>,
}

impl Spare {
    /// With a worker that has only listed the devices.
    pub(super) fn new(worker: Worker) -> Self {
        let spare = Self::default();
        spare.give_measuring(worker, 0);
        spare
    }

    pub(super) fn take_measuring(&self) -> Option<(Worker, usize)> {
        lock(&self.0).measuring.pop()
    }

    /// Takes a worker that measured so many configurations.
    pub(super) fn give_measuring(&self, worker: Worker, measured: usize) {
        lock(&self.0).measuring.push((worker, measured));
    }

    pub(super) fn take_building(&self) -> Option<Worker> {
        lock(&self.0).building.pop()
    }

    pub(super) fn give_building(&self, worker: Worker) {
        lock(&self.0).building.push(worker);
    }
}

impl Drop for Idle {
    /// All at the same time: a GPU driver takes a while to end each.
    fn drop(&mut self) {
        let measuring = self.measuring.drain(..).map(|(worker, _)| worker);
        for worker in measuring.chain(self.building.drain(..)) {
            // A thread that is refused drops it as well.
            drop(Builder::new().spawn(move || drop(worker)));
        }
    }
}
