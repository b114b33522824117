//! Waiting with a time limit that only counts while this process is awake, and that Ctrl-C
//! shortens.
//!
//! While a session is stopped (Ctrl-Z, SIGSTOP) or the machine sleeps, its workers do not run, and
//! that time is not theirs. The time is therefore counted in slices: a slice that took longer than
//! it should counts for at most twice its length. All clocks are monotonic: setting the machine's
//! clock changes nothing.

use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

/// The time of one wait: long enough to cost nothing.
const SLICE: Duration = Duration::from_millis(250);

/// Why nothing was received.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Unreceived {
    /// The limit of a step has passed.
    TimedOut,
    /// Ctrl-C was pressed, and what may follow it has passed.
    Interrupted,
    /// The sender has ended.
    Ended,
}

/// Waits for what comes in several steps.
#[derive(Debug)]
pub(super) struct Waiting {
    after_interrupt: Duration,
    /// Since the beginning, while awake.
    awake: Duration,
    /// Since Ctrl-C was seen, while awake.
    interrupted: Duration,
}

impl Waiting {
    /// All of it may take so long once Ctrl-C was pressed.
    pub(super) fn new(after_interrupt: Duration) -> Self {
        Self {
            after_interrupt,
            awake: Duration::ZERO,
            interrupted: Duration::ZERO,
        }
    }

    /// The time that it has waited, while awake.
    pub(super) fn awake(&self) -> Duration {
        self.awake
    }

    /// Receives the next step, or gives up after `limit`.
    pub(super) fn receive<T>(
        &mut self,
        from: &Receiver<T>,
        limit: Duration,
        is_interrupted: impl Fn() -> bool,
    ) -> Result<T, Unreceived> {
        self.receive_with(limit, is_interrupted, |slice| {
            let begin = Instant::now();
            let received = from.recv_timeout(slice);
            (received, begin.elapsed())
        })
    }

    /// The same with a clock of the caller's: `wait` waits for so long at most, and says for how
    /// long.
    fn receive_with<T>(
        &mut self,
        limit: Duration,
        is_interrupted: impl Fn() -> bool,
        mut wait: impl FnMut(Duration) -> (Result<T, RecvTimeoutError>, Duration),
    ) -> Result<T, Unreceived> {
        let after_interrupt = self.after_interrupt;
        let mut of_step = Duration::ZERO;
        loop {
            let mut slice = SLICE.min(limit.saturating_sub(of_step));
            let ending = is_interrupted();
            if ending {
                slice = slice.min(after_interrupt.saturating_sub(self.interrupted));
            }
            let (received, took) = wait(slice);
            let counted = match received {
                Err(RecvTimeoutError::Timeout) => took.clamp(slice, 2 * SLICE),
                _ => took.min(2 * SLICE),
            };
            of_step += counted;
            self.awake += counted;
            if ending {
                self.interrupted += counted;
            }
            match received {
                Ok(received) => return Ok(received),
                Err(RecvTimeoutError::Disconnected) => return Err(Unreceived::Ended),
                Err(RecvTimeoutError::Timeout) if of_step >= limit => {
                    return Err(Unreceived::TimedOut);
                }
                Err(RecvTimeoutError::Timeout) if ending && self.interrupted >= after_interrupt => {
                    return Err(Unreceived::Interrupted);
                }
                Err(RecvTimeoutError::Timeout) => {}
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::channel;

    const HOUR: Duration = Duration::from_hours(1);
    const SECOND: Duration = Duration::from_secs(1);

    fn waiting() -> Waiting {
        Waiting::new(Duration::from_millis(100))
    }

    #[test]
    fn an_answer_a_limit_and_an_end_are_told_apart() {
        let (sender, receiver) = channel();
        sender.send(7).unwrap();
        let never = || false;
        assert_eq!(waiting().receive(&receiver, Duration::ZERO, never), Ok(7));
        let limit = Duration::from_millis(300);
        let begin = Instant::now();
        let mut late = waiting();
        let received = late.receive(&receiver, limit, never);
        assert_eq!(received, Err(Unreceived::TimedOut));
        assert!(begin.elapsed() >= limit && late.awake() >= limit);
        drop(sender);
        let ended = waiting().receive(&receiver, HOUR, never);
        assert_eq!(ended, Err(Unreceived::Ended));
    }

    #[test]
    fn ctrl_c_shortens_all_steps_together() {
        let (sender, receiver) = channel();
        let mut waiting = waiting();
        let timed_out = (Err(RecvTimeoutError::Timeout), Duration::from_millis(60));
        let mut answers = vec![timed_out, (Ok(7), Duration::from_millis(60))];
        let step = waiting.receive_with(HOUR, || true, |_| answers.pop().unwrap());
        assert_eq!(step, Ok(7), "a step that is done meanwhile counts");
        let step = waiting.receive_with(HOUR, || true, |_| answers.pop().unwrap());
        assert_eq!(step, Err(Unreceived::Interrupted), "60 ms and 60 ms");
        sender.send(8).unwrap();
        // What is there already is taken even then.
        assert_eq!(waiting.receive(&receiver, HOUR, || true), Ok(8));
        let nothing = waiting.receive(&receiver, HOUR, || true);
        assert_eq!(nothing, Err(Unreceived::Interrupted));
    }

    /// How many slices of these lengths, the last one repeated, are waited for within a second.
    fn slices(lengths: &[Duration]) -> usize {
        let mut count = 0;
        let waited = waiting().receive_with::<()>(
            SECOND,
            || false,
            |_| {
                count += 1;
                let took = lengths.get(count - 1).or(lengths.last());
                (Err(RecvTimeoutError::Timeout), *took.unwrap())
            },
        );
        assert_eq!(waited, Err(Unreceived::TimedOut));
        count
    }

    #[test]
    fn a_slice_that_was_slept_through_counts_twice_its_length_only() {
        let night = Duration::from_hours(8);
        assert_eq!(slices(&[SLICE]), 4);
        assert_eq!(slices(&[night, SLICE]), 3);
        // Wakes that come early do not lengthen the limit for ever.
        assert_eq!(slices(&[Duration::ZERO]), 4);
    }

    #[test]
    fn an_answer_after_a_night_was_quick() {
        let night = Duration::from_hours(8);
        let mut waiting = waiting();
        let answer = waiting.receive_with(SECOND, || false, |_| (Ok(7), night));
        assert_eq!((answer, waiting.awake()), (Ok(7), 2 * SLICE));
    }
}
