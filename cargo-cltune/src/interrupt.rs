//! Ctrl-C and termination: the first ends what runs and keeps everything, the second ends the
//! process.

use std::sync::OnceLock;
use std::time::{Duration, Instant};

/// When Ctrl-C was pressed first.
static INTERRUPTED: OnceLock<Instant> = OnceLock::new();

/// Whether Ctrl-C was pressed: keep everything that was measured, and end.
pub(crate) fn interrupted() -> bool {
    INTERRUPTED.get().is_some()
}

/// The time since Ctrl-C was pressed, if it was.
pub(crate) fn since() -> Option<Duration> {
    INTERRUPTED.get().map(Instant::elapsed)
}

/// Watches for Ctrl-C and termination. The second one ends the process at once; what was measured
/// is in the journal.
pub(crate) fn watch_interrupts() {
    // An error means that somebody else watches already; then the process simply ends.
    let _ = ctrlc::set_handler(|| {
        if INTERRUPTED.set(Instant::now()).is_err() {
            std::process::exit(130);
        }
    });
}
