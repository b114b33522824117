//! The program's own pinned memory, found by its addresses, with its content versions.
//!
//! Split calls take ordinary slices. Only the addresses of a slice tell that it is part of pinned
//! memory, so that devices can transfer it as it is.

use super::content_version::ContentVersion;
use super::{Pinned, RawContext, RawDevice, RawQueue, Status};
use std::collections::BTreeMap;
use std::num::NonZeroU64;
use std::ops::Range;
use std::sync::{Arc, PoisonError, RwLock, RwLockWriteGuard};

/// Pinned memory of the program's own, which is found by its addresses as long as this lives.
#[derive(Debug)]
pub(crate) struct KnownPinned {
    memory: Pinned,
    version: Arc<ContentVersion>,
}

/// Ranges of addresses, by the first one. None have an address in common.
#[derive(Debug)]
struct Ranges(BTreeMap<usize, PinnedRange>);

/// A range of pinned memory.
#[derive(Debug)]
struct PinnedRange {
    /// The address after its last byte.
    end: usize,
    /// The platform that pinned it. Its other devices transfer it at full speed, too, also those of
    /// other contexts.
    platform: usize,
    /// Whether a device may still use it although nobody waits for that.
    is_lost: bool,
    version: Arc<ContentVersion>,
}

/// All that there are.
static ALL: RwLock<Ranges> = RwLock::new(Ranges(BTreeMap::new()));

impl KnownPinned {
    /// So many bytes, at least 1; the queue is one of the context, and the context is of the
    /// device.
    pub(crate) fn new(
        context: &RawContext,
        device: RawDevice,
        queue: &RawQueue,
        len: usize,
    ) -> Result<Self, Status> {
        let memory = Pinned::new(context, queue, len)?;
        let version = Arc::new(ContentVersion::default());
        let (addresses, platform) = (memory.addresses(), device.platform.addr());
        all().add(addresses, platform, Arc::clone(&version));
        Ok(Self { memory, version })
    }

    /// The memory. Its contents have a version from now on.
    #[inline]
    pub(crate) fn get(&self) -> &Pinned {
        self.version.close();
        &self.memory
    }

    /// The memory, to be changed. Its contents have no version until [`KnownPinned::get`].
    #[inline]
    pub(crate) fn get_mut(&mut self) -> &mut Pinned {
        self.version.open();
        &mut self.memory
    }
}

impl Drop for KnownPinned {
    fn drop(&mut self) {
        // First: as soon as it is freed, the addresses may be those of other memory.
        let range = all().remove(self.memory.addresses().start);
        if range.is_some_and(|range| range.is_lost) {
            self.memory.lose();
        }
    }
}

/// Whether all these addresses are of memory that is pinned for a device.
pub(crate) fn is_pinned(addresses: &Range<usize>, device: RawDevice) -> bool {
    let all = ALL.read().unwrap_or_else(PoisonError::into_inner);
    all.has(addresses, device.platform.addr())
}

/// The content version of the pinned memory that all these addresses are of. No other memory has
/// it, and the memory has another one when it may have changed. `None` where it can be changed now,
/// and for memory that is not pinned.
pub(crate) fn version_of(addresses: &Range<usize>) -> Option<NonZeroU64> {
    let all = ALL.read().unwrap_or_else(PoisonError::into_inner);
    all.around(addresses)?.version.get()
}

/// Sees to it that pinned memory is never freed, because a device may still use these addresses of
/// it.
pub(super) fn lose(addresses: &Range<usize>) {
    all().lose(addresses);
}

fn all() -> RwLockWriteGuard<'static, Ranges> {
    ALL.write().unwrap_or_else(PoisonError::into_inner)
}

impl Ranges {
    fn add(&mut self, addresses: Range<usize>, platform: usize, version: Arc<ContentVersion>) {
        let range = PinnedRange {
            end: addresses.end,
            platform,
            is_lost: false,
            version,
        };
        self.0.insert(addresses.start, range);
    }

    fn remove(&mut self, first: usize) -> Option<PinnedRange> {
        self.0.remove(&first)
    }

    /// The range that all these addresses are of.
    fn around(&self, addresses: &Range<usize>) -> Option<&PinnedRange> {
        let (_, range) = self.0.range(..=addresses.start).next_back()?;
        (addresses.end <= range.end).then_some(range)
    }

    fn has(&self, addresses: &Range<usize>, platform: usize) -> bool {
        let range = self.around(addresses);
        range.is_some_and(|range| platform == range.platform)
    }

    fn lose(&mut self, addresses: &Range<usize>) {
        let before = self.0.range_mut(..=addresses.start).next_back();
        if let Some((_, range)) = before
            && addresses.end <= range.end
        {
            range.is_lost = true;
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
            ranges.add(addresses, platform, Arc::default());
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
        ranges.add(90..150, 2, Arc::default());
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

    #[test]
    fn only_the_range_itself_has_its_version() {
        let mut ranges = ranges();
        let version = Arc::new(ContentVersion::default());
        ranges.add(500..600, 1, Arc::clone(&version));
        let version_at = |part| ranges.around(&part).and_then(|range| range.version.get());
        assert_eq!(version_at(500..600), None);
        version.close();
        assert_eq!(version_at(510..520), version.get());
        assert!(version.get().is_some());
        assert_eq!([version_at(510..601), version_at(499..510)], [None, None]);
        assert_eq!(version_at(300..310), None);
    }
}
