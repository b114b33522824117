//! Uniform draws, with and without replacement.

use super::Space;
use std::collections::HashMap;

/// Where random numbers come from: this crate's [`Generator`](crate::Generator), or one of the
/// caller's own.
pub trait RandomSource {
    /// 64 random bits.
    fn next_u64(&mut self) -> u64;
}

impl Space {
    /// A configuration, each with the same probability; `None` when none is valid.
    pub fn sample(&self, random: &mut dyn RandomSource) -> Option<Vec<i64>> {
        if self.is_empty() {
            return None;
        }
        let mut positions = vec![0; self.parameters().len()];
        // Group by group, so that it stays uniform where the count of the space saturates.
        for graph in self.graphs() {
            graph.get(below(graph.count, random), &mut positions);
        }
        Some(self.codes(&positions))
    }

    /// `most` different configurations, or all if there are fewer, in random order: each list of
    /// that length is equally likely. Takes memory in proportion to what is drawn.
    ///
    /// Only those below the count are drawn, which matters where it saturates.
    pub fn sample_distinct(&self, most: usize, random: &mut dyn RandomSource) -> Vec<Vec<i64>> {
        let mut order = Permutation::new(self.count());
        (0..most)
            .map_while(|_| self.get(order.draw(random)?))
            .collect()
    }
}

/// A uniform number less than `bound`, which is at least 1.
///
/// Draws as many bits as the bound has and rejects what is too large: at most half of the draws,
/// so that the limit on their number is reached only with a source that is not random.
pub(crate) fn below(bound: u128, random: &mut dyn RandomSource) -> u128 {
    const MOST_DRAWS: usize = 256;
    let most = bound - 1;
    if most == 0 {
        return 0;
    }
    let mask = u128::MAX >> most.leading_zeros();
    let mut draw = 0;
    for _ in 0..MOST_DRAWS {
        draw = u128::from(random.next_u64());
        if mask > u128::from(u64::MAX) {
            draw = draw << 64 | u128::from(random.next_u64());
        }
        draw &= mask;
        if draw <= most {
            return draw;
        }
    }
    draw % bound
}

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

    struct Counter(u64);

    impl RandomSource for Counter {
        fn next_u64(&mut self) -> u64 {
            self.0 = self.0.wrapping_add(1);
            self.0
        }
    }

    struct Ones;

    impl RandomSource for Ones {
        fn next_u64(&mut self) -> u64 {
            u64::MAX
        }
    }

    #[test]
    fn every_number_is_drawn_equally_often() {
        let mut source = Counter(0);
        let mut seen = [0; 5];
        for _ in 0..500 {
            seen[below(5, &mut source) as usize] += 1;
        }
        assert_eq!(seen, [100; 5]);
    }

    #[test]
    fn a_source_that_is_not_random_ends_too() {
        assert!(below(5, &mut Ones) < 5);
        assert!(below(u128::from(u64::MAX) + 2, &mut Ones) < u128::from(u64::MAX) + 2);
        assert_eq!(below(u128::MAX, &mut Counter(0)), (1 << 64) | 2);
    }

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
