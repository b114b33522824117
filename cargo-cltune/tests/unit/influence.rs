//! Unit tests of `report::influence`.

use super::*;

/// All configurations of parameters with so many values, and their times.
fn measured(sizes: &[i64], time: impl Fn(&[i64]) -> f64) -> Vec<(Vec<i64>, f64)> {
    let mut configurations = vec![Vec::new()];
    for size in sizes {
        let longer = configurations.iter().flat_map(|codes: &Vec<i64>| {
            (0..*size).map(move |value| [codes.as_slice(), &[value]].concat())
        });
        configurations = longer.collect();
    }
    let timed = configurations.into_iter();
    timed
        .map(|codes| {
            let time = time(&codes);
            (codes, time)
        })
        .collect()
}

fn influence(measured: &[(Vec<i64>, f64)]) -> Option<Influence> {
    let working: Vec<(&[i64], f64)> = measured
        .iter()
        .map(|(codes, time)| (&**codes, *time))
        .collect();
    Influence::of(&working)
}

/// Noise from 0 to 1 that no parameter explains: a hash of the configuration.
fn noise(codes: &[i64]) -> f64 {
    let bytes: Vec<u8> = codes.iter().flat_map(|code| code.to_le_bytes()).collect();
    f64::from(crc32fast::hash(&bytes)) / f64::from(u32::MAX)
}

#[test]
fn of_many_configurations_and_parameters_a_part_is_looked_at() {
    let time = |codes: &[i64]| (3.0 * codes[0] as f64 + codes[1] as f64 + noise(codes)).exp();
    let all = measured(&[2, 2, 200, 200], time);
    assert!(all.len() > MOST_CONFIGURATIONS);
    let found = influence(&all).unwrap();
    assert_eq!(found.configurations, MOST_CONFIGURATIONS);
    let part = |at: usize| found.parameters[at].unwrap().part;
    assert!(part(0) > 0.8 && part(1) > 0.05 && part(2) < 0.01);
    assert_eq!(influence(&all), Some(found));
    // Those that matter, in their order.
    let share = |part| {
        Some(Share {
            part,
            is_certain: true,
        })
    };
    let parts: Vec<Option<Share>> = (0..100_u32).map(|at| share(f64::from(at))).collect();
    assert!(paired(&parts).into_iter().eq(100 - MOST_PAIRED..100));
    assert_eq!(paired(&[share(0.5), None, share(0.1)]), [0, 2]);
}

#[test]
fn effects_that_add_up_have_their_shares_of_the_variance_and_no_pair() {
    // In the logarithm, two values 3 apart have a variance of 2.25 and two 1 apart of 0.25.
    let time = |codes: &[i64]| (3.0 * codes[0] as f64 + codes[1] as f64).exp();
    let found = influence(&measured(&[2, 2, 4], time)).unwrap();
    let parts: Vec<f64> = found
        .parameters
        .iter()
        .flatten()
        .map(|of| of.part)
        .collect();
    // Corrected for two means of 16 configurations: 1 - (1 - r) * 15 / 14.
    let expected = [0.9, 0.1].map(|part| 1.0 - (1.0 - part) * 15.0 / 14.0);
    assert!((parts[0] - expected[0]).abs() < 1e-9, "{parts:?}");
    assert!((parts[1] - expected[1]).abs() < 1e-9, "{parts:?}");
    assert_eq!(parts[2], 0.0);
    assert_eq!(found.configurations, 16);
    assert_eq!(
        found.pairs.iter().filter(|pair| pair.2.is_certain).count(),
        0
    );
}

#[test]
fn what_only_a_combination_does_is_the_pairs() {
    // Fast where both agree: neither alone tells anything.
    let time = |codes: &[i64]| {
        let agree = codes[0] == codes[1];
        (if agree { 1.0 } else { 8.0 }) * (1.0 + 0.1 * noise(codes))
    };
    let found = influence(&measured(&[2, 2, 5, 3], time)).unwrap();
    let (first, second, share) = found.pairs[0];
    assert_eq!((first, second, share.is_certain), (0, 1, true));
    assert!(share.part > 0.99, "{share:?}");
    let alone: Vec<bool> = found
        .parameters
        .iter()
        .flatten()
        .map(|of| of.is_certain)
        .collect();
    assert_eq!(alone, [false; 4]);
}

#[test]
fn noise_is_not_told_from_chance() {
    let found = influence(&measured(&[4, 4, 4], |codes| 1.0 + noise(codes))).unwrap();
    let shares = found.parameters.iter().flatten().copied();
    for share in shares.chain(found.pairs.iter().map(|pair| pair.2)) {
        assert!(!share.is_certain && share.part < 0.2, "{share:?}");
    }
}

#[test]
fn what_was_not_measured_enough_is_unknown() {
    // The second parameter never changed.
    let found = influence(&measured(&[8, 1, 8], |codes| 1.0 + noise(codes))).unwrap();
    assert!(found.parameters[0].is_some() && found.parameters[1].is_none());
    // 64 combinations, measured once each.
    assert_eq!((found.unknown_pairs, found.pairs.len()), (1, 0));
    assert_eq!(
        influence(&measured(&[11], |codes| 1.0 + noise(codes))),
        None
    );
    assert_eq!(influence(&measured(&[16], |_| 2.0)), None);
    assert_eq!(influence(&[]), None);
}
