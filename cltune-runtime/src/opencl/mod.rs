//! The OpenCL boundary: the only module of cltune with `unsafe`, but for the `unsafe fn`s of
//! `interop/raw.rs`, which pass their caller's promise on to this one.
//!
//! It wraps the C API at the level of `cl3` instead of `opencl3`'s types, because those panic on
//! wrong kernel arguments and when a failing driver refuses to release an object. Here every call
//! returns a [`Status`], and releasing ignores errors: after a driver's crash there is nothing a
//! caller could do about them.

#[cfg(all(feature = "tuning", unix))]
mod accesses;
mod bytes;
mod content_version;
mod context;
mod device;
mod event;
mod foreign;
mod host_memory;
mod image;
mod kernel;
mod memory;
#[cfg(feature = "opencl3")]
mod opencl3_types;
#[cfg(all(feature = "tuning", unix))]
mod pages;
mod pinned;
mod pinned_ranges;
mod program;
#[cfg(all(feature = "tuning", unix))]
mod protected;
mod queue;
mod region;
mod runs;
mod scoped_transfers;
mod scratch;
#[cfg(all(feature = "tuning", unix))]
mod sealed;
mod status;
mod transfer;
#[cfg(all(feature = "tuning", not(unix)))]
mod unprotected;
mod wait_list;

pub use bytes::KernelStruct;
pub(crate) use bytes::{bytes_of, bytes_of_mut};
pub(crate) use context::RawContext;
#[cfg(feature = "energy")]
pub(crate) use device::pci_address;
pub(crate) use device::{RawDevice, all_devices, describe, is_host_unified};
pub(crate) use event::RawEvent;
pub(crate) use foreign::{ImageFacts, MemoryFacts};
pub(crate) use host_memory::{BlockPlace, HostGuard, HostMemory, HostTransfer};
pub(crate) use image::{ImageUse, RawImage};
#[cfg(feature = "tuning")]
pub(crate) use kernel::ArgInfo;
pub(crate) use kernel::{KernelNeeds, RawKernel};
pub(crate) use memory::{KernelAccess, RawBuffer};
pub(crate) use pinned::{Moving, Pinned};
pub(crate) use pinned_ranges::{KnownPinned, is_pinned, version_of};
pub(crate) use program::{BuildFailure, RawProgram};
#[cfg(all(feature = "tuning", unix))]
pub(crate) use protected::Protected;
pub(crate) use queue::RawQueue;
pub(crate) use region::{Place, Region};
pub(crate) use runs::Runs;
pub(crate) use scoped_transfers::ScopedTransfers;
pub(crate) use scratch::ScratchPool;
#[cfg(all(feature = "tuning", unix))]
pub(crate) use sealed::Sealed;
pub use status::Status;
#[cfg(all(feature = "tuning", not(unix)))]
pub(crate) use unprotected::{Protected, Sealed};
pub(crate) use wait_list::WaitList;

/// Reads a little value out of the bytes that an info query returns; zero where the driver
/// answered with fewer bytes than the type has.
fn number(bytes: &[u8]) -> u64 {
    let mut value = [0; 8];
    let len = bytes.len().min(8);
    value[..len].copy_from_slice(&bytes[..len]);
    u64::from_le_bytes(value)
}

/// Reads the text that an info query returns, up to its NUL, trimmed.
fn text(bytes: &[u8]) -> String {
    let end = bytes
        .iter()
        .position(|byte| *byte == 0)
        .unwrap_or(bytes.len());
    String::from_utf8_lossy(&bytes[..end]).trim().to_string()
}
