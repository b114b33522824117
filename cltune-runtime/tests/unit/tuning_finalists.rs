//! Tests of `tuning/finalists`.

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

/// Verifies as long as there is something to verify; those in `wrong` fail. The numbers that
/// were verified.
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
