//! Opening files that somebody else wrote: a file of unknown size costs no more than expected, and
//! what is no file at all (a folder, a named pipe, a device, a link that leads nowhere) is an error
//! that says so. A program that opens a named pipe waits for whoever writes to it, and one that
//! reads `/dev/zero` never ends.
//!
//! Errors are [`std::io::Error`]s whose text stands alone after a file's name: `kernel.cl: it is a
//! folder, not a file`.

#![forbid(unsafe_code)]

mod lock;
mod read;

pub use lock::open_lock;
pub use read::{Bounded, open, read, read_text, text};
