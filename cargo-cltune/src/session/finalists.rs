//! Choosing between close configurations: the best are timed again, in turns.

use super::bench::Bench;
use cltune_runtime::tuning::Compared;

/// How many configurations are timed again at least, where so many may be the best.
const FINALISTS: usize = 5;
/// A configuration within this factor of the best may be the best.
const NOISE: f64 = 1.1;
/// All within this factor are timed again, up to the number.
const CLOSE: (f64, usize) = (1.02, 16);
/// A configuration must be this much faster than another to be preferred for its time.
const TIE: f64 = 0.99;

/// The chosen configuration and the default, timed in the same rounds.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Choice {
    pub(crate) codes: Vec<i64>,
    pub(crate) time_us: f64,
    /// `None` when the default fails.
    pub(crate) default_us: Option<f64>,
}

/// A configuration that may be chosen.
struct Candidate {
    codes: Vec<i64>,
    time_us: f64,
    /// What it uses of the device: local memory, then work-items of a work-group.
    resources: (u64, usize),
}

/// Times the finalists of all `results` (codes and first time) and the default in turns; `None`
/// when there are none, or none succeeds any more. Where the device fails now, or is lost (then
/// there is no `bench`), the first times have to do.
pub(crate) fn choose(
    bench: Option<&mut Bench>,
    default: &[i64],
    results: &[(Vec<i64>, f64)],
) -> Option<Choice> {
    let mut finalists = finalists(results);
    finalists.retain(|(codes, _)| codes != default);
    // A default that failed is not run again: it may be what takes the driver down.
    let mut measured = results.iter();
    if let Some(default) = measured.find(|(codes, _)| codes == default) {
        finalists.insert(0, default.clone());
    }
    let codes: Vec<Vec<i64>> = finalists.iter().map(|(codes, _)| codes.clone()).collect();
    let compared = bench.and_then(|bench| compare(bench, &codes));
    let candidates = match compared {
        Some(compared) => {
            let candidates = codes.into_iter().zip(compared);
            candidates
                .filter_map(|(codes, compared)| Some(Candidate::new(codes, compared?)))
                .collect()
        }
        None => finalists
            .into_iter()
            .map(|(codes, time_us)| Candidate {
                codes,
                time_us,
                resources: (0, 0),
            })
            .collect::<Vec<_>>(),
    };
    best(&candidates, default)
}

/// Times configurations in turns; `None` where no worker gets to the end. When one dies of the comparison, those
/// that are left are timed alone, so that the culprit is out.
pub(crate) fn compare(bench: &mut Bench, codes: &[Vec<i64>]) -> Option<Vec<Option<Compared>>> {
    let mut times = |codes: &[Vec<i64>]| -> Option<Vec<Option<Compared>>> {
        let compared = bench.compare(codes).ok()?;
        Some(compared.into_iter().map(Result::ok).collect())
    };
    let compared = times(codes).or_else(|| {
        let alone = codes.iter().map(|codes| {
            let compared = times(std::slice::from_ref(codes))?;
            compared.into_iter().next().flatten()
        });
        Some(alone.collect())
    })?;
    compared.iter().any(Option::is_some).then_some(compared)
}

impl Candidate {
    fn new(codes: Vec<i64>, compared: Compared) -> Self {
        Self {
            codes,
            time_us: compared.time_us,
            resources: (compared.local_mem, compared.work_items),
        }
    }
}

/// The best few, of those that may be the best.
fn finalists(results: &[(Vec<i64>, f64)]) -> Vec<(Vec<i64>, f64)> {
    let mut sorted = results.to_vec();
    sorted.sort_by(|a, b| a.1.total_cmp(&b.1));
    let Some(best) = sorted.first().map(|(_, time)| *time) else {
        return Vec::new();
    };
    let within = |factor: f64| sorted.partition_point(|(_, time)| *time <= best * factor);
    let few = within(NOISE).min(FINALISTS);
    sorted.truncate(within(CLOSE.0).min(CLOSE.1).max(few));
    sorted
}

/// Of those that are as good as the fastest, the default; else the one that needs least.
fn best(candidates: &[Candidate], default: &[i64]) -> Option<Choice> {
    let times = candidates.iter().map(|candidate| candidate.time_us);
    let fastest = times.reduce(f64::min)?;
    let mut tied = candidates.iter();
    let is_default = |candidate: &Candidate| candidate.codes == default;
    let tied: Vec<&Candidate> = tied
        .by_ref()
        .filter(|candidate| fastest >= candidate.time_us * TIE)
        .collect();
    let chosen = tied
        .iter()
        .find(|candidate| is_default(candidate))
        .or_else(|| {
            tied.iter().min_by(|a, b| {
                let resources = a.resources.cmp(&b.resources);
                resources.then_with(|| a.time_us.total_cmp(&b.time_us))
            })
        })?;
    let default = candidates.iter().find(|candidate| is_default(candidate));
    Some(Choice {
        codes: chosen.codes.clone(),
        time_us: chosen.time_us,
        default_us: default.map(|default| default.time_us),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn results(times: &[f64]) -> Vec<(Vec<i64>, f64)> {
        let numbered = times.iter().enumerate();
        numbered.map(|(i, time)| (vec![i as i64], *time)).collect()
    }

    fn chosen(candidates: &[(f64, u64)]) -> Option<(i64, Option<f64>)> {
        let numbered = candidates.iter().enumerate();
        let candidates: Vec<Candidate> = numbered
            .filter(|(_, (time, _))| *time > 0.0)
            .map(|(i, (time_us, local_mem))| Candidate {
                codes: vec![i as i64],
                time_us: *time_us,
                resources: (*local_mem, 64),
            })
            .collect();
        best(&candidates, &[0]).map(|choice| (choice.codes[0], choice.default_us))
    }

    #[test]
    fn only_what_may_be_the_best_is_timed_again() {
        let codes = |times: &[f64]| -> Vec<i64> {
            let finalists = finalists(&results(times));
            finalists.iter().map(|(codes, _)| codes[0]).collect()
        };
        assert_eq!(codes(&[5.0, 1.0, 1.05, 2.0]), [1, 2]);
        assert!(codes(&[]).is_empty());
        // All that are close, and of others so many that there are five.
        assert_eq!(codes(&[1.0, 1.03, 1.04, 1.05, 1.06, 1.07]).len(), FINALISTS);
        assert_eq!(codes(&[1.01; 9]).len(), 9);
        assert_eq!(codes(&[1.01; 99]).len(), CLOSE.1);
    }

    #[test]
    fn a_tie_goes_to_the_default_then_to_what_needs_less() {
        assert_eq!(chosen(&[(1.0, 9), (0.995, 0)]), Some((0, Some(1.0))));
        assert_eq!(
            chosen(&[(2.0, 0), (0.9, 9), (0.8, 9)]),
            Some((2, Some(2.0)))
        );
        assert_eq!(
            chosen(&[(2.0, 0), (0.803, 4), (0.8, 9)]),
            Some((1, Some(2.0)))
        );
        assert_eq!(
            chosen(&[(2.0, 0), (0.803, 9), (0.8, 9)]),
            Some((2, Some(2.0)))
        );
        assert_eq!(chosen(&[]), None);
        // A default that failed.
        assert_eq!(chosen(&[(0.0, 0), (3.0, 0)]), Some((1, None)));
    }

    #[test]
    fn without_a_device_the_first_times_have_to_do() {
        let choice = choose(None, &[0], &results(&[2.0, 1.0, 3.0])).unwrap();
        assert_eq!((choice.codes, choice.default_us), (vec![1], Some(2.0)));
        assert_eq!(choose(None, &[0], &[]), None);
    }
}
