//! The work of a device on its share: its chunks, the results, and the attribution of failures.

use super::resident_inputs::Contents;
use crate::error::Error;
use crate::kernel::Tunable;
use crate::opencl::{Region, Runs};
use cltune_core::split::Share;
use std::time::Duration;

/// The work of a device on its share.
#[derive(Debug)]
pub(super) struct ShareWork<'r> {
    pub(super) tunable: &'static Tunable,
    /// The configuration to use if the driver takes it.
    pub(super) codes: Vec<i64>,
    /// Whether data goes through pinned memory, beside launches.
    pub(super) is_pipelined: bool,
    /// The share, chunk by chunk.
    pub(super) chunks: Vec<Chunk<'r>>,
}

/// A part of a share: what is launched at a time.
#[derive(Debug)]
pub(super) struct Chunk<'r> {
    pub(super) share: Share,
    /// The problem of the chunk.
    pub(super) dims: Vec<i64>,
    /// One for each argument of the call.
    pub(super) operands: Vec<Operand<'r>>,
}

/// An argument of a chunk.
#[derive(Debug)]
pub(super) enum Operand<'r> {
    Scalar(Vec<u8>),
    Buffer {
        /// Elements.
        len: usize,
        bytes: usize,
        /// Writes to it before the launch.
        uploads: Vec<Upload<'r>>,
        /// Its contents then, where changes of them are noticed and it is not written to.
        contents: Option<Contents>,
        /// The read from it afterwards.
        download: Option<Download<'r>>,
    },
    /// The buffer of the share's first chunk, which has all of the argument.
    OfFirst {
        /// Elements.
        len: usize,
    },
}

/// Bytes to write to a buffer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Upload<'r> {
    pub(super) source: &'r [u8],
    pub(super) runs: Runs,
    /// The first byte in the buffer, where the runs follow each other.
    pub(super) at: usize,
}

/// The bytes of an argument that a device needed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct InputBytes {
    /// Bytes that launches needed.
    pub(super) needed: usize,
    /// Those that were not on the device already.
    pub(super) sent: usize,
}

/// Results to read back.
#[derive(Debug)]
pub(super) struct Download<'r> {
    /// The first byte of each row in the buffer.
    pub(super) first: usize,
    /// Bytes of a row in the buffer.
    pub(super) pitch: usize,
    pub(super) target: Target<'r>,
}

/// The place of results.
#[derive(Debug)]
pub(super) enum Target<'r> {
    /// To the caller's slice.
    Place(Region<'r>),
    /// To memory of their own, one row after the other, because the caller's slice is still read.
    Deferred { rows: usize, width: usize },
}

/// A share that was computed.
#[derive(Debug)]
pub(super) struct ShareDone {
    /// Uploading, launching and reading back.
    pub(super) elapsed: Duration,
    /// Whether the configuration was the one asked for.
    pub(super) as_asked: bool,
    /// The number of chunks.
    pub(super) chunks: usize,
    /// One for each argument.
    pub(super) input_bytes: Vec<InputBytes>,
    /// Results that wait for the end of the call.
    pub(super) deferred: Vec<DeferredResults>,
}

/// Results of a chunk, one row after the other, whose place is still read.
#[derive(Debug)]
pub(super) struct DeferredResults {
    /// The position of the argument.
    pub(super) argument: usize,
    pub(super) share: Share,
    pub(super) bytes: Vec<u8>,
}

/// The reason why a share was not computed.
#[derive(Debug)]
pub(crate) struct Failure {
    pub(crate) error: Box<Error>,
    pub(crate) attribution: Attribution,
}

/// The cause that a failure is attributed to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Attribution {
    /// The call: it is wrong on every device.
    Call,
    /// The problem: the device cannot compute it.
    Problem,
    /// The device: it is broken.
    Device,
}

impl Failure {
    /// A failure before anything ran.
    pub(crate) fn before(error: Error) -> Self {
        let attribution = match &error {
            Error::Arguments { .. }
            | Error::ArgumentKind { .. }
            | Error::BufferTooShort { .. }
            | Error::Division { .. }
            | Error::LengthMismatch { .. }
            | Error::OtherContext { .. }
            | Error::ShareBeyondType { .. }
            | Error::Signature { .. }
            | Error::TooLarge { .. }
            | Error::UndividedResult { .. }
            | Error::ZeroStride { .. } => Attribution::Call,
            Error::OpenCl { status, .. }
                if !status.is_of_configuration() && !status.is_of_size() =>
            {
                Attribution::Device
            }
            _ => Attribution::Problem,
        };
        let error = Box::new(error);
        Self { error, attribution }
    }

    /// Whether there may have been too little memory.
    pub(crate) fn is_of_memory(&self) -> bool {
        self.error.is_of_memory()
    }

    /// A failure while the device was working: whatever its code, a launch or transfer did not end
    /// well.
    pub(crate) fn during(error: Error) -> Self {
        Self {
            error: Box::new(error),
            attribution: Attribution::Device,
        }
    }
}
