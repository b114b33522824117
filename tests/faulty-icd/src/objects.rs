//! The objects that programs hold: counted as they are made, retained and released.

use std::fmt::Write as _;
use std::path::PathBuf;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicI64, Ordering};

/// A kind of objects.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Kind {
    Buffer,
    Context,
    Event,
    Kernel,
    Program,
    Queue,
}

/// Their names, in the order of [`Kind`].
const NAMES: [&str; 6] = ["buffer", "context", "event", "kernel", "program", "queue"];

/// Of each kind: how many were made, and how many references the program holds.
static MADE: [AtomicI64; 6] = [const { AtomicI64::new(0) }; 6];
static HELD: [AtomicI64; 6] = [const { AtomicI64::new(0) }; 6];

/// The file that `CLTUNE_OBJECTS` names.
static FILE: OnceLock<PathBuf> = OnceLock::new();

/// Counts for the file that `CLTUNE_OBJECTS` names, if it names one.
pub(crate) fn install() {
    let Some(file) = std::env::var_os("CLTUNE_OBJECTS") else {
        return;
    };
    if FILE.set(file.into()).is_ok() {
        // SAFETY: the function stays loaded, since loaders keep drivers, and never unwinds.
        unsafe {
            libc::atexit(write);
        }
    }
}

/// An object was made, of which the program holds one reference.
pub(crate) fn made(kind: Kind) {
    MADE[kind as usize].fetch_add(1, Ordering::Relaxed);
    retained(kind);
}

/// The program holds one reference more.
pub(crate) fn retained(kind: Kind) {
    HELD[kind as usize].fetch_add(1, Ordering::Relaxed);
}

/// The program holds one reference less.
pub(crate) fn released(kind: Kind) {
    HELD[kind as usize].fetch_sub(1, Ordering::Relaxed);
}

/// Writes the counts, and how many files are open, when the process ends.
extern "C" fn write() {
    let Some(file) = FILE.get() else { return };
    let open = std::fs::read_dir("/proc/self/fd").map_or(0, Iterator::count);
    let text = report(open);
    if let Err(error) = std::fs::write(file, text) {
        eprintln!("faulty-icd: {}: {error}", file.display());
    }
}

/// A line for each kind: its name, how many were made, how many references are held; and one for
/// open files.
fn report(open: usize) -> String {
    let mut text = String::new();
    for ((name, made), held) in NAMES.iter().zip(&MADE).zip(&HELD) {
        let [made, held] = [made, held].map(|count| count.load(Ordering::Relaxed));
        let _ = writeln!(text, "{name} {made} {held}");
    }
    let _ = writeln!(text, "file {open} {open}");
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_released_is_not_held() {
        made(Kind::Event);
        made(Kind::Event);
        retained(Kind::Event);
        released(Kind::Event);
        released(Kind::Event);
        let text = report(3);
        assert!(text.contains("event 2 1\n"), "{text}");
        assert!(
            text.contains("buffer 0 0\n") && text.ends_with("file 3 3\n"),
            "{text}"
        );
    }
}
