//! Whether memory still holds what it held before.

use std::num::NonZeroU64;
use std::sync::atomic::{AtomicU64, Ordering};

/// A number for what is in memory that one value owns, of which there is one for as long as nobody can change it.
///
/// Whoever borrows the memory to change it [opens](Stamp::open) it, and may do so as long as nobody borrows it to read: a
/// slice that was lent to be changed can be lent on to be read, and be changed after that without anybody noticing. So it
/// is not a version that advances with each such borrow: there is no number until the owner is borrowed to read, which
/// [closes](Stamp::close) it, because the compiler sees to it that nothing which was lent to be changed is left then.
#[derive(Debug, Default)]
pub(crate) struct Stamp(AtomicU64);

/// No memory has the number of another one, nor one that it had before.
static NEXT: AtomicU64 = AtomicU64::new(1);

impl Stamp {
    /// Says that the memory may change from now on.
    #[inline]
    pub(super) fn open(&self) {
        if self.0.load(Ordering::Relaxed) != 0 {
            self.0.store(0, Ordering::Relaxed);
        }
    }

    /// Says that nobody is left who could change the memory.
    #[inline]
    pub(super) fn close(&self) {
        if self.0.load(Ordering::Relaxed) == 0 {
            let number = NEXT.fetch_add(1, Ordering::Relaxed);
            // Another thread that reads it may have been first.
            let (now, is) = (Ordering::Relaxed, Ordering::Relaxed);
            let _ = self.0.compare_exchange(0, number, now, is);
        }
    }

    /// The number; `None` where the memory may change.
    pub(super) fn get(&self) -> Option<NonZeroU64> {
        NonZeroU64::new(self.0.load(Ordering::Relaxed))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_may_have_changed_has_no_number_or_a_new_one() {
        let (a, b) = (Stamp::default(), Stamp::default());
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
