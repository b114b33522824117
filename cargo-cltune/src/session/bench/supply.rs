//! How a program that was built ahead gets to the one who measures: as a binary, or as source again,
//! which a driver that keeps what it has built only looks up. Which one pays off, and whether building
//! ahead does at all, is measured on the first configurations: source first; binaries, which some
//! drivers take long to make, only where source is not a mere look-up.

/// How often each way is tried: the first time in a process takes longer.
const TRIALS: usize = 4;
/// Building ahead pays off where building again takes less than this part of it.
const WORTH_IT: f64 = 0.7;

/// Source that takes less than this part of building is a look-up.
const LOOK_UP: f64 = 0.15;

/// What each way costs, seconds for each configuration.
#[derive(Debug, Default)]
pub(super) struct Supply {
    ahead: Vec<f64>,
    by_source: Vec<f64>,
    by_binary: Vec<f64>,
}

/// What to do with the next configuration.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Way {
    Source,
    Binary,
    /// Do not build ahead.
    Direct,
}

impl Supply {
    /// The way that the next configuration should take.
    pub(super) fn next(&self) -> Way {
        let (source, ahead) = (least(&self.by_source), least(&self.ahead));
        if self.by_source.len() < TRIALS || source < ahead * LOOK_UP {
            return Way::Source;
        }
        if self.by_binary.len() < TRIALS {
            return Way::Binary;
        }
        let binary = least(&self.by_binary);
        if source.min(binary) > ahead * WORTH_IT {
            Way::Direct
        } else if source <= binary {
            Way::Source
        } else {
            Way::Binary
        }
    }

    /// A configuration was built ahead in so many seconds, and again in so many; with a binary that
    /// took so many seconds to get.
    pub(super) fn note(&mut self, ahead: f64, binary: Option<f64>, again: f64) {
        let (way, cost) = match binary {
            Some(seconds) => (&mut self.by_binary, seconds + again),
            None => (&mut self.by_source, again),
        };
        if way.len() < TRIALS {
            way.push(cost);
            self.ahead.push(ahead);
        }
    }

    /// The driver has no binary to give.
    pub(super) fn no_binary(&mut self) {
        self.by_binary = vec![f64::MAX; TRIALS];
    }
}

/// What it costs without what a process does only once.
fn least(seconds: &[f64]) -> f64 {
    seconds.iter().copied().fold(f64::MAX, f64::min)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn after(ahead: f64, source: f64, binary: f64) -> Way {
        let mut supply = Supply::default();
        for _ in 0..2 * TRIALS {
            match supply.next() {
                Way::Source => supply.note(ahead, None, source),
                Way::Binary => supply.note(ahead, Some(0.01), binary),
                Way::Direct => panic!("nothing was tried yet"),
            }
        }
        supply.next()
    }

    #[test]
    fn the_cheaper_way_is_taken_after_both_were_tried() {
        assert_eq!(after(1.0, 0.2, 0.3), Way::Source);
        assert_eq!(after(1.0, 0.3, 0.2), Way::Binary);
        assert_eq!(after(1.0, 0.9, 0.95), Way::Direct);
    }

    #[test]
    fn binaries_are_not_tried_where_source_is_a_look_up_or_there_are_none() {
        for (again, has_binaries) in [(0.01, true), (0.5, false)] {
            let mut supply = Supply::default();
            for _ in 0..TRIALS {
                assert_eq!(supply.next(), Way::Source);
                supply.note(1.0, None, again);
            }
            if !has_binaries {
                assert_eq!(supply.next(), Way::Binary);
                supply.no_binary();
            }
            assert_eq!(supply.next(), Way::Source);
        }
    }
}
