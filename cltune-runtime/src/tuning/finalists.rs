//! The choice of finalists: the configurations that are verified on every draw, and then timed in turns.
//!
//! A finalist that fails is out for good, and the next best take its place: those that are near the best of
//! the rest, however much faster the failed one was.

use std::collections::HashSet;

/// Which of the fastest may be the best.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct FinalistRule {
    /// So many are taken at least, where so many are within `noise`.
    pub few: usize,
    /// What takes at most this factor of the best time may be the best.
    pub noise: f64,
    /// All within this factor are taken, up to `many`.
    pub close: f64,
    /// The most that are taken.
    pub many: usize,
}

/// The finalists of a search. The caller asks for the [next](Self::next) until there is none, says whether each
/// [holds](Self::holds) or [fails](Self::fails), times the [contenders](Self::contenders) in turns, and begins
/// again where one of those has failed.
#[derive(Clone, Debug)]
pub struct Finalists {
    rule: FinalistRule,
    default: Vec<i64>,
    /// What has not failed, the fastest first.
    left: Vec<(Vec<i64>, f64)>,
    /// What was right on every draw.
    held: HashSet<Vec<i64>>,
}

impl Finalists {
    /// Of configurations and their first times. The default is among the finalists wherever it has a time,
    /// however slow it is.
    pub fn new(
        rule: FinalistRule,
        default: &[i64],
        results: impl IntoIterator<Item = (Vec<i64>, f64)>,
    ) -> Self {
        let mut left: Vec<(Vec<i64>, f64)> = results.into_iter().collect();
        left.sort_by(|a, b| a.1.total_cmp(&b.1));
        Self {
            rule,
            default: default.to_vec(),
            left,
            held: HashSet::new(),
        }
    }

    /// The next to be verified on every draw; `None` when all that may be the best have been.
    pub fn next(&self) -> Option<&[i64]> {
        self.wanted().find(|codes| !self.held.contains(*codes))
    }

    /// It was right on every draw.
    pub fn holds(&mut self, codes: &[i64]) {
        self.held.insert(codes.to_vec());
    }

    /// It failed: it is out for good.
    pub fn fails(&mut self, codes: &[i64]) {
        self.left.retain(|(of, _)| of != codes);
    }

    /// What is to be timed in turns, once there is no [next](Self::next): the default first, where it has not
    /// failed, then the others, the fastest first. Empty where everything has failed.
    pub fn contenders(&self) -> Vec<Vec<i64>> {
        let held = self.wanted().filter(|codes| self.held.contains(*codes));
        held.map(<[i64]>::to_vec).collect()
    }

    /// What has not failed, with its first time, the fastest first.
    pub fn left(&self) -> &[(Vec<i64>, f64)] {
        &self.left
    }

    /// What may be the best of what is left.
    fn wanted(&self) -> impl Iterator<Item = &[i64]> {
        let best = self.left.first().map_or(0.0, |(_, time)| *time);
        let within = |factor: f64| {
            self.left
                .partition_point(|(_, time)| *time <= best * factor)
        };
        let few = within(self.rule.noise).min(self.rule.few);
        let count = within(self.rule.close).min(self.rule.many).max(few);
        let codes = |(codes, _): &'_ (Vec<i64>, f64)| codes == &self.default;
        let default = self.left.iter().filter(move |one| codes(one));
        let others = self.left[..count].iter().filter(move |one| !codes(one));
        default.chain(others).map(|(codes, _)| codes.as_slice())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const RULE: FinalistRule = FinalistRule {
        few: 5,
        noise: 1.1,
        close: 1.02,
        many: 16,
    };

    /// Of so many configurations, numbered, whose default is number 0.
    fn finalists(times: &[f64]) -> Finalists {
        let numbered = times.iter().enumerate();
        let results = numbered.map(|(number, time)| (vec![number as i64], *time));
        Finalists::new(RULE, &[0], results)
    }

    /// Verifies as long as there is something to verify; those in `wrong` fail. The numbers that were verified.
    fn verify(finalists: &mut Finalists, wrong: &[i64]) -> Vec<i64> {
        let mut verified = Vec::new();
        while let Some(codes) = finalists.next().map(<[i64]>::to_vec) {
            verified.push(codes[0]);
            if wrong.contains(&codes[0]) {
                finalists.fails(&codes);
            } else {
                finalists.holds(&codes);
            }
        }
        verified
    }

    fn contenders(finalists: &Finalists) -> Vec<i64> {
        let contenders = finalists.contenders();
        contenders.iter().map(|codes| codes[0]).collect()
    }

    #[test]
    fn only_what_may_be_the_best_is_verified_and_the_default() {
        let mut near = finalists(&[5.0, 1.0, 1.05, 2.0]);
        assert_eq!(verify(&mut near, &[]), [0, 1, 2]);
        assert_eq!(contenders(&near), [0, 1, 2]);
        assert_eq!(finalists(&[]).next(), None);
        // All that are close, and of others so many that there are five.
        let count = |times: &[f64]| verify(&mut finalists(times), &[]).len();
        assert_eq!(count(&[1.0, 1.03, 1.04, 1.05, 1.06, 1.07]), RULE.few);
        assert_eq!(count(&[1.01; 9]), 9);
        assert_eq!(count(&[1.01; 99]), RULE.many);
        assert_eq!(count(&[2.0, 1.0]), 2, "the default beside the best");
    }

    #[test]
    fn what_fails_is_followed_by_what_is_next_however_much_slower_it_is() {
        let mut finalists = finalists(&[17.0, 1.0, 10.0, 10.5, 17.0]);
        assert_eq!(verify(&mut finalists, &[1]), [0, 1, 2, 3]);
        assert_eq!(contenders(&finalists), [0, 2, 3]);
        // One that fails while it is timed is followed, too.
        finalists.fails(&[2]);
        finalists.fails(&[3]);
        assert_eq!(verify(&mut finalists, &[]), [4]);
        assert_eq!(contenders(&finalists), [0, 4]);
    }

    #[test]
    fn what_failed_never_comes_back_and_in_the_end_nothing_is_left() {
        let mut finalists = finalists(&[3.0, 1.0, 2.0]);
        let mut verified = verify(&mut finalists, &[0, 1, 2]);
        verified.sort_unstable();
        assert_eq!(verified, [0, 1, 2]);
        assert!(finalists.contenders().is_empty() && finalists.left().is_empty());
    }

    #[test]
    fn a_default_without_a_time_is_none_of_them() {
        let results = [(vec![1], 2.0), (vec![2], 1.0)];
        let mut finalists = Finalists::new(RULE, &[0], results);
        assert_eq!(verify(&mut finalists, &[]), [2]);
    }
}
