//! Inputs of other kinds than random ones, on a real device: kernels that are wrong for them only
//! are found, and kernels that are right never fail.

use cltune::tuning::{InputKind, MeasureOptions, Measurer, Outcome, WrongKind, WrongResult};
use cltune::{Buffer, Device, Event, Queue, Result, tunable};
use cltune_core::expr::Formula;
use cltune_formats::declaration::{Declaration, ElementTolerance, Fill, NormTolerance, Tolerance};
use cltune_formats::formula::{Scope, Type};

/// Sums of blocks, their maxima, and twice each element. The parameter `V` chooses for which inputs
/// it is wrong; 0 and 5 are right, and 5 takes denormal numbers for zero.
#[tunable(
    params(V = 0..=5),
    global(n / 64),
    tune(n = 4096),
    defaults(V = 0),
    reference(kernel = "reference", global(n / 64)),
)]
fn blocks(
    queue: &Queue,
    n: u32,
    scale: f32,
    #[arg(len = n)] x: &Buffer<f32>,
    #[arg(out, len = n / 64)] sums: &mut Buffer<f32>,
    #[arg(out, len = n / 64)] maxima: &mut Buffer<f32>,
    #[arg(len = n)] twice: &mut Buffer<f32>,
) -> Result<Event> {
    r"
        __kernel void reference(const uint n, const float scale, __global const float* x,
                                __global float* sums, __global float* maxima,
                                __global float* twice) {
            const uint begin = 64 * get_global_id(0);
            float sum = 0, most = x[begin];
            for (uint i = begin; i < begin + 64; i++) {
                sum += scale * x[i];
                most = max(most, x[i]);
                twice[i] += 2 * x[i];
            }
            sums[get_global_id(0)] = sum;
            maxima[get_global_id(0)] = most;
        }
        float seen(const float x) {
            // The least normal number.
            const int is_denormal = x != 0 && fabs(x) < 0x1p-126f;
            if (V == 2 && x == 0) return 1;
            if (V == 4 && is_denormal) return 1;
            if (V == 5 && is_denormal) return 0;
            return x;
        }
        __kernel void blocks(const uint n, const float scale, __global const float* x,
                             __global float* sums, __global float* maxima, __global float* twice) {
            const uint begin = 64 * get_global_id(0);
            float sum = 0, most = V == 1 ? 0 : seen(x[begin]);
            // The other way round.
            for (uint i = begin + 64; i-- > begin; ) {
                sum += scale * seen(x[i]);
                most = max(most, seen(x[i]));
                twice[i] += 2 * seen(x[i]);
            }
            if (V == 3 && fabs(sum) > 40 * fabs(scale)) sum = 40;
            sums[get_global_id(0)] = sum;
            maxima[get_global_id(0)] = most;
        }
    "
}

const N: i64 = 4096;

fn declaration() -> Declaration {
    blocks::TUNABLE.declaration().unwrap()
}

fn measurer(declaration: &Declaration, options: &MeasureOptions) -> Measurer {
    let device = Device::select().expect("these tests need an OpenCL device");
    Measurer::new(&device, declaration, &[N], options).unwrap()
}

/// The ways to keep further draws.
fn all_options() -> [MeasureOptions; 2] {
    [1 << 30, 0].map(|further_bytes| {
        MeasureOptions::default().with(|options| {
            options.further_bytes = further_bytes;
        })
    })
}

fn wrong(outcome: std::result::Result<usize, Outcome>) -> WrongResult {
    match outcome {
        Err(Outcome::WrongResult(wrong)) => wrong,
        other => panic!("{other:?}"),
    }
}

#[test]
fn who_is_wrong_for_one_kind_of_inputs_is_right_at_first_and_found_then() {
    for options in all_options() {
        let mut measurer = measurer(&declaration(), &options);
        assert_eq!(measurer.left_out(), [""; 0]);
        let kinds = [
            (1, InputKind::Negative, "maxima"),
            (2, InputKind::Zeros, "sums"),
            (3, InputKind::Large, "sums"),
            (4, InputKind::Denormal, "sums"),
        ];
        // Twice: the second time draws are there already, or made again.
        for (value, inputs, argument) in kinds.into_iter().chain(kinds) {
            let measured = measurer.measure(&[value], None, None);
            assert!(measured.time_us().is_some(), "V = {value}: {measured:?}");
            let wrong = wrong(measurer.verify(&[value]));
            assert_eq!(wrong.inputs, Some(inputs), "{wrong}");
            assert_eq!(wrong.argument, argument, "V = {value}: {wrong}");
            assert!(
                wrong.to_string().starts_with(&format!("with {inputs}: ")),
                "{wrong}"
            );
            // Two random draws, and one of each kind.
            assert_eq!(measurer.verify(&[0]), Ok(6), "after V = {value}");
        }
        assert_eq!(measurer.verify(&[5]), Ok(6), "denormal numbers are zero");
        assert_eq!(measurer.left_out(), [""; 0]);
    }
}

#[test]
fn tuning_draws_random_inputs_only_and_so_does_who_asks_for_no_kinds() {
    let options = MeasureOptions::default().with(|options| {
        options.kinds = false;
    });
    let mut measurer = measurer(&declaration(), &options);
    for value in 0..=5 {
        assert_eq!(measurer.verify(&[value]), Ok(2), "V = {value}");
    }
}

fn elements(rel: f64, abs: f64) -> Tolerance {
    Tolerance {
        elements: Some(ElementTolerance { rel, abs }),
        ..Tolerance::default()
    }
}

/// Bounds that hold for random inputs, closely: sums of one sign are eight times as large.
#[test]
fn who_is_right_for_random_inputs_is_not_blamed_for_larger_results() {
    let norm = |bound| Tolerance {
        norm: Some(NormTolerance::Declared(bound)),
        ..Tolerance::default()
    };
    let one = Some(formula("1"));
    let accumulates = Tolerance {
        accumulates: one,
        ..Tolerance::default()
    };
    for tolerance in [
        elements(0.0, 4e-6),
        elements(1e-2, 0.0),
        norm(1e-6),
        accumulates,
        Tolerance::default(),
    ] {
        let declaration = Declaration {
            tolerance,
            ..declaration()
        };
        let mut measurer = measurer(&declaration, &MeasureOptions::default());
        for value in [0, 5] {
            let verified = measurer.verify(&[value]);
            assert_eq!(verified, Ok(6), "{:?}", declaration.tolerance);
        }
    }
}

fn formula(text: &str) -> Formula {
    let scope = Scope {
        parameters: &[],
        dimensions: &["n".into()],
    };
    cltune_formats::formula::parse(text, &scope, Type::Int).unwrap()
}

#[test]
fn where_sums_of_one_sign_mean_nothing_they_are_left_out() {
    let declaration = Declaration {
        tolerance: Tolerance {
            accumulates: Some(formula("1 << 20")),
            ..Tolerance::default()
        },
        ..declaration()
    };
    let mut measurer = measurer(&declaration, &MeasureOptions::default());
    assert_eq!(measurer.verify(&[0]), Ok(4));
    let left_out = measurer.left_out().join("\n");
    for kind in ["negative inputs: sums", "inputs near their bounds: sums"] {
        assert!(left_out.contains(kind), "{left_out}");
    }
}

/// With another line in the place of that which computes twice an element, in reference and kernel.
fn with_line(line: &str) -> Declaration {
    let mut declaration = declaration();
    let source = declaration.model.source.replace("+= 2 * x[i]", line);
    let line = line.replace("x[i]", "seen(x[i])");
    declaration.model.source = source.replace("+= 2 * seen(x[i])", &line).into();
    declaration
}

#[test]
fn kinds_for_which_the_reference_computes_nothing_to_compare_with_are_left_out_and_said() {
    let cases: [(&str, usize, &[&str]); 4] = [
        (
            "= x[i] / fabs(x[i])",
            4,
            &[
                "zeros among the inputs: the reference computes NaN at twice[",
                "denormal numbers among the inputs: the reference computes NaN at twice[",
            ],
        ),
        (
            "= 1 / x[i]",
            4,
            &["zeros among the inputs: the reference computes infinity"],
        ),
        // Half of the largest number.
        (
            "= 0x1p126f * x[i]",
            5,
            &["inputs near their bounds: the reference computes infinity, or nearly"],
        ),
        (
            "= x[i] > 0 ? 1 : 0",
            5,
            &[
                "denormal numbers among the inputs: results depend on whether they are taken for zero",
            ],
        ),
    ];
    for options in all_options() {
        for (line, right, said) in cases {
            let mut measurer = measurer(&with_line(line), &options);
            for _ in 0..2 {
                for value in [0, 5] {
                    assert_eq!(measurer.verify(&[value]), Ok(right), "{line} {value}");
                }
            }
            let left_out = measurer.left_out();
            assert_eq!(left_out.len(), 6 - right, "{left_out:?}");
            for said in said {
                assert!(
                    left_out.iter().any(|one| one.contains(said)),
                    "{left_out:?}"
                );
            }
        }
    }
}

/// An index that follows from an input: the largest is one too many.
#[test]
fn accesses_are_looked_at_also_where_the_reference_is_wrong() {
    let line = "+= 2 * x[i]; if (x[i] == 1 || x[i] == -1) sums[n / 64] = 1";
    for options in all_options() {
        let mut measurer = measurer(&with_line(line), &options);
        for _ in 0..2 {
            let wrong = wrong(measurer.verify(&[0]));
            assert_eq!(wrong.inputs, Some(InputKind::Large));
            assert_eq!(wrong.kind, WrongKind::OutOfBounds { offset: 0 });
        }
        let left_out = measurer.left_out();
        assert_eq!(left_out.len(), 1, "{left_out:?}");
        assert!(
            left_out[0].contains("the reference is wrong there: sums: written right after its end")
        );
    }
}

#[test]
fn fixed_inputs_are_one_draw() {
    let mut declaration = declaration();
    declaration.draws = Some(5);
    for fill in &mut declaration.fills {
        if *fill != Fill::None {
            *fill = Fill::Constant(0.5);
        }
    }
    assert_eq!(
        measurer(&declaration, &MeasureOptions::default()).verify(&[0]),
        Ok(1)
    );
    // What is not random in some arguments is none of the others' business.
    declaration.fills[2] = Fill::Uniform {
        low: 1.0,
        high: 2.0,
    };
    let verified = measurer(&declaration, &MeasureOptions::default()).verify(&[0]);
    assert_eq!(
        verified,
        Ok(6),
        "five random draws, and one near the bounds"
    );
}
