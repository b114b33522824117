//! The threads that strategies and comparisons work with, which the system may refuse: where a user
//! may have no more processes, or memory is short.

use rayon::{ThreadPool, ThreadPoolBuilder};
use std::cell::OnceCell;
use std::error::Error as _;
use std::sync::OnceLock;

thread_local! {
    /// A pool of this thread alone, where there are no others.
    static ALONE: OnceCell<Option<ThreadPool>> = const { OnceCell::new() };
}

/// Sees to it that rayon works on this thread: with a pool of threads or, where the system refuses
/// them, with this thread alone. Without it rayon would panic there.
pub fn ready_threads() {
    static POOL: OnceLock<bool> = OnceLock::new();
    let is_there = *POOL.get_or_init(|| match ThreadPoolBuilder::new().build_global() {
        Ok(()) => true,
        // One that the program has made already has no reason.
        Err(error) => error.source().is_none(),
    });
    if !is_there {
        ALONE.with(|alone| {
            alone.get_or_init(|| {
                let builder = ThreadPoolBuilder::new().num_threads(1);
                // In a thread of rayon's own there is one already.
                builder.use_current_thread().build().ok()
            });
        });
    }
}
