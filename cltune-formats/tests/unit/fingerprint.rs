//! Tests of `fingerprint`.

use super::*;
use crate::formula::{self, Scope, Type};
use cltune_core::model::{CompileOption, Define, ScalarType};
use cltune_core::parameter::{Fraction, Parameter, RealRange, Scale};

fn int(text: &str) -> Formula {
    formula(text, Type::Int)
}

fn condition(text: &str) -> Formula {
    formula(text, Type::Bool)
}

fn formula(text: &str, expected: Type) -> Formula {
    let parameters = parameters();
    let dimensions = ["n".into()];
    let scope = Scope {
        parameters: &parameters,
        dimensions: &dimensions,
    };
    formula::parse(text, &scope, expected).expect(text)
}

fn parameters() -> Vec<Parameter> {
    let parameter = |name: &'static str, domain| Parameter {
        name: name.into(),
        domain,
    };
    vec![
        parameter("WG", Domain::Integers(vec![32, 64].into())),
        parameter("U", Domain::Booleans(vec![false, true].into())),
        parameter(
            "T",
            Domain::Names(vec!["float".into(), "half".into()].into()),
        ),
    ]
}

fn reals(first: f64, last: f64) -> Domain {
    Domain::Reals(RealRange::new(first, last, Scale::Linear).unwrap())
}

fn model() -> Model {
    let buffer = ArgumentKind::Buffer {
        element: ScalarType::F32.into(),
        access: Access::Read,
        len: Some(int("n")),
        memory: Memory::Buffer,
    };
    let scalar = ArgumentKind::Scalar {
        scalar: ScalarType::U32.into(),
        dimension: Some(0),
    };
    let argument = |name: &'static str, kind| Argument {
        name: name.into(),
        kind,
    };
    Model {
        name: "test::kernel".into(),
        fingerprint: "".into(),
        source: "#line 1 \"a.cl\"\n__kernel void kernel() {\n}\n".into(),
        options: vec![CompileOption::always("-cl-mad-enable")].into(),
        parameters: parameters().into(),
        dimensions: vec!["n".into()].into(),
        constraints: vec![int("n % WG")].into(),

        defines: vec![Define {
            name: "N".into(),
            value: int("n"),
        }]
        .into(),
        arguments: vec![argument("n", scalar), argument("x", buffer)].into(),
        scratch: vec![].into(),
        steps: vec![Step::Launch(Stage {
            global: vec![int("n")].into(),
            local: vec![int("WG")].into(),
            offset: vec![int("0")].into(),
            local_memory: Some(int("WG * 4")),
            arguments: vec![
                StageArgument::Passed(0),
                StageArgument::Passed(1),
                tile("WG"),
            ]
            .into(),
            ..Stage::new("kernel".into())
        })]
        .into(),
        default: None,
        template: None,
    }
}

#[test]
fn the_encoding_is_what_it_always_was() {
    // A change here makes every lockfile stale: it needs a new VERSION and a line in the
    // changelog.
    let golden = "b3:70f2d0c6260459d116c998ca92dd21fa5811a984a4664c681a9a2cf2f5ee737a";
    assert_eq!(of(&model()), golden);
}

#[test]
#[expect(
    clippy::semicolon_if_nothing_returned,
    reason = "the changes read as a table"
)]
fn whatever_decides_what_runs_is_covered() {
    type Change = (&'static str, fn(&mut Model));
    let changes: &[Change] = &[
        ("kernel", |m| stage(m).kernel = "other".into()),
        ("source", |m| {
            m.source = "__kernel void kernel() {\n ;}\n".into()
        }),
        ("source lines", |m| {
            m.source = "__kernel void kernel() {}\n".into()
        }),
        ("options", |m| m.options = vec![].into()),
        ("options' borders", |m| {
            m.options = ["-cl", "-mad-enable"]
                .map(CompileOption::always)
                .to_vec()
                .into()
        }),
        ("option's condition", |m| {
            m.options.to_mut()[0].condition = Some(condition("U"))
        }),
        ("another condition of the option", |m| {
            m.options.to_mut()[0].condition = Some(condition("!U"))
        }),
        ("parameter", |m| m.parameters.to_mut()[0].name = "WI".into()),
        ("values", |m| {
            m.parameters.to_mut()[0].domain = Domain::Integers(vec![32, 128].into());
        }),
        ("order of values", |m| {
            m.parameters.to_mut()[0].domain = Domain::Integers(vec![64, 32].into());
        }),
        ("kind of values", |m| {
            m.parameters.to_mut()[1].domain = Domain::Integers(vec![0, 1].into());
        }),
        ("fractions", |m| {
            m.parameters.to_mut()[1].domain = Domain::Fractions(vec![Fraction::of(0.5)].into());
        }),
        ("other fractions", |m| {
            m.parameters.to_mut()[1].domain = Domain::Fractions(vec![Fraction::of(0.25)].into());
        }),
        ("a range of real numbers", |m| {
            m.parameters.to_mut()[1].domain = reals(0.25, 1.0);
        }),
        ("another range of real numbers", |m| {
            m.parameters.to_mut()[1].domain = reals(0.5, 1.0);
        }),
        ("a longer range of real numbers", |m| {
            m.parameters.to_mut()[1].domain = reals(0.25, 2.0);
        }),
        ("values per device", |m| {
            m.parameters.to_mut()[0].domain =
                Domain::PerDevice(vec![int("32"), int("device.compute_units")].into());
        }),
        ("other values per device", |m| {
            m.parameters.to_mut()[0].domain =
                Domain::PerDevice(vec![int("32"), int("2 * device.compute_units")].into());
        }),
        ("names", |m| {
            m.parameters.to_mut()[2].domain =
                Domain::Names(vec!["float".into(), "double".into()].into());
        }),
        ("order of parameters", |m| m.parameters.to_mut().swap(0, 1)),
        ("dimensions", |m| m.dimensions = vec!["m".into()].into()),
        ("constraints", |m| m.constraints = vec![].into()),
        ("a constraint", |m| {
            m.constraints = vec![int("n % (WG * 2)")].into()
        }),
        ("global", |m| stage(m).global = vec![int("n / 2")].into()),
        ("local", |m| stage(m).local = vec![].into()),
        ("offset", |m| stage(m).offset = vec![].into()),
        ("offset moved to local", |m| {
            stage(m).local = vec![int("WG"), int("0")].into();
            stage(m).offset = vec![].into();
        }),
        ("local memory", |m| stage(m).local_memory = None),
        ("local memory's size", |m| {
            stage(m).local_memory = Some(int("WG * 8"))
        }),
        ("define", |m| m.defines.to_mut()[0].name = "M".into()),
        ("define's value", |m| {
            m.defines.to_mut()[0].value = int("n + 1")
        }),
        ("argument's name", |m| {
            m.arguments.to_mut()[0].name = "k".into()
        }),
        ("order of arguments", |m| m.arguments.to_mut().swap(0, 1)),
        ("scalar's type", |m| {
            m.arguments.to_mut()[0].kind = ArgumentKind::Scalar {
                scalar: ScalarType::I32.into(),
                dimension: Some(0),
            };
        }),
        ("scalar's dimension", |m| {
            m.arguments.to_mut()[0].kind = ArgumentKind::Scalar {
                scalar: ScalarType::U32.into(),
                dimension: None,
            };
        }),
        ("buffer's element", |m| {
            change_buffer(m, |e, _, _| *e = ScalarType::F64.into())
        }),
        ("buffer's vector", |m| {
            change_buffer(m, |e, _, _| *e = ElementType::vector(ScalarType::F32, 4))
        }),
        ("buffer's access", |m| {
            change_buffer(m, |_, a, _| *a = Access::Write)
        }),
        ("buffer's length", |m| change_buffer(m, |_, _, l| *l = None)),
        ("local argument's length", |m| {
            stage(m).arguments.to_mut()[2] = tile("WG * 2");
        }),
    ];
    let mut seen = vec![("nothing", of(&model()))];
    for (what, change) in changes {
        let mut model = model();
        change(&mut model);
        let found = of(&model);
        for (other, known) in &seen {
            assert_ne!(
                &found, known,
                "{what} and {other} have the same fingerprint"
            );
        }
        seen.push((what, found));
    }
}

fn stage(model: &mut Model) -> &mut Stage {
    model.single_stage_mut().unwrap()
}

fn tile(len: &str) -> StageArgument {
    StageArgument::Local {
        name: "tile".into(),
        element: ScalarType::F32.into(),
        len: int(len),
    }
}

fn change_buffer(
    model: &mut Model,
    change: fn(&mut ElementType, &mut Access, &mut Option<Formula>),
) {
    if let ArgumentKind::Buffer {
        element,
        access,
        len,
        ..
    } = &mut model.arguments.to_mut()[1].kind
    {
        change(element, access, len);
    }
}

#[test]
fn what_does_not_decide_what_runs_is_not() {
    let changes: [fn(&mut Model); 7] = [
        |m| m.name = "other::kernel".into(),
        |m| m.fingerprint = "b3:0".into(),
        |m| m.default = Some(vec![64, 1, 0].into()),
        |m| m.source = m.source.replace('\n', "\r\n").into(),
        |m| m.source = m.source.replace("#line 1 \"a.cl\"\n", "").into(),
        |m| m.constraints = vec![int("(n)%(WG)")].into(),
        |m| {
            m.parameters.to_mut()[0].domain = Domain::PowersOfTwo {
                first: 32,
                last: 64,
            }
        },
    ];
    for (position, change) in changes.iter().enumerate() {
        let mut model = model();
        change(&mut model);
        assert_eq!(of(&model), of(&self::model()), "change {position}");
    }
}

#[test]
fn the_scale_of_a_range_of_real_numbers_decides_nothing_that_runs() {
    let with = |scale| {
        let mut model = model();
        let range = RealRange::new(0.5, 1.0, scale).unwrap();
        model.parameters.to_mut()[0].domain = Domain::Reals(range);
        of(&model)
    };
    assert_eq!(with(Scale::Linear), with(Scale::Logarithmic));
}

#[test]
fn a_huge_range_costs_nothing() {
    let mut model = model();
    model.parameters.to_mut()[0].domain = Domain::Range {
        first: 0,
        last: i64::MAX,
        step: 1,
    };
    assert!(of(&model).starts_with("b3:"));
}

#[test]
fn a_text_has_the_hash_b3sum_prints() {
    // BLAKE3's test vector for the empty input.
    let empty = "b3:af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262";
    assert_eq!(of_text(""), empty);
}
