//! Content versions: numbers that tell whether memory still holds what it held before.

use std::num::NonZeroU64;
use std::sync::atomic::{AtomicU64, Ordering};

/// The version of the contents of memory that one value owns. There is one only while nobody can
/// change the memory.
///
/// A borrow that can change the memory [opens](ContentVersion::open) it, and the memory may change
/// until the owner is borrowed to read: a slice that was lent to be changed can be lent on to be
/// read, and be changed after that without anybody noticing. The version therefore does not advance
/// with each such borrow. There is none until the owner is borrowed to read, which
/// [closes](ContentVersion::close) it: the compiler guarantees that no borrow that can change the
/// memory is left then.
#[derive(Debug, Default)]
pub(crate) struct ContentVersion(AtomicU64);

/// No memory has the version of another one, nor one that it had before.
static NEXT: AtomicU64 = AtomicU64::new(1);

impl ContentVersion {
    /// The memory may change from now on.
    #[inline]
    pub(super) fn open(&self) {
        if self.0.load(Ordering::Relaxed) != 0 {
            self.0.store(0, Ordering::Relaxed);
        }
    }

    /// Nobody is left who could change the memory.
    #[inline]
    pub(super) fn close(&self) {
        if self.0.load(Ordering::Relaxed) == 0 {
            let version = NEXT.fetch_add(1, Ordering::Relaxed);
            // Another thread that reads it may have been first.
            let (now, is) = (Ordering::Relaxed, Ordering::Relaxed);
            let _ = self.0.compare_exchange(0, version, now, is);
        }
    }

    /// The version; `None` where the memory may change.
    pub(super) fn get(&self) -> Option<NonZeroU64> {
        NonZeroU64::new(self.0.load(Ordering::Relaxed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_that_may_have_changed_has_no_version_or_a_new_one() {
        let (a, b) = (ContentVersion::default(), ContentVersion::default());
        assert_eq!(a.get(), None);
        a.close();
        b.close();
        let before = a.get();
        assert!(before.is_some() && before != b.get());
        a.close();
        assert_eq!(a.get(), before);
        a.open();
        a.open();
        assert_eq!(a.get(), None);
        a.close();
        assert!(a.get().is_some() && a.get() != before);
    }
}
