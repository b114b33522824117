//! Configurations that a model accepts and refuses, and its reasons.

use cltune_core::device::{DeviceField, DeviceLimits};
use cltune_core::expr::{Env, EvalError, Formula};
use cltune_core::model::{
    Access, Argument, ArgumentKind, ConstraintOrigin, Define, Geometry, Memory, Model, Quantity,
    Rejection, ScalarType, Stage, StageArgument, Step,
};
use cltune_core::parameter::{Domain, Parameter};
use cltune_core::{List, Text};
use cltune_formats::formula::{Scope, Type};

const DEVICE: DeviceLimits = {
    let mut limits = DEVICE_WITHOUT_LIMITS;
    limits.max_work_group_size = 256;
    limits.max_work_item_size_x = 128;
    limits.max_work_item_size_y = 64;
    limits.max_work_item_size_z = 64;
    limits.local_mem_size = 1024;
    limits
};

const DEVICE_WITHOUT_LIMITS: DeviceLimits = DeviceLimits::NONE;

/// A kernel over `n` x `m` with work-groups of `X` x `Y`, a tile in local memory, and every kind of
/// formula.
fn model() -> Model {
    let parameter = |name: &'static str, domain| Parameter {
        name: name.into(),
        domain,
    };
    let integers = |values: &[i64]| Domain::Integers(values.to_vec().into());
    let names: List<Text> = vec!["float".into(), "half".into()].into();
    let parameters = vec![
        parameter("X", integers(&[-1, 0, 1, 8, 64, 256])),
        parameter("Y", integers(&[1, 8, 128])),
        parameter(
            "WPT",
            Domain::Range {
                first: 0,
                last: 4,
                step: 1,
            },
        ),
        parameter("CACHE", Domain::Booleans(vec![false, true].into())),
        parameter("T", Domain::Names(names)),
    ];
    let dimensions: Vec<Text> = vec!["n".into(), "m".into()];
    let scope = Scope {
        parameters: &parameters,
        dimensions: &dimensions,
    };
    let int = |text| cltune_formats::formula::parse(text, &scope, Type::Int).expect(text);
    let bool = |text| cltune_formats::formula::parse(text, &scope, Type::Bool).expect(text);
    let buffer = |len| ArgumentKind::Buffer {
        element: ScalarType::F32.into(),
        access: Access::Read,
        len: Some(int(len)),
        memory: Memory::Buffer,
    };
    Model {
        name: "test::kernel".into(),
        fingerprint: "".into(),
        source: "".into(),
        options: vec![].into(),
        constraints: vec![
            bool("T == \"float\" || WPT != 3"),
            bool("WPT < 4 || n % WPT == 0"),
        ]
        .into(),
        defines: vec![Define {
            name: "HALF".into(),
            value: int("m / (WPT - 2)"),
        }]
        .into(),
        arguments: vec![Argument {
            name: "input".into(),
            kind: buffer("n * m - 1 / (WPT - 1)"),
        }]
        .into(),
        scratch: vec![].into(),
        steps: vec![Step::Launch(Stage {
            global: vec![int("n / WPT"), int("m")].into(),
            local: vec![int("X"), int("Y")].into(),
            offset: vec![int("n - 64"), int("0")].into(),
            local_memory: Some(int("if CACHE { X * 4 } else { 0 }")),
            arguments: vec![
                StageArgument::Passed(0),
                StageArgument::Local {
                    name: "tile".into(),
                    element: ScalarType::F32.into(),
                    len: int("Y * (WPT - 1) - 2"),
                },
            ]
            .into(),
            ..Stage::new("kernel".into())
        })]
        .into(),
        default: None,
        template: None,
        parameters: parameters.into(),
        dimensions: dimensions.into(),
    }
}

/// The index space of the only launch.
fn geometry_of(model: &Model, codes: &[i64], dims: &[i64]) -> Result<Geometry, Rejection> {
    let commands = model.commands(codes, dims, &DEVICE)?;
    Ok(*commands.geometries().next().expect("a launch"))
}

fn check(codes: [i64; 5], dims: [i64; 2]) -> Result<(), Rejection> {
    model().check(&codes, &dims, &DEVICE)
}

#[test]
fn a_valid_configuration_has_a_geometry_and_macros() {
    let (codes, dims) = ([8, 8, 3, 1, 0], [192, 64]);
    assert_eq!(check(codes, dims), Ok(()));
    let geometry = Geometry {
        work_dim: 2,
        global: [64, 64, 1],
        local: Some([8, 8, 1]),
        offset: Some([128, 0, 0]),
    };
    assert_eq!(geometry_of(&model(), &codes, &dims), Ok(geometry));
    let macros = model().macros(&codes, &dims, &DEVICE).expect("valid");
    let options: Vec<String> = macros
        .iter()
        .map(|(name, value)| format!("{name}={value}"))
        .collect();
    assert_eq!(
        options,
        [
            "X=8",
            "Y=8",
            "WPT=3",
            "CACHE=1",
            "T=float",
            "T_float=1",
            "HALF=64"
        ]
    );
}

#[test]
fn sizes_may_be_left_to_the_driver() {
    let mut model = model();
    model.single_stage_mut().unwrap().local = vec![].into();
    model.single_stage_mut().unwrap().offset = vec![].into();
    let geometry = geometry_of(&model, &[8, 8, 3, 1, 0], &[30, 7]).expect("valid");
    assert_eq!(
        geometry,
        Geometry {
            work_dim: 2,
            global: [10, 7, 1],
            local: None,
            offset: None
        }
    );
}

#[test]
fn each_reason_against_a_configuration_is_named() {
    let overflow = i64::MAX;
    for (codes, dims, expected) in [
        (
            [7, 8, 3, 1, 0],
            [192, 64],
            "`X` cannot be 7: it is not one of the declared values",
        ),
        (
            [8, 8, 3, 1, 1],
            [192, 64],
            "the constraint `T == \"float\" || WPT != 3` does not hold",
        ),
        (
            [8, 8, 4, 1, 0],
            [190, 64],
            "the constraint `WPT < 4 || n % WPT == 0` does not hold",
        ),
        (
            [8, 8, 0, 1, 0],
            [192, 64],
            "the global size in dimension 0 `n / WPT` has no value: division by zero",
        ),
        (
            [0, 8, 3, 1, 0],
            [192, 64],
            "the local size in dimension 0 `X` is 0, and must be at least 1",
        ),
        (
            [256, 1, 1, 0, 0],
            [256, 64],
            "the local size in dimension 0 is 256, more than the device's max_work_item_size_x = 128",
        ),
        (
            [8, 128, 1, 0, 0],
            [256, 64],
            "the local size in dimension 1 is 128, more than the device's max_work_item_size_y = 64",
        ),
        (
            [64, 8, 1, 0, 0],
            [256, 64],
            "the work-group size is 512, more than the device's max_work_group_size = 256",
        ),
        (
            [8, 8, 3, 1, 0],
            [-192, 64],
            "the global size in dimension 0 `n / WPT` is -64, and must be at least 1",
        ),
        (
            [8, 8, 3, 1, 0],
            [195, 64],
            "the global size 65 is not divisible by the local size 8 in dimension 0",
        ),
        (
            [1, 8, 3, 0, 0],
            [63, 64],
            "the global offset in dimension 0 `n - 64` is -1, and must be at least 0",
        ),
        (
            [1, 1, 1, 0, 0],
            [64, 64],
            "the length of the argument `tile` `Y * (WPT - 1) - 2` is -2, and must be at least 0",
        ),
        (
            [8, 8, 1, 0, 0],
            [64, 64],
            "the length of the argument `tile` `Y * (WPT - 1) - 2` is -2, and must be at least 0",
        ),
        (
            [8, 8, 2, 0, 0],
            [128, 64],
            "the macro HALF = `m / (WPT - 2)` has no value: division by zero",
        ),
        (
            [8, 8, 3, 0, 0],
            [overflow - 7, 64],
            "the length of the argument `input` `n * m - 1 / (WPT - 1)` has no value: arithmetic overflow",
        ),
    ] {
        let dims = if dims[0] == overflow - 7 {
            [3 << 59, 64]
        } else {
            dims
        };
        assert_eq!(
            check(codes, dims).expect_err(expected).to_string(),
            expected
        );
    }
}

#[test]
fn local_memory_counts_the_kernels_own_and_the_arguments() {
    let mut device = DEVICE;
    // Own: 8 * 4; argument: (8 * 2 - 2) * 4.
    device.local_mem_size = 88;
    assert_eq!(model().check(&[8, 8, 3, 1, 0], &[192, 64], &device), Ok(()));
    device.local_mem_size = 87;
    let rejection = Rejection::BeyondLimit {
        quantity: Quantity::LocalMemory,
        value: 88,
        limit: DeviceField::LocalMemSize,
        maximum: 87,
    };
    assert_eq!(
        model().check(&[8, 8, 3, 1, 0], &[192, 64], &device),
        Err(rejection)
    );
}

#[test]
fn the_wrong_number_of_values_or_dimensions_is_no_panic() {
    let model = model();
    let few = Rejection::ValueCount {
        expected: 5,
        found: 1,
    };
    assert_eq!(model.check(&[8], &[192, 64], &DEVICE), Err(few.clone()));
    assert_eq!(model.commands(&[8], &[192, 64], &DEVICE), Err(few.clone()));
    assert_eq!(model.macros(&[8], &[192, 64], &DEVICE), Err(few));
    let few = Rejection::DimensionCount {
        expected: 2,
        found: 0,
    };
    assert_eq!(model.check(&[8, 8, 3, 1, 0], &[], &DEVICE), Err(few));
    let mut flat = model.clone();
    flat.single_stage_mut().unwrap().local =
        vec![flat.single_stage().unwrap().local[0].clone()].into();
    let sizes = Rejection::WorkDimension {
        global: 2,
        local: 1,
        offset: 2,
    };
    assert_eq!(
        flat.check(&[8, 8, 3, 1, 0], &[192, 64], &DEVICE),
        Err(sizes)
    );
}

#[test]
fn derived_constraints_are_the_check() {
    let model = model();
    let formulas: Vec<Formula> = model
        .constraints
        .iter()
        .cloned()
        .chain(model.derived_constraints())
        .collect();
    let domains: Vec<Vec<i64>> = model
        .parameters
        .iter()
        .map(|parameter| parameter.domain.codes().collect())
        .collect();
    let holds = |value: Result<i64, EvalError>| value.is_ok_and(|value| value != 0);
    let mut valid = 0;
    for dims in [[192, 64], [64, 64], [63, 8], [0, 64], [3 << 59, 64]] {
        let spec = model.space_spec(&dims, &DEVICE);
        assert!(spec.constraints.len() <= formulas.len());
        let mut positions = [0; 5];
        loop {
            let codes: Vec<i64> = domains
                .iter()
                .zip(positions)
                .map(|(domain, position)| domain[position])
                .collect();
            let expected = model.check(&codes, &dims, &DEVICE);
            let env = Env {
                params: &codes,
                dims: &dims,
                device: &DEVICE,
            };
            let derived = formulas.iter().all(|formula| holds(formula.eval(&env)));
            assert_eq!(derived, expected.is_ok(), "{codes:?} {dims:?} {expected:?}");
            let env = Env {
                params: &codes,
                dims: &[],
                device: &DEVICE_WITHOUT_LIMITS,
            };
            let bound = spec.constraints.iter().all(|c| holds(c.program.eval(&env)));
            assert_eq!(bound, expected.is_ok(), "{codes:?} {dims:?} {expected:?}");
            valid += usize::from(derived);
            let Some(next) = (0..5).find(|&i| positions[i] + 1 < domains[i].len()) else {
                break;
            };
            positions[next] += 1;
            positions[..next].fill(0);
        }
    }
    assert!(
        valid > 20,
        "only {valid} valid configurations: the test would not see much"
    );
}

#[test]
fn derived_constraints_explain_themselves() {
    let texts: Vec<String> = model()
        .derived_constraints()
        .iter()
        .map(|formula| formula.text.to_string())
        .collect();
    assert_eq!(
        texts,
        [
            "X >= 1",
            "Y >= 1",
            "X <= device.max_work_item_size_x",
            "Y <= device.max_work_item_size_y",
            "X * Y <= device.max_work_group_size",
            "(if CACHE { X * 4 } else { 0 }) >= 0",
            "Y * (WPT - 1) - 2 >= 0",
            "(if CACHE { X * 4 } else { 0 }) + ((Y * (WPT - 1) - 2) * 4) <= device.local_mem_size",
            "n / WPT >= 1",
            "m >= 1",
            "(n / WPT) % X == 0",
            "m % Y == 0",
            "n - 64 >= 0",
            "0 >= 0",
            "HALF = m / (WPT - 2) has a value",
            "input = n * m - 1 / (WPT - 1) has a value",
        ]
    );
}

#[test]
fn rules_are_in_order_and_say_where_constraints_come_from() {
    let known = |field| Some(DEVICE.get(field));
    let (parameters, rules) = model().space_rules(&[256, 16], &known);
    assert_eq!(
        parameters,
        model().space_spec(&[256, 16], &DEVICE).parameters
    );
    let of = |wanted| {
        let constraints = rules.iter().filter(move |(rule, _)| *rule == wanted);
        let labels = constraints.map(|(_, constraint)| constraint.label.to_string());
        labels.collect::<Vec<_>>()
    };
    assert!(rules.is_sorted_by_key(|(rule, _)| *rule));
    let sizes = [
        "X <= device.max_work_item_size_x",
        "Y <= device.max_work_item_size_y",
    ];
    assert_eq!(of(ConstraintOrigin::WorkItemSizes), sizes);
    assert_eq!(
        of(ConstraintOrigin::WorkGroupSize),
        ["X * Y <= device.max_work_group_size"]
    );
    assert_eq!(
        of(ConstraintOrigin::Divisibility),
        ["(n / WPT) % X == 0", "m % Y == 0"]
    );
    assert_eq!(of(ConstraintOrigin::LocalMemory).len(), 1);
    assert_eq!(of(ConstraintOrigin::User).len(), model().constraints.len());
    // Nothing is lost but what always holds: `m >= 1` for m = 16.
    let spec = model().space_spec(&[256, 16], &DEVICE);
    let listed = |label: &Text| rules.iter().any(|(_, rule)| rule.label == *label);
    assert!(spec.constraints.iter().all(|of| listed(&of.label)));
    let (last, constraint) = rules.last().unwrap();
    let units = model().compute_units_constraint(&[256, 16], &DEVICE);
    assert_eq!(
        (*last, Some(constraint)),
        (ConstraintOrigin::ComputeUnits, units.as_ref())
    );
}

#[test]
fn what_is_not_known_of_a_device_stays_in_its_rules() {
    let unknown: &[DeviceField] = &[DeviceField::MaxWorkGroupSize, DeviceField::LocalMemSize];
    let known = |field| (!unknown.contains(&field)).then(|| DEVICE.get(field));
    let (_, rules) = model().space_rules(&[256, 16], &known);
    let open = rules
        .iter()
        .filter(|(_, constraint)| !constraint.program.limits().is_empty());
    let open: Vec<_> = open
        .map(|(rule, constraint)| (*rule, constraint.program.limits()))
        .collect();
    let expected = [
        (
            ConstraintOrigin::WorkGroupSize,
            vec![DeviceField::MaxWorkGroupSize],
        ),
        (
            ConstraintOrigin::LocalMemory,
            vec![DeviceField::LocalMemSize],
        ),
    ];
    assert_eq!(open, expected);
}

#[test]
fn the_rule_about_compute_units_counts_work_groups_and_is_no_part_of_validity() {
    let mut device = DEVICE;
    device.compute_units = 8;
    let constraint = model()
        .compute_units_constraint(&[256, 16], &device)
        .unwrap();
    let text = "((n / WPT) / X) * (m / Y) >= device.compute_units";
    assert_eq!(constraint.label, text);
    let has_enough = |codes: &[i64]| {
        let env = Env {
            params: codes,
            dims: &[],
            device: &device,
        };
        constraint.program.eval(&env)
    };
    // X, Y, WPT and two more: 32 and 4 work-groups.
    assert_eq!(has_enough(&[8, 8, 2, 0, 0]), Ok(1));
    assert_eq!(has_enough(&[64, 8, 2, 0, 0]), Ok(0));
    let labels = model().space_spec(&[256, 16], &device).constraints;
    assert!(labels.iter().all(|constraint| constraint.label != text));

    let mut unsized_model = model();
    unsized_model.single_stage_mut().unwrap().local = vec![].into();
    assert_eq!(
        unsized_model.compute_units_constraint(&[256, 16], &device),
        None
    );
}

#[test]
fn configurations_and_problems_are_described() {
    let model = model();
    assert_eq!(
        model.describe(&[8, 1, 2, 1, 0]),
        "X = 8, Y = 1, WPT = 2, CACHE = true, T = float"
    );
    assert_eq!(
        model.describe(&[8, 1, 2, 1, 7]),
        "X = 8, Y = 1, WPT = 2, CACHE = true, T = ?7"
    );
    assert_eq!(model.describe_sizes(&[1024, 5]), "n = 1024, m = 5");
    assert_eq!(model.describe_problem(&[1024, 5]), "n = 1024, m = 5");
    assert_eq!(model.describe_sizes(&[]), "");
    assert_eq!(model.describe_problem(&[]), "its only problem");
}
