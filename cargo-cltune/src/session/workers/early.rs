//! Workers that start when a session does, while packages are built: one that lists the devices and
//! will measure, and those that will build. Each opens a context of the device that is likely to be
//! tuned first.

use super::compile::{ENVIRONMENT, Gate};
use super::idle::{IdleWorkers, Starting};
use super::start::{WorkerError, list_in_worker};
use crate::plan::tuned_first;
use crate::threads::{Work, begin};
use crate::worker::{DeviceRecord, Request, Response, Worker, WorkerFailure};
use std::sync::Arc;
use std::time::Duration;

/// The devices, and the worker that listed them.
type Listed = Result<(Vec<DeviceRecord>, Starting), WorkerError>;

/// The workers that a session begins with.
pub(crate) struct EarlyWorkers {
    listing: Work<Listed>,
    to_build: Vec<Starting>,
}

impl EarlyWorkers {
    /// Starts them: one that measures, and so many that build, as many at a time as `gate` lets in.
    /// `filters` are those for devices.
    pub(crate) fn start(filters: &[String], builders: usize, gate: &Gate) -> Self {
        let filters: Arc<[String]> = filters.into();
        let of_listing = Arc::clone(&filters);
        let listing = begin(move || {
            let (devices, worker) = list_in_worker()?;
            let open = open(&devices, &of_listing);
            Ok((devices, begin(move || opened(worker, open))))
        });
        let builder = |_| {
            let (filters, gate) = (Arc::clone(&filters), gate.clone());
            begin(move || gate.pass(|| start_to_build(&filters)))
        };
        Self {
            listing,
            to_build: (0..builders).map(builder).collect(),
        }
    }

    /// Waits for the list of devices, and not for the workers.
    ///
    /// # Errors
    /// No worker could list them.
    pub(crate) fn devices(self) -> Result<(Vec<DeviceRecord>, IdleWorkers), WorkerError> {
        let (devices, to_measure) = self.listing.end()?;
        Ok((devices, IdleWorkers::of(to_measure, self.to_build)))
    }
}

/// A worker that will build, with a context.
fn start_to_build(filters: &[String]) -> Result<Worker, WorkerFailure> {
    let mut worker = Worker::start_with(&ENVIRONMENT)?;
    let open = match worker.ask(&Request::Devices, Duration::ZERO)? {
        Response::Devices(devices) => open(&devices, filters),
        // What is wrong is said by the worker that lists them for the session.
        _ => None,
    };
    opened(worker, open)
}

/// The request for a context of the device that is likely to be tuned first.
fn open(devices: &[DeviceRecord], filters: &[String]) -> Option<Request> {
    tuned_first(devices, filters).map(|device| Request::Open {
        device: device.index,
        device_name: device.name,
    })
}

/// The worker with a context, where the device gives one: why it does not is said once the worker
/// is made ready for a search.
fn opened(mut worker: Worker, open: Option<Request>) -> Result<Worker, WorkerFailure> {
    if let Some(open) = open {
        worker.ask(&open, Duration::ZERO)?;
    }
    Ok(worker)
}
