//! Reasons why nothing can be measured.

use super::energy::EnergyError;
use super::fill::FillError;
use super::outcome::WrongResult;
use super::signature::SignatureMismatch;
use crate::error::Error;
use cltune_core::expr::EvalError;
use cltune_formats::declaration::UnusableRange;

/// Why a kernel cannot be measured at all for a problem on a device.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum PrepareError {
    /// No configuration satisfies the constraints and the device's limits.
    #[error("no configuration is valid for this problem on this device")]
    NoConfiguration,
    /// A buffer argument without a length.
    #[error(
        "the length of `{argument}` is not declared, so the tuner cannot allocate it: add \
         `#[arg(len = …)]`"
    )]
    NoLength {
        /// The argument.
        argument: String,
    },
    /// A length that has no value.
    #[error("the length `{text}` of `{argument}` has no value: {reason}")]
    Length {
        /// The argument.
        argument: String,
        /// The formula.
        text: String,
        /// The reason.
        reason: EvalError,
    },
    /// A length below zero.
    #[error("the length `{text}` of `{argument}` is {value} for this problem")]
    NegativeLength {
        /// The argument.
        argument: String,
        /// The formula.
        text: String,
        /// Its value.
        value: i64,
    },
    /// An argument cannot be filled.
    #[error(transparent)]
    Fill(#[from] FillError),
    /// The declaration does not fit the kernel.
    #[error(transparent)]
    Signature(#[from] SignatureMismatch),
    /// The kernel does not build with the configuration that everything is compared with.
    #[error("`{kernel}` does not build in its default configuration ({configuration}):\n{log}")]
    Build {
        /// The kernel.
        kernel: String,
        /// The values: `WG = 64, WPT = 1`.
        configuration: String,
        /// The driver's code and the compiler's log.
        log: String,
    },
    /// Inputs cannot be made from others.
    #[error("`prepare(…)` fails, in `{kernel}`: {error}")]
    Inputs {
        /// The kernel that makes them; the tunable, where several do.
        kernel: String,
        /// The reason.
        error: String,
    },
    /// What makes inputs accesses memory that it must not.
    #[error("`prepare(…)` is wrong: {0}")]
    InputsWrong(Box<WrongResult>),
    /// What makes inputs leaves one as it was.
    #[error(
        "`prepare(…)` writes nothing to `{argument}`: are the global sizes and the arguments of its \
         stages right?"
    )]
    NotPrepared {
        /// The argument.
        argument: String,
    },
    /// What makes inputs writes to another one.
    #[error(
        "`prepare(…)` writes to `{argument}`, and only to arguments with `#[arg(fill = prepared)]` \
         it may"
    )]
    PreparesOther {
        /// The argument.
        argument: String,
    },
    /// A range of results that there is not.
    #[error("`{argument}`: {reason}")]
    Compared {
        /// The argument.
        argument: String,
        /// The formulas, and their values.
        reason: UnusableRange,
    },
    /// The reference cannot be computed.
    #[error("the reference `{kernel}` fails: {error}")]
    Reference {
        /// The kernel that is the reference.
        kernel: String,
        /// The reason.
        error: String,
    },
    /// The number of accumulated terms is none.
    #[error("`tolerance(accumulates = {text})` {reason} for this problem")]
    Accumulates {
        /// The formula.
        text: String,
        /// The error in its value.
        reason: String,
    },
    /// The reference computes NaN, with which nothing can be compared.
    #[error(
        "the reference computes NaN at {place} (draw {draw}): choose a `fill` for which results \
         are numbers"
    )]
    ReferenceNan {
        /// The argument's element: `y[5]`, of a vector its component: `y[5][2]`.
        place: String,
        /// The draw.
        draw: usize,
    },
    /// The reference writes where it must not.
    #[error(
        "the reference is wrong, which is the default configuration unless `reference(…)` names another \
         kernel: {0}"
    )]
    ReferenceWrong(Box<WrongResult>),
    /// The reference leaves a whole output as it was, so that nothing can be compared with it.
    #[error(
        "the reference writes nothing to the output `{argument}`: are its global size and its \
         arguments right? (An argument that the kernel only reads is declared `&Buffer`.)"
    )]
    ReferenceWritesNothing {
        /// The argument.
        argument: String,
    },
    /// The device's caches cannot be displaced.
    #[error(
        "times with cold caches cannot be measured, since what the caches hold cannot be displaced: {reason}. \
         Declare `measure(warm)`, or tune with `--measure warm`"
    )]
    Displacing {
        /// Why.
        reason: String,
    },
    /// The energy of launches cannot be measured.
    #[error(transparent)]
    Energy(#[from] EnergyError),
    /// OpenCL failed.
    #[error(transparent)]
    OpenCl(#[from] Error),
}
