//! Uniform draws.

use super::{Permutation, Space};

/// Where random numbers come from: this crate's [`Generator`](crate::Generator), or one of the caller's own.
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
pub(super) fn below(bound: u128, random: &mut dyn RandomSource) -> u128 {
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

#[cfg(test)]
mod tests {
    use super::*;

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
}
