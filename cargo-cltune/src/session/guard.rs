//! One session at a time, and Ctrl-C.

use std::fs::{File, TryLockError};
use std::io::{self, Read, Seek, Write};
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};

/// Held while a session runs: two would disturb each other's measurements.
pub(crate) struct SessionLock(
    #[expect(dead_code, reason = "the lock is held by the open file")] File,
);

impl SessionLock {
    /// Waits until no other session uses this folder; `waiting` is told who holds it.
    pub(crate) fn acquire(state: &Path, waiting: impl FnOnce(&str)) -> io::Result<Self> {
        std::fs::create_dir_all(state)?;
        let path = state.join("session.lock");
        let mut file = cltune_files::open_lock(&path).map_err(|error| {
            io::Error::new(error.kind(), format!("{}: {error}", path.display()))
        })?;
        match file.try_lock() {
            Ok(()) => {}
            Err(TryLockError::WouldBlock) => {
                let mut holder = String::new();
                file.read_to_string(&mut holder)?;
                waiting(holder.trim());
                file.lock()?;
            }
            Err(TryLockError::Error(error)) => return Err(error),
        }
        file.set_len(0)?;
        file.rewind()?;
        write!(file, "process {}", std::process::id())?;
        Ok(Self(file))
    }
}

static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// Whether Ctrl-C was pressed: finish what runs, keep everything, end.
pub(crate) fn interrupted() -> bool {
    INTERRUPTED.load(Ordering::Relaxed)
}

/// Watches for Ctrl-C and termination. The second one ends the process at once; what was measured
/// is in the journal.
pub(crate) fn watch_interrupts() {
    // An error means that somebody else watches already; then the process simply ends.
    let _ = ctrlc::set_handler(|| {
        if INTERRUPTED.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
    });
}
