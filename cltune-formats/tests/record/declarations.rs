//! Declarations that the tests put into records.

use cltune_core::measure::Measure;
use cltune_core::model::{
    Access, Argument, ArgumentKind, BufferRef, CompileOption, Define, ElementType, Memory, Model,
    ScalarType, Scratch, Stage, StageArgument, Step,
};
use cltune_core::parameter::{Domain, Fraction, Parameter, RealRange, Scale};
use cltune_core::{List, Text};
use cltune_formats::declaration::{
    Compared, Computation, Declaration, ElementTolerance, Fill, NormTolerance, Reference,
    SourceFile, Tolerance,
};
use cltune_formats::fingerprint;
use cltune_formats::formula::{Scope, Type};

/// A declaration with everything a declaration can have.
pub(crate) fn declaration() -> Declaration {
    let parameter = |name: &'static str, domain| Parameter {
        name: name.into(),
        domain,
    };
    let names: List<Text> = vec!["float".into(), "half".into()].into();
    let reals =
        |first, last, scale| Domain::Reals(RealRange::new(first, last, scale).expect("a range"));
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
                    .map(|text| {
                        cltune_formats::formula::parse(text, &Scope::default(), Type::Int)
                            .expect(text)
                    })
                    .to_vec()
                    .into(),
            ),
        ),
        parameter(
            "SHARE",
            Domain::Fractions([0.5, -1.0, 1e300].map(Fraction::of).to_vec().into()),
        ),
        parameter("PART", reals(-0.5, 2.0, Scale::Linear)),
        parameter("RATE", reals(0.01, 100.0, Scale::Logarithmic)),
    ];
    let dimensions: Vec<Text> = vec!["n".into(), "m".into()];
    let scope = Scope {
        parameters: &parameters,
        dimensions: &dimensions,
    };
    let int = |text| cltune_formats::formula::parse(text, &scope, Type::Int).expect(text);
    let bool = |text| cltune_formats::formula::parse(text, &scope, Type::Bool).expect(text);
    let fixed_scope = Scope {
        parameters: &[],
        dimensions: &dimensions,
    };
    let fixed = |text| cltune_formats::formula::parse(text, &fixed_scope, Type::Int).expect(text);
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
        element: ElementType::vector(ScalarType::BF16, 8),
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
        default: Some(
            [64, 3, 8, 0, 1, 32]
                .into_iter()
                .chain([-1.0, 0.3, 0.07].map(|number| Fraction::of(number).code()))
                .collect::<Vec<_>>()
                .into(),
        ),
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
        measure: Measure::WARM,
    }
}

/// A declaration with as little as possible.
pub(crate) fn least() -> Declaration {
    let declaration = declaration();
    let int =
        |text| cltune_formats::formula::parse(text, &Scope::default(), Type::Int).expect(text);
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
        measure: Measure::WARM,
        ..declaration
    }
}

/// One whose inputs and whose reference are made by several launches, and of which not all is
/// compared.
pub(crate) fn computed() -> Declaration {
    let mut declaration = declaration();
    let dimensions = declaration.model.dimensions.clone();
    let scope = Scope {
        parameters: &[],
        dimensions: &dimensions,
    };
    let fixed = |text| cltune_formats::formula::parse(text, &scope, Type::Int).expect(text);
    let round = {
        let dimensions: Vec<Text> = [&*dimensions, &["i".into()]].concat();
        let scope = Scope {
            parameters: &[],
            dimensions: &dimensions,
        };
        cltune_formats::formula::parse("i + n", &scope, Type::Int).expect("a formula")
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
            zeros: true,
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
