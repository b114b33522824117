//! Transfers beside which the host goes on: from and to slices, which stay borrowed until all have ended.

use super::{RawBuffer, RawEvent, RawQueue, Region, Runs, Status, pinned_ranges};
use std::marker::PhantomData;
use std::ops::Range;

/// Transfers that were begun and not yet waited for, from and to memory that is borrowed for `'env`.
///
/// They are begun inside of [`Flights::during`] alone, as threads are inside of [`std::thread::scope`], so that nobody
/// can use the memory before they have ended.
#[derive(Debug)]
pub(crate) struct Flights<'env> {
    under_way: Vec<Flight>,
    /// No lifetime can take the place of another one.
    memory: PhantomData<&'env mut &'env ()>,
}

#[derive(Debug)]
struct Flight {
    event: RawEvent,
    /// Of the slice.
    addresses: Range<usize>,
}

impl<'env> Flights<'env> {
    /// Does what begins transfers, and returns when all have ended: what came of both.
    pub(crate) fn during<R>(work: impl FnOnce(&mut Self) -> R) -> (R, Result<(), Status>) {
        let mut flights = Self {
            under_way: Vec::new(),
            memory: PhantomData,
        };
        let result = work(&mut flights);
        (result, flights.land())
    }

    /// Begins to write runs of `source` to a buffer, one after the other from byte `at`.
    pub(crate) fn send(
        &mut self,
        queue: &RawQueue,
        buffer: &RawBuffer,
        at: usize,
        source: &'env [u8],
        runs: Runs,
    ) -> Result<(), Status> {
        runs.check(source.len())?;
        if runs.is_empty() {
            return Ok(());
        }
        // SAFETY: the runs are in the source, which is borrowed for `'env`. That is longer than `during`, which
        // does not return before the transfer has ended.
        let event = unsafe { queue.begin_writing(buffer, at, source, runs)? };
        self.add(event, source.as_ptr().addr(), source.len());
        Ok(())
    }

    /// Begins to read into a region when a command of the same context has ended. `runs` are where its bytes are in
    /// the buffer.
    pub(crate) fn receive(
        &mut self,
        queue: &RawQueue,
        buffer: &RawBuffer,
        runs: Runs,
        mut target: Region<'env>,
        after: &RawEvent,
    ) -> Result<(), Status> {
        if target.runs().is_empty() {
            return Ok(());
        }
        let Range { start, end } = target.addresses();
        // SAFETY: the region's bytes are borrowed exclusively for `'env`. That is longer than `during`, which does
        // not return before the transfer has ended.
        let event = unsafe { queue.begin_reading(buffer, runs, &mut target, after)? };
        self.add(event, start, end - start);
        Ok(())
    }

    fn add(&mut self, event: RawEvent, first: usize, len: usize) {
        self.under_way.push(Flight {
            event,
            addresses: first..first + len,
        });
    }

    /// Waits for all; how the first failed that did.
    fn land(&mut self) -> Result<(), Status> {
        let mut result = Ok(());
        for Flight { event, addresses } in self.under_way.drain(..) {
            let (ended, is_over) = event.settle();
            if !is_over {
                // Nobody knows whether the device still uses the memory.
                pinned_ranges::lose(&addresses);
            }
            result = result.and(ended);
        }
        result
    }
}

impl Drop for Flights<'_> {
    /// Where what began the transfers has panicked.
    fn drop(&mut self) {
        let _ = self.land();
    }
}
