//! How fast configurations with each value of a parameter are.

use crate::history::OnDevice;
use crate::statistics::percentile;
use std::collections::BTreeMap;

/// Configurations that have a value in common.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct WithValue {
    pub(super) configurations: usize,
    /// The time of the fastest over that of the fastest of all.
    pub(super) fastest: f64,
    /// The same for the median.
    pub(super) median: f64,
}

/// For each parameter its measured values, by code.
pub(super) fn by_value(on: &OnDevice, parameters: usize) -> Vec<BTreeMap<i64, WithValue>> {
    let working = on.working();
    let best_us = working
        .iter()
        .map(|(_, time)| *time)
        .fold(f64::MAX, f64::min);
    let of = |parameter: usize| {
        let mut times: BTreeMap<i64, Vec<f64>> = BTreeMap::new();
        for (codes, time) in &working {
            times
                .entry(codes[parameter])
                .or_default()
                .push(time / best_us);
        }
        let times = times.into_iter();
        times
            .map(|(code, mut factors)| {
                factors.sort_by(f64::total_cmp);
                let with = WithValue {
                    configurations: factors.len(),
                    fastest: factors[0],
                    median: percentile(&factors, 0.5),
                };
                (code, with)
            })
            .collect()
    };
    (0..parameters).map(of).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::session::Recorded;

    #[test]
    fn values_are_compared_with_the_fastest_of_all() {
        let results = [
            (vec![1, 7], Some(9.0)),
            (vec![1, 7], Some(6.0)),
            (vec![1, 8], Some(4.0)),
            (vec![2, 8], Some(2.0)),
            (vec![2, 9], None),
        ];
        let results = results.map(|(codes, time_us)| Recorded {
            codes,
            time_us,
            ..Recorded::default()
        });
        let on = OnDevice {
            results: results.into(),
            ..OnDevice::default()
        };
        let by_value = by_value(&on, 2);
        let with = |parameter: usize, code: i64| {
            let of = by_value[parameter][&code];
            (of.configurations, of.fastest, of.median)
        };
        assert_eq!(with(0, 1), (2, 2.0, 2.5));
        assert_eq!(with(0, 2), (1, 1.0, 1.0));
        assert_eq!(with(1, 8), (2, 1.0, 1.5));
        assert!(!by_value[1].contains_key(&9));
    }
}
