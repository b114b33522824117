//! Blocks on their way to a device, tiles on their way back, and the ends of both.

use super::device_memory::{BlockKey, DeviceBuffer, Lane, Value};
use super::engine::{Engine, Fetch, Sending, Step, marker};
use super::job::Target;
use super::matrix_core::MatrixCore;
use super::places::{leading, place};
use super::report::Totals;
use super::timeline::{Span, SpanKind};
use crate::error::{Error, Result};
use crate::opencl::{BlockPlace, HostTransfer, RawEvent};
use crate::split::Failure;
use std::sync::Arc;

impl Engine {
    /// Has the tile of each result that is needed transferred to host memory when an event has
    /// ended.
    pub(super) fn fetch(
        &mut self,
        step: &Step,
        tile: Vec<DeviceBuffer>,
        are_needed: &[bool],
        after: &RawEvent,
    ) -> Result<(), Failure> {
        let Some(last) = are_needed.iter().rposition(|is_needed| *is_needed) else {
            // It was given up meanwhile.
            for buffer in tile {
                self.memory.give_back(buffer);
            }
            self.center.end(step.task, self.device);
            return Ok(());
        };
        for (position, buffer) in tile.into_iter().enumerate() {
            if are_needed[position] {
                let fetch = self.fetch_result(step, position, buffer, after)?;
                let is_last = position == last;
                self.fetching.push_back(Fetch { is_last, ..fetch });
            } else {
                self.memory.give_back(buffer);
            }
        }
        Ok(())
    }

    /// Has the tile of one result transferred.
    fn fetch_result(
        &self,
        step: &Step,
        position: usize,
        mut buffer: DeviceBuffer,
        after: &RawEvent,
    ) -> Result<Fetch, Failure> {
        let Target { core, version } = &step.job.targets[position];
        let operand = &step.job.shape.outputs[position].operand;
        let rect = step.job.shape.whole_rect(operand, &step.tile);
        let leading = leading(rect, operand);
        let own = step.job.shape.result_rect(operand, &step.tile);
        let before = (own.line - rect.line) * leading + own.at - rect.at;
        let place = BlockPlace {
            buffer_first: before * core.element,
            ..place(core, own, leading)
        };
        let transfer = core
            .memory
            .receive(self.down.raw(), &buffer.raw, place, after);
        let transfer = transfer.map_err(Error::call("clEnqueueReadBuffer of a tile"));
        let transfer = transfer.map_err(Failure::during)?;
        self.down.flush().map_err(Failure::during)?;
        let event = transfer.event().share();
        let event = event
            .map_err(Error::call("clRetainEvent"))
            .map_err(Failure::during)?;
        buffer.use_in(Lane::Down, Arc::new(event));
        Ok(Fetch {
            task: step.task,
            is_last: false,
            step: step.number,
            transfer,
            buffer,
            key: (own == rect).then_some(BlockKey {
                value: Value::Matrix {
                    id: core.id,
                    version: *version,
                },
                rect,
                leading,
            }),
            bytes: own.elements() * core.element,
        })
    }

    pub(super) fn send(
        &mut self,
        core: &MatrixCore,
        buffer: &DeviceBuffer,
        place: BlockPlace,
    ) -> Result<Arc<RawEvent>, Failure> {
        let transfer = core.memory.send(self.up.raw(), &buffer.raw, place);
        let transfer = transfer.map_err(Error::call("clEnqueueWriteBuffer of a block"));
        let transfer = transfer.map_err(Failure::during)?;
        let event = transfer.event().share();
        let event = event
            .map_err(Error::call("clRetainEvent"))
            .map_err(Failure::during)?;
        let bytes = place.width * place.rows;
        self.sending.push_back(Sending { transfer, bytes });
        Ok(Arc::new(event))
    }

    pub(super) fn begin_span(&self, name: &str) -> Result<Option<(RawEvent, String)>, Failure> {
        if self.clock.is_none() {
            return Ok(None);
        }
        Ok(Some((marker(&self.compute)?, name.to_owned())))
    }

    /// Waits for the oldest step.
    pub(super) fn retire(&mut self) -> Result<()> {
        let Some(step) = self.in_flight.pop_front() else {
            return Ok(());
        };
        step.end
            .wait()
            .map_err(Error::call("clWaitForEvents of a step"))?;
        if let (Some(clock), Some((begin, name))) = (self.clock, step.begin) {
            let times = [&begin, &step.end].map(|event| event.profile().map(|(_, end)| end));
            if let [Ok(begin), Ok(end)] = times {
                let span = clock.span(&self.center, self.device, SpanKind::Kernel, [begin, end]);
                self.spans.push(Span { name, ..span });
            }
        }
        Ok(())
    }

    /// Takes what has ended; with `all`, waits for all.
    pub(super) fn settle(&mut self, all: bool) -> Result<()> {
        self.settle_sent(all)?;
        while let Some(fetch) = self.fetching.front() {
            if !all && !ended(fetch.transfer.event())? {
                break;
            }
            let Some(fetch) = self.fetching.pop_front() else {
                break;
            };
            self.fetched(fetch)?;
        }
        Ok(())
    }

    /// The same of blocks on their way to the device.
    fn settle_sent(&mut self, all: bool) -> Result<()> {
        let mut sent = 0;
        while let Some(sending) = self.sending.front() {
            if !all && !ended(sending.transfer.event())? {
                break;
            }
            let Some(Sending { transfer, bytes }) = self.sending.pop_front() else {
                break;
            };
            self.transfer_span(&transfer, SpanKind::Up, bytes);
            transfer
                .wait()
                .map_err(Error::call("clWaitForEvents of a block"))?;
            sent += bytes;
        }
        let peak = self.memory.peak();
        self.center
            .record(self.device, &mut self.spans, |totals: &mut Totals| {
                totals.sent += sent;
                totals.peak = totals.peak.max(peak);
            });
        Ok(())
    }

    pub(super) fn fetched(&mut self, fetch: Fetch) -> Result<()> {
        let event = fetch.transfer.event().share();
        let event = event.map_err(Error::call("clRetainEvent"))?;
        let waited = fetch.transfer.wait();
        waited.map_err(Error::call("clWaitForEvents of a tile"))?;
        // They have ended before, and belong into the same report.
        while self
            .in_flight
            .front()
            .is_some_and(|step| step.number <= fetch.step)
        {
            self.retire()?;
        }
        self.settle_sent(false)?;
        self.event_span(&event, SpanKind::Down, fetch.bytes);
        match fetch.key {
            Some(key) => self.memory.keep(key, fetch.buffer, None, None, fetch.step),
            None => self.memory.give_back(fetch.buffer),
        }
        self.center.record(self.device, &mut self.spans, |totals| {
            totals.fetched += fetch.bytes;
        });
        if fetch.is_last {
            self.center.end(fetch.task, self.device);
        }
        Ok(())
    }

    pub(super) fn transfer_span(&mut self, transfer: &HostTransfer, kind: SpanKind, bytes: usize) {
        if self.clock.is_some()
            && transfer.event().wait().is_ok()
            && let Ok(event) = transfer.event().share()
        {
            self.event_span(&event, kind, bytes);
        }
    }

    pub(super) fn event_span(&mut self, event: &RawEvent, kind: SpanKind, bytes: usize) {
        if let (Some(clock), Ok((begin, end))) = (self.clock, event.profile()) {
            let span = clock.span(&self.center, self.device, kind, [begin, end]);
            let name = format!("{:.1} MB", bytes as f64 / 1e6);
            self.spans.push(Span { name, ..span });
        }
    }
}

fn ended(event: &RawEvent) -> Result<bool> {
    let ended = event.has_ended();
    ended.map_err(Error::call("clGetEventInfo of a transfer"))
}
