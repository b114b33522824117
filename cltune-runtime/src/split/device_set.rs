//! The devices of split calls, and what is kept for them between calls.

use super::profiles::{DeviceProfiles, ProblemKey};
use super::worker::Worker;
use crate::device::Device;
use crate::element::Element;
use crate::error::{Error, Result};
use crate::pinned::PinnedMemory;
use std::collections::HashMap;
use std::num::NonZeroU64;
use std::ops::Range;

/// The number of problems that a set remembers profiles of. One that sees more forgets all and
/// starts anew.
const MAX_PROBLEMS: usize = 256;

/// Devices that compute one problem together, see the `split_…` functions of tunables that declare
/// `split(…)`.
///
/// It keeps a queue and buffers on each device, so that later calls allocate nothing there, in them
/// inputs in [`PinnedMemory`] as long as they do not change, so that later calls are not sent them
/// again, and how fast each device was for each problem, so that later calls are divided better. A
/// device that fails is lost to the set until [`DeviceSet::readmit`].
#[derive(Debug)]
pub struct DeviceSet {
    pub(super) members: Vec<Member>,
    pub(super) sharing: Sharing,
    pub(super) transfers: Transfers,
    profiles: HashMap<ProblemKey, DeviceProfiles>,
}

/// The division of a problem among the devices.
#[derive(Clone, Debug, PartialEq)]
#[non_exhaustive]
pub enum Sharing {
    /// In proportion to how fast the devices are: as tuning says at first, then as measured.
    Balanced,
    /// In proportion to these factors, one for each device of the set; 0 for a device that is to do
    /// nothing.
    Fixed(Vec<f64>),
}

/// The way of data from the caller's slices to devices and back.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum Transfers {
    /// Through pinned memory to devices that have memory of their own, where there is much to
    /// transfer; directly otherwise.
    ByDevice,
    /// As the driver can from the slices themselves.
    Direct,
    /// Through pinned memory, while kernels compute what has arrived: slices of [`PinnedMemory`] as
    /// they are, others copied by threads into pinned staging buffers.
    Pinned,
}

/// A device of the set.
#[derive(Debug)]
pub(super) struct Member {
    pub(super) device: Device,
    /// Whether data has to be transferred to it.
    pub(super) has_own_memory: bool,
    /// With the reason where the device is lost.
    pub(super) state: Result<Worker>,
}

impl DeviceSet {
    /// A set of devices, each with a context of its own. A device that has no context is lost to
    /// it.
    ///
    /// # Errors
    /// [`Error::NoDevice`] when the list is empty, or why the first device has no context when none
    /// has.
    pub fn new(devices: &[Device]) -> Result<Self> {
        let members: Vec<Member> = devices.iter().map(Member::new).collect();
        if members.iter().all(|member| member.state.is_err()) {
            let first = members.into_iter().find_map(|member| member.state.err());
            return Err(first.unwrap_or(Error::NoDevice));
        }
        Ok(Self {
            members,
            sharing: Sharing::Balanced,
            transfers: Transfers::ByDevice,
            profiles: HashMap::new(),
        })
    }

    /// The devices, lost ones included.
    pub fn devices(&self) -> impl Iterator<Item = &Device> {
        self.members.iter().map(|member| &member.device)
    }

    /// Zeros in pinned memory, from which devices of this set are sent data as fast as they can
    /// take it: pass slices of it to split calls. It outlives the set, and other sets with devices
    /// of the same platform may use it.
    ///
    /// It is pinned for the platform of the first device that has memory of its own; if none has,
    /// it is as good as any other memory.
    ///
    /// # Errors
    /// As [`PinnedMemory::zeros`]; [`Error::NoDevice`] when all devices are lost.
    pub fn pinned<T: Element>(&self, len: usize) -> Result<PinnedMemory<T>> {
        let with = |has_own_memory| {
            let mut members = self.members.iter();
            members.find_map(|member| {
                let worker = member.state.as_ref().ok()?;
                (member.has_own_memory == has_own_memory).then_some(worker)
            })
        };
        let worker = with(true).or_else(|| with(false)).ok_or(Error::NoDevice)?;
        PinnedMemory::zeros(worker.context(), len)
    }

    /// Changes who gets how much in later calls.
    pub fn set_sharing(&mut self, sharing: Sharing) {
        self.sharing = sharing;
    }

    /// Changes how data gets to devices and back in later calls; [`Transfers::ByDevice`] at first.
    /// What is computed is the same.
    pub fn set_transfers(&mut self, transfers: Transfers) {
        self.transfers = transfers;
    }

    /// The devices that failed, each with how.
    pub fn lost(&self) -> impl Iterator<Item = (&Device, &Error)> {
        self.members
            .iter()
            .filter_map(|member| Some((&member.device, member.state.as_ref().err()?)))
    }

    /// Gives lost devices another chance, with new contexts, and forgets which kernels devices were
    /// unable to run.
    pub fn readmit(&mut self) {
        for member in &mut self.members {
            if member.state.is_err() {
                *member = Member::new(&member.device);
            }
        }
        for profiles in self.profiles.values_mut() {
            profiles.readmit();
        }
    }

    /// The profiles for a problem; taken out, so that they can be used beside the members.
    pub(super) fn take_profiles(&mut self, key: &ProblemKey, arguments: usize) -> DeviceProfiles {
        let members = self.members.len();
        self.profiles
            .remove(key)
            .unwrap_or_else(|| DeviceProfiles::new(members, arguments))
    }

    /// Whether nearly all of these bytes, of the memory that has this content version, are on a
    /// device already.
    pub(super) fn has(&self, version: NonZeroU64, addresses: &Range<usize>) -> bool {
        let workers = self
            .members
            .iter()
            .filter_map(|member| member.state.as_ref().ok());
        let there = workers.map(|worker| worker.count(version, addresses)).sum();
        is_resident(there, addresses.len())
    }

    /// Puts profiles back.
    pub(super) fn keep_profiles(&mut self, key: ProblemKey, profiles: DeviceProfiles) {
        if self.profiles.len() >= MAX_PROBLEMS {
            self.profiles.clear();
        }
        self.profiles.insert(key, profiles);
    }
}

/// Whether the bytes on devices are nearly all of those that are needed, so that little is sent. A
/// split that moves needs some, and so does the next part of a picture.
pub(super) fn is_resident(there: usize, needed: usize) -> bool {
    there > 0 && there >= needed / 4 * 3
}

impl Member {
    fn new(device: &Device) -> Self {
        Self {
            device: device.clone(),
            has_own_memory: !device.shares_host_memory(),
            state: Worker::new(device),
        }
    }
}
