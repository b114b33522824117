//! Records of declarations with structs, which the macro begins and the compiler completes.

use cltune_core::measure::Measure;
use cltune_core::model::{
    Access, Argument, ArgumentKind, ElementType, Memory, Model, Named, ScalarType, Scratch, Stage,
    StageArgument, Step, StructField, StructType, fingerprint_with_structs, record_length,
    record_with_structs, without_structs,
};
use cltune_formats::declaration::{Declaration, Fill, Reference, Tolerance};
use cltune_formats::formula::{Scope, Type};
use cltune_formats::record::{decode_all, encode, encode_parts, from_text, to_text};

const fn field(
    name: &'static str,
    offset: usize,
    element: ElementType,
    count: Option<usize>,
    fill: &'static str,
) -> StructField {
    StructField {
        name,
        offset,
        element,
        count,
        fill,
    }
}

const F32: ElementType = ElementType::scalar(ScalarType::F32);

static SPIN: StructType = StructType {
    name: "Spin",
    opencl_name: "Spin",
    size: 16,
    fields: &[
        field("axis", 0, F32, Some(3), ""),
        field("speed", 12, F32, None, ""),
    ],
};

static BODY: StructType = StructType {
    name: "Body",
    opencl_name: "struct body",
    size: 48,
    fields: &[
        field(
            "place",
            0,
            ElementType::vector(ScalarType::F32, 4),
            None,
            "",
        ),
        field("spin", 16, ElementType::Struct(&SPIN), None, ""),
        field(
            "near",
            32,
            ElementType::scalar(ScalarType::U32),
            Some(4),
            "uniform 0 63.5",
        ),
    ],
};

const NAMED: &[Named] = &[("bodies::Body", &BODY)];
const MACROS: &str = "b3:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

/// The struct as the macro knows it: by its path alone.
static UNKNOWN: StructType = StructType {
    name: "bodies::Body",
    opencl_name: "",
    size: 0,
    fields: &[],
};

fn declaration(of: &'static StructType) -> Declaration {
    let len = cltune_formats::formula::parse("64", &Scope::default(), Type::Int).unwrap();
    let element = ElementType::Struct(of);
    let arguments = vec![
        Argument {
            name: "bodies".into(),
            kind: ArgumentKind::Buffer {
                element,
                access: Access::Read,
                len: Some(len.clone()),
                memory: Memory::Buffer,
            },
        },
        Argument {
            name: "first".into(),
            kind: ArgumentKind::Scalar {
                scalar: element,
                dimension: None,
            },
        },
    ];
    let stage = Stage {
        kernel: "kernel".into(),
        when: None,
        global: vec![len.clone()].into(),
        local: vec![].into(),
        offset: vec![].into(),
        local_memory: None,
        arguments: vec![
            StageArgument::Passed(0),
            StageArgument::Passed(1),
            StageArgument::Scratch(0),
            StageArgument::Local {
                name: "tile".into(),
                element,
                len: len.clone(),
            },
        ]
        .into(),
    };
    Declaration {
        model: Model {
            name: "test::kernel".into(),
            fingerprint: MACROS.into(),
            source: "struct body;".into(),
            options: vec![].into(),
            parameters: vec![].into(),
            dimensions: vec![].into(),
            constraints: vec![].into(),
            defines: vec![].into(),
            arguments: arguments.into(),
            scratch: vec![Scratch {
                name: "kept".into(),
                element,
                len,
                zeros: false,
            }]
            .into(),
            steps: vec![Step::Launch(stage)].into(),
            default: None,
            template: None,
        },
        package: "test".into(),
        version: "0.1.0".into(),
        source_file: "src/lib.rs".into(),
        lockfile_seen: "absent".into(),
        files: vec![],
        problems: vec![vec![]],
        tune_if: None,
        prepare: None,
        reference: Reference::Default,
        tolerance: Tolerance::default(),
        draws: None,
        fills: vec![Fill::ByType, Fill::Zeros],
        compared: vec![],
        bytes: None,
        flops: None,
        even_work: false,
        measure: Measure::WARM,
    }
}

/// The record that the compiler makes of what the macro knows.
fn completed() -> Vec<u8> {
    const MOST: usize = 1 << 14;
    let (header, text) = encode_parts(&declaration(&UNKNOWN));
    let length = record_length(&header, &text, NAMED);
    let record: [u8; MOST] = record_with_structs(&header, &text, NAMED);
    let mut record = record[..length].to_vec();
    let text = (length - header.len() - 8) as u64;
    record[header.len()..header.len() + 8].copy_from_slice(&text.to_le_bytes());
    record
}

#[test]
fn the_compiler_completes_what_the_macro_began() {
    let found = decode_all(&completed()).unwrap().remove(0);
    let structs = found.model.structs();
    assert_eq!(structs.len(), 1, "one type, wherever it is used");
    let body = structs[0];
    assert_eq!(
        (body.name, body.opencl_name, body.size),
        ("bodies::Body", "struct body", 48)
    );
    let leaves = |ty: &StructType| -> Vec<_> {
        let leaves = ty.leaves().into_iter();
        leaves
            .map(|leaf| (leaf.path, leaf.offset, leaf.scalar, leaf.count, leaf.fill))
            .collect()
    };
    assert_eq!(leaves(body), leaves(&BODY));
    assert_eq!(leaves(body)[1].0, "spin.axis");
    assert_eq!(found.fills, [Fill::ByType, Fill::Zeros]);
    let fingerprint = String::from_utf8(fingerprint_with_structs(MACROS, NAMED).to_vec()).unwrap();
    assert_eq!(found.model.fingerprint, fingerprint);
    assert_eq!(without_structs(&fingerprint), without_structs(MACROS));

    // A process of the same release gets it as text, and the same comes back.
    assert_eq!(from_text(&to_text(&found)).unwrap(), found);
    assert_eq!(decode_all(&encode(&found)).unwrap(), [found]);
}

#[test]
fn the_tables_of_structs_are_the_last() {
    let record = completed();
    let text = std::str::from_utf8(&record[28..]).unwrap();
    let (_, tables) = text.split_once("\n[[struct]]\n").unwrap();
    assert_eq!(
        tables,
        "name = \"bodies::Body.spin\"\nopencl = \"Spin\"\nsize = [16]\nfields = [\"axis: f32 * 3 at 0\", \
         \"speed: f32 at 12\"]\n\
         \n[[struct]]\nname = \"bodies::Body\"\nopencl = \"struct body\"\nsize = [48]\nfields = [\"place: [f32; 4] \
         at 0\", \"spin: bodies::Body.spin at 16\", \"near: u32 * 4 at 32 fill uniform 0 63.5\"]\n"
    );
}

#[test]
fn damage_is_located() {
    for (from, to, parts) in [
        (
            "\nname = \"bodies::Body\"\n",
            "\nname = \"Other\"\n",
            &["`argument[0].buffer`"][..],
        ),
        (
            "at 32 fill",
            "at 36 fill",
            &["`struct[1].fields`", "follow each other"],
        ),
        (
            "size = [48]",
            "size = [52]",
            &["`struct[1].fields`", "follow each other"],
        ),
        ("size = [16]", "size = 16", &["`struct[0].size`"]),
        (
            "speed: f32",
            "speed: bool",
            &["`struct[0].fields`", "no field"],
        ),
        (
            "uniform 0 63.5",
            "often",
            &["`struct[1].fields`", "no field"],
        ),
        (
            "struct body\"\nsize",
            "body; }\"\nsize",
            &["`struct[1].opencl`", "no type"],
        ),
        (
            "f32 * 3",
            "f32 * 18446744073709551615",
            &["`struct[0].fields`"],
        ),
    ] {
        let record = completed();
        let text = std::str::from_utf8(&record[28..]).unwrap();
        assert_eq!(text.matches(from).count(), 1, "{from}: {text}");
        let text = text.replace(from, to);
        let error = from_text(&text).expect_err(to).to_string();
        for part in parts {
            assert!(error.contains(part), "{to}: {error}");
        }
    }
}

#[test]
fn fields_have_fills_of_their_own() {
    let fills: Vec<Fill> = BODY
        .leaves()
        .iter()
        .map(|leaf| Fill::ByType.of_leaf(leaf))
        .collect();
    let declared = Fill::Uniform {
        low: 0.0,
        high: 63.5,
    };
    assert_eq!(fills, [Fill::FLOATS, Fill::FLOATS, Fill::FLOATS, declared]);
    let leaves = BODY.leaves();
    assert_eq!(Fill::Iota.of_leaf(&leaves[3]), Fill::Iota);
    assert_eq!(Fill::of_field("constant -1.5"), Some(Fill::Constant(-1.5)));
    for wrong in ["", "constant", "uniform 1", "zeros 1", "file x"] {
        assert_eq!(Fill::of_field(wrong), None, "{wrong}");
    }
}
