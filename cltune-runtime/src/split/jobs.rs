//! Work that threads take, one piece at a time.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// Work in the order in which it is to be begun.
#[derive(Debug)]
pub(super) struct Jobs<T> {
    state: Mutex<State<T>>,
    changed: Condvar,
}

#[derive(Debug)]
struct State<T> {
    waiting: VecDeque<T>,
    /// Whether there will be no more.
    is_closed: bool,
}

impl<T> Jobs<T> {
    pub(super) fn new() -> Self {
        Self {
            state: Mutex::new(State {
                waiting: VecDeque::new(),
                is_closed: false,
            }),
            changed: Condvar::new(),
        }
    }

    /// Adds work.
    pub(super) fn add(&self, jobs: impl IntoIterator<Item = T>) {
        let mut state = self.lock();
        if !state.is_closed {
            state.waiting.extend(jobs);
        }
        self.changed.notify_all();
    }

    /// Says that there will be no more.
    pub(super) fn close(&self) {
        self.lock().is_closed = true;
        self.changed.notify_all();
    }

    /// Says that what is left is not to be done.
    pub(super) fn abandon(&self) {
        let mut state = self.lock();
        state.waiting.clear();
        state.is_closed = true;
        self.changed.notify_all();
    }

    /// The next one; waits for it. `None` when there is none and will be none.
    pub(super) fn wait(&self) -> Option<T> {
        let is_idle = |state: &mut State<T>| state.waiting.is_empty() && !state.is_closed;
        let state = self.changed.wait_while(self.lock(), is_idle);
        let mut state = state.unwrap_or_else(PoisonError::into_inner);
        state.waiting.pop_front()
    }

    /// The next one, if there is one now.
    pub(super) fn next(&self) -> Option<T> {
        self.lock().waiting.pop_front()
    }

    fn lock(&self) -> MutexGuard<'_, State<T>> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_job_is_taken_once_in_order() {
        let jobs = Jobs::new();
        assert_eq!(jobs.next(), None);
        jobs.add([1, 2, 3]);
        assert_eq!((jobs.wait(), jobs.next()), (Some(1), Some(2)));
        jobs.close();
        assert_eq!((jobs.wait(), jobs.wait()), (Some(3), None));
    }

    #[test]
    fn threads_that_wait_get_what_comes_and_end() {
        let jobs = Jobs::new();
        let taken: usize = std::thread::scope(|scope| {
            let take = || std::iter::from_fn(|| jobs.wait()).count();
            let threads = [scope.spawn(take), scope.spawn(take)];
            for job in 0..100 {
                jobs.add([job]);
            }
            jobs.close();
            threads.map(|thread| thread.join().unwrap()).iter().sum()
        });
        assert_eq!(taken, 100);
    }

    #[test]
    fn what_is_abandoned_is_not_done() {
        let jobs = Jobs::new();
        jobs.add([1, 2]);
        jobs.abandon();
        jobs.add([3]);
        assert_eq!(jobs.wait(), None);
    }
}
