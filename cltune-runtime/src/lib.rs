//! Performance-portable OpenCL for Rust: launch kernels with the best known values for the device
//! at hand.
//!
//! A kernel is declared with `#[tunable]`, tuned by `cargo cltune`, and called like any
//! function. The values that tuning found travel in `cltune.lock` and are constants of the
//! compiled program.
//!
//! ```no_run
//! use cltune_runtime::{Buffer, Queue};
//!
//! # fn main() -> cltune_runtime::Result<()> {
//! let queue = Queue::default_device()?;
//! let x = Buffer::from_slice(&queue, &[1.0_f32; 1024])?;
//! println!("{} holds {} elements", queue.device(), x.len());
//! # Ok(())
//! # }
//! ```
//!
//! | item | is |
//! |---|---|
//! | [`tunable`] | the attribute that declares a kernel |
//! | [`Device`], [`Context`], [`Queue`], [`Buffer`], [`Event`] | OpenCL's objects, typed |
//! | [`Selection`] | which values a call gets, and why |
//! | [`Error`] | what went wrong and what to do |
//!
//! libOpenCL is loaded at run time: a program builds and starts on a machine that has none, and
//! the first call says what is missing.
//!
//! # Features
//! `tuning`: measuring, verifying and searching, which `cargo cltune` is built on. Off by default.
//!
//! # Minimum Rust version
//! 1.95.

#![deny(missing_docs)]
#![deny(unsafe_op_in_unsafe_fn)]

mod buffer;
mod context;
mod device;
mod element;
mod error;
mod event;
mod launch;
mod opencl;
mod queue;
#[cfg(feature = "tuning")]
pub mod search;
#[cfg(feature = "tuning")]
pub mod tuning;

pub use buffer::Buffer;
pub use cltune_core::device::{DeviceInfo, DeviceLimits, DeviceType};
pub use cltune_core::model::Rejection;
pub use cltune_core::select::Rule;
pub use cltune_macros::tunable;
pub use context::Context;
pub use device::Device;
pub use element::Element;
pub use error::{Error, Result};
pub use event::Event;
pub use half::f16;
pub use launch::{Baked, Configuration, Selection, Tunable};
pub use opencl::Status;
pub use queue::Queue;

/// What generated code uses; not covered by any promise of stability.
#[doc(hidden)]
pub mod __private {
    pub use crate::launch::{Arg, default_params, launch, launch_with, select};
    pub use cltune_core as core;
}
