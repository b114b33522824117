//! Groups of launches: what a call does, which configurations are valid, and how both travel.

use cltune_core::Text;
use cltune_core::device::{DeviceField, DeviceLimits};
use cltune_core::expr::{Env, Formula};
use cltune_core::measure::Measure;
use cltune_core::model::{
    Access, Argument, ArgumentKind, BufferRef, Command, Given, Memory, Model, Rejection,
    ScalarType, Scratch, Stage, StageArgument, Step,
};
use cltune_core::parameter::{Domain, Parameter};
use cltune_formats::declaration::{Compared, Declaration, Fill, Reference, Tolerance};
use cltune_formats::fingerprint;
use cltune_formats::formula::{Scope, Type};
use cltune_formats::record;

const DEVICE: DeviceLimits = DeviceLimits::NONE
    .with(DeviceField::MaxWorkGroupSize, 64)
    .with(DeviceField::MaxWorkItemSizeX, 64)
    .with(DeviceField::LocalMemSize, 256)
    .with(DeviceField::MaxMemAllocSize, 4096);

struct Names {
    parameters: Vec<Parameter>,
    dimensions: Vec<Text>,
}

impl Names {
    fn formula(&self, text: &str, rounds: &[&'static str], expected: Type) -> Formula {
        let rounds = rounds.iter().map(|round| (*round).into());
        let dimensions: Vec<Text> = self.dimensions.iter().cloned().chain(rounds).collect();
        let scope = Scope {
            parameters: &self.parameters,
            dimensions: &dimensions,
        };
        cltune_formats::formula::parse(text, &scope, expected).expect(text)
    }

    fn int(&self, text: &str) -> Formula {
        self.formula(text, &[], Type::Int)
    }

    fn bool(&self, text: &str) -> Formula {
        self.formula(text, &[], Type::Bool)
    }
}

/// Rounds over two buffers that change places, with a kernel whose name depends on `W`, after a
/// stage that is only there for some values, and before a copy after an odd number of rounds.
fn model() -> Model {
    let integers = |name: &'static str, values: &[i64]| Parameter {
        name: name.into(),
        domain: Domain::Integers(values.to_vec().into()),
    };
    let names = Names {
        parameters: vec![
            integers("W", &[-1, 0, 1, 3, 16, 128]),
            integers("ROUNDS", &[-1, 0, 1, 2, 3]),
            integers("HOW", &[0, 1, 2]),
        ],
        dimensions: vec!["n".into()],
    };
    let buffer = |access| ArgumentKind::Buffer {
        element: ScalarType::U32.into(),
        access,
        len: Some(names.int("n")),
        memory: Memory::Buffer,
    };
    let argument = |name: &'static str, kind| Argument {
        name: name.into(),
        kind,
    };
    let size = ArgumentKind::Scalar {
        scalar: ScalarType::U32.into(),
        dimension: Some(0),
    };
    let prepare = Stage {
        when: Some(names.bool("HOW == 1")),
        global: vec![names.int("n / W * W")].into(),
        local: vec![names.int("W")].into(),
        local_memory: Some(names.int("W * 4")),
        arguments: vec![
            StageArgument::Passed(1),
            StageArgument::Scratch(1),
            StageArgument::Local {
                name: "tile".into(),
                element: ScalarType::F32.into(),
                len: names.int("W * 3"),
            },
        ]
        .into(),
        ..Stage::new("prepare".into())
    };
    let round = Stage {
        when: Some(names.formula("round != HOW - 2", &["round"], Type::Bool)),
        global: vec![names.int("n")].into(),
        arguments: vec![
            StageArgument::Value {
                scalar: ScalarType::U8,
                value: names.formula("round * 100", &["round"], Type::Int),
            },
            StageArgument::Passed(1),
            StageArgument::Scratch(0),
        ]
        .into(),
        ..Stage::new("round_{W}".into())
    };
    Model {
        name: "test::group".into(),
        fingerprint: "".into(),
        source: "".into(),
        options: vec![].into(),
        constraints: vec![].into(),
        defines: vec![].into(),
        arguments: vec![
            argument("n", size),
            argument("x", buffer(Access::ReadWrite)),
        ]
        .into(),
        scratch: vec![
            Scratch {
                name: "other".into(),
                element: ScalarType::U32.into(),
                len: names.int("if W == 3 { n + 1 } else { n }"),
                zeros: false,
            },
            Scratch {
                name: "parts".into(),
                element: ScalarType::F64.into(),
                len: names.int("n / (W - 1) - 8"),
                zeros: false,
            },
        ]
        .into(),
        steps: vec![
            Step::Clear {
                buffer: BufferRef::Scratch(1),
                when: Some(names.bool("HOW == 1")),
            },
            Step::Launch(prepare),
            Step::Repeat {
                round: "round".into(),
                count: names.int("ROUNDS"),
                steps: vec![
                    Step::Launch(round),
                    Step::Swap {
                        buffers: [BufferRef::Passed(1), BufferRef::Scratch(0)],
                    },
                ]
                .into(),
            },
            Step::Copy {
                from: BufferRef::Passed(1),
                to: BufferRef::Scratch(0),
                when: Some(names.bool("ROUNDS % 2 == 1")),
            },
        ]
        .into(),
        default: None,
        template: None,
        parameters: names.parameters.into(),
        dimensions: names.dimensions.into(),
    }
}

fn declaration() -> Declaration {
    let mut model = model();
    model.fingerprint = fingerprint::of(&model).into();
    Declaration {
        model,
        package: "test".into(),
        version: "0.1.0".into(),
        source_file: "src/lib.rs".into(),
        lockfile_seen: "absent".into(),
        files: vec![],
        problems: vec![vec![32]],
        tune_if: None,
        prepare: None,
        reference: Reference::Default,
        tolerance: Tolerance::default(),
        draws: None,
        fills: vec![Fill::None, Fill::Iota],
        compared: vec![Compared::All; 2],
        bytes: None,
        flops: None,
        even_work: false,
        measure: Measure::WARM,
    }
}

#[test]
fn steps_become_commands_in_order() {
    let model = model();
    let commands = model.commands(&[16, 3, 2], &[32], &DEVICE).unwrap();
    let text: Vec<String> = commands
        .list
        .iter()
        .map(|command| match command {
            Command::Launch(launch) => {
                let arguments = launch.arguments.iter().map(|given| match given {
                    Given::Passed(1) => "x".to_owned(),
                    Given::Scratch(0) => "other".to_owned(),
                    Given::Value { bytes, size: 1 } => bytes[0].to_string(),
                    given => format!("{given:?}"),
                });
                format!(
                    "{}({})",
                    launch.kernel,
                    arguments.collect::<Vec<_>>().join(", ")
                )
            }
            Command::Clear { buffer, bytes } => format!("clear {buffer:?} {bytes}"),
            Command::Copy { from, to, bytes } => format!("{from:?} -> {to:?} {bytes}"),
        })
        .collect();
    // The first round is left out by its condition, and the buffers change places all the same.
    assert_eq!(
        text,
        [
            "round_16(100, other, x)",
            "round_16(200, x, other)",
            "Scratch(0) -> Passed(1) 128",
        ]
    );
    let sizes = |commands: &cltune_core::model::Commands| {
        let scratch = commands.scratch.iter();
        let sizes = scratch.map(|scratch| scratch.as_ref().map(|scratch| scratch.bytes));
        sizes.collect::<Vec<_>>()
    };
    assert_eq!(sizes(&commands), [Some(128), None]);

    let with_stage = model.commands(&[16, 0, 1], &[160], &DEVICE).unwrap();
    assert_eq!(with_stage.list.len(), 2);
    assert_eq!(sizes(&with_stage), [None, Some(16)]);
    let geometry = *with_stage.geometries().next().unwrap();
    assert_eq!(
        (geometry.global, geometry.local),
        ([160, 1, 1], Some([16, 1, 1]))
    );
}

#[test]
fn what_is_invalid_says_why() {
    let model = model();
    for (codes, n, expected) in [
        ([16, 0, 0], 32, "it launches no stage"),
        (
            [16, -1, 1],
            160,
            "the number of rounds `ROUNDS` is -1, and must be at least 0",
        ),
        (
            [16, 0, 1],
            32,
            "the length of the scratch buffer `parts` `n / (W - 1) - 8` is -6, and must be at least 1",
        ),
        (
            [1, 0, 1],
            32,
            "the length of the scratch buffer `parts` `n / (W - 1) - 8` has no value: division by zero",
        ),
        (
            [16, 0, 1],
            1 << 40,
            "the scratch buffer `parts` in bytes is 586406201416, more than the device's \
             max_mem_alloc_size = 4096",
        ),
        (
            [16, 1, 0],
            2000,
            "the scratch buffer `other` in bytes is 8000, more than the device's \
             max_mem_alloc_size = 4096",
        ),
        (
            [128, 0, 1],
            4096,
            "in the stage `prepare`, the local size in dimension 0 is 128, more than the device's \
             max_work_item_size_x = 64",
        ),
        (
            [3, 1, 0],
            32,
            "`x` has 32 elements and `other` has 33: buffers that are copied or change places \
             have the same length",
        ),
    ] {
        let found = model.check(&codes, &[n], &DEVICE).unwrap_err().to_string();
        assert_eq!(found, expected, "{codes:?} {n}");
    }
    // Only the third round's value does not fit.
    assert_eq!(model.check(&[16, 3, 0], &[32], &DEVICE), Ok(()));
    let beyond = model.commands(&[1, 3, 0], &[32], &DEVICE);
    assert!(beyond.is_ok(), "{beyond:?}");
}

#[test]
fn a_value_beyond_its_type_and_endless_rounds_are_refused() {
    let mut model = model();
    let rounds = Domain::Integers(vec![4, i64::MAX].into());
    model.parameters.to_mut()[1].domain = rounds;
    let beyond = model.commands(&[16, 4, 0], &[32], &DEVICE).unwrap_err();
    assert_eq!(
        beyond.to_string(),
        "in the stage `round_{W}`, the value `round * 100` is 300, which `u8` cannot hold"
    );
    let Step::Repeat { steps, .. } = &mut model.steps.to_mut()[2] else {
        panic!("the third step repeats");
    };
    steps.to_mut().remove(0);
    model.steps.to_mut().push(Step::Launch(Stage {
        global: vec![Formula {
            text: "1".into(),
            program: cltune_core::expr::Fragment::constant(1).finish(),
        }]
        .into(),
        ..Stage::new("last".into())
    }));
    let endless = model.commands(&[16, i64::MAX, 0], &[32], &DEVICE);
    assert_eq!(endless, Err(Rejection::TooManySteps { most: 1 << 16 }));
}

#[test]
fn a_configuration_is_in_the_space_exactly_when_it_passes_the_check() {
    let model = model();
    let constraints = model.derived_constraints();
    let (mut valid, mut invalid) = (0, 0);
    for w in [-1, 0, 1, 3, 16, 128] {
        for rounds in [-1, 0, 1, 2, 3] {
            for how in [0, 1, 2] {
                for n in [-3, 0, 1, 32, 160, 1000, 2000, i64::MAX] {
                    let codes = [w, rounds, how];
                    let env = Env {
                        params: &codes,
                        dims: &[n],
                        device: &DEVICE,
                    };
                    let broken = constraints.iter().find(|one| one.eval(&env) != Ok(1));
                    let checked = model.check(&codes, &[n], &DEVICE);
                    assert_eq!(
                        broken.is_none(),
                        checked.is_ok(),
                        "{codes:?} {n}: {broken:?} {checked:?}"
                    );
                    *if checked.is_ok() {
                        &mut valid
                    } else {
                        &mut invalid
                    } += 1;
                }
            }
        }
    }
    assert!(valid > 20 && invalid > 100, "{valid} {invalid}");
}

#[test]
fn a_group_comes_back_from_its_record() {
    let declaration = declaration();
    let text = record::to_text(&declaration);
    assert_eq!(record::from_text(&text).unwrap(), declaration);
    // What is damaged is located.
    for (from, to, expected) in [
        (
            "arguments = [\"u8 = round * 100\"",
            "arguments = [\"u8 = sound * 100\"",
            "sound",
        ),
        (
            "\"other\"]\nwhen = \"round",
            "\"others\"]\nwhen = \"round",
            "others",
        ),
        ("swap = [\"x\", \"other\"]", "swap = [\"x\"]", "two buffers"),
        ("clear = \"parts\"", "clear = \"n\"", "no buffer"),
        ("depth = [1]", "depth = [2]", "depth"),
        ("u8 = ", "u9 = ", "u9"),
    ] {
        assert!(text.contains(from), "{from} is not in\n{text}");
        let damaged = text.replacen(from, to, 1);
        let error = record::from_text(&damaged).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
    }
}

#[test]
fn whatever_decides_what_runs_is_in_the_fingerprint() {
    type Change = (&'static str, fn(&mut Model));
    fn stage(model: &mut Model) -> &mut Stage {
        match &mut model.steps.to_mut()[1] {
            Step::Launch(stage) => stage,
            other => panic!("{other:?}"),
        }
    }
    fn round(model: &mut Model) -> &mut Vec<Step> {
        match &mut model.steps.to_mut()[2] {
            Step::Repeat { steps, .. } => steps.to_mut(),
            other => panic!("{other:?}"),
        }
    }
    let changes: &[Change] = &[
        ("kernel", |m| stage(m).kernel = "other".into()),
        ("condition", |m| stage(m).when = None),
        ("global", |m| stage(m).global.to_mut()[0].text = "n".into()),
        ("local", |m| stage(m).local = vec![].into()),
        ("local memory", |m| stage(m).local_memory = None),
        ("arguments", |m| stage(m).arguments.to_mut().swap(0, 1)),
        ("scratch's length", |m| {
            m.scratch.to_mut()[0].len.text = "2 * n".into();
        }),
        ("scratch's element", |m| {
            m.scratch.to_mut()[0].element = ScalarType::I32.into();
        }),
        ("order of steps", |m| m.steps.to_mut().swap(0, 1)),
        ("a step less", |m| drop(m.steps.to_mut().pop())),
        ("rounds", |m| drop(round(m).pop())),
        ("what a round does follows it", |m| {
            let last = round(m).pop().unwrap();
            m.steps.to_mut().insert(3, last);
        }),
    ];
    let mut seen = vec![("nothing", fingerprint::of(&model()))];
    for (what, change) in changes {
        let mut model = model();
        change(&mut model);
        let found = fingerprint::of(&model);
        for (other, known) in &seen {
            assert_ne!(
                &found, known,
                "{what} and {other} have the same fingerprint"
            );
        }
        seen.push((what, found));
    }
}
