//! Measuring and verifying configurations on a device.
//!
//! A [`Measurer`] holds a kernel's buffers for one device and one problem. It computes what the
//! reference makes of several draws of inputs; then every configuration is built, run on one of
//! the draws, compared with the reference, and timed.
//!
//! | file | owns |
//! |---|---|
//! | `declared` | the declaration of a tunable of this program |
//! | `measurer` | a kernel prepared once, many configurations measured |
//! | `options` | the options of measuring |
//! | `damage` | damage to memory that no configuration may touch, and its attribution |
//! | `computation` | launches that the tuner makes for itself, built |
//! | `inputs` | inputs that kernels make from others |
//! | `reference` | the results that others are compared with |
//! | `prepare_error` | reasons why nothing can be measured |
//! | `compiler` | configurations built ahead, in another process, and their binaries |
//! | `build` | kernels that are built and checked against the device |
//! | `finalists` | the choice of configurations that are verified and compared in the end |
//! | `compare` | configurations that are nearly alike, timed in turns |
//! | `arguments` | a kernel's buffers, draws and scalars on the device |
//! | `columns` | the fields of a buffer of structs, each as a buffer of its own |
//! | `buffers` | a buffer argument: its memory, and its contents in each draw |
//! | `draws` | one draw of a buffer's contents, kept on the host or on the device |
//! | `scratch` | a scratch buffer of a group of launches |
//! | `images` | the images that kernels get, beside their buffers |
//! | `guarded` | a buffer between two guard zones |
//! | `kept` | bytes of the tuner's own that nobody may change |
//! | `further` | verification on every draw, also of other kinds than random |
//! | `fill` | contents of arguments |
//! | `kinds` | kinds of inputs that random draws hardly have |
//! | `elements` | elements as numbers, as text, and as bit patterns that mean "never written" |
//! | `tolerance` | the allowed difference from the reference's results |
//! | `expected` | the reference's results for a buffer, of structs for each field |
//! | `verify` | comparison of results with the reference's |
//! | `near` | comparison of results with the reference's on the device |
//! | `watch` | checksums of memory, computed on the device |
//! | `signature` | comparison of the declaration with the kernel's signature |
//! | `part` | a part of a launch, which shows that a configuration is far slower than the best |
//! | `skipping` | detection of kernels that skip work that is done |
//! | `displace` | displacing of what the caches hold, for times with cold ones |
//! | `energy` | the energy that the device takes for launches |
//! | `timing` | the number of launches to time, and the median |
//! | `place` | places in buffers, as messages name them |
//! | `outcome` | the outcome of a configuration |

mod arguments;
mod buffers;
mod build;
mod columns;
mod compare;
mod compiler;
mod computation;
mod damage;
mod declared;
mod displace;
mod draws;
mod elements;
mod energy;
mod expected;
mod fill;
mod finalists;
mod further;
mod guarded;
mod images;
mod inputs;
mod kept;
mod kinds;
mod measurer;
mod near;
mod options;
mod outcome;
mod part;
mod place;
mod prepare_error;
mod reference;
mod scratch;
mod signature;
mod skipping;
mod timing;
mod tolerance;
mod verify;
mod watch;

pub use compare::{Compared, figures};
pub use compiler::{Binary, Compiled, Compiler};
pub use declared::NoDeclaration;
pub(crate) use elements::{filler, pattern};
pub use energy::{Energy, EnergyError, IdlePower, Meter};
pub(crate) use expected::ExpectedBuffer;
pub use fill::FillError;
pub use finalists::{FinalistRule, Finalists};
pub use kinds::InputKind;
pub use measurer::Measurer;
pub use options::{MeasureOptions, Step};
pub use outcome::{
    Different, KeptFor, Measurement, Outcome, SkipsWork, StageTime, WrongKind, WrongResult,
};
pub use place::Fields;
pub use prepare_error::PrepareError;
pub use signature::{SignatureMismatch, SignatureRow};
pub use timing::{median, median_interval};
pub use tolerance::default_bound;
