//! The thread of a device: it measures, takes tasks, and says how they ended.

use super::center::{Center, State};
use super::decide::Order;
use super::engine::{Broken, Engine};
use super::error::ScheduleError;
use super::job::Job;
use super::probe;
use crate::context::Context;
use crate::error::Error;
use crate::split::{Attribution, Failure};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, MutexGuard};

/// What a thread needs to know of its device.
pub(super) struct Worker {
    pub(super) center: Arc<Center>,
    pub(super) device: usize,
    pub(super) context: Context,
    pub(super) memory: usize,
    pub(super) has_own_memory: bool,
    pub(super) is_traced: bool,
}

impl Worker {
    /// Works until the scheduler ends or the device is lost.
    pub(super) fn run(self) {
        let (center, device) = (Arc::clone(&self.center), self.device);
        let worked = catch_unwind(AssertUnwindSafe(|| self.work()));
        let error = match worked {
            Ok(Ok(())) => return,
            Ok(Err(error)) => error,
            Err(_) => Error::NoThread {
                reason: "the one of this device has panicked".to_owned(),
            },
        };
        // All that it had under way has ended with the engine.
        center.lose(device, &error);
    }

    fn work(&self) -> Result<(), Error> {
        let (center, device) = (Arc::clone(&self.center), self.device);
        let mut engine = Engine::new(center, device, &self.context, self.memory, self.is_traced)?;
        let rates = probe::link_rates(engine.queue(), self.memory, self.has_own_memory)?;
        tracing::debug!(device = %self.context.device(), ?rates, "rates");
        self.center.is_ready(device, rates);
        loop {
            match self.order(&engine) {
                Order::Stop => return Ok(()),
                Order::Probe(job) => self.probe(&mut engine, &job)?,
                Order::Task(task, job) => engine.push(task, &job),
                Order::Nothing => self.advance(&mut engine)?,
            }
        }
    }

    /// The next order; waits for one where there is nothing else to do.
    fn order(&self, engine: &Engine) -> Order {
        let mut state: MutexGuard<'_, State> = self.center.lock();
        if state.is_stopped {
            return Order::Stop;
        }
        if !engine.wants_task() {
            return Order::Nothing;
        }
        loop {
            self.center.divide(&mut state);
            let missing = |job: &Job, tile: usize| engine.missing(job, tile);
            let is_early = engine.is_early();
            let order = state.order(self.device, engine.is_idle(), is_early, missing);
            if !matches!(order, Order::Nothing) || !engine.is_idle() {
                return order;
            }
            state = self.center.wait(state);
        }
    }

    fn probe(&self, engine: &mut Engine, job: &Arc<Job>) -> Result<(), Error> {
        let speed = probe::kernel_speed(engine, job, self.memory, self.has_own_memory);
        match speed {
            Ok(speed) => {
                tracing::debug!(device = %self.context.device(), kernel = job.name, speed, "speed");
                let of = self.device;
                self.center
                    .change(|state| state.devices[of].is_fast(&job.name, speed));
                Ok(())
            }
            Err(failure) => self.blame(engine, failure, None, job),
        }
    }

    fn advance(&self, engine: &mut Engine) -> Result<(), Error> {
        match engine.advance() {
            Ok(()) => Ok(()),
            Err(Broken {
                failure,
                operation: Some((operation, job)),
            }) => self.blame(engine, failure, Some(operation), &job),
            Err(Broken { failure, .. }) => Err(*failure.error),
        }
    }

    /// Goes on after a failure where the device is not to blame.
    fn blame(
        &self,
        engine: &mut Engine,
        Failure { error, attribution }: Failure,
        operation: Option<u64>,
        job: &Arc<Job>,
    ) -> Result<(), Error> {
        if attribution == Attribution::Device {
            return Err(*error);
        }
        tracing::warn!(device = %self.context.device(), operation = job.name, %error, "not computed");
        if let Some(operation) = operation {
            engine.abandon(operation)?;
        }
        if attribution == Attribution::Call {
            let error = ScheduleError::Kernel {
                operation: job.name.clone(),
                reason: error.to_string(),
            };
            self.center.fail(operation, job, error);
        } else {
            let reason = error.to_string();
            self.center.refuse(self.device, operation, job, reason);
        }
        Ok(())
    }
}
