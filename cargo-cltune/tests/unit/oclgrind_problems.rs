//! Unit tests of `oclgrind::problems`.

use super::*;
use crate::samples;
use cltune_core::device::DeviceField;
use cltune_core::expr::Formula;
use cltune_core::model::{Access, Argument, Memory, ScalarType, StageArgument};
use cltune_core::parameter::{Domain, Parameter};
use cltune_formats::declaration::Computation;
use cltune_formats::formula::{Scope, Type};

/// `WG` of 32 to 256 and 96, `global(n rounded up, 3)`, `local(WG, 1)`, and a buffer of `n` floats.
fn declaration(dimensions: &[&'static str], constraints: &[&str]) -> Declaration {
    let mut declaration = samples::declaration("app::k", "b3:1", &[8]);
    let model = &mut declaration.model;
    let values = vec![32, 64, 96, 128, 256];
    model.parameters = vec![Parameter {
        name: "WG".into(),
        domain: Domain::Integers(values.into()),
    }]
    .into();
    model.dimensions = dimensions.iter().map(|name| (*name).into()).collect();
    let parse = |text: &str, of| formula(model, text, of);
    let sizes = |texts: [&str; 2]| texts.map(|text| parse(text, Type::Int)).to_vec();
    let (global, local) = (sizes(["(n + WG - 1) / WG * WG", "3"]), sizes(["WG", "1"]));
    let buffer = ArgumentKind::Buffer {
        element: ScalarType::F32.into(),
        access: Access::Read,
        len: Some(parse("n", Type::Int)),
        memory: Memory::Buffer,
    };
    let constraints = constraints.iter().map(|text| parse(text, Type::Bool));
    let constraints: Vec<Formula> = constraints.collect();
    model.constraints = constraints.into();
    let stage = model.single_stage_mut().unwrap();
    (stage.global, stage.local) = (global.into(), local.into());
    stage.arguments = vec![StageArgument::Passed(0)].into();
    model.arguments = vec![Argument {
        name: "x".into(),
        kind: buffer,
    }]
    .into();
    declaration.fills = vec![Fill::Zeros];
    declaration
}

fn formula(model: &Model, text: &str, of: Type) -> Formula {
    let scope = Scope {
        parameters: &model.parameters,
        dimensions: &model.dimensions,
    };
    cltune_formats::formula::parse(text, &scope, of).unwrap()
}

fn small(declaration: &Declaration, codes: &[&[i64]], dims: &[i64]) -> Vec<Vec<i64>> {
    let limits = DeviceLimits::NONE
        .with(DeviceField::MaxWorkGroupSize, 256)
        .with(DeviceField::MaxWorkItemSizeX, 256)
        .with(DeviceField::MaxWorkItemSizeY, 256)
        .with(DeviceField::MaxWorkItemSizeZ, 256);
    let tuned = Tuned {
        declaration,
        configurations: codes,
        dims,
        limits: &limits,
    };
    tuned.small_problems()
}

#[test]
fn they_have_two_work_groups_where_the_problem_had_and_grow() {
    let of_one = declaration(&["n"], &[]);
    let first = |code: i64, n: i64| small(&of_one, &[&[code]], &[n]).remove(0);
    assert_eq!(first(64, 1 << 15), [128]);
    assert_eq!(first(256, 3 * 256 * 7), [512]);
    assert_eq!(first(256, 256), [256], "one work-group as it was");
    assert_eq!(first(32, 32), [32]);
    let all = small(&of_one, &[&[64]], &[1 << 15]);
    assert_eq!(all, [[128], [512], [2048]]);
    assert_eq!(small(&of_one, &[&[64]], &[384]), [[128], [384]]);
}

#[test]
fn what_divides_the_problem_divides_them() {
    let of_one = declaration(&["n"], &[]);
    let first = |codes: &[&[i64]], n: i64| small(&of_one, codes, &[n]).remove(0);
    // 120 = 960 / 8 would have two work-groups, the second of which is partly beyond the end.
    assert_eq!(first(&[&[96]], 960), [192]);
    assert_eq!(first(&[&[96]], 1000), [128], "so is the second here");
    // Of the default as well.
    assert_eq!(first(&[&[32], &[96]], 960), [96]);
    assert_eq!(first(&[&[32]], 960), [64]);
}

#[test]
fn dimensions_that_must_be_equal_shrink_together() {
    let square = declaration(&["n", "m"], &["n == m"]);
    assert_eq!(small(&square, &[&[64]], &[4096, 4096])[0], [128, 128]);
    let with_filter = declaration(&["n", "filter"], &[]);
    assert_eq!(small(&with_filter, &[&[64]], &[4096, 7])[0], [128, 7]);
}

#[test]
fn the_reference_can_be_launched() {
    let mut declaration = declaration(&["n"], &[]);
    let sizes =
        |declaration: &Declaration, text: &str| vec![formula(&declaration.model, text, Type::Int)];
    let (global, local) = (sizes(&declaration, "n / 512"), sizes(&declaration, "2"));
    let arguments = declaration.model.arguments.len();
    let reference = Computation::of_kernel("plain", arguments, global, local);
    declaration.reference = Reference::Own(reference);
    let first = |declaration: &Declaration| small(declaration, &[&[64]], &[1 << 15]).remove(0);
    assert_eq!(first(&declaration), [1024]);
    declaration.reference = Reference::Default;
    let terms = formula(&declaration.model, "n - 200", Type::Int);
    declaration.tolerance.accumulates = Some(terms);
    assert_eq!(first(&declaration), [256]);
    // A file is as long as it is.
    declaration.fills = vec![Fill::File("x.bin".to_owned())];
    assert_eq!(small(&declaration, &[&[64]], &[1 << 15]), [[1 << 15]]);
    assert!(small(&declaration, &[&[64]], &[1 << 20]).is_empty());
}
