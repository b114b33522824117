//! Memory that is pageable, as of a `Vec`, or pinned.

use cltune_runtime::{DeviceSet, PinnedMemory, Result};
use std::fmt::{self, Display, Formatter};
use std::ops::{Deref, DerefMut};

/// What memory the arguments are in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Kind {
    /// That of a `Vec`: every program has it, and devices are sent copies.
    Pageable,
    /// What devices transfer as it is.
    Pinned,
}

/// Numbers in either.
pub(crate) enum Memory {
    Pageable(Vec<f32>),
    Pinned(PinnedMemory<f32>),
}

impl Kind {
    /// So many zeros.
    pub(crate) fn zeros(self, devices: &DeviceSet, len: usize) -> Result<Memory> {
        Ok(match self {
            Self::Pageable => Memory::Pageable(vec![0.0; len]),
            Self::Pinned => Memory::Pinned(devices.pinned(len)?),
        })
    }
}

impl Display for Kind {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        out.write_str(match self {
            Self::Pageable => "pageable",
            Self::Pinned => "pinned",
        })
    }
}

impl Deref for Memory {
    type Target = [f32];

    fn deref(&self) -> &[f32] {
        match self {
            Self::Pageable(memory) => memory,
            Self::Pinned(memory) => memory,
        }
    }
}

impl DerefMut for Memory {
    fn deref_mut(&mut self) -> &mut [f32] {
        match self {
            Self::Pageable(memory) => memory,
            Self::Pinned(memory) => memory,
        }
    }
}
