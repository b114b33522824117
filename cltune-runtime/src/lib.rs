//! The run time of cltune: devices, buffers, launches with the best known values, splitting, the
//! scheduler, policies and the user's cache; with the feature `tuning` also measuring and tuning.
//!
//! Programs use it through the crate `cltune`, which exports everything of it beside the attributes
//! `#[tunable]` and `#[fused]`, and has the documentation. It is a crate of its own so that cargo
//! compiles the attributes and the run time at the same time.

// What is used by splitting and the scheduler alone stays beside what is like it. The workspace
// builds and checks all of it.
#![cfg_attr(
    not(feature = "several-devices"),
    allow(dead_code, unused_imports, unfulfilled_lint_expectations)
)]

mod buffer;
pub mod cache;
mod capture;
mod context;
// For `cargo cltune` of the same release, without any promise of stability.
#[doc(hidden)]
pub mod database;
mod device;
mod element;
mod enqueued;
mod error;
mod event;
mod image;
mod interop;
mod kept_images;
mod kernel;
mod launch;
mod opencl;
mod pinned;
mod policy;
mod queue;
mod reclaim;
#[cfg(feature = "tuning")]
mod runtime_tuning;
#[cfg(feature = "several-devices")]
pub mod schedule;
#[cfg(feature = "several-devices")]
mod split;
// For `cargo cltune` of the same release, without any promise of stability: it handles every
// outcome, so its enumerations are exhaustive.
#[cfg(feature = "tuning")]
#[doc(hidden)]
pub mod tuning;
mod view;

pub use buffer::Buffer;
pub use cltune_core::Text;
pub use cltune_core::device::{DeviceField, DeviceInfo, DeviceKey, DeviceLimits, DeviceType};
pub use cltune_core::expr::EvalError;
pub use cltune_core::model::{
    ElementType, Quantity, Rejection, ScalarType, StructField, StructType,
};
pub use cltune_core::select::Rule;
#[cfg(feature = "several-devices")]
pub use cltune_core::split::{LayoutError, factors as split_factors, theoretical_best};
pub use context::Context;
pub use device::Device;
pub use element::Element;
pub use error::{Error, Result};
pub use event::Event;
#[cfg(feature = "f16")]
pub use half::{bf16, f16};
pub use image::{Image, Image2d, Image2dArray, Image3d, ImageSize, Normalized, Pixel};
pub use interop::ForeignError;
pub use kernel::{FieldLayout, StructLayout, Tunable};
pub use launch::{Baked, Configuration, Explanation, Selection};
pub use opencl::{KernelStruct, Status};
pub use pinned::PinnedMemory;
pub use policy::{
    Budget, BudgetError, Overhead, Policy, PolicyError, policy, set_policy, with_policy,
};
pub use queue::Queue;
#[cfg(feature = "several-devices")]
pub use split::{DeviceSet, Sharing, SplitReport, SplitShare, Transfers};
pub use view::{BufferView, BufferViewMut};

/// Refuses code that another version of the attribute generated: generated code and the run time
/// belong together. The literal is the version of this crate; each expansion of the attribute
/// compares it, so that a forgotten one fails every test.
#[doc(hidden)]
#[macro_export]
macro_rules! __generated_by_version {
    ("0.1.0") => {};
    ($other:literal) => {
        ::core::compile_error!(::core::concat!(
            "cltune-macros ",
            $other,
            " generated this code for its own version of cltune, and this cltune is another: depend \
             on one version of cltune, and use the attribute through it (`cltune::tunable`)"
        ));
    };
}

/// The functions that a clause `split(…)` makes.
#[cfg(feature = "several-devices")]
#[doc(hidden)]
#[macro_export]
macro_rules! __split_clause {
    ($($function:item)*) => { $($function)* };
}

/// The functions that a clause `split(…)` makes, which this build has not.
#[cfg(not(feature = "several-devices"))]
#[doc(hidden)]
#[macro_export]
macro_rules! __split_clause {
    ($($function:item)*) => {
        ::core::compile_error!(
            "`split(…)` needs cltune's feature `several-devices`: `cargo add cltune --features several-devices`"
        );
    };
}

/// What generated code uses; not covered by any promise of stability.
#[doc(hidden)]
pub mod __private {
    pub use crate::element::{is_same_text, no_vector, text};
    pub use crate::kernel::Arg;
    pub use crate::launch::{check, default_params, explain, launch, launch_with, select};
    #[cfg(feature = "several-devices")]
    pub use crate::schedule::{ScheduleArg, enqueue};
    #[cfg(feature = "several-devices")]
    pub use crate::split::{SplitArg, split};
    pub use cltune_core as core;
}
