//! The choice of the block that makes room on a device.

/// A block that may be given up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Candidate<K> {
    /// Its key.
    pub key: K,
    /// The next step that needs it; `None` where no step is known to.
    pub next: Option<u64>,
    /// The last step that needed it.
    pub last: u64,
    /// Whether its buffer has the size that is wanted. Another one is freed, for which drivers wait
    /// until the device is idle.
    pub is_of_size: bool,
    /// Whether what it was sent for has been computed from it and is kept.
    pub is_spent: bool,
    /// Whether what overwrites it has to wait for a launch that has hardly begun.
    pub is_in_use: bool,
}

/// The block that is given up.
///
/// Those of which no step is known come first: of them those that nobody has to wait for, of the
/// size that is wanted, that are spent, and the one that was used most recently: tiles go through
/// panels again in the opposite order, and of a cycle that does not fit, its beginning is worth
/// keeping. Of those in use it is the one that was launched first. The others cost a transfer more:
/// of those that are not in use, the one that is needed last of all goes (Belady, 1966).
pub fn victim<K>(candidates: impl Iterator<Item = Candidate<K>>) -> Option<K> {
    let key = |of: &Candidate<K>| {
        let is_unknown = of.next.is_none();
        let is_free = !of.is_in_use;
        let order = if is_free { of.last } else { u64::MAX - of.last };
        (
            is_unknown,
            is_free,
            of.next,
            of.is_of_size,
            of.is_spent,
            order,
        )
    };
    candidates.max_by_key(key).map(|candidate| candidate.key)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;
    use std::collections::{HashMap, HashSet};

    fn of<K>(key: K, next: Option<u64>, last: u64) -> Candidate<K> {
        Candidate {
            key,
            next,
            last,
            is_of_size: true,
            is_spent: false,
            is_in_use: false,
        }
    }

    #[test]
    fn what_nobody_needs_goes_before_what_is_needed_late() {
        let known = [
            of('a', Some(5), 1),
            of('b', Some(9), 2),
            of('c', Some(1), 3),
        ];
        assert_eq!(victim(known.into_iter()), Some('b'));
        let unknown = [of('d', None, 0), of('e', None, 4)];
        assert_eq!(victim(known.into_iter().chain(unknown)), Some('e'));
        assert_eq!(victim::<char>([].into_iter()), None);
    }

    #[test]
    fn nobody_waits_for_a_launch_or_for_memory_to_be_freed_without_need() {
        let in_use = |key, last| Candidate {
            is_in_use: true,
            ..of(key, None, last)
        };
        // The one that was used most recently is in use: others go, and of those in use the oldest.
        let recent = [in_use('a', 8), in_use('b', 9)];
        let free = [of('c', None, 3), of('d', None, 2)];
        assert_eq!(victim(recent.into_iter().chain(free)), Some('c'));
        assert_eq!(victim(recent.into_iter()), Some('a'));
        // What is planned costs a transfer, which is more than to wait.
        assert_eq!(
            victim(recent.into_iter().chain([of('e', Some(20), 1)])),
            Some('a')
        );
        // One of the size that is wanted, and what was only sent to compute something else.
        let other = Candidate {
            is_of_size: false,
            ..of('f', None, 4)
        };
        let spent = Candidate {
            is_spent: true,
            ..of('g', None, 1)
        };
        assert_eq!(victim(free.into_iter().chain([other])), Some('c'));
        assert_eq!(victim(free.into_iter().chain([other, spent])), Some('g'));
    }

    /// A product goes through panels in cycles: each step reads a block that nobody reads again,
    /// and one of a cycle. Before a step is launched, what the next two need is sent; `spare`
    /// blocks are kept beside those of three steps. A cycle is a task, and the next one is known.
    /// Returns the number of transfers of the cycle's blocks and how many of all transfers wait for
    /// the launch just before.
    fn sent(spare: usize, cycle: u64, steps: u64) -> (usize, usize) {
        let mut there: HashMap<(bool, u64), u64> = HashMap::new();
        let (mut misses, mut waiting) = (0, 0);
        for step in 0..steps {
            for ahead in step..=step + 2 {
                for key in [(false, ahead), (true, ahead % cycle)] {
                    if there.contains_key(&key) {
                        continue;
                    }
                    misses += usize::from(key.0);
                    if there.len() >= 6 + spare {
                        let next = |of: (bool, u64)| {
                            let mut known = step..(step / cycle + 2) * cycle;
                            known.find(|step| of == (false, *step) || of == (true, step % cycle))
                        };
                        let candidates = there.iter().map(|(key, last)| Candidate {
                            is_in_use: last + 1 >= step,
                            ..of(*key, next(*key), *last)
                        });
                        let candidates =
                            candidates.filter(|of| of.next.is_none_or(|next| next > ahead));
                        let out = victim(candidates).unwrap();
                        assert!(
                            there[&out] < step,
                            "it would wait for the launch it is ahead of"
                        );
                        waiting += usize::from(there[&out] + 1 >= step);
                        there.remove(&out);
                    }
                    there.insert(key, ahead);
                }
            }
            for key in [(false, step), (true, step % cycle)] {
                there.insert(key, step);
            }
        }
        (misses, waiting)
    }

    #[test]
    fn what_is_sent_ahead_does_not_wait_for_the_launch_before() {
        for cycle in [4, 9, 30] {
            for spare in 0..40 {
                let (misses, waiting) = sent(spare, cycle, 200);
                // With room for the cycle and for what passes through, a cycle is sent once.
                if spare >= cycle as usize + 2 {
                    assert_eq!((misses, waiting), (cycle as usize, 0), "{cycle} {spare}");
                }
            }
        }
        // With less, something is sent again.
        assert!(sent(0, 30, 200).0 > 30);
    }

    /// Misses of a sequence with room for `room` blocks.
    fn misses(sequence: &[u8], room: usize, knows: bool) -> usize {
        let mut there: HashSet<u8> = HashSet::new();
        let mut count = 0;
        for (step, key) in sequence.iter().enumerate() {
            if there.contains(key) {
                continue;
            }
            count += 1;
            while there.len() >= room {
                let next = |key: u8| {
                    let later = sequence[step..].iter().position(|other| *other == key);
                    later.map(|later| later as u64).filter(|_| knows)
                };
                let last = |key: u8| {
                    let earlier = sequence[..step].iter().rposition(|other| *other == key);
                    earlier.map_or(0, |earlier| earlier as u64)
                };
                let candidates = there.iter().map(|key| of(*key, next(*key), last(*key)));
                let out = victim(candidates).unwrap();
                there.remove(&out);
            }
            there.insert(*key);
        }
        count
    }

    proptest! {
        /// Belady's rule has the fewest misses; not knowing costs some, but never more than all.
        #[test]
        fn knowing_what_comes_never_costs_more(
            sequence in proptest::collection::vec(0_u8..12, 1..60), room in 1_usize..8
        ) {
            let known = misses(&sequence, room, true);
            prop_assert!(known <= misses(&sequence, room, false));
            prop_assert!(known <= sequence.len());
        }
    }

    #[test]
    fn of_a_cycle_that_does_not_fit_a_part_is_kept() {
        let cycle: Vec<u8> = (0..5).flat_map(|_| 0..8).collect();
        assert!(misses(&cycle, 6, false) < 30);
    }
}
