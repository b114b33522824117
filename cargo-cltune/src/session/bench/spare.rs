//! The worker that listed the devices, for the first search that measures: its drivers have started.

use super::lane::lock;
use crate::worker::Worker;
use std::sync::{Arc, Mutex};

/// At most one worker, for whoever asks first.
#[derive(Clone, Debug, Default)]
pub(crate) struct Spare(Arc<Mutex<Option<Worker>>>);

impl Spare {
    pub(super) fn new(worker: Worker) -> Self {
        Self(Arc::new(Mutex::new(Some(worker))))
    }

    pub(super) fn take(&self) -> Option<Worker> {
        lock(&self.0).take()
    }
}
