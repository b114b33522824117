//! Tests of `tuning/kinds`.

use super::super::elements::{real, text};
use super::*;
use proptest::prelude::*;
use rand::SeedableRng;
use rand_pcg::Pcg64Mcg;

fn elements(values: Values, fill: &Fill, scalar: ScalarType, len: usize) -> Option<Vec<f64>> {
    let random = Pcg64Mcg::seed_from_u64(1);
    let bytes = values.elements(fill, scalar.into(), len, true, &random)?;
    let numbers = bytes.chunks(scalar.size()).map(|element| {
        let exact = real(scalar, element);
        exact.unwrap_or_else(|| text(scalar, element).parse().unwrap())
    });
    Some(numbers.collect())
}

fn uniform(low: f64, high: f64) -> Fill {
    Fill::Uniform { low, high }
}

#[test]
fn each_kind_is_what_it_says() {
    let fill = uniform(-1.0, 2.0);
    let of = |values| elements(values, &fill, ScalarType::F32, 1000).unwrap();
    assert!(of(Values::Negative).iter().all(|x| (-1.0..0.0).contains(x)));
    let large = of(Values::Large);
    assert!(large.iter().all(|x| (1.8125..=2.0).contains(x)));
    assert!(large.contains(&2.0));
    let count = |numbers: &[f64], is: fn(f64) -> bool| {
        let found = numbers.iter().filter(|number| is(**number));
        found.count()
    };
    let zeros = of(Values::With(Special::Zero));
    assert!((200..300).contains(&count(&zeros, |x| x == 0.0)));
    let denormal = of(Values::With(Special::Denormal));
    let is_denormal = |x: f64| x != 0.0 && x.abs() < f64::from(f32::MIN_POSITIVE);
    let least = of(Values::With(Special::LeastNormal));
    // The others are the same in all three.
    for ((zero, denormal), least) in zeros.iter().zip(&denormal).zip(&least) {
        if *zero == 0.0 {
            assert!(is_denormal(*denormal), "{denormal}");
            assert_eq!(least.abs(), f64::from(f32::MIN_POSITIVE));
        } else {
            assert!(zero == denormal && zero == least);
        }
    }
    assert!(denormal.iter().any(|x| *x < 0.0 && is_denormal(*x)));
    assert!(denormal.contains(&f64::from(f32::from_bits(1))));
}

#[test]
fn the_numbers_next_to_zero_are_those_of_the_type() {
    let fill = uniform(-1.0, 2.0);
    for (scalar, least, least_normal) in
        [(ScalarType::F16, -24, -14), (ScalarType::BF16, -133, -126)]
    {
        let of = |special| elements(Values::With(special), &fill, scalar, 1000).unwrap();
        let power = |exponent| f64::powi(2.0, exponent);
        assert!(of(Special::Denormal).contains(&power(least)), "{scalar:?}");
        let normal = of(Special::LeastNormal);
        assert!(normal.contains(&power(least_normal)), "{scalar:?}");
    }
}

#[test]
fn integers_have_no_denormals_and_reach_their_bounds() {
    let fill = uniform(-3.0, 40.0);
    let of = |values| elements(values, &fill, ScalarType::I8, 500);
    let has = |values, range: std::ops::RangeInclusive<i64>| {
        let numbers = of(values).unwrap();
        range.into_iter().all(|x| numbers.contains(&(x as f64)))
    };
    assert!(has(Values::Negative, -3..=-1));
    assert!(has(Values::Large, 38..=40));
    assert!(of(Values::Negative).unwrap().iter().all(|x| *x < 0.0));
    assert!(of(Values::Large).unwrap().iter().all(|x| *x >= 37.0));
    assert_eq!(of(Values::With(Special::Denormal)), None);
}

#[test]
fn a_fill_that_does_not_allow_a_kind_has_none() {
    let of = |values, fill| elements(values, &fill, ScalarType::F32, 3);
    assert_eq!(of(Values::Negative, uniform(0.0, 1.0)), None);
    assert_eq!(of(Values::Negative, uniform(-2.0, -1.0)), None, "as usual");
    assert_eq!(of(Values::With(Special::Zero), uniform(1.0, 2.0)), None);
    assert_eq!(of(Values::Large, uniform(1.0, 1.0)), None, "not random");
    for fixed in [Fill::Iota, Fill::Zeros, Fill::Constant(1.0), Fill::None] {
        assert_eq!(of(Values::Large, fixed), None);
    }
    // Below zero only.
    let large = of(Values::Large, uniform(-9.0, 1.0)).unwrap();
    assert!(large.iter().all(|x| (-9.0..=-8.0).contains(x)), "{large:?}");
}

#[test]
fn a_buffer_of_one_element_has_the_kind_too() {
    let zero = elements(
        Values::With(Special::Zero),
        &uniform(0.0, 1.0),
        ScalarType::F64,
        1,
    );
    assert_eq!(zero, Some(vec![0.0]));
}

proptest! {
    #[test]
    fn every_value_is_within_the_bounds(
        low in -1e3_f64..1e3, span in 1.0_f64..1e3, seed: u64, kind in 0_usize..4,
        type_at in 0..ScalarType::ALL.len(),
    ) {
        let scalar = ScalarType::ALL[type_at];
        // What is written in a declaration is a value of the type.
        let round = |x: f64| match scalar {
            ScalarType::BF16 => half::bf16::from_f64(x).to_f64(),
            _ if scalar.is_integer() => x.round().clamp(-100.0, 100.0),
            _ => x.round(),
        };
        let (low, high) = (round(low), round(low + span));
        let low = if text(scalar, &[0xFF; 8]).starts_with('-') || !scalar.is_integer() {
            low
        } else {
            low.max(0.0)
        };
        prop_assume!(low <= high);
        let random = Pcg64Mcg::seed_from_u64(seed);
        let values = InputKind::ALL[kind].values();
        let fill = Fill::Uniform { low, high };
        if let Some(bytes) = values.elements(&fill, scalar.into(), 50, true, &random) {
            for element in bytes.chunks(scalar.size()) {
                let number: f64 = text(scalar, element).parse().unwrap();
                prop_assert!((low..=high).contains(&number), "{:?} {number}", values);
            }
        }
    }
}
