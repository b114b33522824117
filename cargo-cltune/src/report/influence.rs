//! Influence of parameters: the share of the differences between configurations that each one
//! explains, and each pair.
//!
//! This is a functional analysis of variance of the logarithm of the time, as Hutter, Hoos &
//! Leyton-Brown (An Efficient Approach for Assessing Hyperparameter Importance, 2014, section 3)
//! use it, on what was measured instead of on a model of it:
//!
//! - A parameter's share is the part of the variance that the means of its values explain.
//! - A pair's share is what the means of its combinations explain beyond the sum of an effect of
//!   the one and an effect of the other, fitted by least squares.
//! - Both are corrected for the number of means: with means enough, anything is explained. The
//!   correction (adjusted R², Ezekiel, 1930; of one factor, Kelley's epsilon squared, 1935) makes
//!   the expectation 0 where there is no effect.
//! - What may be chance is found by shuffling the times: a share that one of 99 shuffles reaches is
//!   not told from chance. (A permutation test at a level of 1 %; Fisher, 1935, section 21.)
//!
//! A search of hundreds of thousands of configurations is judged by a sample of them, and so are
//! the pairs of more parameters than anybody declares by those of the most important ones.
//!
//! A search measures many configurations where it is fast and few elsewhere, so shares are of what
//! was measured and not of the space, and shares of parameters that were changed together overlap.

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_pcg::Pcg64Mcg;

/// So many shuffles say what chance reaches.
const SHUFFLES: usize = 99;
/// So many pairs are kept.
const MOST_PAIRS: usize = 8;
/// Each mean of a pair has to be, on average, of so many configurations at least.
const LEAST_PER_MEAN: usize = 2;
/// With fewer configurations nothing is said.
const LEAST: usize = 12;
/// So many configurations tell enough.
const MOST_CONFIGURATIONS: usize = 1 << 16;
/// Of so many parameters all pairs are looked at.
const MOST_PAIRED: usize = 64;
/// Rounds of fitting two effects, which converge much sooner where they can be told apart.
const ROUNDS: usize = 100;

/// The parameters that explain the differences.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Influence {
    /// The number of configurations that were analysed.
    pub(super) configurations: usize,
    /// One for each parameter, in their order; `None` where fewer than two values were measured.
    pub(super) parameters: Vec<Option<Share>>,
    /// The strongest pairs that explain something, the strongest first.
    pub(super) pairs: Vec<(usize, usize, Share)>,
    /// The number of pairs with too few measurements for a share.
    pub(super) unknown_pairs: usize,
}

/// A part of the variance.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Share {
    /// From 0 to 1.
    pub(super) part: f64,
    /// Whether no shuffle reached it.
    pub(super) is_certain: bool,
}

impl Influence {
    /// Of configurations, each once, with their times. `None` where there are too few, or no
    /// differences.
    pub(super) fn of(working: &[(&[i64], f64)]) -> Option<Self> {
        let drawn = drawn(working);
        let sample = Sample::of(&drawn)?;
        let parameters = sample.factors.iter().map(|factor| {
            (factor.levels > 1).then(|| sample.share(|times| sample.explained(times, factor)))
        });
        let parameters: Vec<Option<Share>> = parameters.collect();
        let mut pairs = Vec::new();
        let mut unknown_pairs = 0;
        let varied = paired(&parameters);
        let pair_of =
            |first: usize, second: usize| Pair::of(&sample.factors[first], &sample.factors[second]);
        for (position, first) in varied.iter().enumerate() {
            for second in &varied[position + 1..] {
                match sample.interaction(&sample.times, &pair_of(*first, *second)) {
                    None => unknown_pairs += 1,
                    Some(part) if part > 0.0 => pairs.push((*first, *second, part)),
                    Some(_) => {}
                }
            }
        }
        pairs.sort_by(|a, b| b.2.total_cmp(&a.2));
        pairs.truncate(MOST_PAIRS);
        let pairs = pairs.iter().map(|(first, second, _)| {
            let pair = pair_of(*first, *second);
            let share = sample.share(|times| sample.interaction(times, &pair).unwrap_or(0.0));
            (*first, *second, share)
        });
        Some(Self {
            configurations: drawn.len(),
            pairs: pairs.collect(),
            parameters,
            unknown_pairs,
        })
    }
}

/// As many configurations as are looked at, drawn with the same seed each time.
fn drawn<'a>(working: &[(&'a [i64], f64)]) -> Vec<(&'a [i64], f64)> {
    if working.len() <= MOST_CONFIGURATIONS {
        return working.to_vec();
    }
    let mut random = Pcg64Mcg::seed_from_u64(0);
    let mut positions: Vec<usize> = (0..working.len()).collect();
    positions.shuffle(&mut random);
    positions.truncate(MOST_CONFIGURATIONS);
    positions.sort_unstable();
    positions.into_iter().map(|at| working[at]).collect()
}

/// The parameters whose pairs are looked at, in their order: of too many the most important.
fn paired(parameters: &[Option<Share>]) -> Vec<usize> {
    let varied = parameters.iter().enumerate();
    let varied = varied.filter_map(|(at, share)| Some((at, share.as_ref()?.part)));
    let mut varied: Vec<(usize, f64)> = varied.collect();
    varied.sort_by(|a, b| b.1.total_cmp(&a.1));
    varied.truncate(MOST_PAIRED);
    let mut paired: Vec<usize> = varied.into_iter().map(|(at, _)| at).collect();
    paired.sort_unstable();
    paired
}

/// The measurements that are analysed.
struct Sample {
    /// Logarithms of times, less their mean.
    times: Vec<f64>,
    /// The sum of their squares.
    total: f64,
    factors: Vec<Factor>,
    /// The times in other orders.
    shuffled: Vec<Vec<f64>>,
}

/// A parameter, whose values sort configurations into groups.
struct Factor {
    /// The group of each configuration.
    labels: Vec<usize>,
    /// The number of groups, none of them empty.
    levels: usize,
}

/// Two parameters and their combinations.
struct Pair<'a> {
    first: &'a Factor,
    second: &'a Factor,
    combinations: Factor,
}

impl Factor {
    fn of<T: Ord>(values: &[T]) -> Self {
        let mut distinct: Vec<&T> = values.iter().collect();
        distinct.sort_unstable();
        distinct.dedup();
        let label = |value: &T| distinct.binary_search(&value).unwrap_or_default();
        Self {
            labels: values.iter().map(label).collect(),
            levels: distinct.len(),
        }
    }

    /// The mean of each group.
    fn means(&self, times: impl Iterator<Item = f64>) -> Vec<f64> {
        let mut sums = vec![(0.0, 0_u32); self.levels];
        for (label, time) in self.labels.iter().zip(times) {
            sums[*label].0 += time;
            sums[*label].1 += 1;
        }
        let means = sums.into_iter();
        means.map(|(sum, count)| sum / f64::from(count)).collect()
    }
}

impl<'a> Pair<'a> {
    fn of(first: &'a Factor, second: &'a Factor) -> Self {
        let both = first.labels.iter().zip(&second.labels);
        let both: Vec<(&usize, &usize)> = both.collect();
        Self {
            first,
            second,
            combinations: Factor::of(&both),
        }
    }

    /// The sum of squares that is left when each value of the one and each value of the other adds
    /// something of its own, by least squares: each fitted to what the other leaves, in turns.
    fn left_by_sums(&self, times: &[f64]) -> f64 {
        let (a, b) = (&self.first.labels, &self.second.labels);
        let mut second = vec![0.0; self.second.levels];
        let mut left = f64::INFINITY;
        for _ in 0..ROUNDS {
            let rest = times.iter().zip(b).map(|(time, b)| time - second[*b]);
            let first = self.first.means(rest);
            let rest = times.iter().zip(a).map(|(time, a)| time - first[*a]);
            second = self.second.means(rest);
            let fits = a.iter().zip(b).map(|(a, b)| first[*a] + second[*b]);
            let now = squares(times.iter().zip(fits).map(|(time, fit)| time - fit));
            if now >= left * (1.0 - 1e-6) {
                return now;
            }
            left = now;
        }
        left
    }
}

impl Sample {
    fn of(working: &[(&[i64], f64)]) -> Option<Self> {
        let logarithms: Vec<f64> = working.iter().map(|(_, time)| time.ln()).collect();
        let mean = logarithms.iter().sum::<f64>() / working.len() as f64;
        let times: Vec<f64> = logarithms.iter().map(|time| time - mean).collect();
        let total = squares(times.iter().copied());
        // A NaN comes of a time that no clock measures.
        if working.len() < LEAST || total.is_nan() || total <= 0.0 {
            return None;
        }
        let parameters = working.first().map_or(0, |(codes, _)| codes.len());
        let column = |parameter: usize| -> Vec<i64> {
            working.iter().map(|(codes, _)| codes[parameter]).collect()
        };
        // The same page for the same results.
        let mut random = Pcg64Mcg::seed_from_u64(0);
        let shuffle = |_| {
            let mut times = times.clone();
            times.shuffle(&mut random);
            times
        };
        Some(Self {
            shuffled: (0..SHUFFLES).map(shuffle).collect(),
            factors: (0..parameters)
                .map(|parameter| Factor::of(&column(parameter)))
                .collect(),
            total,
            times,
        })
    }

    /// A measure of the times, and whether it is more than chance.
    fn share(&self, measure: impl Fn(&[f64]) -> f64) -> Share {
        let part = measure(&self.times);
        let chance = self.shuffled.iter().map(|times| measure(times));
        Share {
            part: part.clamp(0.0, 1.0),
            is_certain: part > 0.0 && chance.fold(0.0, f64::max) < part,
        }
    }

    /// The part of the variance that the groups' means explain.
    fn explained(&self, times: &[f64], groups: &Factor) -> f64 {
        let means = groups.means(times.iter().copied());
        let means = groups.labels.iter().map(|label| means[*label]);
        let left = squares(times.iter().zip(means).map(|(time, mean)| time - mean));
        self.corrected(left, groups.levels)
    }

    /// The part of the variance that a pair's combinations explain beyond a sum of two effects;
    /// `None` where there are too few configurations of each.
    fn interaction(&self, times: &[f64], pair: &Pair<'_>) -> Option<f64> {
        let combinations = pair.combinations.levels;
        if times.len() < LEAST_PER_MEAN * combinations {
            return None;
        }
        let effects = (pair.first.levels + pair.second.levels - 1).min(combinations);
        let sums = self.corrected(pair.left_by_sums(times), effects);
        Some(self.explained(times, &pair.combinations) - sums)
    }

    /// The part that is explained where so much is left by a fit of so many means, less what that
    /// many would explain of pure noise.
    fn corrected(&self, left: f64, means: usize) -> f64 {
        let count = self.times.len();
        if means >= count {
            return 0.0;
        }
        1.0 - left / self.total * (count - 1) as f64 / (count - means) as f64
    }
}

fn squares(values: impl Iterator<Item = f64>) -> f64 {
    values.map(|value| value * value).sum()
}

#[cfg(test)]
#[path = "../../tests/unit/influence.rs"]
mod tests;
