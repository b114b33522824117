//! Tests of `tuning/verify`.

use super::*;
use cltune_formats::declaration::{ElementTolerance, NormTolerance};
use proptest::prelude::*;

fn bytes(values: &[f32]) -> Vec<u8> {
    values
        .iter()
        .flat_map(|value| value.to_le_bytes())
        .collect()
}

/// With the default tolerance.
fn by_default(scalar: ScalarType, bytes: Vec<u8>) -> Result<Expected, usize> {
    let all = 0..bytes.len() / scalar.size();
    Expected::new(scalar, bytes, all, &Tolerance::default(), None)
}

fn compare(expected: &[f32], found: &[f32]) -> Option<WrongKind> {
    let expected = by_default(ScalarType::F32, bytes(expected)).unwrap();
    expected.compare(ScalarType::F32, &bytes(found), true)
}

fn poison() -> f32 {
    f32::from_le_bytes(pattern(ScalarType::F32).try_into().unwrap())
}

#[test]
fn near_values_pass_and_far_ones_show_the_first() {
    assert_eq!(compare(&[1.0, -2.0], &[1.000_01, -2.000_1]), None);
    let wrong = compare(&[1.0, 2.0, 3.0], &[1.0, 2.1, 4.0]).unwrap();
    let WrongKind::Mismatch {
        index,
        expected,
        found,
        allowed,
        count,
        len,
        most,
    } = wrong
    else {
        panic!("{wrong:?}")
    };
    assert_eq!((index, count, len), (1, 2, 3));
    assert_eq!((&*expected, &*found), ("2", "2.1"));
    // A ten thousandth of itself and of the root mean square.
    let rms = (14.0_f64 / 3.0).sqrt();
    assert!((allowed - 1e-4 * (2.0 + rms)).abs() < 1e-9);
    let most = most.unwrap();
    assert_eq!((most.index, &*most.found), (2, "4"));
}

#[test]
fn zeros_of_either_sign_and_equal_infinities_pass() {
    assert_eq!(compare(&[0.0, f32::INFINITY], &[-0.0, f32::INFINITY]), None);
    assert!(compare(&[f32::INFINITY], &[f32::NEG_INFINITY]).is_some());
    assert!(compare(&[f32::INFINITY], &[f32::MAX]).is_some());
    assert!(compare(&[1.0], &[f32::INFINITY]).is_some());
}

#[test]
fn nan_never_passes() {
    assert!(compare(&[1.0], &[f32::NAN]).is_some());
    assert_eq!(
        by_default(ScalarType::F32, bytes(&[1.0, f32::NAN])).unwrap_err(),
        1
    );
}

#[test]
fn what_was_never_written_is_told_from_what_is_wrong() {
    assert_eq!(
        compare(&[1.0, 2.0, 3.0], &[1.0, poison(), poison()]),
        Some(WrongKind::NeverWritten {
            index: 1,
            count: 2,
            len: 3
        })
    );
    assert_eq!(compare(&[1.0, poison()], &[1.0, poison()]), None);
    assert!(
        compare(&[1.0, poison()], &[1.0, 5.0]).is_some(),
        "written too much"
    );
}

#[test]
fn integers_are_exact() {
    let expected = by_default(ScalarType::I32, 7_i32.to_le_bytes().to_vec()).unwrap();
    assert_eq!(
        expected.compare(ScalarType::I32, &7_i32.to_le_bytes(), false),
        None
    );
    assert!(
        expected
            .compare(ScalarType::I32, &8_i32.to_le_bytes(), false)
            .is_some()
    );
}

#[test]
fn denormals_count_as_the_numbers_they_are() {
    let tiny = f32::from_bits(1);
    assert_eq!(compare(&[tiny], &[tiny]), None);
    assert_eq!(compare(&[1.0, tiny], &[1.0, 0.0]), None, "flushed to zero");
    assert!(
        compare(&[tiny], &[0.0]).is_some(),
        "nothing larger to measure by"
    );
}

/// With another tolerance.
fn declared_so(declared: &Tolerance, expected: &[f32]) -> Expected {
    let all = 0..expected.len();
    Expected::new(ScalarType::F32, bytes(expected), all, declared, None).unwrap()
}

/// With a norm alone.
fn compare_norms(bound: f64, expected: &[f32], found: &[f32]) -> Option<WrongKind> {
    let declared = Tolerance {
        norm: Some(NormTolerance::Declared(bound)),
        ..Tolerance::default()
    };
    let expected = declared_so(&declared, expected);
    expected.compare(ScalarType::F32, &bytes(found), true)
}

#[test]
fn a_norm_is_about_the_whole_buffer() {
    // The error is 0.5, the reference's norm 5.
    let found = [3.0, 4.5, 0.0];
    assert_eq!(compare_norms(0.1, &[3.0, 4.0, 0.0], &found), None);
    let wrong = compare_norms(0.09, &[3.0, 4.0, 0.0], &found).unwrap();
    assert_eq!(
        wrong,
        WrongKind::Norm {
            error: "1.0e-1".into(),
            bound: 0.09,
            index: 1,
            expected: "4".into(),
            found: "4.5".into(),
        }
    );
    assert_eq!(compare_norms(0.0, &[0.0, 0.0], &[0.0, -0.0]), None);
    assert!(compare_norms(0.5, &[0.0, 0.0], &[0.0, 1e-30]).is_some());
}

#[test]
fn no_norm_lets_pass_what_is_no_number_or_never_written() {
    for found in [f32::NAN, f32::INFINITY, poison()] {
        assert!(compare_norms(1e30, &[1.0, 2.0], &[1.0, found]).is_some());
    }
    assert_eq!(
        compare_norms(0.0, &[f32::INFINITY, 1.0], &[f32::INFINITY, 1.0]),
        None
    );
}

#[test]
fn elements_and_norm_both_have_to_be_near() {
    let declared = Tolerance {
        elements: Some(ElementTolerance { rel: 0.0, abs: 1.0 }),
        norm: Some(NormTolerance::Declared(0.1)),
        accumulates: None,
    };
    let wrong = |expected: &[f32], found: &[f32]| {
        declared_so(&declared, expected).compare(ScalarType::F32, &bytes(found), true)
    };
    assert_eq!(wrong(&[10.0], &[11.0]), None);
    assert!(matches!(
        wrong(&[100.0], &[102.0]),
        Some(WrongKind::Mismatch { .. })
    ));
    assert!(matches!(
        wrong(&[5.0], &[6.0]),
        Some(WrongKind::Norm { .. })
    ));
}

#[test]
fn doubles_near_the_end_of_their_range_are_compared_like_others() {
    let of = |values: &[f64]| {
        values
            .iter()
            .flat_map(|value| value.to_le_bytes())
            .collect()
    };
    let reference = by_default(ScalarType::F64, of(&[1e300, -1e300])).unwrap();
    let found: Vec<u8> = of(&[1e300, 1e300]);
    assert!(reference.compare(ScalarType::F64, &found, false).is_some());
    let found: Vec<u8> = of(&[1e300, -1.000_000_000_01e300]);
    assert_eq!(reference.compare(ScalarType::F64, &found, false), None);
}

#[test]
fn an_output_of_which_nothing_is_written_is_recognised() {
    let unwritten = |values: &[f32]| {
        let expected = by_default(ScalarType::F32, bytes(values)).unwrap();
        expected.is_unwritten(ScalarType::F32)
    };
    assert!(unwritten(&[poison(), poison()]));
    assert!(!unwritten(&[poison(), 0.0]));
    assert!(!unwritten(&[]), "nothing to write");
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn every_result_without_nan_is_like_itself(values: Vec<f32>) {
        prop_assume!(values.iter().all(|value| !value.is_nan()));
        prop_assert_eq!(compare(&values, &values), None);
    }

    #[test]
    fn one_far_element_is_found_wherever_it_is(
        values in proptest::collection::vec(-1e3_f32..1e3, 1..50),
        at: prop::sample::Index,
        to_nan: bool,
    ) {
        let index = at.index(values.len());
        let mut found = values.clone();
        found[index] = if to_nan { f32::NAN } else { found[index] + 1e4 };
        let wrong = compare(&values, &found);
        let is_found = matches!(
            wrong,
            Some(WrongKind::Mismatch { index: first, count: 1, len, .. })
                if first == index && len == values.len()
        );
        prop_assert!(is_found, "{:?}", wrong);
    }

    #[test]
    fn a_smaller_error_is_never_worse(
        expected in -1e6_f32..1e6,
        error in 0.0_f32..10.0,
        fraction in 0.0_f32..1.0,
    ) {
        let near = |error: f32| compare(&[expected], &[expected + error]).is_none();
        prop_assert!(!near(error) || near(error * fraction));
    }

    #[test]
    fn integers_pass_only_when_equal(expected: i16, found: i16) {
        let reference =
            by_default(ScalarType::I16, expected.to_le_bytes().to_vec()).unwrap();
        let wrong = reference.compare(ScalarType::I16, &found.to_le_bytes(), false);
        prop_assert_eq!(wrong.is_none(), expected == found);
    }
}

#[test]
fn halves_have_their_own_tolerance() {
    let bits = |value: f32| f16::from_f32(value).to_le_bytes().to_vec();
    let expected = by_default(ScalarType::F16, bits(100.0)).unwrap();
    assert_eq!(expected.compare(ScalarType::F16, &bits(100.5), false), None);
    assert!(
        expected
            .compare(ScalarType::F16, &bits(110.0), false)
            .is_some()
    );
    let bits = |value: f32| bf16::from_f32(value).to_le_bytes().to_vec();
    let expected = by_default(ScalarType::BF16, bits(100.0)).unwrap();
    let compared = |found| expected.compare(ScalarType::BF16, &bits(found), false);
    assert_eq!(compared(104.0), None);
    assert!(compared(120.0).is_some());
    assert!(compared(f32::INFINITY).is_some());
    let infinite = by_default(ScalarType::BF16, bits(f32::INFINITY)).unwrap();
    let largest = bf16::MAX.to_le_bytes();
    assert!(
        infinite
            .compare(ScalarType::BF16, &largest, false)
            .is_some()
    );
    assert!(by_default(ScalarType::BF16, bits(f32::NAN)).is_err());
}
