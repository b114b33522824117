//! The binary transfer policy: how a program that was built ahead reaches the process that
//! measures.
//!
//! It is sent as a binary, or built from source again, which a driver with a cache on disk only
//! looks up. The first configurations measure which of the two costs less, and whether building
//! ahead pays off at all: source first; binaries, which some drivers take long to make, only where
//! source is not a mere look-up.

/// How often each transfer is tried: the first time in a process takes longer.
const TRIALS: usize = 4;
/// Building ahead pays off where building again takes less than this part of it.
const WORTH_IT: f64 = 0.7;

/// Source that takes less than this part of building is a look-up.
const LOOK_UP: f64 = 0.15;

/// What each transfer costs, seconds for each configuration.
#[derive(Debug, Default)]
pub(super) struct TransferPolicy {
    ahead: Vec<f64>,
    by_source: Vec<f64>,
    by_binary: Vec<f64>,
}

/// How a configuration is transferred.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Transfer {
    /// Built ahead, and built again from source.
    Source,
    /// Built ahead, and sent as a binary.
    Binary,
    /// Not built ahead: the measurement worker builds it.
    NotAhead,
}

impl TransferPolicy {
    /// How the next configuration should be transferred.
    pub(super) fn next(&self) -> Transfer {
        let (source, ahead) = (least(&self.by_source), least(&self.ahead));
        if self.by_source.len() < TRIALS || source < ahead * LOOK_UP {
            return Transfer::Source;
        }
        if self.by_binary.len() < TRIALS {
            return Transfer::Binary;
        }
        let binary = least(&self.by_binary);
        if source.min(binary) > ahead * WORTH_IT {
            Transfer::NotAhead
        } else if source <= binary {
            Transfer::Source
        } else {
            Transfer::Binary
        }
    }

    /// A configuration was built ahead in so many seconds, and again in so many; with a binary that
    /// took so many seconds to get.
    pub(super) fn note(&mut self, ahead: f64, binary: Option<f64>, again: f64) {
        let (costs, cost) = match binary {
            Some(seconds) => (&mut self.by_binary, seconds + again),
            None => (&mut self.by_source, again),
        };
        if costs.len() < TRIALS {
            costs.push(cost);
            self.ahead.push(ahead);
        }
    }

    /// The driver has no binary to give.
    pub(super) fn no_binary(&mut self) {
        self.by_binary = vec![f64::MAX; TRIALS];
    }
}

/// The cost without what a process does only once.
fn least(seconds: &[f64]) -> f64 {
    seconds.iter().copied().fold(f64::MAX, f64::min)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(ahead: f64, source: f64, binary: f64) -> Transfer {
        let mut policy = TransferPolicy::default();
        for _ in 0..2 * TRIALS {
            match policy.next() {
                Transfer::Source => policy.note(ahead, None, source),
                Transfer::Binary => policy.note(ahead, Some(0.01), binary),
                Transfer::NotAhead => panic!("nothing was tried yet"),
            }
        }
        policy.next()
    }

    #[test]
    fn the_cheaper_transfer_is_taken_after_both_were_tried() {
        assert_eq!(after(1.0, 0.2, 0.3), Transfer::Source);
        assert_eq!(after(1.0, 0.3, 0.2), Transfer::Binary);
        assert_eq!(after(1.0, 0.9, 0.95), Transfer::NotAhead);
    }

    #[test]
    fn binaries_are_not_tried_where_source_is_a_look_up_or_there_are_none() {
        for (again, has_binaries) in [(0.01, true), (0.5, false)] {
            let mut policy = TransferPolicy::default();
            for _ in 0..TRIALS {
                assert_eq!(policy.next(), Transfer::Source);
                policy.note(1.0, None, again);
            }
            if !has_binaries {
                assert_eq!(policy.next(), Transfer::Binary);
                policy.no_binary();
            }
            assert_eq!(policy.next(), Transfer::Source);
        }
    }
}
