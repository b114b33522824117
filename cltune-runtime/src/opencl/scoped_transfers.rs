//! Scoped transfers: from and to slices, which stay borrowed until all have ended, while the host
//! goes on.

use super::{RawBuffer, RawEvent, RawQueue, Region, Runs, Status, pinned_ranges};
use std::marker::PhantomData;
use std::ops::Range;

/// Transfers that were begun and not yet waited for, from and to memory that is borrowed for
/// `'env`.
///
/// They are begun inside of [`ScopedTransfers::scope`] alone, as threads are inside of
/// [`std::thread::scope`], so that nobody can use the memory before they have ended.
#[derive(Debug)]
pub(crate) struct ScopedTransfers<'env> {
    under_way: Vec<Transfer>,
    /// No lifetime can take the place of another one.
    memory: PhantomData<&'env mut &'env ()>,
}

#[derive(Debug)]
struct Transfer {
    event: RawEvent,
    /// Of the slice.
    addresses: Range<usize>,
}

impl<'env> ScopedTransfers<'env> {
    /// Runs `work`, which begins transfers, and returns when all have ended: both results.
    pub(crate) fn scope<R>(work: impl FnOnce(&mut Self) -> R) -> (R, Result<(), Status>) {
        let mut transfers = Self {
            under_way: Vec::new(),
            memory: PhantomData,
        };
        let result = work(&mut transfers);
        (result, transfers.wait_for_all())
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
        // SAFETY: the runs are in the source, which is borrowed for `'env`. That is longer than
        // `scope`, which does not return before the transfer has ended.
        let event = unsafe { queue.begin_writing(buffer, at, source, runs)? };
        self.add(event, source.as_ptr().addr(), source.len());
        Ok(())
    }

    /// Begins to read into a region when a command of the same context has ended. `runs` are where
    /// its bytes are in the buffer.
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
        // SAFETY: the region's bytes are borrowed exclusively for `'env`. That is longer than
        // `scope`, which does not return before the transfer has ended.
        let event = unsafe { queue.begin_reading(buffer, runs, &mut target, after)? };
        self.add(event, start, end - start);
        Ok(())
    }

    fn add(&mut self, event: RawEvent, first: usize, len: usize) {
        self.under_way.push(Transfer {
            event,
            addresses: first..first + len,
        });
    }

    /// Waits for all; the error is that of the first that failed.
    fn wait_for_all(&mut self) -> Result<(), Status> {
        let mut result = Ok(());
        for Transfer { event, addresses } in self.under_way.drain(..) {
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

impl Drop for ScopedTransfers<'_> {
    /// Where `work` has panicked.
    fn drop(&mut self) {
        let _ = self.wait_for_all();
    }
}
