//! Random numbers that a seed decides on every platform and in every release.

use crate::space::{RandomSource, below};
use rand::{Rng, SeedableRng};
use rand_pcg::Pcg64Mcg;
use std::f64::consts::TAU;

/// A seeded sequence of random numbers: PCG XSL 128/64 (O'Neill, 2014), whose values `rand_pcg`
/// promises to keep. Ranges are drawn here and not with `rand`, which does not promise the same
/// for its distributions.
#[derive(Clone, Debug)]
pub struct Generator(Pcg64Mcg);

impl Generator {
    /// The sequence of a seed.
    pub fn new(seed: u64) -> Self {
        Self(Pcg64Mcg::seed_from_u64(seed))
    }

    /// A whole number in `0..bound`, each equally likely; 0 where `bound` is 0.
    pub fn below(&mut self, bound: u128) -> u128 {
        if bound == 0 { 0 } else { below(bound, self) }
    }

    /// A number in `0.0..1.0`: a multiple of 2^-53, each equally likely.
    pub fn unit(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// A number from the standard normal distribution (Box & Muller, 1958).
    pub fn normal(&mut self) -> f64 {
        let radius = (-2.0 * self.unit().max(f64::MIN_POSITIVE).ln()).sqrt();
        radius * (TAU * self.unit()).cos()
    }

    /// One of the items, each equally likely; `None` when there are none.
    pub fn pick<'a, T>(&mut self, items: &'a [T]) -> Option<&'a T> {
        items.get(self.below(items.len() as u128) as usize)
    }

    /// Puts the items into an order that is as likely as every other (Durstenfeld, 1964).
    pub fn shuffle<T>(&mut self, items: &mut [T]) {
        for last in (1..items.len()).rev() {
            items.swap(last, self.below(last as u128 + 1) as usize);
        }
    }

    /// Another sequence, which this one decides.
    #[must_use]
    pub fn split(&mut self) -> Self {
        Self::new(self.0.next_u64())
    }
}

impl RandomSource for Generator {
    fn next_u64(&mut self) -> u64 {
        self.0.next_u64()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_values_of_a_seed_never_change() {
        let mut generator = Generator::new(0);
        let values: Vec<u128> = (0..6).map(|_| generator.below(1000)).collect();
        assert_eq!(values, [162, 717, 24, 467, 512, 851]);
    }

    #[test]
    fn ranges_of_any_size_are_covered_and_kept() {
        let mut generator = Generator::new(1);
        for bound in [0, 1] {
            assert_eq!(generator.below(bound), 0);
        }
        let mut seen = [0_u32; 5];
        (0..1000).for_each(|_| seen[generator.below(5) as usize] += 1);
        assert!(
            seen.iter().all(|count| (120..280).contains(count)),
            "{seen:?}"
        );
        let bound = (1_u128 << 100) + 1;
        let large: Vec<u128> = (0..100).map(|_| generator.below(bound)).collect();
        assert!(large.iter().all(|value| *value < bound));
        assert!(large.iter().any(|value| *value > 1 << 98));
        assert!((0..1000).all(|_| (0.0..1.0).contains(&generator.unit())));
        assert_eq!(generator.pick::<u8>(&[]), None);
    }

    #[test]
    fn shuffling_keeps_the_items_and_makes_every_order() {
        let mut generator = Generator::new(2);
        let orders: std::collections::HashSet<[u8; 3]> = (0..200)
            .map(|_| {
                let mut items = [1, 2, 3];
                generator.shuffle(&mut items);
                items
            })
            .collect();
        assert_eq!(orders.len(), 6);
    }

    #[test]
    fn normal_numbers_have_mean_0_and_deviation_1() {
        let mut generator = Generator::new(2).split();
        let drawn: Vec<f64> = (0..10_000).map(|_| generator.normal()).collect();
        let mean = drawn.iter().sum::<f64>() / 1e4;
        let variance = drawn.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / 1e4;
        assert!(mean.abs() < 0.05 && (variance - 1.0).abs() < 0.05);
    }
}
