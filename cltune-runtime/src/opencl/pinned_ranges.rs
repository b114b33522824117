//! Which host memory is pinned: that of the program's own, by its addresses.
//!
//! Split calls take ordinary slices. That one is part of pinned memory, so that devices can transfer it as it
//! is, only its addresses tell.

use super::{Pinned, RawContext, RawDevice, RawQueue, Status};
use std::collections::BTreeMap;
use std::ops::Range;
use std::sync::{PoisonError, RwLock, RwLockWriteGuard};

/// Pinned memory of the program's own, which is found by its addresses as long as this lives.
#[derive(Debug)]
pub(crate) struct KnownPinned(Pinned);

/// Ranges of addresses, by the first one. None have an address in common.
#[derive(Debug)]
struct Ranges(BTreeMap<usize, Known>);

/// What is known of a range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Known {
    /// The address after its last byte.
    end: usize,
    /// The platform that pinned it. Its other devices transfer it at full speed, too, also those of other contexts.
    platform: usize,
    /// Whether a device may still use it although nobody waits for that.
    is_lost: bool,
}

/// All that there are.
static ALL: RwLock<Ranges> = RwLock::new(Ranges(BTreeMap::new()));

impl KnownPinned {
    /// So many bytes, at least 1; the queue is one of the context, and the context is of the device.
    pub(crate) fn new(
        context: &RawContext,
        device: RawDevice,
        queue: &RawQueue,
        len: usize,
    ) -> Result<Self, Status> {
        let pinned = Pinned::new(context, queue, len)?;
        all().add(pinned.addresses(), device.platform.addr());
        Ok(Self(pinned))
    }

    /// The memory.
    pub(crate) fn get(&self) -> &Pinned {
        &self.0
    }

    /// The memory, to be changed.
    pub(crate) fn get_mut(&mut self) -> &mut Pinned {
        &mut self.0
    }
}

impl Drop for KnownPinned {
    fn drop(&mut self) {
        // First: as soon as it is freed, the addresses may be those of other memory.
        let known = all().remove(self.0.addresses().start);
        if known.is_some_and(|known| known.is_lost) {
            self.0.lose();
        }
    }
}

/// Whether all these addresses are of memory that is pinned for a device.
pub(crate) fn is_pinned(addresses: &Range<usize>, device: RawDevice) -> bool {
    let all = ALL.read().unwrap_or_else(PoisonError::into_inner);
    all.has(addresses, device.platform.addr())
}

/// Sees to it that pinned memory is never freed, because a device may still use these addresses of it.
pub(super) fn lose(addresses: &Range<usize>) {
    all().lose(addresses);
}

fn all() -> RwLockWriteGuard<'static, Ranges> {
    ALL.write().unwrap_or_else(PoisonError::into_inner)
}

impl Ranges {
    fn add(&mut self, addresses: Range<usize>, platform: usize) {
        let known = Known {
            end: addresses.end,
            platform,
            is_lost: false,
        };
        self.0.insert(addresses.start, known);
    }

    fn remove(&mut self, first: usize) -> Option<Known> {
        self.0.remove(&first)
    }

    fn has(&self, addresses: &Range<usize>, platform: usize) -> bool {
        let before = self.0.range(..=addresses.start).next_back();
        before.is_some_and(|(_, known)| addresses.end <= known.end && platform == known.platform)
    }

    fn lose(&mut self, addresses: &Range<usize>) {
        let before = self.0.range_mut(..=addresses.start).next_back();
        if let Some((_, known)) = before
            && addresses.end <= known.end
        {
            known.is_lost = true;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Two neighbours, and one of another platform.
    fn ranges() -> Ranges {
        let mut ranges = Ranges(BTreeMap::new());
        for (addresses, platform) in [(100..200, 1), (200..250, 1), (300..400, 2)] {
            ranges.add(addresses, platform);
        }
        ranges
    }

    #[test]
    fn parts_of_a_range_are_known_to_its_platform() {
        let ranges = ranges();
        for part in [100..200, 100..101, 140..200, 199..200, 200..250] {
            assert!(ranges.has(&part, 1), "{part:?}");
            assert!(!ranges.has(&part, 2), "{part:?}");
        }
        for other in [99..200, 100..201, 190..210, 250..251, 0..1, 310..320] {
            assert!(!ranges.has(&other, 1), "{other:?}");
        }
    }

    #[test]
    fn what_is_freed_is_not_known_any_more() {
        let mut ranges = ranges();
        assert!(ranges.remove(100).is_some());
        assert!(!ranges.has(&(120..130), 1));
        assert!(ranges.has(&(220..230), 1));
        ranges.add(90..150, 2);
        assert!(ranges.has(&(120..130), 2));
        assert!(!ranges.has(&(120..160), 2));
    }

    #[test]
    fn only_the_range_that_is_lost_is_lost() {
        let mut ranges = ranges();
        ranges.lose(&(220..230));
        // Of memory that is not the program's own.
        ranges.lose(&(260..270));
        let are_lost = [100, 200, 300].map(|first| ranges.remove(first).unwrap().is_lost);
        assert_eq!(are_lost, [false, true, false]);
    }
}
