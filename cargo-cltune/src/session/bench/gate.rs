//! A gate that lets only a few through at a time.

use super::lane::lock;
use std::sync::{Arc, Condvar, Mutex, PoisonError};

/// Clones are the same gate.
#[derive(Clone, Debug)]
pub(super) struct Gate(Arc<(Mutex<usize>, Condvar)>);

impl Gate {
    /// A gate for so many at a time, and at least one.
    pub(super) fn new(width: usize) -> Self {
        Self(Arc::new((Mutex::new(width.max(1)), Condvar::new())))
    }

    /// Waits for its turn, acts, and lets the next one in, even when `act` panics.
    pub(super) fn pass<T>(&self, act: impl FnOnce() -> T) -> T {
        let (free, opened) = &*self.0;
        let waited = opened.wait_while(lock(free), |free| *free == 0);
        *waited.unwrap_or_else(PoisonError::into_inner) -= 1;
        let _leave = Leave(self);
        act()
    }
}

/// Lets the next one in when it is dropped.
struct Leave<'a>(&'a Gate);

impl Drop for Leave<'_> {
    fn drop(&mut self) {
        let (free, opened) = &*self.0.0;
        *lock(free) += 1;
        opened.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::Barrier;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn as_many_are_inside_as_fit_and_no_more() {
        let (gate, inside, most) = (Gate::new(2), AtomicUsize::new(0), AtomicUsize::new(0));
        // Two must be inside together to get on.
        let together = Barrier::new(2);
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    gate.pass(|| {
                        let now = inside.fetch_add(1, Ordering::SeqCst) + 1;
                        most.fetch_max(now, Ordering::SeqCst);
                        together.wait();
                        inside.fetch_sub(1, Ordering::SeqCst);
                    });
                });
            }
        });
        assert_eq!(most.into_inner(), 2);
    }

    #[test]
    fn who_panics_inside_lets_the_next_one_in() {
        let gate = Gate::new(1);
        let other = gate.clone();
        let panicked = std::thread::spawn(move || other.pass(|| panic!("inside")));
        assert!(panicked.join().is_err());
        assert_eq!(gate.pass(|| 1), 1);
    }
}
