//! Results that count as right, on a real device: tolerances, norms, accumulation, draws.

use cltune::tuning::{MeasureOptions, Measurer, Outcome, PrepareError, WrongKind, WrongResult};
use cltune::{Buffer, Device, Event, Queue, Result, bf16, tunable};
use cltune_core::expr::Formula;
use cltune_formats::declaration::{Declaration, ElementTolerance, NormTolerance, Tolerance};
use cltune_formats::formula::{Scope, Type};

/// The parameter `V` chooses what goes wrong; 0 is right.
#[tunable(
    params(V = 0..=9),
    global(n),
    tune(n = 4096),
    reference(kernel = "reference", global(n)),
)]
fn copy(
    queue: &Queue,
    n: u32,
    #[arg(len = n, fill = uniform(1, 2))] x: &Buffer<f32>,
    #[arg(out, len = n)] y: &mut Buffer<f32>,
) -> Result<Event> {
    r"
        __kernel void reference(const uint n, __global const float* x, __global float* y) {
            const uint i = get_global_id(0);
            y[i] = i < n - 1 ? x[i] : x[i] * 1e-3f;
        }
        __kernel void copy(const uint n, __global const float* x, __global float* y) {
            const uint i = get_global_id(0);
            float value = i < n - 1 ? x[i] : x[i] * 1e-3f;
            // Every element is off by a thousandth.
            if (V == 1) value *= 1.001f;
            // One small element is off by itself.
            if (V == 2 && i == n - 1) value *= 2;
            // Roundings as in a sum of a thousand terms.
            if (V == 3) value *= 1.00001f;
            // Wrong for few inputs.
            if (V == 4 && i == 0 && value < 1.2f) value = 0;
            if (V == 5 && i == 0) value = INFINITY;
            if (V == 6 && i == 0) value = NAN;
            // One write out of bounds, one that is missing, one into what is only read.
            if (V == 7 && i == 0) y[n] = 1;
            if (V == 8 && i == 3) return;
            if (V == 9 && i == 5) ((__global float*)x)[i] = 2;
            y[i] = value;
        }
    "
}

const N: i64 = 4096;

fn formula(text: &str) -> Formula {
    let scope = Scope {
        parameters: &[],
        dimensions: &["n".into()],
    };
    cltune_formats::formula::parse(text, &scope, Type::Int).unwrap()
}

fn declaration(tolerance: Tolerance, draws: Option<u32>) -> Declaration {
    Declaration {
        tolerance,
        draws,
        ..copy::TUNABLE.declaration().unwrap()
    }
}

fn prepare(declaration: &Declaration) -> std::result::Result<Measurer, PrepareError> {
    let device = Device::select().expect("these tests need an OpenCL device");
    Measurer::new(&device, declaration, &[N], &MeasureOptions::default())
}

/// What is wrong with a configuration, if anything.
fn wrong(tolerance: &Tolerance, value: i64) -> Option<WrongResult> {
    let mut measurer = prepare(&declaration(tolerance.clone(), None)).unwrap();
    match measurer.verify(&[value]) {
        Ok(_) => None,
        Err(Outcome::WrongResult(wrong)) => Some(wrong),
        Err(other) => panic!("V = {value}: {other:?}"),
    }
}

fn elements(rel: f64, abs: f64) -> Tolerance {
    Tolerance {
        elements: Some(ElementTolerance { rel, abs }),
        ..Tolerance::default()
    }
}

fn norm(bound: f64) -> Tolerance {
    Tolerance {
        norm: Some(NormTolerance::Declared(bound)),
        ..Tolerance::default()
    }
}

fn accumulates(terms: &str) -> Tolerance {
    Tolerance {
        accumulates: Some(formula(terms)),
        ..Tolerance::default()
    }
}

#[test]
fn the_relative_and_the_absolute_part_are_for_each_element() {
    assert_eq!(wrong(&elements(0.0, 0.0), 0), None);
    assert_eq!(wrong(&elements(2e-3, 0.0), 1), None);
    assert!(wrong(&elements(5e-4, 0.0), 1).is_some());
    assert_eq!(wrong(&elements(0.0, 1.0), 2), None);
    let found = wrong(&elements(0.5, 0.0), 2).unwrap();
    assert!(
        matches!(found.kind, WrongKind::Mismatch { index, count: 1, .. } if index == N as usize - 1),
        "{found}"
    );
}

#[test]
fn a_norm_forgives_one_small_element_and_not_an_error_of_all() {
    assert_eq!(wrong(&norm(1e-4), 2), None);
    assert_eq!(wrong(&norm(2e-3), 1), None);
    let found = wrong(&norm(1e-4), 1).unwrap();
    let text = found.to_string();
    assert!(matches!(found.kind, WrongKind::Norm { .. }), "{text}");
    assert!(text.contains("1.0e-3") && text.contains("1e-4"), "{text}");
}

#[test]
fn the_default_grows_with_the_length_of_the_accumulation() {
    // 16 units are 9.5e-7, 16 * 64 are 6.1e-5.
    assert!(wrong(&accumulates("1"), 3).is_some());
    assert_eq!(wrong(&accumulates("n"), 3), None);
    assert!(wrong(&accumulates("n"), 1).is_some());
    assert_eq!(wrong(&Tolerance::default(), 3), None);
    let norm = |terms| Tolerance {
        norm: Some(NormTolerance::Default),
        ..accumulates(terms)
    };
    assert!(wrong(&norm("1"), 3).is_some());
    assert_eq!(wrong(&norm("n"), 3), None);
}

#[test]
fn neither_infinity_nor_nan_passes_any_tolerance() {
    for value in [5, 6] {
        for tolerance in [elements(1e30, 1e300), norm(1e300), accumulates("n")] {
            let found = wrong(&tolerance, value).unwrap();
            assert!(
                matches!(
                    found.kind,
                    WrongKind::Mismatch {
                        index: 0,
                        count: 1,
                        ..
                    }
                ),
                "{found}"
            );
        }
    }
}

#[test]
fn more_draws_find_what_is_wrong_for_few_inputs() {
    let verify = |draws| {
        let mut measurer = prepare(&declaration(elements(0.0, 0.0), draws)).unwrap();
        measurer.verify(&[4])
    };
    // And one with inputs near their bounds, of which only the larger one counts.
    assert_eq!(verify(Some(1)), Ok(2), "draws on which nothing shows");
    assert!(matches!(verify(Some(20)), Err(Outcome::WrongResult(_))));
    let mut measurer = prepare(&declaration(elements(0.0, 0.0), Some(5))).unwrap();
    assert_eq!(measurer.verify(&[0]), Ok(6));
}

#[test]
fn an_accumulation_of_nothing_is_an_error() {
    for (terms, reason) in [("n - 4096", "is 0"), ("n / (n - 4096)", "has no value")] {
        let error = prepare(&declaration(accumulates(terms), None)).unwrap_err();
        assert!(matches!(error, PrepareError::Accumulates { .. }), "{error}");
        assert!(error.to_string().contains(reason), "{error}");
    }
}

#[test]
fn the_device_finds_wrong_what_the_host_does() {
    const LARGE: i64 = (1 << 18) + 5;
    let device = Device::select().unwrap();
    for tolerance in [elements(1e-4, 1e-6), norm(1e-2), Tolerance::default()] {
        let mut said = [true, false].map(|on_device| {
            let options = MeasureOptions::default().with(|options| {
                options.compare_on_device = Some(on_device);
                options.least_repeats = 1;
                options.most_repeats = 1;
            });
            let declaration = declaration(tolerance.clone(), None);
            let mut measurer = Measurer::new(&device, &declaration, &[LARGE], &options).unwrap();
            // Twice: on every draw, and after what went wrong before.
            let all = (0..20).map(|value| match measurer.measure(&[value % 10], None, None) {
                Outcome::Ok(_) => None,
                Outcome::WrongResult(wrong) => Some(wrong),
                other => panic!("{value}: {other:?}"),
            });
            all.collect::<Vec<_>>()
        });
        assert_eq!(said[0], said[1], "{tolerance:?}");
        let of = said[0].split_off(10);
        assert_eq!(of[0], None, "{tolerance:?}");
        let kind = |value: usize| of[value].as_ref().map(|wrong| &wrong.kind);
        assert!(matches!(
            kind(7),
            Some(WrongKind::OutOfBounds { offset: 0 })
        ));
        assert!(matches!(
            kind(8),
            Some(WrongKind::NeverWritten { index: 3, .. })
        ));
        assert!(matches!(
            kind(9),
            Some(WrongKind::ReadOnlyWritten { index: 5 })
        ));
    }
}

/// Elements that are rounded, and the parameter `V` for how: 0 is as the reference does.
#[tunable(
    params(V = 0..=3),
    global(n),
    tune(n = 1000),
    reference(kernel = "reference", global(n)),
)]
fn half_as_much(
    queue: &Queue,
    n: u32,
    #[arg(value = 0.5)] factor: bf16,
    #[arg(len = n, fill = uniform(1, 2))] x: &Buffer<bf16>,
    #[arg(out, len = n)] y: &mut Buffer<bf16>,
) -> Result<Event> {
    r"
        float number(ushort bits) { return as_float((uint)bits << 16); }
        ushort rounded(float x) {
            const uint bits = as_uint(x);
            return (bits + 0x7fff + (bits >> 16 & 1)) >> 16;
        }
        __kernel void reference(const uint n, const ushort factor, __global const ushort* x, __global ushort* y) {
            const uint i = get_global_id(0);
            y[i] = rounded(number(factor) * number(x[i]));
        }
        __kernel void half_as_much(const uint n, const ushort factor, __global const ushort* x, __global ushort* y) {
            const uint i = get_global_id(0);
            float value = number(factor) * number(x[i]);
            // A unit in the last place, a quarter of the value, nothing at all.
            if (V == 1) value *= 1.0078125f;
            if (V == 2 && i == 7) value *= 1.25f;
            if (V == 3 && i == 7) return;
            y[i] = rounded(value);
        }
    "
}

#[test]
fn bfloat16_is_compared_as_numbers_on_the_host_and_on_the_device() {
    let device = Device::select().unwrap();
    let declaration = half_as_much::TUNABLE.declaration().unwrap();
    for on_device in [true, false] {
        let options = MeasureOptions::default().with(|options| {
            options.compare_on_device = Some(on_device);
        });
        let mut measurer = Measurer::new(&device, &declaration, &[1000], &options).unwrap();
        assert!(measurer.verify(&[0]).is_ok());
        assert!(measurer.verify(&[1]).is_ok());
        let mut wrong = |value| match measurer.verify(&[value]) {
            Err(Outcome::WrongResult(wrong)) => wrong.to_string(),
            other => panic!("{value}: {other:?}"),
        };
        assert!(wrong(2).starts_with("y[7] is 0."), "{}", wrong(2));
        assert!(wrong(3).contains("y[7]"), "{}", wrong(3));
    }
}
