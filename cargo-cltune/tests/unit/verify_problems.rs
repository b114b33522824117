//! Unit tests of `commands::verify::problems`.

use super::*;
use crate::samples;
use cltune_core::device::DeviceField;
use cltune_core::expr::Formula;
use cltune_core::model::{Access, Argument, Memory, ScalarType, StageArgument};
use cltune_formats::formula::{Scope, Type};

fn formula(model: &Model, text: &str) -> Formula {
    let scope = Scope {
        parameters: &model.parameters,
        dimensions: &model.dimensions,
    };
    cltune_formats::formula::parse(text, &scope, Type::Int).unwrap()
}

/// `global(n, 3)`, `local(WG, 1)`, `n` a `u16`, and a buffer of `n` floats.
fn model() -> Model {
    let mut model = samples::declaration("app::k", "b3:1", &[8]).model;
    let parse = |text: &str| formula(&model, text);
    let (global, local) = (vec![parse("n"), parse("3")], vec![parse("WG"), parse("1")]);
    let buffer = ArgumentKind::Buffer {
        element: ScalarType::F32.into(),
        access: Access::Read,
        len: Some(parse("n")),
        memory: Memory::Buffer,
    };
    let n = ArgumentKind::Scalar {
        scalar: ScalarType::U16.into(),
        dimension: Some(0),
    };
    model.single_stage_mut().unwrap().global = global.into();
    model.single_stage_mut().unwrap().local = local.into();
    let argument = |name: &'static str, kind| Argument {
        name: name.into(),
        kind,
    };
    let passed = vec![StageArgument::Passed(0), StageArgument::Passed(1)];
    model.single_stage_mut().unwrap().arguments = passed.into();
    model.arguments = vec![argument("n", n), argument("x", buffer)].into();
    model
}

fn limits() -> DeviceLimits {
    DeviceLimits::NONE
        .with(DeviceField::MaxWorkGroupSize, 256)
        .with(DeviceField::MaxWorkItemSizeX, 256)
        .with(DeviceField::MaxWorkItemSizeY, 256)
        .with(DeviceField::MaxWorkItemSizeZ, 256)
        .with(DeviceField::GlobalMemSize, 1 << 20)
        .with(DeviceField::MaxMemAllocSize, 1 << 20)
}

#[test]
fn larger_problems_keep_to_constraints_types_and_memory() {
    let larger = |dims: &[i64], factor| larger(&model(), &[64], dims, factor, &limits());
    assert_eq!(larger(&[128], 3), Ok(vec![vec![384]]));
    let reason = |dims: &[i64], factor| larger(dims, factor).unwrap_err();
    assert!(reason(&[100], 3).contains("not divisible"));
    assert!(reason(&[64], 1 << 10).contains("does not fit into its type"));
    assert!(reason(&[64], i64::MAX).contains("does not fit into its type"));
    let mut with_filter = model();
    with_filter.dimensions = vec!["n".into(), "filter".into()].into();
    let larger_of = |dims: &[i64]| super::larger(&with_filter, &[64], dims, 2, &limits());
    assert_eq!(larger_of(&[128, 7]), Ok(vec![vec![256, 7]]));
    assert_eq!(larger_of(&[128, 33]), Ok(vec![vec![256, 66]]));
    // A tile whose size the configuration decides: the rest grows alone.
    let mut tiled = with_filter.clone();
    let scope = Scope {
        parameters: &with_filter.parameters,
        dimensions: &with_filter.dimensions,
    };
    let tile = cltune_formats::formula::parse("filter == WG", &scope, Type::Bool).unwrap();
    tiled.constraints = vec![tile].into();
    let larger_of = |dims: &[i64]| super::larger(&tiled, &[64], dims, 2, &limits());
    assert_eq!(larger_of(&[128, 64]), Ok(vec![vec![256, 64]]));
    assert!(larger_of(&[100, 64]).is_err());
    let small = limits().with(DeviceField::GlobalMemSize, 1 << 12);
    let reason = super::larger(&model(), &[64], &[1024], 2, &small).unwrap_err();
    assert!(reason.contains("memory"), "{reason}");
}

#[test]
fn uneven_problems_are_prime_where_constraints_allow_and_else_what_they_allow() {
    let mut free = model();
    free.single_stage_mut().unwrap().global =
        vec![formula(&free, "n * WG"), formula(&free, "3")].into();
    let with_dimensions = |names: &[&'static str], constraints: &[&str]| {
        let mut model = free.clone();
        model.dimensions = names.iter().map(|name| (*name).into()).collect();
        let scope = Scope {
            parameters: &model.parameters,
            dimensions: &model.dimensions,
        };
        let parse = |text: &&str| cltune_formats::formula::parse(text, &scope, Type::Bool).unwrap();
        let constraints: Vec<Formula> = constraints.iter().map(parse).collect();
        model.constraints = constraints.into();
        model
    };
    let uneven = |model: &Model, dims: &[i64]| uneven(model, &[64], dims, &limits());
    let free = with_dimensions(&["n"], &[]);
    assert_eq!(uneven(&free, &[1024]), [[1021]]);
    assert_eq!(uneven(&free, &[5]), [[3]]);
    assert!(uneven(&free, &[1]).is_empty());
    // A whole number of work-groups, or of other tiles; none at all.
    assert_eq!(uneven(&model(), &[1024]), [[960]]);
    let even = with_dimensions(&["n"], &["n % 6 == 0"]);
    assert_eq!(uneven(&even, &[6000]), [[5994]]);
    let power = with_dimensions(&["n"], &["n == 4096"]);
    assert!(uneven(&power, &[4096]).is_empty());
    // Small dimensions stay; all others change at once where they may.
    let two = with_dimensions(&["n", "filter"], &[]);
    assert_eq!(uneven(&two, &[1024, 7]), [[1021, 7]]);
    assert_eq!(uneven(&two, &[1024, 100]), [[1021, 97]]);
    let one_even = with_dimensions(&["n", "m"], &["m % 4 == 0"]);
    assert_eq!(uneven(&one_even, &[1024, 100]), [[1021, 96]]);
    let square = with_dimensions(&["n", "m"], &["n == m", "n % 4 == 0"]);
    assert_eq!(uneven(&square, &[1024, 1024]), [[1020, 1020]]);
    let either = with_dimensions(&["n", "m"], &["n == 1024 || m == 1024"]);
    assert_eq!(uneven(&either, &[1024, 1024]), [[1021, 1024], [1024, 1021]]);
}

#[test]
fn as_many_draws_are_kept_as_fit() {
    let draws = |n| crate::session::draws_at_once(&model(), &[n], &limits(), 8);
    assert_eq!(draws(64), 8);
    assert_eq!(draws(16 << 10), 2);
    assert_eq!(draws(1 << 30), 1);
}
