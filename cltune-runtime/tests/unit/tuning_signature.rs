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
    let element = ScalarType::F32;
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
}

#[test]
fn scalars_are_exact() {
    let scalar = |scalar| Declared {
        name: "n".into(),
        kind: DeclaredKind::Scalar(scalar),
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
fn a_missing_argument_shows_both_sides() {
    let error = compare("k", &[buffer(Access::Read)], &[])
        .unwrap_err()
        .to_string();
    assert!(
        error.contains("x: &Buffer<f32>") && error.contains("(nothing)"),
        "{error}"
    );
}
