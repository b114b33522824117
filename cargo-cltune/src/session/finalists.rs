//! Choosing between close configurations: the best are timed again, in turns.

use super::bench::Bench;

/// How many configurations are timed again, besides the default.
const FINALISTS: usize = 5;
/// A configuration within this factor of the best may be the best.
const NOISE: f64 = 1.1;
/// How often each is timed.
const ROUNDS: usize = 11;
/// A configuration must be this much faster than the default to be preferred to it.
const TIE: f64 = 0.99;

/// The chosen configuration and the default, timed in the same rounds.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Choice {
    pub(crate) codes: Vec<i64>,
    pub(crate) time_us: f64,
    /// `None` when the default fails.
    pub(crate) default_us: Option<f64>,
}

/// Times the finalists of all `results` (codes and first time) and the default in turns; `None`
/// when none succeeds. Where the device fails now, the first times have to do.
pub(crate) fn choose(bench: &mut Bench, results: &[(Vec<i64>, f64)]) -> Option<Choice> {
    let default = bench.default_codes().to_vec();
    let first_time = |codes: &Vec<i64>| {
        let result = results.iter().find(|(measured, _)| measured == codes);
        result.map(|(_, time)| *time)
    };
    let mut candidates = finalists(results);
    candidates.retain(|codes| *codes != default);
    // A default that failed is not run again: it may be what takes the driver down.
    let default_works = first_time(&default).is_some();
    if default_works {
        candidates.insert(0, default);
    }
    let times = bench
        .compare(&candidates, ROUNDS)
        .unwrap_or_else(|_| candidates.iter().map(first_time).collect());
    best(&candidates, &times, default_works)
}

/// The best few, of those that may be the best.
fn finalists(results: &[(Vec<i64>, f64)]) -> Vec<Vec<i64>> {
    let mut sorted: Vec<_> = results.iter().collect();
    sorted.sort_by(|a, b| a.1.total_cmp(&b.1));
    let Some(best) = sorted.first().map(|(_, time)| *time) else {
        return Vec::new();
    };
    sorted
        .into_iter()
        .take_while(|(_, time)| *time <= best * NOISE)
        .take(FINALISTS)
        .map(|(codes, _)| codes.clone())
        .collect()
}

/// The first candidate may be the default, which wins ties.
fn best(candidates: &[Vec<i64>], times: &[Option<f64>], default_first: bool) -> Option<Choice> {
    let default_us = times.first().copied().flatten().filter(|_| default_first);
    let fastest = candidates
        .iter()
        .zip(times)
        .filter_map(|(codes, time)| Some((codes, (*time)?)))
        .min_by(|a, b| a.1.total_cmp(&b.1))?;
    let (codes, time_us) = match default_us {
        Some(default_us) if fastest.1 > default_us * TIE => (&candidates[0], default_us),
        _ => fastest,
    };
    Some(Choice {
        codes: codes.clone(),
        time_us,
        default_us,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_may_be_the_best_is_timed_again() {
        let results: Vec<_> = [5.0, 1.0, 1.05, 2.0]
            .iter()
            .enumerate()
            .map(|(i, t)| (vec![i as i64], *t))
            .collect();
        assert_eq!(finalists(&results), [vec![1], vec![2]]);
        assert!(finalists(&[]).is_empty());
    }

    #[test]
    fn a_tie_goes_to_the_default_and_failures_do_not_win() {
        let candidates = [vec![0], vec![1], vec![2]];
        let choice = |times: [Option<f64>; 3]| best(&candidates, &times, true);
        let codes = |times| choice(times).map(|choice| choice.codes);
        assert_eq!(codes([Some(1.0), Some(0.995), None]), Some(vec![0]));
        assert_eq!(codes([Some(1.0), Some(0.9), Some(0.8)]), Some(vec![2]));
        assert_eq!(codes([None, Some(3.0), None]), Some(vec![1]));
        assert_eq!(codes([None, None, None]), None);
        // Without a default, the fastest wins by however little.
        let choice_of = best(&candidates, &[Some(1.0), Some(0.995), None], false);
        assert_eq!(
            choice_of.map(|c| (c.codes, c.default_us)),
            Some((vec![1], None))
        );
        assert_eq!(
            choice([Some(2.0), Some(1.0), None]).and_then(|c| c.default_us),
            Some(2.0)
        );
    }
}
