//! Memory that is pageable, as of a `Vec`, or pinned.

use cltune::{DeviceSet, PinnedMemory, Result};
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

/// What of that which is read changes from call to call. The rest stays on the devices, if it is in
/// pinned memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Changing {
    /// All, so devices are sent it in every call
    All,
    /// The signal, and not the mask; the first matrix, and not the second
    First,
    /// Nothing
    None,
}

/// What a problem's data is in, and whether it changes.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Data {
    pub(crate) memory: Kind,
    pub(crate) changing: Changing,
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

impl Display for Data {
    fn fmt(&self, out: &mut Formatter<'_>) -> fmt::Result {
        out.write_str(match self.memory {
            Kind::Pageable => "pageable",
            Kind::Pinned => "pinned",
        })?;
        out.write_str(match self.changing {
            Changing::All => "",
            Changing::First => ", only the first input changes",
            Changing::None => ", inputs do not change",
        })
    }
}

impl Data {
    /// Before a call that reads it: borrowing it to change it is what lets the runtime take it for
    /// changed.
    pub(crate) fn next_call(self, inputs: [&mut Memory; 2]) {
        let changing = match self.changing {
            Changing::All => 2,
            Changing::First => 1,
            Changing::None => 0,
        };
        for memory in inputs.into_iter().take(changing) {
            let _: &mut [f32] = memory;
        }
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
