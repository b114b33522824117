//! Errors of the scheduler.

use crate::error::Error;
use cltune_core::tasks::PlanError;
use std::fmt;

/// An error of a [`Scheduler`](super::Scheduler).
#[derive(Clone, thiserror::Error)]
#[non_exhaustive]
pub enum ScheduleError {
    /// A scheduler without devices.
    #[error("a scheduler needs at least one device: pass those of `Device::all`")]
    NoDevices,
    /// A memory limit of zero.
    #[error("the memory limit of {of} is 0 bytes, with which nothing can be computed: set more")]
    ZeroLimit {
        /// The device, or the host.
        of: String,
    },
    /// A list of limits of another length than that of the devices.
    #[error("{limits} memory limits were given for {devices} devices: give one for each")]
    Limits {
        /// The number of limits.
        limits: usize,
        /// The number of devices.
        devices: usize,
    },
    /// A matrix without elements.
    #[error("a matrix of {rows} x {columns} has no elements: give at least one row and one column")]
    Empty {
        /// Rows.
        rows: usize,
        /// Columns.
        columns: usize,
    },
    /// A matrix is more than the host's memory limit leaves.
    #[error(
        "{bytes} bytes more do not fit into the host's memory limit of {limit} bytes, of which {used} are \
         used: raise the limit, or drop matrices"
    )]
    HostLimit {
        /// Bytes of the matrix.
        bytes: usize,
        /// The limit.
        limit: usize,
        /// Bytes of the matrices that exist.
        used: usize,
    },
    /// The system has no memory for a matrix.
    #[error("the system has no {bytes} bytes of memory for a matrix: {reason}")]
    HostMemory {
        /// Bytes of the matrix.
        bytes: usize,
        /// The reason.
        reason: String,
    },
    /// Operands whose shapes do not fit together.
    #[error("`{operation}`: {what} is {found}, and {expected} is needed")]
    Shape {
        /// The operation.
        operation: String,
        /// The operand.
        what: String,
        /// Its shape.
        found: String,
        /// The shape that fits.
        expected: String,
    },
    /// Operands of which one lies row after row and the other one column after column.
    #[error(
        "`{operation}`: {what} lies in another order than the others: elements at one position are computed \
         together, so let all lie row after row, or all column after column"
    )]
    Layout {
        /// The operation.
        operation: String,
        /// The operand.
        what: String,
    },
    /// An operation without a result.
    #[error(
        "`{operation}` has no result, so there is nothing to compute: declare an argument that it writes \
         (`&mut`), or pass at least one matrix for the results"
    )]
    NoResult {
        /// The operation.
        operation: String,
    },
    /// Another number of matrices than an operation has results.
    #[error(
        "`{operation}` has {results} results, and {matrices} matrices were passed for them: pass one for \
         each, in the order of the results"
    )]
    Results {
        /// The operation.
        operation: String,
        /// The number of its results.
        results: usize,
        /// The number of matrices.
        matrices: usize,
    },
    /// An operand belongs to another scheduler, whose devices have other contexts.
    #[error("`{operation}`: {what} belongs to another scheduler: make all matrices with one")]
    OtherScheduler {
        /// The operation.
        operation: String,
        /// The operand.
        what: String,
    },
    /// No device has the memory for the smallest blocks.
    #[error("`{operation}`: {reason}")]
    Blocks {
        /// The operation.
        operation: String,
        /// The smallest blocks.
        reason: PlanError,
    },
    /// A kernel refuses its blocks, as it would on every device.
    #[error("`{operation}` cannot be computed: {reason}")]
    Kernel {
        /// The operation.
        operation: String,
        /// The kernel's reason.
        reason: String,
    },
    /// No device is left that can compute an operation.
    #[error("no device is left that can compute `{operation}`; {}", reasons.join("; "))]
    NoDeviceLeft {
        /// The operation.
        operation: String,
        /// The reason of each device.
        reasons: Vec<String>,
    },
    /// A device failed while it overwrote values that the operation reads, so that no other device
    /// can compute it.
    #[error(
        "`{operation}` cannot be done again by another device, because {device} failed while it overwrote the \
         operation's own operand: {reason}"
    )]
    PartlyOverwritten {
        /// The operation.
        operation: String,
        /// The device.
        device: String,
        /// How it failed.
        reason: String,
    },
    /// The matrix was to be computed by an operation that failed.
    #[error(
        "the matrix has no values, because the operation that was to compute it failed: {reason}"
    )]
    NotComputed {
        /// The error of the operation.
        reason: String,
    },
    /// The run time failed outside of an operation.
    #[error(transparent)]
    Runtime(#[from] Error),
}

/// As its text, as [`Error`].
impl fmt::Debug for ScheduleError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}
