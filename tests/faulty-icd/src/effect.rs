//! The effects of faults.

use crate::fault::Effect;
use opencl_sys::{CL_DEVICE_NOT_AVAILABLE, CL_OUT_OF_RESOURCES, cl_int};
use std::io::Write;
use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Whether `unusable` has happened.
static UNUSABLE: AtomicBool = AtomicBool::new(false);

/// Does it. The code that the call has to return, if it is to go no further.
pub(crate) fn strike(effect: &Effect) -> Option<cl_int> {
    match effect {
        Effect::Segv => segv(),
        Effect::Abort => std::process::abort(),
        Effect::Exit(code) => std::process::exit(*code),
        Effect::KillParent => kill_parent(),
        Effect::Killed(mark) => killed(mark),
        Effect::Hang => loop {
            std::thread::sleep(Duration::from_hours(1));
        },
        Effect::Sleep(time) => std::thread::sleep(*time),
        Effect::Error(code) => return Some(*code),
        Effect::Unusable => UNUSABLE.store(true, Ordering::Relaxed),
        Effect::Lost(mark) => {
            if let Err(error) = std::fs::write(mark, "") {
                eprintln!("faulty-icd: {}: {error}", mark.display());
                std::process::abort();
            }
        }
        Effect::Print(text) => {
            let mut stdout = std::io::stdout().lock();
            // Nobody reads it: then there is nothing to disturb.
            let _ = stdout.write_all(text.as_bytes());
            let _ = stdout.flush();
        }
        Effect::Leak(bytes) => leak(*bytes),
        Effect::Spend(microjoules, zone) => {
            if let Err(error) = spend(*microjoules, zone) {
                eprintln!("faulty-icd: {}: {error}", zone.display());
                std::process::abort();
            }
        }
        // Of the call's result, which is not there yet.
        Effect::Corrupt | Effect::Answer(_) | Effect::Hide(_) => {}
    }
    None
}

/// What every call returns because of what has happened before; `marks` are the files of `lost`.
pub(crate) fn aftermath<'a>(mut marks: impl Iterator<Item = &'a Path>) -> Option<cl_int> {
    if UNUSABLE.load(Ordering::Relaxed) {
        return Some(CL_OUT_OF_RESOURCES);
    }
    marks.any(Path::exists).then_some(CL_DEVICE_NOT_AVAILABLE)
}

/// Ends the process as an access to an invalid address does.
fn segv() -> ! {
    // SAFETY: both take plain numbers. Rust's own handler, which the first call removes, would let
    // a signal that is sent pass.
    unsafe {
        libc::signal(libc::SIGSEGV, libc::SIG_DFL);
        libc::raise(libc::SIGSEGV);
    }
    std::process::abort();
}

/// Ends the process that started this one, as a machine that goes down does, and then this one.
fn kill_parent() -> ! {
    // SAFETY: both take and return plain numbers.
    unsafe {
        libc::kill(libc::getppid(), libc::SIGKILL);
    }
    std::process::abort();
}

/// Ends the process as somebody else does, unless that has happened to any process already.
fn killed(mark: &Path) {
    if std::fs::File::create_new(mark).is_ok() {
        // SAFETY: it takes a plain number.
        unsafe {
            libc::raise(libc::SIGKILL);
        }
    }
}

/// Advances a zone's counter, which begins again where its range ends. Whoever reads it meanwhile
/// reads the old value or the new one.
fn spend(microjoules: u64, zone: &Path) -> std::io::Result<()> {
    static ONE_AT_A_TIME: Mutex<()> = Mutex::new(());
    let _held = ONE_AT_A_TIME.lock().unwrap_or_else(PoisonError::into_inner);
    let number = |name: &str| -> std::io::Result<u64> {
        let text = std::fs::read_to_string(zone.join(name))?;
        text.trim().parse().map_err(std::io::Error::other)
    };
    let (now, range) = (number("energy_uj")?, number("max_energy_range_uj")?);
    let next = zone.join(format!("next-{}", std::process::id()));
    std::fs::write(&next, ((now + microjoules) % range.max(1)).to_string())?;
    std::fs::rename(next, zone.join("energy_uj"))
}

/// Takes memory for good. Where there is none left, the process ends as C++ drivers do.
fn leak(bytes: usize) {
    let mut memory: Vec<u8> = Vec::new();
    if memory.try_reserve_exact(bytes).is_err() {
        std::process::abort();
    }
    std::mem::forget(std::hint::black_box(memory));
}
