//! Performance-portable OpenCL for Rust: launch kernels with the best known values for the device
//! at hand.
//!
//! A kernel is declared with `#[tunable]`, tuned by `cargo cltune`, and called like any
//! function. The values that tuning found travel in `cltune.lock` and are constants of the
//! compiled program.
//!
//! ```no_run
//! use cltune::{Buffer, Event, Queue, Result, tunable};
//!
//! /// y <- a*x + y
//! #[tunable(
//!     params(WG = [32, 64, 128, 256], WPT = [1, 2, 4, 8]),
//!     constraints(n % (WG * WPT) == 0),
//!     global(n / WPT), local(WG),
//!     tune(n = [1 << 20, 1 << 24]),
//! )]
//! pub fn saxpy(
//!     queue: &Queue, n: u32, a: f32,
//!     #[arg(len = n)] x: &Buffer<f32>,
//!     #[arg(len = n)] y: &mut Buffer<f32>,
//! ) -> Result<Event> {
//!     "__kernel void saxpy(const uint n, const float a, __global const float* x,
//!                          __global float* y) {
//!         for (uint k = 0; k < WPT; k++) {
//!             const uint i = get_global_id(0) + k * get_global_size(0);
//!             y[i] += a * x[i];
//!         }
//!     }"
//! }
//!
//! # fn main() -> Result<()> {
//! let queue = Queue::default_device()?;
//! let x = Buffer::from_slice(&queue, &vec![1.0; 1 << 20])?;
//! let mut y = Buffer::from_slice(&queue, &vec![2.0; 1 << 20])?;
//! saxpy(&queue, 1 << 20, 3.0, &x, &mut y)?;
//! assert_eq!(y.read(&queue)?[0], 5.0);
//!
//! // Which values the call got, and why.
//! println!("{}", saxpy::select(queue.device(), saxpy::Problem { n: 1 << 20 })?);
//! # Ok(())
//! # }
//! ```
//!
//! | item | is |
//! |---|---|
//! | [`tunable`] | the attribute that declares a kernel |
//! | [`Device`], [`Context`], [`Queue`], [`Buffer`], [`Event`] | OpenCL's objects, typed |
//! | [`DeviceSet`] | devices that compute one problem together |
//! | [`PinnedMemory`] | host memory that is transferred at full speed |
//! | `Queue::from_opencl3`, [`Queue::from_raw`] | launches in programs that already use OpenCL |
//! | [`Selection`], [`Explanation`] | which values a call gets, and why |
//! | [`Policy`] | what a call does where nothing was tuned |
//! | [`cache`] | what is kept on disk |
//! | [`Error`] | what went wrong and what to do |
//!
//! # What a call does
//! The first call with a problem size selects a configuration (see [`Rule`]), builds the program
//! if this context has not built it yet, and remembers both in the queue's [`Context`], which all
//! its queues and threads share. Every later call looks that up, sets the arguments and enqueues;
//! it allocates nothing. A selected configuration that the driver refuses to build or to launch is
//! followed by the next one of the rule, within the same call.
//!
//! Launches are asynchronous: those of one queue run in order, and reading a buffer through the
//! same queue waits for them. Between queues nothing is ordered except by [`Queue::after`],
//! [`Event::wait`] and [`Queue::finish`].
//!
//! A problem without work-items, for example `n = 0`, is [`Error::NoConfiguration`]: OpenCL has no
//! empty launches, and which of the caller's results would be right is the caller's to say.
//!
//! libOpenCL is loaded at run time: a program builds and starts on a machine that has none, and
//! the first call says what is missing.
//!
//! # Features
//! All but `opencl3` are off by default.
//!
//! | feature | adds |
//! |---|---|
//! | `opencl3` | conversions from and to the types of the package opencl3 0.12 |
//! | `fused` | the attribute `#[fused]` |
//! | `several-devices` | calls divided among devices (`split(…)`, [`DeviceSet`]) and the scheduler ([`schedule`]) |
//! | `f16` | `f16` and `bf16` as elements of buffers and scalar arguments |
//! | `offline` | [`Policy::Offline`]: lockfiles read at run time |
//! | `tuning` | [`Policy::TuneOnce`] and [`Policy::Online`]; measuring, verifying and searching, which `cargo cltune` is built on |
//!
//! # Environment
//!
//! | variable | decides |
//! |---|---|
//! | `CLTUNE_DEVICE` | which device [`Device::select`] and [`Queue::default_device`] take |
//! | `CLTUNE_POLICY` | what calls do where nothing was tuned, before [`set_policy`] |
//! | `CLTUNE_CACHE` | the folder of the [`cache`]; `off` for none |
//! | `CLTUNE_CAPTURE` | a folder in which launched problems are recorded, for `cargo cltune tune --captured FOLDER`; then every launch is waited for |
//! | `CLTUNE_CAPTURE_DATA` | `1` keeps the arguments of what is recorded, too |
//! | `CLTUNE_DATABASE` | a file of template defaults that goes before what ships with this crate |
//! | `CLTUNE_LOCK` | while building: a lockfile whose results go before those of each package |
//!
//! # Minimum Rust version
//! 1.95.

#[cfg(feature = "fused")]
pub use cltune_macros::fused;
pub use cltune_macros::{KernelStruct, tunable};
#[doc(inline)]
pub use cltune_runtime::*;
// Named once more, so that the compiler tells who uses them without the feature which one it is.
#[cfg(feature = "several-devices")]
#[doc(inline)]
pub use cltune_runtime::{
    DeviceSet, LayoutError, Sharing, SplitReport, SplitShare, Transfers, schedule, split_factors,
    theoretical_best,
};
#[cfg(feature = "f16")]
#[doc(inline)]
pub use cltune_runtime::{bf16, f16};
