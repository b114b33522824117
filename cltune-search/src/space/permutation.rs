//! Random draws without replacement from a range of any size.

use super::RandomSource;
use super::random::below;
use std::collections::HashMap;

/// Draws each number of `0..count` once, in an order that the random numbers decide: the shuffle of
/// Fisher and Yates (Durstenfeld, 1964, algorithm 235) on an array of which only the moved entries
/// are stored, so that memory grows with what was drawn and not with `count`.
#[derive(Clone, Debug)]
pub struct Permutation {
    remaining: u128,
    /// Entries of the array that differ from their position.
    moved: HashMap<u128, u128>,
}

impl Permutation {
    /// Of `0..count`.
    #[must_use]
    pub fn new(count: u128) -> Self {
        Self {
            remaining: count,
            moved: HashMap::new(),
        }
    }

    /// The next number; `None` when all have been drawn.
    pub fn draw(&mut self, random: &mut dyn RandomSource) -> Option<u128> {
        self.remaining = self.remaining.checked_sub(1)?;
        let last = self.moved.remove(&self.remaining).unwrap_or(self.remaining);
        let position = below(self.remaining + 1, random);
        if position == self.remaining {
            return Some(last);
        }
        Some(self.moved.insert(position, last).unwrap_or(position))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    /// SplitMix64 (Steele, Lea and Flood, 2014, figure 17).
    struct SplitMix(u64);

    impl RandomSource for SplitMix {
        fn next_u64(&mut self) -> u64 {
            self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut z = self.0;
            z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            z ^ (z >> 31)
        }
    }

    fn draws(count: u128, seed: u64, most: usize) -> Vec<u128> {
        let mut generator = SplitMix(seed);
        let mut permutation = Permutation::new(count);
        std::iter::from_fn(|| permutation.draw(&mut generator))
            .take(most)
            .collect()
    }

    #[test]
    fn every_number_comes_once() {
        for count in [0, 1, 2, 3, 100] {
            let mut all = draws(count, 3, usize::MAX);
            all.sort_unstable();
            assert_eq!(all, (0..count).collect::<Vec<_>>());
        }
    }

    #[test]
    fn every_order_is_equally_likely() {
        let mut orders: HashMap<Vec<u128>, u32> = HashMap::new();
        (0..6000).for_each(|seed| *orders.entry(draws(3, seed, 3)).or_default() += 1);
        assert_eq!(orders.len(), 6);
        assert!(
            orders.values().all(|count| (850..1150).contains(count)),
            "{orders:?}"
        );
    }

    #[test]
    fn a_range_that_no_memory_holds_is_drawn_from() {
        let some = draws(u128::MAX, 5, 1000);
        assert_eq!(some.iter().collect::<HashSet<_>>().len(), 1000);
    }
}
