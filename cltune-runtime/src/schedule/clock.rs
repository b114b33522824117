//! The clock of a device, for the times of a timeline.

use super::center::Center;
use super::timeline::{Span, SpanKind};
use crate::error::{Error, Result};
use crate::queue::Queue;
use std::time::Instant;

/// The device's clock against the host's.
#[derive(Clone, Copy, Debug)]
pub(super) struct Clock {
    host: Instant,
    /// The device's time at that moment, nanoseconds.
    device: u64,
}

impl Clock {
    pub(super) fn of(queue: &Queue) -> Result<Self> {
        let marker = queue.raw().marker();
        let marker = marker.map_err(Error::call("clEnqueueMarkerWithWaitList"))?;
        marker.wait().map_err(Error::call("clWaitForEvents"))?;
        let host = Instant::now();
        let profile = marker.profile();
        let (_, device) = profile.map_err(Error::call("clGetEventProfilingInfo"))?;
        Ok(Self { host, device })
    }

    pub(super) fn span(
        &self,
        center: &Center,
        device: usize,
        kind: SpanKind,
        times: [u64; 2],
    ) -> Span {
        let base = self.host.duration_since(center.epoch()).as_secs_f64();
        let seconds = |time: u64| base + (time as f64 - self.device as f64) / 1e9;
        Span {
            device,
            kind,
            begin: seconds(times[0]),
            end: seconds(times[1]),
            name: String::new(),
        }
    }
}
