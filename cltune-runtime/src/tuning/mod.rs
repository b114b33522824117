//! Measuring and verifying configurations on a device.
//!
//! A [`Measurer`] holds a kernel's buffers for one device and one problem. It computes what the
//! reference makes of several draws of inputs; then every configuration is built, run on one of
//! the draws, compared with the reference, and timed.
//!
//! | file | owns |
//! |---|---|
//! | `declared` | the declaration of a tunable of this program |
//! | `looking` | memory that no configuration may touch, and who is to blame |
//! | `measurer` | the order of things: prepare once, measure many |
//! | `reference` | computing what results are compared with |
//! | `prepare_error` | why nothing can be measured |
//! | `compiler` | configurations built ahead, in another process |
//! | `build` | a configuration built and checked against the device |
//! | `finalists` | which configurations may be the best, and are verified and compared |
//! | `compare` | configurations that are nearly alike, timed in turns |
//! | `binary` | program binaries between processes |
//! | `arguments` | a kernel's buffers, draws and scalars on the device |
//! | `guarded` | a buffer between two guard zones |
//! | `further` | verifying on every draw, and making those of other kinds than random |
//! | `fill` | contents of arguments |
//! | `kinds` | kinds of inputs that random draws hardly have |
//! | `value` | elements as numbers and as text |
//! | `poison` | bit patterns that mean «never written» |
//! | `tolerance` | how far results may be from the reference's |
//! | `verify` | comparing results with the reference's |
//! | `near` | how far a result is from the reference's, asked on the device |
//! | `watch` | whether memory is still what it was, asked on the device |
//! | `signature` | comparing the declaration with the kernel's signature |
//! | `part` | a part of a launch, which shows that a configuration is far slower than the best |
//! | `skipping` | whether a kernel does its work where it is done already |
//! | `timing` | how often to run, and the median |
//! | `outcome` | what can become of a configuration |

mod arguments;
mod binary;
mod buffers;
mod build;
mod compare;
mod compiler;
mod declared;
mod fill;
mod finalists;
mod further;
mod guarded;
mod kept;
mod kinds;
mod looking;
mod measurer;
mod near;
mod outcome;
mod part;
mod poison;
mod prepare_error;
mod reference;
mod signature;
mod skipping;
mod timing;
mod tolerance;
mod value;
mod verify;
mod watch;

pub use binary::Binary;
pub use compare::Compared;
pub use compiler::{Compiled, Compiler};
pub use declared::NoDeclaration;
pub use fill::FillError;
pub use finalists::{FinalistRule, Finalists};
pub use kinds::InputKind;
pub use measurer::{MeasureOptions, Measurer, Step};
pub use outcome::{Different, KeptFor, Measurement, Outcome, SkipsWork, WrongKind, WrongResult};
pub(crate) use poison::pattern;
pub use prepare_error::PrepareError;
pub use signature::{SignatureMismatch, SignatureRow};
pub use timing::{median, median_interval};
pub use tolerance::default_bound;
pub(crate) use verify::Expected;
