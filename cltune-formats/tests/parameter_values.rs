//! Values of parameters that are not plain integers, and options that they decide: in formulas,
//! macros, lockfiles and spaces.

use cltune_core::device::{DeviceField, DeviceInfo, DeviceLimits, DeviceType};
use cltune_core::expr::{Env, Formula};
use cltune_core::measure::Measure;
use cltune_core::model::{CompileOption, Model, Rejection, Stage, Step};
use cltune_core::parameter::{Domain, Fraction, Parameter, RealRange, Scale, Value};
use cltune_core::select::{Table, candidates, select};
use cltune_formats::formula::{Scope, Type};
use cltune_formats::lockfile::{Lockfile, Measured};

fn parameter(name: &'static str, domain: Domain) -> Parameter {
    Parameter {
        name: name.into(),
        domain,
    }
}

fn fractions(values: &[f64]) -> Domain {
    let values = values.iter().copied().map(Fraction::of);
    Domain::Fractions(values.collect::<Vec<_>>().into())
}

fn code(value: f64) -> i64 {
    Fraction::of(value).code()
}

/// A kernel of one work-item with these parameters and constraints.
fn model(parameters: Vec<Parameter>, constraints: &[&str]) -> Model {
    let scope = Scope {
        parameters: &parameters,
        dimensions: &[],
    };
    let formula = |text: &str, of| cltune_formats::formula::parse(text, &scope, of).expect(text);
    let constraints: Vec<Formula> = constraints
        .iter()
        .map(|text| formula(text, Type::Bool))
        .collect();
    Model {
        name: "app::k".into(),
        fingerprint: "b3:1".into(),
        source: "".into(),
        options: vec![].into(),
        dimensions: vec![].into(),
        constraints: constraints.into(),
        defines: vec![].into(),
        arguments: vec![].into(),
        scratch: vec![].into(),
        steps: vec![Step::Launch(Stage {
            global: vec![formula("1", Type::Int)].into(),
            ..Stage::new("k".into())
        })]
        .into(),
        default: None,
        template: None,
        parameters: parameters.into(),
    }
}

fn shares(constraints: &[&str]) -> Model {
    let parameters = vec![
        parameter("SHARE", fractions(&[0.25, 0.5, 1.0])),
        parameter("LEAST", fractions(&[0.0, 0.5])),
    ];
    model(parameters, constraints)
}

#[test]
fn fractions_compare_with_numbers_and_with_each_other() {
    let model = shares(&[]);
    let scope = Scope {
        parameters: &model.parameters,
        dimensions: &[],
    };
    let holds = |text: &str, share: f64, least: f64| {
        let formula = cltune_formats::formula::parse(text, &scope, Type::Bool).expect(text);
        assert_eq!(formula.text, text, "the text is canonical");
        let env = Env {
            params: &[code(share), code(least)],
            dims: &[],
            device: &DeviceLimits::NONE,
        };
        formula.eval(&env) == Ok(1)
    };
    for (text, at_half) in [
        ("SHARE < 0.75", true),
        ("SHARE >= 0.5", true),
        ("SHARE == 0.5", true),
        ("SHARE != 0.5", false),
        ("-0.5 < SHARE && SHARE <= 1e16", true),
        ("SHARE > LEAST", true),
        ("SHARE == LEAST", false),
        ("(if SHARE < 0.5 { 1 } else { 2 }) == 2", true),
    ] {
        assert_eq!(holds(text, 0.5, 0.0), at_half, "{text}");
    }
    assert!(!holds("SHARE > LEAST", 0.25, 0.5));
}

#[test]
fn whatever_else_formulas_do_with_fractions_is_an_error() {
    let model = shares(&[]);
    let scope = Scope {
        parameters: &model.parameters,
        dimensions: &["n".into()],
    };
    for (text, column, says) in [
        (
            "n * SHARE > 3",
            5,
            "numbers with a fraction can only be compared",
        ),
        ("SHARE < 1", 9, "write `1.0`"),
        ("SHARE == n", 1, "found a number with a fraction"),
        ("SHARE.max(LEAST) > 0.5", 1, "expected an integer"),
        ("SHARE == 0.5f32", 10, "take no suffix"),
        ("SHARE < 1e999", 9, "not finite"),
        (
            "if SHARE < 0.5 { SHARE } else { LEAST } == 0.5",
            1,
            "both branches",
        ),
    ] {
        let error = cltune_formats::formula::parse(text, &scope, Type::Bool).expect_err(text);
        assert!(error.message.contains(says), "{text}: {error}");
        assert_eq!(error.column, column, "{text}: {error}");
    }
}

#[test]
fn fractions_are_checked_shown_and_passed_to_the_kernel() {
    let model = shares(&["SHARE > LEAST"]);
    let check = |share, least| model.check(&[code(share), code(least)], &[], &DeviceLimits::NONE);
    assert_eq!(check(1.0, 0.5), Ok(()));
    assert!(matches!(check(0.5, 0.5), Err(Rejection::Constraint { .. })));
    assert_eq!(
        check(0.75, 0.5).unwrap_err().to_string(),
        "`SHARE` cannot be 0.75: it is not one of the declared values"
    );
    let codes = [code(1.0), code(0.5)];
    assert_eq!(model.describe(&codes), "SHARE = 1.0, LEAST = 0.5");
    let macros = model.macros(&codes, &[], &DeviceLimits::NONE).unwrap();
    let pair = |name: &str, value: &str| (name.to_owned(), value.to_owned());
    assert_eq!(macros, [pair("SHARE", "1.0"), pair("LEAST", "0.5")]);
    // Each number is exactly what was declared, however small.
    let tiny = model_of_one(1e-300);
    let macros = tiny.macros(&[code(1e-300)], &[], &DeviceLimits::NONE);
    assert_eq!(macros.unwrap(), [pair("SHARE", "1e-300")]);
}

fn model_of_one(value: f64) -> Model {
    model(vec![parameter("SHARE", fractions(&[value]))], &[])
}

fn device_info() -> DeviceInfo {
    DeviceInfo {
        platform: "p".into(),
        name: "d".into(),
        vendor: "v".into(),
        device_type: DeviceType::Gpu,
        driver: "1".into(),
        version: String::new(),
        limits: DeviceLimits::NONE,
    }
}

fn measured(codes: Vec<i64>) -> Measured {
    Measured {
        dims: vec![],
        codes,
        time_us: 1.0,
        default_us: None,
        evaluated: 1,
        valid: 6,
        strategy: "random".into(),
        verification: None,
        measure: Measure::WARM,
        energy_j: None,
        default_energy_j: None,
    }
}

#[test]
fn lockfiles_hold_fractions_as_numbers() {
    let model = shares(&[]);
    let measured = measured(vec![code(1.0), code(0.5)]);
    let mut file = Lockfile::default();
    let _ = file.record(&model, &device_info(), &measured).unwrap();
    let text = file.to_text();
    assert!(text.contains("values = [1.0, 0.5]\n"), "{text}");
    let read = Lockfile::parse(&text).unwrap();
    assert_eq!(read, file);
    assert_eq!(
        &*read.table(&model).unwrap().results[0].values,
        measured.codes
    );
    // A person may write 1 for 1.0, and another number than those declared.
    let by_hand = Lockfile::parse(&text.replace("[1.0, 0.5]", "[1, 0.5]")).unwrap();
    assert_eq!(by_hand.table(&model), read.table(&model));
    let wrong = Lockfile::parse(&text.replace("[1.0, 0.5]", "[0.75, 0.5]")).unwrap();
    let error = wrong.table(&model).unwrap_err().to_string();
    assert!(error.contains("0.75"), "{error}");
    for word in ["nan", "inf"] {
        let error = Lockfile::parse(&text.replace("0.5]", &format!("{word}]"))).unwrap_err();
        assert!(error.to_string().contains("finite numbers"), "{error}");
    }
    assert_eq!(
        read.kernel("app::k").unwrap().tuned[0].values,
        [
            Value::Fraction(Fraction::of(1.0)),
            Value::Fraction(Fraction::of(0.5))
        ]
    );
}

/// `SHARE = -0.5..=2.0, RATE = logarithmic(0.01..=100.0)`
fn ranges(constraints: &[&str]) -> Model {
    let reals = |first, last, scale| Domain::Reals(RealRange::new(first, last, scale).unwrap());
    let parameters = vec![
        parameter("SHARE", reals(-0.5, 2.0, Scale::Linear)),
        parameter("RATE", reals(0.01, 100.0, Scale::Logarithmic)),
    ];
    model(parameters, constraints)
}

#[test]
fn every_number_of_a_range_is_a_value_and_is_written_exactly() {
    let model = ranges(&["SHARE < 1.5 || RATE <= 1.0"]);
    let check =
        |share: f64, rate| model.check(&[code(share), code(rate)], &[], &DeviceLimits::NONE);
    assert_eq!(check(0.1 + 0.2, 1.0 / 3.0), Ok(()));
    assert_eq!(check(-0.5, 100.0), Ok(()));
    assert!(matches!(
        check(1.75, 2.0),
        Err(Rejection::Constraint { .. })
    ));
    assert_eq!(
        check(0.0, 101.0).unwrap_err().to_string(),
        "`RATE` cannot be 101.0: its values are the numbers from 0.01 to 100.0"
    );
    assert!(check(f64::NAN, 1.0).is_err() && check(f64::INFINITY, 1.0).is_err());
    let codes = [code(0.1 + 0.2), code(1e-2)];
    assert_eq!(
        model.describe(&codes),
        "SHARE = 0.30000000000000004, RATE = 0.01"
    );
    let macros = model.macros(&codes, &[], &DeviceLimits::NONE).unwrap();
    assert_eq!(macros[0].1.parse(), Ok(0.1 + 0.2));
}

#[test]
fn the_space_lists_numbers_of_a_range_and_says_that_these_are_not_all() {
    let model = ranges(&["SHARE < 1.5"]);
    let spec = model.space_spec(&[], &DeviceLimits::NONE);
    for parameter in &spec.parameters {
        assert!(parameter.continuous);
        assert_eq!(parameter.codes.len(), 65_537);
        assert!(parameter.codes.is_sorted());
    }
    let first = cltune_core::select::first_valid(&model, &[], &DeviceLimits::NONE);
    assert_eq!(first, Some(vec![code(-0.5), code(0.01)]));
}

#[test]
fn lockfiles_hold_numbers_of_a_range_exactly() {
    let model = ranges(&[]);
    let codes = vec![code(0.1 + 0.2), code(1.0 / 3.0)];
    let mut file = Lockfile::default();
    let _ = file
        .record(&model, &device_info(), &measured(codes.clone()))
        .unwrap();
    let text = file.to_text();
    let values = "values = [0.30000000000000004, 0.3333333333333333]\n";
    assert!(text.contains(values), "{text}");
    let read = Lockfile::parse(&text).unwrap();
    assert_eq!(read, file);
    assert_eq!(&*read.table(&model).unwrap().results[0].values, codes);
    // A person may write any number of the range, and none beyond it.
    let by_hand = |values: &str| {
        let text = text.replace("[0.30000000000000004, 0.3333333333333333]", values);
        Lockfile::parse(&text).unwrap().table(&model)
    };
    assert_eq!(
        &*by_hand("[1, 0.5]").unwrap().results[0].values,
        [code(1.0), code(0.5)]
    );
    let error = by_hand("[2.5, 0.5]").unwrap_err().to_string();
    assert!(error.contains("2.5"), "{error}");
}

#[test]
fn an_option_is_given_where_its_condition_holds() {
    let mut model = model(
        vec![
            parameter("FAST", Domain::Booleans(vec![false, true].into())),
            parameter("U", Domain::Integers(vec![0, 1, 2].into())),
        ],
        &[],
    );
    let scope = Scope {
        parameters: &model.parameters,
        dimensions: &[],
    };
    let only = |text: &'static str, condition| CompileOption {
        text: text.into(),
        condition: Some(
            cltune_formats::formula::parse(condition, &scope, Type::Bool).expect(condition),
        ),
    };
    let options = vec![
        only("-a", "FAST"),
        CompileOption::always("-b"),
        only("-c", "!FAST && 2 / U > 1"),
    ];
    model.options = options.into();
    let limits = DeviceLimits::NONE;
    let options = |codes: [i64; 2]| model.compile_options(&codes, &[], &limits);
    assert_eq!(options([1, 0]).as_deref(), Ok("-a -b"));
    assert_eq!(options([0, 1]).as_deref(), Ok("-b -c"));
    assert_eq!(options([0, 2]).as_deref(), Ok("-b"));
    // A configuration for which a condition has no value is not valid, and no member of the space.
    let reason = options([0, 0]).unwrap_err();
    assert_eq!(
        reason.to_string(),
        "the condition of the option `-c`, `!FAST && 2 / U > 1` has no value: division by zero"
    );
    assert_eq!(model.check(&[0, 0], &[], &limits), Err(reason));
    let spec = model.space_spec(&[], &limits);
    let [needed] = &*spec.constraints else {
        panic!("{:?}", spec.constraints);
    };
    let holds = |codes: &[i64]| {
        let env = Env {
            params: codes,
            dims: &[],
            device: &limits,
        };
        needed.program.eval(&env) == Ok(1)
    };
    assert!(holds(&[0, 1]) && holds(&[1, 0]) && !holds(&[0, 0]));
}

/// `WG = [32, 16 * device.compute_units, device.max_work_group_size / 4]`
fn per_device() -> Model {
    let formulas = [
        "32",
        "16 * device.compute_units",
        "device.max_work_group_size / 4",
    ];
    let formula =
        |text| cltune_formats::formula::parse(text, &Scope::default(), Type::Int).expect(text);
    let domain = Domain::PerDevice(formulas.map(formula).to_vec().into());
    model(vec![parameter("WG", domain)], &["WG > 8"])
}

fn device(compute_units: i64, max_work_group_size: i64) -> DeviceLimits {
    DeviceLimits::NONE
        .with(DeviceField::ComputeUnits, compute_units)
        .with(DeviceField::MaxWorkGroupSize, max_work_group_size)
}

#[test]
fn formulas_over_device_limits_are_values_on_the_device() {
    let model = per_device();
    for (limits, codes) in [
        (device(3, 1024), &[32, 48, 256][..]),
        // The same value twice is one value.
        (device(2, 128), &[32]),
        // What a device does not report is 0, and no value.
        (device(0, 1024), &[32, 256]),
        // One that overflows is none.
        (device(i64::MAX, 4), &[32, 1]),
    ] {
        let spec = model.space_spec(&[], &limits);
        assert_eq!(spec.parameters[0].codes, codes);
        for code in [32, 48, 256, 1, 0, 16, -16] {
            let valid = model.check(&[code], &[], &limits).is_ok();
            assert_eq!(
                valid,
                codes.contains(&code) && code > 8,
                "{code} with {limits:?}"
            );
        }
    }
    let first = cltune_core::select::first_valid(&model, &[], &device(3, 1024));
    assert_eq!(first, Some(vec![32]));
    let macros = model.macros(&[48], &[], &device(3, 1024)).unwrap();
    assert_eq!(macros, [("WG".to_owned(), "48".to_owned())]);
    assert_eq!(
        model
            .check(&[48], &[], &device(4, 64))
            .unwrap_err()
            .to_string(),
        "`WG` cannot be 48 on this device: its values are 32, 16 * device.compute_units, \
         device.max_work_group_size / 4"
    );
}

#[test]
fn where_no_limit_is_known_only_the_same_values_remain() {
    let model = per_device();
    let domain = &model.parameters[0].domain;
    assert_eq!(domain.codes_on(&|_| None), [32]);
    let units = |field| (field == DeviceField::ComputeUnits).then_some(5);
    assert_eq!(domain.codes_on(&units), [32, 80]);
    assert_eq!(
        domain.limits(),
        [DeviceField::ComputeUnits, DeviceField::MaxWorkGroupSize]
    );
    assert!(domain.contains(32) && !domain.contains(80));
}

#[test]
fn a_device_on_which_a_parameter_has_no_value_has_no_configuration() {
    let mut model = per_device();
    let Domain::PerDevice(formulas) = &mut model.parameters.to_mut()[0].domain else {
        panic!();
    };
    let _ = formulas.to_mut().remove(0);
    assert_eq!(
        cltune_core::select::first_valid(&model, &[], &device(0, 0)),
        None
    );
    assert_eq!(
        model.space_spec(&[], &device(0, 0)).parameters[0].codes,
        [0_i64; 0]
    );
}

#[test]
fn a_result_of_another_device_is_passed_over_where_its_value_is_none() {
    let model = per_device();
    let here = |name: &str, limits| DeviceInfo {
        platform: "p".into(),
        name: name.into(),
        vendor: "v".into(),
        device_type: DeviceType::Gpu,
        driver: "1".into(),
        version: String::new(),
        limits,
    };
    let measured = Measured {
        dims: vec![],
        codes: vec![48],
        time_us: 1.0,
        default_us: None,
        evaluated: 1,
        valid: 3,
        strategy: "random".into(),
        verification: None,
        measure: Measure::WARM,
        energy_j: None,
        default_energy_j: None,
    };
    let mut file = Lockfile::default();
    let _ = file
        .record(&model, &here("three", device(3, 1024)), &measured)
        .unwrap();
    assert!(
        file.to_text().contains("values = [48]"),
        "{}",
        file.to_text()
    );
    let table = Lockfile::parse(&file.to_text())
        .unwrap()
        .table(&model)
        .unwrap();
    let chosen = |name, limits| {
        let device = here(name, limits);
        let chosen = select(&model, &device, &[], &table, &Table::EMPTY).expect("one");
        let passed_over = candidates(&model, &device, &[], &table, &Table::EMPTY);
        let reason = passed_over
            .map(|of| of.to_string())
            .next()
            .unwrap_or_default();
        (chosen.codes.to_vec(), reason)
    };
    assert_eq!(chosen("three", device(3, 1024)).0, [48]);
    // Another device with as many compute units has the same value.
    assert_eq!(chosen("also three", device(3, 256)).0, [48]);
    for name in ["three", "four"] {
        let (codes, reason) = chosen(name, device(4, 1024));
        assert_eq!(codes, [32]);
        assert!(
            reason.contains("`WG` cannot be 48 on this device"),
            "{reason}"
        );
    }
}
