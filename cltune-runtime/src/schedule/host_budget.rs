//! The memory of the host that matrices may take.

use super::error::ScheduleError;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

/// A limit, and what is taken.
#[derive(Debug)]
pub(super) struct HostBudget {
    used: AtomicUsize,
    limit: usize,
}

/// A part of a budget, which it has again when this is dropped.
#[derive(Debug)]
pub(super) struct HostShare {
    budget: Arc<HostBudget>,
    bytes: usize,
}

impl HostBudget {
    pub(super) fn new(limit: usize) -> Arc<Self> {
        let used = AtomicUsize::new(0);
        Arc::new(Self { used, limit })
    }

    /// Takes so many bytes.
    ///
    /// # Errors
    /// [`ScheduleError::HostLimit`] where they are not left.
    pub(super) fn take(self: &Arc<Self>, bytes: usize) -> Result<HostShare, ScheduleError> {
        let limit = self.limit;
        let fits = |used: usize| used.checked_add(bytes).filter(|all| *all <= limit);
        let taken = self
            .used
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, fits);
        match taken {
            Ok(_) => Ok(HostShare {
                budget: Arc::clone(self),
                bytes,
            }),
            Err(used) => Err(ScheduleError::HostLimit { bytes, limit, used }),
        }
    }
}

impl Drop for HostShare {
    fn drop(&mut self) {
        self.budget.used.fetch_sub(self.bytes, Ordering::AcqRel);
    }
}
