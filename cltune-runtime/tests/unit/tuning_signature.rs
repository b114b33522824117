//! Tests of `tuning/signature`.

use super::*;

#[expect(clippy::unnecessary_wraps, reason = "as the driver answers")]
fn info(address: &'static str, type_name: &str) -> Option<ArgInfo> {
    Some(ArgInfo {
        type_name: type_name.into(),
        name: "x".into(),
        address,
    })
}

fn buffer(access: Access) -> Declared {
    let element = ScalarType::F32.into();
    Declared {
        name: "x".into(),
        kind: DeclaredKind::Buffer { element, access },
    }
}

fn agrees(argument: Declared, found: Option<ArgInfo>) -> bool {
    compare("k", &[argument], &[found]).is_ok()
}

#[test]
fn vectors_of_the_element_are_the_kernels_own_view() {
    assert!(agrees(buffer(Access::Read), info("global", "float*")));
    assert!(agrees(buffer(Access::Read), info("global", "float4*")));
    assert!(agrees(buffer(Access::Read), info("constant", "float*")));
    assert!(!agrees(
        buffer(Access::ReadWrite),
        info("constant", "float*")
    ));
    assert!(!agrees(buffer(Access::Read), info("global", "double*")));
    assert!(!agrees(buffer(Access::Read), info("global", "float")));
    assert!(!agrees(buffer(Access::Read), info("local", "float*")));
    assert!(agrees(buffer(Access::Read), info("global", "my_type*")));
    assert!(agrees(buffer(Access::Read), None));
    // Its bits, since OpenCL C has no such type.
    let mut short = buffer(Access::Read);
    short.kind = DeclaredKind::Buffer {
        element: ScalarType::BF16.into(),
        access: Access::Read,
    };
    assert!(agrees(short.clone(), info("global", "ushort*")));
    assert!(agrees(short.clone(), info("global", "unsigned short*")));
    assert!(!agrees(short, info("global", "half*")));
}

#[test]
fn scalars_are_exact() {
    let scalar = |scalar: ScalarType| Declared {
        name: "n".into(),
        kind: DeclaredKind::Scalar(scalar.into()),
    };
    assert!(agrees(scalar(ScalarType::U32), info("private", "uint")));
    assert!(agrees(
        scalar(ScalarType::U32),
        info("private", "unsigned int")
    ));
    assert!(!agrees(scalar(ScalarType::U32), info("private", "int")));
    assert!(!agrees(scalar(ScalarType::F32), info("private", "float4")));
    assert!(!agrees(scalar(ScalarType::F32), info("global", "float*")));
}

#[test]
fn vectors_by_value_are_exact_and_in_buffers_another_view() {
    let vector = |scalar, lanes| Declared {
        name: "v".into(),
        kind: DeclaredKind::Scalar(ElementType::vector(scalar, lanes)),
    };
    let float4 = || vector(ScalarType::F32, 4);
    assert!(agrees(float4(), info("private", "float4")));
    assert!(agrees(
        vector(ScalarType::U8, 16),
        info("private", "uchar16")
    ));
    // Not even of the same size: it takes 16 bytes for 12.
    assert!(!agrees(float4(), info("private", "float3")));
    assert!(!agrees(float4(), info("private", "float8")));
    assert!(!agrees(float4(), info("private", "int4")));
    assert!(!agrees(float4(), info("private", "float")));
    let buffer = || Declared {
        name: "x".into(),
        kind: DeclaredKind::Buffer {
            element: ElementType::vector(ScalarType::F32, 4),
            access: Access::Write,
        },
    };
    assert!(agrees(buffer(), info("global", "float4*")));
    assert!(agrees(buffer(), info("global", "float*")));
    assert!(!agrees(buffer(), info("global", "double4*")));
    let error = compare("k", &[buffer(), float4()], &[]).unwrap_err();
    let error = error.to_string();
    assert!(error.contains("x: &mut Buffer<[f32; 4]>"), "{error}");
    assert!(error.contains("v: [f32; 4]"), "{error}");
}

#[test]
fn a_missing_argument_shows_both_sides() {
    let error = compare("k", &[buffer(Access::Read)], &[])
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("x: &Buffer<f32>") && error.contains("(nothing)"),
        "{error}"
    );
}
