//! Tests of `tuning/tolerance`.

use super::*;

fn norm(numbers: &[f64]) -> Norm {
    let mut norm = Norm::default();
    for number in numbers {
        norm.add(*number);
    }
    norm
}

#[test]
fn the_default_bound_grows_with_the_root_of_the_terms() {
    let floats = ScalarType::ALL.iter().filter(|scalar| !scalar.is_integer());
    for &scalar in floats {
        let bound = |terms| default_bound(scalar, Some(terms));
        assert!((bound(400) / bound(4) - 10.0).abs() < 1e-12, "{scalar:?}");
        assert!(bound(1) < default_bound(scalar, None), "{scalar:?}");
    }
    assert_eq!(default_bound(ScalarType::F32, Some(1)), 16.0 / 16_777_216.0);
    assert_eq!(default_bound(ScalarType::I32, Some(1000)), 0.0);
}

#[test]
fn a_declaration_replaces_the_default_of_floats_and_not_of_integers() {
    let declared = |elements, norm| Tolerance {
        elements,
        norm,
        accumulates: None,
    };
    let wide = Some(ElementTolerance { rel: 0.5, abs: 2.0 });
    let allowed = |scalar, declared| Allowed::new(scalar, &declared, None, 10.0);
    let elements = |scalar, declared| {
        let allowed = allowed(scalar, declared).elements;
        allowed.map(|elements| (elements.rel, elements.abs))
    };
    assert_eq!(
        elements(ScalarType::F32, declared(None, None)),
        Some((1e-4, 1e-3))
    );
    assert_eq!(
        elements(ScalarType::F32, declared(wide, None)),
        Some((0.5, 2.0))
    );
    assert_eq!(
        elements(ScalarType::I32, declared(wide, None)),
        Some((0.0, 0.0))
    );
    let norm = Some(NormTolerance::Declared(0.25));
    assert_eq!(elements(ScalarType::F64, declared(None, norm)), None);
    assert_eq!(
        allowed(ScalarType::F64, declared(wide, norm)).norm,
        Some(0.25)
    );
    assert_eq!(allowed(ScalarType::I8, declared(wide, norm)).norm, None);
    let default = declared(None, Some(NormTolerance::Default));
    assert_eq!(allowed(ScalarType::F64, default).norm, Some(1e-10));
}

#[test]
fn what_is_declared_grows_with_the_results_of_other_kinds_of_inputs() {
    let of = |scalar, rel, abs, rms| {
        let elements = Some(ElementTolerance { rel, abs });
        let declared = Tolerance {
            elements,
            ..Tolerance::default()
        };
        let usual = Allowed::new(scalar, &declared, None, 2.0);
        let allowed = usual.of_kind(&declared, rms, 2.0).elements.unwrap();
        (allowed.rel, allowed.abs)
    };
    let f32 = ScalarType::F32;
    assert_eq!(of(f32, 0.0, 0.5, 20.0), (0.0, 5.0));
    assert_eq!(of(f32, 0.0, 0.5, 1.0), (0.0, 0.5), "never less");
    assert_eq!(of(f32, 0.125, 0.0, 4.0), (0.125, 0.5));
    assert_eq!(of(f32, 0.0, 0.0, 20.0), (0.0, 0.0), "exact is exact");
    assert_eq!(of(ScalarType::I32, 1.0, 1.0, 20.0), (0.0, 0.0));
    let declared = Tolerance::default();
    let usual = Allowed::new(f32, &declared, None, 2.0);
    assert_eq!(usual.of_kind(&declared, 20.0, 2.0), usual);
}

#[test]
fn norms_neither_overflow_nor_divide_by_zero() {
    let huge = norm(&[3e300, 4e300]);
    assert!((huge.relative_to(&norm(&[5e300])) - 1.0).abs() < 1e-12);
    assert!((norm(&[1e300, -1e300]).root_mean_square() / 1e300 - 1.0).abs() < 1e-12);
    assert_eq!(norm(&[]).root_mean_square(), 0.0);
    assert_eq!(norm(&[0.0, 0.0]).root_mean_square(), 0.0);
    assert_eq!(norm(&[0.0]).relative_to(&norm(&[0.0])), 0.0);
    assert_eq!(norm(&[1.0]).relative_to(&norm(&[0.0])), f64::INFINITY);
}
