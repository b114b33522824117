//! Small first shares while nobody knows how fast the devices are: a share in proportion to a guess
//! could keep a slow device busy for many times what the whole call needs.

use cltune_core::split::{Member, Span};
use std::time::Duration;

/// A share that takes this long tells a speed: what it costs to begin matters little then.
const LONG_ENOUGH: Duration = Duration::from_millis(2);

/// The factor by which the next probe is larger.
const GROWTH: i64 = 4;

/// At most this part of what is left goes into a probe.
const MOST: i64 = 8;

/// Probes of a call, until they tell enough.
#[derive(Debug)]
pub(super) struct Probe {
    /// The devices whose speeds were not known before the call.
    asked: Vec<usize>,
    /// The number of work-groups for each compute unit.
    groups: i64,
}

/// A device that may be probed.
#[derive(Clone, Copy, Debug)]
pub(super) struct Candidate {
    pub(super) granule: i64,
    pub(super) compute_units: i64,
    /// Positions per second, from earlier probes.
    pub(super) speed: Option<f64>,
}

impl Probe {
    /// Probes of these devices; none when all are known.
    pub(super) fn of(unknown: Vec<usize>) -> Option<Self> {
        (!unknown.is_empty()).then_some(Self {
            asked: unknown,
            groups: 1,
        })
    }

    /// The next probe at the beginning of what is left, and the members that take part in it.
    /// `None` where too little is left for it.
    pub(super) fn next(
        &self,
        left: Span,
        candidates: &[Option<Candidate>],
    ) -> Option<(Span, Vec<Member>)> {
        let mut len: i64 = 0;
        let mut members = Vec::with_capacity(candidates.len());
        for (position, candidate) in candidates.iter().enumerate() {
            let asked = candidate.filter(|_| self.asked.contains(&position));
            let (factor, granule) = asked.map_or((0.0, 1), |candidate| {
                let groups = self.groups.saturating_mul(candidate.compute_units.max(1));
                let size = candidate.granule.saturating_mul(groups);
                len = len.saturating_add(size);
                (candidate.speed.unwrap_or(size as f64), candidate.granule)
            });
            // A probe is never the whole.
            members.push(Member {
                factor,
                granule,
                takes_whole: false,
            });
        }
        let fits = len > 0 && len <= left.len / MOST;
        fits.then_some((Span { len, ..left }, members))
    }

    /// Whether the next one is worth it, after one in which the slowest device took so long.
    pub(super) fn goes_on(&mut self, slowest: Duration) -> bool {
        self.groups = self.groups.saturating_mul(GROWTH);
        slowest < LONG_ENOUGH
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LEFT: Span = Span {
        start: 100,
        len: 80_000,
    };

    const fn candidate(granule: i64, compute_units: i64) -> Candidate {
        Candidate {
            granule,
            compute_units,
            speed: None,
        }
    }

    #[test]
    fn only_unknown_devices_are_probed_with_a_work_group_for_each_compute_unit() {
        let candidates = [
            Some(candidate(64, 10)),
            Some(candidate(16, 4)),
            None,
            Some(candidate(1, 1)),
        ];
        let probe = Probe::of(vec![0, 1, 2]).unwrap();
        let (span, members) = probe.next(LEFT, &candidates).unwrap();
        assert_eq!(
            span,
            Span {
                start: 100,
                len: 704
            }
        );
        let factors: Vec<f64> = members.iter().map(|member| member.factor).collect();
        assert_eq!(factors, [640.0, 64.0, 0.0, 0.0]);
        assert!(Probe::of(vec![]).is_none());
    }

    #[test]
    fn probes_grow_until_they_tell_enough_or_too_little_is_left() {
        let mut probe = Probe::of(vec![0]).unwrap();
        let candidates = [Some(candidate(64, 10))];
        assert!(probe.goes_on(Duration::from_micros(50)));
        assert_eq!(probe.next(LEFT, &candidates).unwrap().0.len, 2560);
        assert!(!probe.goes_on(LONG_ENOUGH));
        assert_eq!(probe.next(LEFT, &candidates), None);
    }
}
