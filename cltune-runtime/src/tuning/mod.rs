//! Measuring and verifying configurations on a device.
//!
//! A [`Measurer`] holds a kernel's buffers for one device and one problem. It computes what the
//! reference makes of several draws of inputs; then every configuration is built, run on one of
//! the draws, compared with the reference, and timed.
//!
//! | file | owns |
//! |---|---|
//! | `measurer` | the order of things: prepare once, measure many |
//! | `arguments` | a kernel's buffers, draws and scalars on the device |
//! | `guarded` | a buffer between two guard zones |
//! | `fill` | contents of arguments |
//! | `poison` | bit patterns that mean «never written» |
//! | `verify` | comparing results with the reference's |
//! | `signature` | comparing the declaration with the kernel's signature |
//! | `timing` | how often to run, and the median |
//! | `outcome` | what can become of a configuration |

mod arguments;
mod fill;
mod guarded;
mod measurer;
mod outcome;
mod poison;
mod signature;
mod timing;
mod verify;

pub use fill::FillError;
pub use measurer::{MeasureOptions, Measurer, PrepareError};
pub use outcome::{Measurement, Outcome, WrongKind, WrongResult};
pub use signature::{SignatureMismatch, SignatureRow};
pub use timing::median;
pub use verify::default_tolerance;
