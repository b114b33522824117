//! Measuring and verifying on a real device: every way in which a configuration can be wrong.

use cltune_core::declaration::{Declaration, Fill, Reference, ReferenceKernel};
use cltune_core::expr::{Formula, Scope, Type};
use cltune_core::model::{Access, Argument, ArgumentKind, Memory, Model, ScalarType};
use cltune_core::parameter::{Domain, Parameter};
use cltune_runtime::Device;
use cltune_runtime::tuning::{MeasureOptions, Measurer, Outcome, PrepareError, WrongKind};

/// The parameter `V` chooses what goes wrong; 0 is right.
const SOURCE: &str = r"
__kernel void reference(const uint n, __global const float* x, __global float* y,
                        __global int* z) {
    const uint i = get_global_id(0);
    y[i] = 2.0f * x[i];
    z[i] += 1;
}
#if V == 9
this does not compile
#endif
__kernel void scale(const uint n, __global const float* x, __global float* y, __local float* t,
                    __global int* z) {
    const uint i = get_global_id(0);
    t[get_local_id(0)] = 2.0f * x[i];
    if (V == 1 && i == n - 1) return;
    z[i] += 1;
    if (V == 2 && i >= 5) { y[i] = 7.0f; return; }
    if (V == 3 && i == 0) y[-1] = 1.0f;
    if (V == 4 && i == 0) y[n + 2] = 1.0f;
    if (V == 5 && i == 3) ((__global float*)x)[i] = 5.0f;
    if (V == 6 && i == 3) { y[i] = NAN; return; }
    if (V == 7 && i == 3) z[i] += 1;
    y[i] = t[get_local_id(0)];
}
";

fn formula(text: &str, parameters: &[Parameter]) -> Formula {
    let scope = Scope {
        parameters,
        dimensions: &["n".into()],
    };
    Formula::parse(text, &scope, Type::Int).unwrap()
}

fn declaration() -> Declaration {
    let parameters = vec![Parameter {
        name: "V".into(),
        domain: Domain::Range {
            first: 0,
            last: 9,
            step: 1,
        },
    }];
    let buffer = |name: &'static str, element, access| Argument {
        name: name.into(),
        kind: ArgumentKind::Buffer {
            element,
            access,
            len: Some(formula("n", &parameters)),
            memory: Memory::Buffer,
        },
    };
    let n = Argument {
        name: "n".into(),
        kind: ArgumentKind::Scalar {
            scalar: ScalarType::U32,
            dimension: Some(0),
        },
    };
    let tile = Argument {
        name: "t".into(),
        kind: ArgumentKind::Local {
            element: ScalarType::F32,
            len: formula("8", &parameters),
        },
    };
    let model = Model {
        name: "test::scale".into(),
        fingerprint: "b3:0".into(),
        kernel: "scale".into(),
        source: SOURCE.into(),
        options: vec![].into(),
        dimensions: vec!["n".into()].into(),
        constraints: vec![].into(),
        global: vec![formula("n", &parameters)].into(),
        local: vec![formula("8", &parameters)].into(),
        offset: vec![].into(),
        local_memory: None,
        defines: vec![].into(),
        arguments: vec![
            n,
            buffer("x", ScalarType::F32, Access::Read),
            buffer("y", ScalarType::F32, Access::Write),
            tile,
            buffer("z", ScalarType::I32, Access::ReadWrite),
        ]
        .into(),
        default: None,
        parameters: parameters.into(),
    };
    let fill = Fill::Uniform {
        low: 1.0,
        high: 2.0,
    };
    Declaration {
        model,
        package: "test".into(),
        version: "0.1.0".into(),
        source_file: "src/lib.rs".into(),
        lockfile_seen: "absent".into(),
        problems: vec![vec![64]],
        reference: Reference::Kernel(ReferenceKernel {
            kernel: "reference".into(),
            source: None,
            global: vec![formula("n", &[])],
            local: vec![],
        }),
        tolerance: None,
        fills: vec![Fill::None, fill.clone(), Fill::None, Fill::None, fill],
        bytes: None,
        flops: None,
    }
}

fn prepare(declaration: &Declaration) -> Result<Measurer, PrepareError> {
    let device = Device::select().expect("these tests need an OpenCL device");
    Measurer::new(&device, declaration, &[64], &MeasureOptions::default())
}

fn wrong(value: i64) -> (String, WrongKind) {
    match prepare(&declaration()).unwrap().measure(&[value], None) {
        Outcome::WrongResult(wrong) => (wrong.argument, wrong.kind),
        other => panic!("V = {value}: {other:?}"),
    }
}

#[test]
fn a_right_configuration_is_timed() {
    let mut measurer = prepare(&declaration()).unwrap();
    let Outcome::Ok(measurement) = measurer.measure(&[0], None) else {
        panic!()
    };
    assert!(measurement.time_us > 0.0 && measurement.samples_us.len() >= 3);
    let times = measurer.compare(&[vec![0], vec![2], vec![8]], 3);
    assert!(
        times[0].is_some() && times[1].is_none() && times[2].is_some(),
        "{times:?}"
    );
}

#[test]
fn a_clearly_slower_configuration_is_not_repeated() {
    let mut measurer = prepare(&declaration()).unwrap();
    let Outcome::Ok(measurement) = measurer.measure(&[0], Some(1e-6)) else {
        panic!()
    };
    assert_eq!(measurement.samples_us.len(), 1);
}

#[test]
fn an_unwritten_element_is_found() {
    let (argument, kind) = wrong(1);
    assert_eq!(
        (argument.as_str(), kind),
        (
            "y",
            WrongKind::NeverWritten {
                index: 63,
                count: 1,
                len: 64
            }
        )
    );
}

#[test]
fn a_wrong_value_shows_the_first_index_and_both_values() {
    let (argument, kind) = wrong(2);
    let WrongKind::Mismatch {
        index: 5,
        found,
        count: 59,
        len: 64,
        ..
    } = kind
    else {
        panic!("{kind:?}")
    };
    assert_eq!((argument.as_str(), found.as_str()), ("y", "7"));
}

#[test]
fn writes_out_of_bounds_are_found_on_both_sides() {
    assert_eq!(
        wrong(3),
        ("y".into(), WrongKind::OutOfBounds { offset: -1 })
    );
    assert_eq!(wrong(4), ("y".into(), WrongKind::OutOfBounds { offset: 8 }));
}

#[test]
fn writing_a_read_only_buffer_is_found() {
    assert_eq!(
        wrong(5),
        ("x".into(), WrongKind::ReadOnlyWritten { index: 3 })
    );
}

#[test]
fn nan_is_wrong() {
    assert!(
        matches!(wrong(6), (argument, WrongKind::Mismatch { index: 3, .. }) if argument == "y")
    );
}

#[test]
fn integers_are_compared_exactly() {
    assert!(
        matches!(wrong(7), (argument, WrongKind::Mismatch { index: 3, .. }) if argument == "z")
    );
}

#[test]
fn failures_do_not_spoil_what_is_measured_after_them() {
    let mut measurer = prepare(&declaration()).unwrap();
    for value in [3, 1, 5, 4, 2, 9, 7] {
        assert!(
            measurer.measure(&[value], None).time_us().is_none(),
            "V = {value}"
        );
        assert!(
            measurer.measure(&[0], None).time_us().is_some(),
            "after V = {value}"
        );
    }
}

#[test]
fn a_build_failure_keeps_the_log() {
    let Outcome::BuildFailed { log } = prepare(&declaration()).unwrap().measure(&[9], None) else {
        panic!()
    };
    assert!(
        log.contains("CL_BUILD_PROGRAM_FAILURE") && log.contains("error"),
        "{log}"
    );
}

#[test]
fn a_signature_that_disagrees_shows_both_sides() {
    let mut declaration = declaration();
    let mut arguments = declaration.model.arguments.to_vec();
    arguments[0].kind = ArgumentKind::Scalar {
        scalar: ScalarType::F32,
        dimension: None,
    };
    declaration.fills[0] = Fill::Constant(1.0);
    declaration.model.arguments = arguments.into();
    let error = prepare(&declaration).unwrap_err();
    let text = error.to_string();
    assert!(matches!(error, PrepareError::Signature(_)), "{text}");
    assert!(text.contains("n: f32") && text.contains("uint"), "{text}");
}

#[test]
fn a_missing_kernel_lists_those_that_exist() {
    let mut declaration = declaration();
    declaration.model.kernel = "scael".into();
    let error = prepare(&declaration).unwrap_err().to_string();
    assert!(
        error.contains("scael") && error.contains("reference"),
        "{error}"
    );
}

#[test]
fn a_reference_that_computes_nan_is_an_error() {
    let mut declaration = declaration();
    declaration.fills[1] = Fill::Constant(f64::NAN);
    let error = prepare(&declaration).unwrap_err();
    assert!(
        matches!(error, PrepareError::ReferenceNan { index: 0, .. }),
        "{error}"
    );
}

#[test]
fn too_much_local_memory_is_refused_before_the_launch() {
    let mut declaration = declaration();
    let source = SOURCE.replace(
        "const uint i = get_global_id(0);\n    t[",
        "const uint i = get_global_id(0);
         #if V == 8
         __local float huge[1 << 28];
         huge[i] = x[i];
         barrier(CLK_LOCAL_MEM_FENCE);
         if (huge[i] < 0) return;
         #endif
         t[",
    );
    declaration.model.source = source.into();
    let outcome = prepare(&declaration).unwrap().measure(&[8], None);
    assert!(
        matches!(
            outcome,
            Outcome::LaunchFailed { .. } | Outcome::BuildFailed { .. }
        ),
        "{outcome:?}"
    );
}
