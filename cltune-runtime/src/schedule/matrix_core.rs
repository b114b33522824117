//! The memory of a matrix and the way it lies there: all that operations know of it.

use super::host_budget::HostShare;
use crate::opencl::HostMemory;
use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

/// What operations know of a matrix.
#[derive(Debug)]
pub(super) struct MatrixCore {
    pub(super) id: u64,
    /// The identity of the scheduler.
    pub(super) scheduler: u64,
    pub(super) memory: Arc<HostMemory>,
    /// As it lies: lines of so many elements of so many bytes.
    pub(super) lines: usize,
    pub(super) length: usize,
    pub(super) element: usize,
    /// Raised with each change of the contents, in the order of the program.
    version: AtomicU64,
    /// Dropped after the memory.
    _share: HostShare,
}

impl MatrixCore {
    pub(super) fn new(
        scheduler: u64,
        (memory, share): (Arc<HostMemory>, HostShare),
        [lines, length]: [usize; 2],
        element: usize,
    ) -> Self {
        static NEXT: AtomicU64 = AtomicU64::new(1);
        Self {
            id: NEXT.fetch_add(1, Ordering::Relaxed),
            scheduler,
            memory,
            lines,
            length,
            element,
            version: AtomicU64::new(0),
            _share: share,
        }
    }

    /// The version of the contents.
    pub(super) fn version(&self) -> u64 {
        self.version.load(Ordering::Acquire)
    }

    /// Says that the contents change; the version that they will have.
    pub(super) fn change(&self) -> u64 {
        self.version.fetch_add(1, Ordering::AcqRel) + 1
    }
}
