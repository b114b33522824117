//! Waiting with a time limit that only counts while this process is awake.
//!
//! Where a session is stopped (Ctrl-Z, SIGSTOP) or the machine sleeps, so do its workers, and what
//! passes meanwhile is not theirs. So the time is counted in slices: of a slice that took longer than
//! it should, not more than twice its length counts. All clocks are monotonic: setting the
//! machine's clock changes nothing.

use std::sync::mpsc::{Receiver, RecvTimeoutError};
use std::time::{Duration, Instant};

/// How long is waited at a time: long enough to cost nothing.
const SLICE: Duration = Duration::from_millis(250);

/// Receives, or gives up after `limit`; and how long that took, sleep not counted.
pub(super) fn receive<T>(
    from: &Receiver<T>,
    limit: Duration,
) -> (Result<T, RecvTimeoutError>, Duration) {
    receive_with(limit, |slice| {
        let begin = Instant::now();
        let received = from.recv_timeout(slice);
        (received, begin.elapsed())
    })
}

/// The same with a clock of the caller's: `wait` waits for so long at most, and says for how long.
fn receive_with<T>(
    limit: Duration,
    mut wait: impl FnMut(Duration) -> (Result<T, RecvTimeoutError>, Duration),
) -> (Result<T, RecvTimeoutError>, Duration) {
    let mut awake = Duration::ZERO;
    loop {
        let slice = SLICE.min(limit.saturating_sub(awake));
        let (received, took) = wait(slice);
        awake += match received {
            Err(RecvTimeoutError::Timeout) => took.clamp(slice, 2 * SLICE),
            _ => took.min(2 * SLICE),
        };
        match received {
            Err(RecvTimeoutError::Timeout) if awake < limit => {}
            other => return (other, awake),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::sync::mpsc::channel;

    #[test]
    fn an_answer_a_limit_and_an_end_are_told_apart() {
        let (sender, receiver) = channel();
        sender.send(7).unwrap();
        assert_eq!(receive(&receiver, Duration::ZERO).0, Ok(7));
        let limit = Duration::from_millis(300);
        let begin = Instant::now();
        let (late, awake) = receive(&receiver, limit);
        assert_eq!(late, Err(RecvTimeoutError::Timeout));
        assert!(begin.elapsed() >= limit && awake >= limit);
        drop(sender);
        let (ended, _) = receive(&receiver, Duration::from_hours(1));
        assert_eq!(ended, Err(RecvTimeoutError::Disconnected));
    }

    /// How many slices of these lengths, the last one repeated, are waited for within a second.
    fn slices(lengths: &[Duration]) -> usize {
        let mut count = 0;
        let (waited, _): (Result<(), _>, _) = receive_with(Duration::from_secs(1), |_| {
            count += 1;
            let took = lengths.get(count - 1).or(lengths.last());
            (Err(RecvTimeoutError::Timeout), *took.unwrap())
        });
        assert_eq!(waited, Err(RecvTimeoutError::Timeout));
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
        let (answer, awake) = receive_with(Duration::from_secs(1), |_| (Ok(7), night));
        assert_eq!((answer, awake), (Ok(7), 2 * SLICE));
    }
}
