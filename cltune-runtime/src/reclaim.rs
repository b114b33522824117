//! Device memory that is only kept for speed, and is freed where memory is short or its source is
//! gone.

use std::sync::{Mutex, PoisonError, Weak};

/// Keeps buffers that can be made again.
pub(crate) trait Reclaim: Send + Sync {
    /// Frees the buffers whose contents are those of memory that has changed or is gone.
    fn free_stale(&self);

    /// Frees all buffers; whether there was any.
    fn free_all(&self) -> bool;
}

static ALL: Mutex<Vec<Weak<dyn Reclaim>>> = Mutex::new(Vec::new());

/// Adds a keeper of buffers, for as long as it lives.
pub(crate) fn register(keeper: Weak<impl Reclaim + 'static>) {
    let mut all = ALL.lock().unwrap_or_else(PoisonError::into_inner);
    all.retain(|keeper| keeper.strong_count() > 0);
    all.push(keeper);
}

/// Frees stale buffers of all keepers.
pub(crate) fn free_stale() {
    let all = ALL.lock().unwrap_or_else(PoisonError::into_inner);
    for keeper in all.iter().filter_map(Weak::upgrade) {
        keeper.free_stale();
    }
}

/// Frees all buffers of all keepers; whether there was any.
pub(crate) fn free_all() -> bool {
    let all = ALL.lock().unwrap_or_else(PoisonError::into_inner);
    let mut was_any = false;
    for keeper in all.iter().filter_map(Weak::upgrade) {
        was_any |= keeper.free_all();
    }
    was_any
}
