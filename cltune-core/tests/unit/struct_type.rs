use super::*;
use crate::model::{Named, fingerprint_with_structs, without_structs};

const AXIS: StructType = StructType {
    name: "Axis",
    opencl_name: "Axis",
    size: 8,
    fields: &[
        field("x", 0, ElementType::scalar(ScalarType::F32), None),
        field("y", 4, ElementType::scalar(ScalarType::F32), None),
    ],
};

const BODY: StructType = StructType {
    name: "Body",
    opencl_name: "struct body",
    size: 40,
    fields: &[
        field("place", 0, ElementType::vector(ScalarType::F32, 4), None),
        field("near", 16, ElementType::scalar(ScalarType::U32), Some(2)),
        field("axes", 24, ElementType::Struct(&AXIS), Some(2)),
    ],
};

const fn field(
    name: &'static str,
    offset: usize,
    element: ElementType,
    count: Option<usize>,
) -> StructField {
    StructField {
        name,
        offset,
        element,
        count,
        fill: "",
    }
}

#[test]
fn leaves_name_the_way_to_each_scalar() {
    let leaves = BODY.leaves();
    let shown: Vec<_> = leaves
        .iter()
        .map(|leaf| (&*leaf.path, leaf.offset, leaf.count))
        .collect();
    assert_eq!(
        shown,
        [
            ("place", 0, 4),
            ("near", 16, 2),
            ("axes[0].x", 24, 1),
            ("axes[0].y", 28, 1),
            ("axes[1].x", 32, 1),
            ("axes[1].y", 36, 1),
        ]
    );
    assert_eq!(leaves.iter().map(Leaf::size).sum::<usize>(), BODY.size);
    assert_eq!(BODY.padding(), None);
}

/// The message with which the compiler would stop.
fn refusal(ty: &'static StructType) -> String {
    let stopped = std::panic::catch_unwind(|| ty.assert_portable()).unwrap_err();
    let message = stopped.downcast_ref::<String>().cloned();
    message
        .or(stopped.downcast_ref::<&str>().map(ToString::to_string))
        .unwrap()
}

#[test]
fn padding_is_told_with_its_place() {
    static WITH_A_HOLE: StructType = StructType {
        name: "Hole",
        opencl_name: "Hole",
        size: 16,
        fields: &[
            field("kind", 0, ElementType::scalar(ScalarType::U8), None),
            field("weight", 8, ElementType::scalar(ScalarType::F64), None),
        ],
    };
    static SHORT: StructType = StructType {
        name: "Short",
        opencl_name: "Short",
        size: 8,
        fields: &[field(
            "kind",
            0,
            ElementType::scalar(ScalarType::U8),
            Some(7),
        )],
    };
    let message = refusal(&WITH_A_HOLE);
    assert!(
        message.contains("7 bytes at offset 1, before `weight`"),
        "{message}"
    );
    let message = refusal(&SHORT);
    assert!(
        message.contains("1 byte at offset 7, after the last field"),
        "{message}"
    );
}

#[test]
fn vectors_must_be_where_a_device_has_them() {
    static NOTHING: StructType = StructType {
        name: "Nothing",
        opencl_name: "Nothing",
        size: 0,
        fields: &[field(
            "none",
            0,
            ElementType::scalar(ScalarType::F32),
            Some(0),
        )],
    };
    static SHIFTED: StructType = StructType {
        name: "Shifted",
        opencl_name: "Shifted",
        size: 20,
        fields: &[
            field("mass", 0, ElementType::scalar(ScalarType::F32), None),
            field("place", 4, ElementType::vector(ScalarType::F32, 4), None),
        ],
    };
    let message = refusal(&SHIFTED);
    assert!(
        message.contains("`place`") && message.contains("multiple of 16"),
        "{message}"
    );
    let message = refusal(&NOTHING);
    assert!(
        message.contains("`none`") && message.contains("no elements"),
        "{message}"
    );
    let message = refusal(&BODY);
    assert!(message.contains("40 bytes on the host"), "{message}");
}

#[test]
fn a_fingerprint_tells_layouts_and_is_completed_once() {
    static RENAMED: StructType = StructType {
        name: "Other",
        ..AXIS
    };
    let macros = format!("b3:{}", "0".repeat(64));
    let text = |structs: &[Named]| {
        String::from_utf8(fingerprint_with_structs(&macros, structs).to_vec()).unwrap()
    };
    let (one, other) = (text(&[("Axis", &AXIS)]), text(&[("Body", &BODY)]));
    assert_ne!(one, other);
    assert_eq!(without_structs(&one), without_structs(&macros));
    assert_eq!(one.len(), macros.len());
    let again = fingerprint_with_structs(&one, &[("Axis", &AXIS)]);
    assert_eq!(again, one.as_bytes());
    // The name in Rust changes nothing in what runs.
    assert_eq!(one, text(&[("Other", &RENAMED)]));
}
