//! Threads, which the system may refuse: where a user may have no more processes, or memory is
//! short.

use std::fmt;
use std::panic::resume_unwind;
use std::sync::mpsc::channel;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread::{Builder, JoinHandle, ScopedJoinHandle};

/// Work that goes on elsewhere, or will be done here.
pub(crate) enum Work<T> {
    /// By a thread of its own, which gets the work once it has started: one that is refused would
    /// take it along.
    Begun(JoinHandle<Option<T>>),
    /// There was no thread for it.
    Waiting(Box<dyn FnOnce() -> T + Send>),
}

/// Begins work in a thread of its own. Where the system refuses one, the work waits for
/// [`Work::end`].
pub(crate) fn begin<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Work<T> {
    let work: Box<dyn FnOnce() -> T + Send> = Box::new(work);
    let (give, given) = channel::<Box<dyn FnOnce() -> T + Send>>();
    let thread = Builder::new().spawn(move || given.recv().ok().map(|work| work()));
    match thread {
        // Whoever receives it has started.
        Ok(thread) => match give.send(work) {
            Ok(()) => Work::Begun(thread),
            Err(refused) => Work::Waiting(refused.0),
        },
        Err(_) => Work::Waiting(work),
    }
}

impl<T> fmt::Debug for Work<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Begun(_) => "Begun",
            Self::Waiting(_) => "Waiting",
        })
    }
}

impl<T> Work<T> {
    /// The result. A panic of its thread is passed on.
    pub(crate) fn end(self) -> T {
        match self {
            Self::Waiting(work) => work(),
            Self::Begun(thread) => ended(thread.join()),
        }
    }

    /// The result, where the work has begun and its thread did not panic.
    pub(crate) fn begun(self) -> Option<T> {
        match self {
            Self::Waiting(_) => None,
            Self::Begun(thread) => thread.join().ok().flatten(),
        }
    }
}

/// The result of a thread that was given work.
fn ended<T>(joined: std::thread::Result<Option<T>>) -> T {
    match joined {
        Ok(Some(done)) => done,
        Ok(None) => resume_unwind(Box::new("a thread without work")),
        Err(panic) => resume_unwind(panic),
    }
}

/// Does all at the same time, as far as the system allows threads, and the rest one after another.
/// What came of each, in their order; a panic is passed on.
pub(crate) fn side_by_side<T: Send, W: FnOnce() -> T + Send>(works: Vec<W>) -> Vec<T> {
    std::thread::scope(|scope| {
        let begin = |work: W| {
            let (give, given) = channel::<W>();
            let thread = Builder::new();
            let thread = thread.spawn_scoped(scope, move || given.recv().ok().map(|work| work()));
            match thread {
                Ok(thread) => give
                    .send(work)
                    .map(|()| thread)
                    .map_err(|refused| refused.0),
                Err(_) => Err(work),
            }
        };
        let begun: Vec<Result<ScopedJoinHandle<'_, Option<T>>, W>> =
            works.into_iter().map(begin).collect();
        let end = |begun: Result<_, W>| match begun {
            Ok(thread) => ended(ScopedJoinHandle::join(thread)),
            Err(work) => work(),
        };
        begun.into_iter().map(end).collect()
    })
}

/// Locks what is consistent at any time, also after a panic of the thread that held it.
pub(crate) fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_is_done_in_order_whoever_does_it() {
        let name = || std::thread::current().id();
        assert_ne!(begin(name).end(), name());
        assert_eq!(begin(|| 7).begun(), Some(7));
        let waiting = Work::Waiting(Box::new(name));
        assert_eq!(waiting.end(), name());
        assert_eq!(Work::Waiting(Box::new(|| 7)).begun(), None);
        let works: Vec<_> = (0..20).map(|number| move || number * 2).collect();
        assert!(
            side_by_side(works)
                .into_iter()
                .eq((0..20).map(|number| number * 2))
        );
    }

    #[test]
    fn a_panic_is_passed_on() {
        let quietly = |work: fn()| std::panic::catch_unwind(move || begin(work).end());
        assert!(quietly(|| panic!("inside")).is_err());
        assert!(quietly(|| ()).is_ok());
    }
}
