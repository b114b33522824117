//! What a device has to do in a round, and what came of it.

use super::contents::Contents;
use crate::kernel::Tunable;
use crate::opencl::{Region, Runs};
use cltune_core::split::Share;
use std::time::Duration;

/// What a device has to do.
#[derive(Debug)]
pub(super) struct Turn<'r> {
    pub(super) tunable: &'static Tunable,
    /// The configuration to use if the driver takes it.
    pub(super) codes: Vec<i64>,
    /// Whether data goes through pinned memory, beside launches.
    pub(super) is_pipelined: bool,
    /// The share, piece by piece.
    pub(super) pieces: Vec<Piece<'r>>,
}

/// What is launched at a time.
#[derive(Debug)]
pub(super) struct Piece<'r> {
    pub(super) share: Share,
    /// The problem of the piece.
    pub(super) dims: Vec<i64>,
    /// One for each argument of the call.
    pub(super) operands: Vec<Operand<'r>>,
}

/// An argument of a piece.
#[derive(Debug)]
pub(super) enum Operand<'r> {
    Scalar(Vec<u8>),
    Buffer {
        /// Elements.
        len: usize,
        bytes: usize,
        /// What is written to it before the launch.
        uploads: Vec<Upload<'r>>,
        /// What it has then, where it is known whether that changes, and it is not written to.
        contents: Option<Contents>,
        /// What is read from it afterwards.
        download: Option<Download<'r>>,
    },
    /// The buffer of the turn's first piece, which has all of the argument.
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

/// How an argument got to the device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Supply {
    /// Bytes that launches needed.
    pub(super) needed: usize,
    /// Those that were not there already.
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

/// Where results go.
#[derive(Debug)]
pub(super) enum Target<'r> {
    /// To the caller's slice.
    Place(Region<'r>),
    /// To memory of their own, one row after the other, because the caller's slice is still read.
    Kept { rows: usize, width: usize },
}

/// A turn that went well.
#[derive(Debug)]
pub(super) struct Ended {
    /// Uploading, launching and reading back.
    pub(super) elapsed: Duration,
    /// Whether the configuration was the one asked for.
    pub(super) as_asked: bool,
    /// In how many pieces.
    pub(super) pieces: usize,
    /// One for each argument.
    pub(super) supplies: Vec<Supply>,
    /// Results that wait for the end of the call.
    pub(super) kept: Vec<Kept>,
}

/// Results of a piece, one row after the other, whose place is still read.
#[derive(Debug)]
pub(super) struct Kept {
    /// The position of the argument.
    pub(super) argument: usize,
    pub(super) share: Share,
    pub(super) bytes: Vec<u8>,
}
