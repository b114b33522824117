//! Records that are put into an artifact are read from it again; other bytes are an error.

use cltune_core::declaration::{
    Compared, Computation, Declaration, ElementTolerance, Fill, NormTolerance, Reference,
    SourceFile, Tolerance,
};
use cltune_core::expr::{Formula, Scope, Type};
use cltune_core::model::{
    Access, Argument, ArgumentKind, BufferRef, CompileOption, Define, ElementType, Memory, Model,
    ScalarType, Scratch, Stage, StageArgument, Step,
};
use cltune_core::parameter::{Domain, Fraction, Parameter};
use cltune_core::record::{RecordProblem, decode_all, encode, from_text, to_text};
use cltune_core::{List, Text, fingerprint};
use proptest::prelude::*;

/// A declaration with everything a declaration can have.
fn declaration() -> Declaration {
    let parameter = |name: &'static str, domain| Parameter {
        name: name.into(),
        domain,
    };
    let names: List<Text> = vec!["float".into(), "half".into()].into();
    let parameters = vec![
        parameter(
            "WG",
            Domain::Integers(vec![32, 64, -1, i64::MIN, i64::MAX].into()),
        ),
        parameter(
            "WPT",
            Domain::Range {
                first: 1,
                last: 9,
                step: 2,
            },
        ),
        parameter(
            "P",
            Domain::PowersOfTwo {
                first: 8,
                last: 128,
            },
        ),
        parameter("U", Domain::Booleans(vec![true, false].into())),
        parameter("T", Domain::Names(names)),
        parameter(
            "UNITS",
            Domain::PerDevice(
                ["32", "16 * device.compute_units"]
                    .map(|text| Formula::parse(text, &Scope::default(), Type::Int).expect(text))
                    .to_vec()
                    .into(),
            ),
        ),
        parameter(
            "SHARE",
            Domain::Fractions([0.5, -1.0, 1e300].map(Fraction::of).to_vec().into()),
        ),
    ];
    let dimensions: Vec<Text> = vec!["n".into(), "m".into()];
    let scope = Scope {
        parameters: &parameters,
        dimensions: &dimensions,
    };
    let int = |text| Formula::parse(text, &scope, Type::Int).expect(text);
    let bool = |text| Formula::parse(text, &scope, Type::Bool).expect(text);
    let fixed_scope = Scope {
        parameters: &[],
        dimensions: &dimensions,
    };
    let fixed = |text| Formula::parse(text, &fixed_scope, Type::Int).expect(text);
    let argument = |name: &'static str, kind| Argument {
        name: name.into(),
        kind,
    };
    let buffer = |element: ElementType, access, len| ArgumentKind::Buffer {
        element,
        access,
        len,
        memory: Memory::Buffer,
    };
    let arguments = vec![
        argument(
            "n",
            ArgumentKind::Scalar {
                scalar: ScalarType::U32.into(),
                dimension: Some(0),
            },
        ),
        argument(
            "a",
            ArgumentKind::Scalar {
                scalar: ScalarType::F16.into(),
                dimension: None,
            },
        ),
        argument(
            "x",
            buffer(ScalarType::F32.into(), Access::Read, Some(int("n * m"))),
        ),
        argument("y", buffer(ScalarType::I8.into(), Access::ReadWrite, None)),
        argument(
            "z",
            buffer(ScalarType::U64.into(), Access::Write, Some(int("n"))),
        ),
        argument("w", buffer(ScalarType::F64.into(), Access::Read, None)),
        argument(
            "v",
            ArgumentKind::Scalar {
                scalar: ElementType::vector(ScalarType::I16, 2),
                dimension: None,
            },
        ),
        argument(
            "u",
            buffer(ElementType::vector(ScalarType::F32, 4), Access::Write, None),
        ),
    ];
    let mut passed: Vec<StageArgument> = (0..8).map(StageArgument::Passed).collect();
    passed.push(StageArgument::Local {
        name: "tile".into(),
        element: ElementType::vector(ScalarType::F32, 8),
        len: int("if U { WG * 2 } else { 0 }"),
    });
    let mut model = Model {
        name: "test::kernel".into(),
        fingerprint: "".into(),
        source: "#line 1 \"k/a.cl\"\n__kernel void kernel() {\n\tprintf(\"é\\n\");\r\n}\n".into(),
        options: vec![
            CompileOption::always("-cl-fast-relaxed-math"),
            CompileOption {
                text: "-DX=\"y z\"".into(),
                condition: Some(bool("U && n > 1")),
            },
        ]
        .into(),
        constraints: vec![bool("T == \"half\" || WG % WPT == 0"), bool("!U")].into(),
        defines: vec![Define {
            name: "HALF".into(),
            value: int("m / 2"),
        }]
        .into(),
        arguments: arguments.into(),
        scratch: vec![].into(),
        steps: vec![Step::Launch(Stage {
            global: vec![int("n / WPT"), int("m"), int("1")].into(),
            local: vec![int("WG"), int("1"), int("1")].into(),
            offset: vec![int("n"), int("0"), int("0")].into(),
            local_memory: Some(int("WG.next_multiple_of(P) * 4")),
            arguments: passed.into(),
            ..Stage::new("kernel".into())
        })]
        .into(),
        default: Some(vec![64, 3, 8, 0, 1, 32, Fraction::of(-1.0).code()].into()),
        template: None,
        parameters: parameters.clone().into(),
        dimensions: dimensions.clone().into(),
    };
    model.fingerprint = fingerprint::of(&model).into();
    Declaration {
        model,
        package: "test".into(),
        version: "0.1.0-rc.1".into(),
        source_file: "src/path with spaces/größe.rs".into(),
        lockfile_seen: "absent".into(),
        files: vec![SourceFile {
            path: "kernels/a b.cl".into(),
            content: "b3:00".into(),
        }],
        problems: vec![vec![1 << 20, 3], vec![1 << 24, 11]],
        tune_if: Some(bool("device.is_gpu == 1 || n <= 1048576")),
        prepare: None,
        reference: Reference::Own(Computation {
            source: Some("__kernel void slow() {}".into()),
            ..Computation::of_kernel("slow", 8, vec![fixed("n"), fixed("m")], vec![])
        }),
        tolerance: Tolerance {
            elements: Some(ElementTolerance {
                rel: 1e-4,
                abs: f64::MIN_POSITIVE,
            }),
            norm: Some(NormTolerance::Declared(1e-300)),
            accumulates: None,
        },
        draws: Some(7),
        fills: vec![
            Fill::None,
            Fill::Uniform {
                low: -1.0,
                high: 0.1,
            },
            Fill::Zeros,
            Fill::Iota,
            Fill::Constant(f64::NEG_INFINITY),
            Fill::File("data/in put.bin".into()),
            Fill::None,
            Fill::None,
        ],
        compared: vec![Compared::All; 8],
        bytes: Some(int("12 * n")),
        flops: Some(int("2 * n * m")),
        even_work: true,
    }
}

/// A declaration with as little as possible.
fn least() -> Declaration {
    let declaration = declaration();
    let int = |text| Formula::parse(text, &Scope::default(), Type::Int).expect(text);
    let mut model = declaration.model.clone();
    model.constraints = vec![].into();
    model.single_stage_mut().unwrap().local = vec![].into();
    model.single_stage_mut().unwrap().offset = vec![].into();
    model.single_stage_mut().unwrap().global = vec![int("1")].into();
    model.options = vec![].into();
    model.parameters = vec![].into();
    model.dimensions = vec![].into();
    model.defines = vec![].into();
    model.single_stage_mut().unwrap().arguments = vec![].into();
    model.arguments = vec![].into();
    model.single_stage_mut().unwrap().local_memory = None;
    model.default = None;
    Declaration {
        model,
        problems: vec![vec![]],
        tune_if: None,
        reference: Reference::Default,
        tolerance: Tolerance::default(),
        draws: None,
        fills: vec![],
        compared: vec![],
        bytes: None,
        flops: None,
        even_work: false,
        ..declaration
    }
}

/// One whose inputs and whose reference are made by several launches, and of which not all is
/// compared.
fn computed() -> Declaration {
    let mut declaration = declaration();
    let dimensions = declaration.model.dimensions.clone();
    let scope = Scope {
        parameters: &[],
        dimensions: &dimensions,
    };
    let fixed = |text| Formula::parse(text, &scope, Type::Int).expect(text);
    let round = {
        let dimensions: Vec<Text> = [&*dimensions, &["i".into()]].concat();
        let scope = Scope {
            parameters: &[],
            dimensions: &dimensions,
        };
        Formula::parse("i + n", &scope, Type::Int).expect("a formula")
    };
    let stage = Stage {
        global: vec![fixed("n")].into(),
        local: vec![fixed("8")].into(),
        arguments: vec![
            StageArgument::Passed(2),
            StageArgument::Scratch(0),
            StageArgument::Value {
                scalar: ScalarType::I32,
                value: round,
            },
            StageArgument::Local {
                name: "tile".into(),
                element: ScalarType::F32.into(),
                len: fixed("8"),
            },
        ]
        .into(),
        ..Stage::new("first".into())
    };
    let computation = Computation {
        source: None,
        scratch: vec![Scratch {
            name: "sums".into(),
            element: ScalarType::F64.into(),
            len: fixed("n / 8"),
        }],
        steps: vec![
            Step::Clear {
                buffer: BufferRef::Scratch(0),
                when: None,
            },
            Step::Repeat {
                round: "i".into(),
                count: fixed("3"),
                steps: vec![Step::Launch(stage)].into(),
            },
        ],
    };
    declaration.reference = Reference::Own(Computation {
        source: Some("__kernel void first() {}".into()),
        ..computation.clone()
    });
    declaration.prepare = Some(computation);
    declaration.fills[2] = Fill::Prepared;
    declaration.compared[3] = Compared::None;
    declaration.compared[4] = Compared::Range {
        begin: fixed("1"),
        end: fixed("n - 1"),
    };
    declaration
}

#[test]
fn what_an_older_release_would_take_for_something_else_has_a_form_that_it_refuses() {
    let text = to_text(&computed());
    for form in [
        "fill = \"prepared\"",
        "access = [\"read-write\"]",
        "access = [\"write\", \"1\", \"n - 1\"]",
    ] {
        assert!(text.contains(form), "{text}");
    }
    // It names no kernel, which every record of a reference had.
    let reference = text.split_once("[reference]\n").expect("there is one").1;
    assert!(reference.starts_with("source = "), "{reference}");
    let damaged = text.replace("\"1\", \"n - 1\"]", "\"1\"]");
    let error = from_text(&damaged).expect_err("one end").to_string();
    assert!(error.contains("argument[4].access"), "{error}");
    let damaged = text.replace("clear = \"sums\"", "clear = \"sum\"");
    let error = from_text(&damaged).expect_err("no such buffer").to_string();
    assert!(error.contains("prepare.step[0].clear"), "{error}");
}

#[test]
fn how_results_are_verified_covers_what_the_tuner_computes() {
    let of = |change: fn(&mut Declaration)| {
        let mut declaration = computed();
        change(&mut declaration);
        (
            fingerprint::of(&declaration.model),
            fingerprint::of_verification(&declaration),
        )
    };
    let (model, usual) = of(|_| {});
    let changes: [fn(&mut Declaration); 6] = [
        |of| of.prepare = None,
        |of| of.prepare.as_mut().unwrap().steps.truncate(1),
        |of| of.prepare.as_mut().unwrap().scratch[0].element = ScalarType::F32.into(),
        |of| of.reference = Reference::Default,
        |of| of.compared[3] = Compared::All,
        |of| of.fills[2] = Fill::Zeros,
    ];
    for (at, change) in changes.into_iter().enumerate() {
        let (of_model, changed) = of(change);
        assert_eq!(of_model, model, "{at}: tuned values apply all the same");
        assert_ne!(changed, usual, "{at}");
    }
    // The steps of one plain launch are the short form, in records and fingerprints.
    let mut declaration = declaration();
    let text = to_text(&declaration);
    let usual = fingerprint::of_verification(&declaration);
    let Reference::Own(reference) = &mut declaration.reference else {
        panic!("{text}");
    };
    let [Step::Launch(stage)] = &mut reference.steps[..] else {
        panic!("{text}");
    };
    stage.arguments = (0..8).map(StageArgument::Passed).collect();
    assert_eq!(to_text(&declaration), text);
    assert_eq!(fingerprint::of_verification(&declaration), usual);
    // What adds nothing is as it was before there were such clauses.
    declaration.compared.clear();
    assert_eq!(to_text(&declaration), text);
    assert_eq!(fingerprint::of_verification(&declaration), usual);
}

#[test]
fn a_declaration_comes_back_as_it_was() {
    let mut default_norm = declaration();
    let scope = Scope {
        parameters: &[],
        dimensions: &default_norm.model.dimensions,
    };
    let terms = Formula::parse("n * m", &scope, Type::Int).expect("a formula");
    default_norm.tolerance = Tolerance {
        elements: None,
        norm: Some(NormTolerance::Default),
        accumulates: Some(terms),
    };
    for declaration in [declaration(), least(), default_norm, computed()] {
        let found = decode_all(&encode(&declaration)).expect("a record");
        assert_eq!(found, [declaration]);
    }
}

#[test]
fn a_section_may_hold_several_records_and_padding() {
    let (a, b) = (declaration(), least());
    let section = [
        &[0; 7][..],
        &encode(&a),
        &[0; 3],
        &encode(&b),
        &[0xcc, 0x90],
        &encode(&a),
        &[0],
    ]
    .concat();
    assert_eq!(
        decode_all(&section).expect("three records"),
        [a.clone(), b, a]
    );
    assert_eq!(decode_all(&[]), Ok(vec![]));
    assert_eq!(decode_all(&[0; 64]), Ok(vec![]));
}

#[test]
fn a_record_that_is_cut_off_is_an_error() {
    let record = encode(&declaration());
    for end in [16, 17, 20, 27, 28, 40, record.len() - 1] {
        let error = decode_all(&record[..end]).expect_err("cut off");
        assert_eq!(error.problem, RecordProblem::CutOff, "at {end}");
    }
    // Bytes that are not even a magic number are padding.
    assert_eq!(decode_all(&record[..15]), Ok(vec![]));
}

#[test]
fn a_record_of_a_newer_version_says_to_update() {
    let mut record = encode(&declaration());
    record[16] = 2;
    let error = decode_all(&record).expect_err("version 2");
    assert_eq!(error.problem, RecordProblem::NewerVersion { found: 2 });
    assert!(error.to_string().contains("update cargo-cltune"), "{error}");
}

#[test]
fn what_a_newer_release_wrote_and_this_one_does_not_know_says_to_update() {
    let own = concat!(
        "cltune = \"",
        env!("CARGO_PKG_VERSION"),
        "\"\nWG % WPT == 0"
    );
    let (release, constraint) = own.split_once('\n').expect("two lines");
    let text = to_text(&declaration());
    assert_eq!(
        (
            text.matches(release).count(),
            text.matches(constraint).count()
        ),
        (1, 1)
    );
    let error = |release_in_it: &str| {
        let text = text.replace(release, release_in_it);
        let text = text.replace(constraint, "WG % device.warp_size == 0");
        from_text(&text).expect_err("an unknown limit").to_string()
    };
    for newer in [
        "cltune = \"0.1.1\"",
        "cltune = \"0.10.0-alpha\"",
        "cltune = \"1.0.0\"",
    ] {
        let error = error(newer);
        assert!(
            error.contains("`warp_size`") && error.contains("update cargo-cltune"),
            "{error}"
        );
    }
    for not_newer in [release, "cltune = \"0.0.9\"", ""] {
        let error = error(not_newer);
        assert!(error.contains("build the artifact again"), "{error}");
    }
}

/// The error of a record whose text was changed.
fn damaged(from: &str, to: &str) -> String {
    let record = encode(&declaration());
    let text = std::str::from_utf8(&record[28..]).expect("UTF-8");
    assert_eq!(
        text.matches(from).count(),
        1,
        "`{from}` is not once in the record:\n{text}"
    );
    let text = text.replace(from, to);
    let header = [&record[..20], &(text.len() as u64).to_le_bytes()].concat();
    let changed = [header, text.into_bytes()].concat();
    decode_all(&changed).expect_err(to).to_string()
}

#[test]
fn damage_is_located() {
    for (from, to, parts) in [
        (
            "package = \"test\"\n",
            "",
            &["`test::kernel`", "`package`", "missing"][..],
        ),
        (
            "WG % WPT == 0",
            "WG % WPX == 0",
            &["`constraints`", "`WPX`", "column"],
        ),
        (
            "integers = [32, 64,",
            "integers = [32, 32,",
            &["parameter[0].integers", "each once"],
        ),
        (
            "fractions = [0.5,",
            "fractions = [nan,",
            &["parameter[6].fractions", "not finite"],
        ),
        (
            "fractions = [0.5,",
            "fractions = [-1.0,",
            &["parameter[6].fractions", "each once"],
        ),
        (
            "\"16 * device.compute_units\"",
            "\"16 * device.units\"",
            &["parameter[5].per_device", "units"],
        ),
        (
            "per_device = [\"32\",",
            "per_device = [\"WG\",",
            &["parameter[5].per_device", "`WG`"],
        ),
        (
            "if = \"U && n > 1\"",
            "if = \"U && k > 1\"",
            &["options[1].if", "`k`"],
        ),
        (", if = \"U && n > 1\"", "", &["options[1].if", "missing"]),
        (
            "range = [1, 9, 2]",
            "range = [1, 9, 0]",
            &["parameter[1].range"],
        ),
        (
            "range = [1, 9, 2]",
            "range = [1, 8, 2]",
            &["parameter[1].range"],
        ),
        (
            "range = [1, 9, 2]",
            "range = [1, 4294967297, 2]",
            &["range", "too many values"],
        ),
        (
            "powers_of_two = [8, 128]",
            "powers_of_two = [8, 100]",
            &["parameter[2].powers_of_two"],
        ),
        (
            "booleans = [true, false]",
            "booleans = []",
            &["parameter[3].booleans"],
        ),
        (
            "names = [\"float\", \"half\"]",
            "names = [\"a b\", \"half\"]",
            &["names", "identifier"],
        ),
        (
            "names = [\"float\", \"half\"]",
            "",
            &["parameter[4]", "missing"],
        ),
        (
            "name = \"HALF\"",
            "name = \"HA LF\"",
            &["define[0].name", "identifier"],
        ),
        ("name = \"test::kernel\"", "name = 1", &["`name`", "string"]),
        (
            "default = [64, 3, 8, 0, 1, 32, -4607182418800017409]",
            "default = [64, 3, 8, 0]",
            &["`default`"],
        ),
        (
            "default = [64, 3, 8, 0, 1, 32, -4607182418800017409]",
            "default = [64, 4, 8, 0, 1]",
            &["`default`"],
        ),
        (
            "problems = [[1048576, 3], ",
            "problems = [[1048576], ",
            &["`problems`"],
        ),
        (
            "buffer = \"i8\"",
            "buffer = \"i9\"",
            &["argument[3].buffer", "element's type"],
        ),
        (
            "access = \"read-write\"",
            "access = \"x\"",
            &["argument[3].access"],
        ),
        (
            "dimension = [0]",
            "dimension = [2]",
            &["argument[0].dimension"],
        ),
        (
            "fill = \"iota\"",
            "fill = \"random\"",
            &["argument[3].fill"],
        ),
        (
            "fill_low = -1.0",
            "fill_low = \"a\"",
            &["argument[1].fill_low", "number"],
        ),
        (
            "offset = [\"n\", \"0\", \"0\"]",
            "offset = [\"n\"]",
            &["`offset`", "dimensions"],
        ),
        (
            "global = [\"n / WPT\", \"m\", \"1\"]",
            "global = []",
            &["`global`", "dimensions"],
        ),
        (
            "global = [\"n\", \"m\"]",
            "global = [\"WG\", \"m\"]",
            &["reference.global", "`WG`"],
        ),
        (
            "name = \"test::",
            "name = \"test\\u001b[2J::",
            &["`name`", "control characters"],
        ),
        ("package = ", "package ", &["damaged"]),
    ] {
        let message = damaged(from, to);
        for part in parts {
            assert!(
                message.contains(part),
                "`{part}` is missing from: {message}"
            );
        }
        assert!(message.contains("build the artifact again"), "{message}");
    }
}

#[test]
fn text_that_is_not_utf8_is_damage() {
    let mut record = encode(&declaration());
    record[40] = 0xff;
    assert!(decode_all(&record).is_err());
}

fn text() -> impl Strategy<Value = String> {
    prop_oneof![any::<String>(), "[ -~\\n\\r\\t\"\\\\']{0,40}"]
}

fn domain() -> impl Strategy<Value = Domain> {
    prop_oneof![
        proptest::collection::hash_set(any::<i64>(), 1..9)
            .prop_map(|values| Domain::Integers(values.into_iter().collect::<Vec<_>>().into())),
        (any::<i32>(), 1..9_i64, 0..99_i64).prop_map(|(first, step, count)| {
            let first = i64::from(first);
            Domain::Range {
                first,
                last: first + step * count,
                step,
            }
        }),
        (0..31, 0..31).prop_map(|(low, more)| Domain::PowersOfTwo {
            first: 1_i64 << low,
            last: 1_i64 << (low + more),
        }),
        any::<bool>().prop_map(|first| Domain::Booleans(vec![first, !first].into())),
        proptest::collection::hash_set(
            (proptest::num::f64::NORMAL | proptest::num::f64::ZERO).prop_map(Fraction::of),
            1..9,
        )
        .prop_map(|values| Domain::Fractions(values.into_iter().collect::<Vec<_>>().into())),
        proptest::collection::hash_set("[a-zA-Z_][a-zA-Z0-9_]{0,9}", 1..5).prop_map(|names| {
            Domain::Names(
                names
                    .into_iter()
                    .map(Text::Owned)
                    .collect::<Vec<_>>()
                    .into(),
            )
        }),
    ]
}

fn fill() -> impl Strategy<Value = Fill> {
    let number = || proptest::num::f64::ANY.prop_filter("NaN is not itself", |x| !x.is_nan());
    prop_oneof![
        (number(), number()).prop_map(|(low, high)| Fill::Uniform { low, high }),
        number().prop_map(Fill::Constant),
        text().prop_map(Fill::File),
        Just(Fill::Zeros),
    ]
}

proptest! {
    #[test]
    fn any_text_number_and_domain_comes_back(
        texts in proptest::array::uniform6(text()),
        options in proptest::collection::vec(text(), 0..4),
        domains in proptest::collection::vec(domain(), 0..5),
        problems in proptest::collection::vec(any::<i64>(), 0..4),
        fill in fill(),
    ) {
        let mut declaration = least();
        let [name, kernel, source, package, file, lockfile] = texts;
        declaration.model.name = name.replace(char::is_control, "").into();
        declaration.model.single_stage_mut().unwrap().kernel = kernel.into();
        declaration.model.source = source.into();
        declaration.model.options = options.into_iter().map(CompileOption::always).collect::<Vec<_>>().into();
        declaration.package = package;
        declaration.source_file = file;
        declaration.lockfile_seen = lockfile;
        declaration.model.dimensions = vec!["n".into()].into();
        declaration.problems = problems.into_iter().map(|size| vec![size]).collect();
        let parameter = |(position, domain)| Parameter { name: format!("P{position}").into(), domain };
        let parameters: Vec<_> = domains.into_iter().enumerate().map(parameter).collect();
        let codes: Option<Vec<i64>> =
            parameters.iter().map(|parameter| parameter.domain.code_at(0)).collect();
        declaration.model.default = codes.map(Into::into);
        declaration.model.parameters = parameters.into();
        let kind = ArgumentKind::Scalar { scalar: ScalarType::F64.into(), dimension: None };
        declaration.model.arguments = vec![Argument { name: "a".into(), kind }].into();
        declaration.fills = vec![fill];
        declaration.compared = vec![Compared::All];
        prop_assert_eq!(decode_all(&encode(&declaration)), Ok(vec![declaration]));
    }

    #[test]
    fn no_bytes_make_the_reader_panic(
        bytes in proptest::collection::vec(any::<u8>(), 0..200),
        position in 0..1000_usize,
        replaced in any::<u8>(),
    ) {
        let mut record = encode(&declaration());
        let position = position % record.len();
        record[position] = replaced;
        let _ = decode_all(&record);
        let header = encode(&least())[..20].to_vec();
        let _ = decode_all(&[header, bytes].concat());
    }
}
