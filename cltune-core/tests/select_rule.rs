//! The configuration that a device and a problem get: a table of cases, and properties of all
//! cases.

use cltune_core::device::{DeviceField, DeviceInfo, DeviceLimits, DeviceType};
use cltune_core::model::{Model, Stage, Step};
use cltune_core::parameter::{Domain, Parameter};
use cltune_core::select::{
    Candidate, Rule, Table, TunedDevice, TunedResult, candidates, first_valid, problem_distance,
    select,
};
use cltune_core::{List, Text};
use cltune_formats::formula::{Scope, Type};
use proptest::prelude::*;
use std::collections::HashSet;

/// One parameter `WG`, one dimension `n`; valid when `WG` divides `n` and the device allows it.
fn model(default: Option<i64>) -> Model {
    let parameters = vec![Parameter {
        name: "WG".into(),
        domain: Domain::PowersOfTwo {
            first: 8,
            last: 1024,
        },
    }];
    let dimensions: Vec<Text> = vec!["n".into()];
    let scope = Scope {
        parameters: &parameters,
        dimensions: &dimensions,
    };
    let int = |text: &str| cltune_formats::formula::parse(text, &scope, Type::Int).unwrap();
    Model {
        name: "tests::kernel".into(),
        fingerprint: "b3:0".into(),
        source: "".into(),
        options: List::Borrowed(&[]),
        constraints: vec![
            cltune_formats::formula::parse("n % WG == 0", &scope, Type::Bool).unwrap(),
        ]
        .into(),
        defines: List::Borrowed(&[]),
        arguments: List::Borrowed(&[]),
        scratch: vec![].into(),
        steps: vec![Step::Launch(Stage {
            global: vec![int("n")].into(),
            local: vec![int("WG")].into(),
            ..Stage::new("kernel".into())
        })]
        .into(),
        default: default.map(|code| vec![code].into()),
        template: None,
        parameters: parameters.into(),
        dimensions: dimensions.into(),
    }
}

fn device(name: &str, vendor: &str, device_type: DeviceType, compute_units: i64) -> DeviceInfo {
    DeviceInfo {
        platform: format!("{vendor} platform"),
        name: name.to_owned(),
        vendor: vendor.to_owned(),
        device_type,
        driver: "1".to_owned(),
        version: "OpenCL 3.0".to_owned(),
        limits: DeviceLimits::NONE
            .with(DeviceField::ComputeUnits, compute_units)
            .with(DeviceField::MaxWorkGroupSize, 512)
            .with(DeviceField::MaxWorkItemSizeX, 512)
            .with(DeviceField::MaxWorkItemSizeY, 512)
            .with(DeviceField::MaxWorkItemSizeZ, 64)
            .with(DeviceField::LocalMemSize, 48 << 10),
    }
}

/// A table of `(device, n, WG)`, in the order of lockfiles.
fn table(rows: &[(&DeviceInfo, i64, i64)]) -> Table {
    let mut devices: Vec<TunedDevice> = Vec::new();
    let mut results = Vec::new();
    for (info, n, code) in rows {
        let device = TunedDevice::of(info);
        let index = devices
            .iter()
            .position(|other| *other == device)
            .unwrap_or_else(|| {
                devices.push(device);
                devices.len() - 1
            });
        results.push(TunedResult {
            device: index as u16,
            problem: vec![*n].into(),
            values: vec![*code].into(),
            time_us: 1.0,
        });
    }
    results.sort_by(|a, b| (a.device, &a.problem).cmp(&(b.device, &b.problem)));
    Table {
        devices: devices.into(),
        results: results.into(),
    }
}

fn gpu() -> DeviceInfo {
    device("gpu", "A", DeviceType::Gpu, 64)
}

struct Case<'a> {
    what: &'a str,
    baked: &'a [(&'a DeviceInfo, i64, i64)],
    cached: &'a [(&'a DeviceInfo, i64, i64)],
    default: Option<i64>,
    n: i64,
    expected: Option<(Rule, i64)>,
}

#[test]
fn the_rule_as_a_table() {
    let gpu = gpu();
    let sibling = device("sibling", "A", DeviceType::Gpu, 60);
    let cousin = device("cousin", "A", DeviceType::Gpu, 8);
    let stranger = device("stranger", "B", DeviceType::Gpu, 64);
    let cpu = device("cpu", "A", DeviceType::Cpu, 64);
    let other_platform = DeviceInfo {
        platform: "other".to_owned(),
        ..gpu.clone()
    };
    let empty = Case {
        what: "",
        baked: &[],
        cached: &[],
        default: None,
        n: 1024,
        expected: None,
    };
    let exact_device = |exact| Rule::ExactDevice { exact };
    let similar = |same_vendor| Rule::SimilarDevice { same_vendor };
    let cases = [
        Case {
            what: "this device and problem beat everything",
            baked: &[(&sibling, 1024, 8), (&gpu, 512, 16), (&gpu, 1024, 32)],
            cached: &[(&gpu, 1024, 64)],
            default: Some(128),
            expected: Some((exact_device(true), 32)),
            ..empty
        },
        Case {
            what: "the nearest problem in log-space: 4096 is 4 times, 300 is 3.4 times",
            baked: &[(&gpu, 4096, 16), (&gpu, 300, 32)],
            expected: Some((exact_device(false), 32)),
            ..empty
        },
        Case {
            what: "equally near: the first of the table",
            baked: &[(&gpu, 512, 16), (&gpu, 2048, 32)],
            expected: Some((exact_device(false), 16)),
            ..empty
        },
        Case {
            what: "a constraint refuses the nearest: the next",
            baked: &[(&gpu, 1024, 64), (&gpu, 96, 32)],
            n: 96 * 11,
            expected: Some((exact_device(false), 32)),
            ..empty
        },
        Case {
            what: "this device at another problem beats the cache at another",
            baked: &[(&gpu, 64, 16)],
            cached: &[(&gpu, 512, 64)],
            expected: Some((exact_device(false), 16)),
            ..empty
        },
        Case {
            what: "the cache for this very problem beats this device at another",
            baked: &[(&gpu, 512, 16)],
            cached: &[(&gpu, 1024, 64)],
            expected: Some((Rule::Cache { exact: true }, 64)),
            ..empty
        },
        Case {
            what: "the cache beats similar devices",
            baked: &[(&sibling, 1024, 16)],
            cached: &[(&sibling, 1024, 128), (&gpu, 512, 64)],
            expected: Some((Rule::Cache { exact: false }, 64)),
            ..empty
        },
        Case {
            what: "the same vendor beats nearer limits of another",
            baked: &[(&stranger, 1024, 16), (&cousin, 1024, 32)],
            expected: Some((similar(true), 32)),
            ..empty
        },
        Case {
            what: "of one vendor, the nearest limits",
            baked: &[(&cousin, 1024, 32), (&sibling, 64, 16)],
            expected: Some((similar(true), 16)),
            ..empty
        },
        Case {
            what: "on the similar device, the nearest problem",
            baked: &[(&sibling, 64, 16), (&sibling, 512, 64)],
            expected: Some((similar(true), 64)),
            ..empty
        },
        Case {
            what: "another vendor beats the default",
            baked: &[(&stranger, 1024, 16)],
            default: Some(128),
            expected: Some((similar(false), 16)),
            ..empty
        },
        Case {
            what: "the same device through another platform is only similar",
            baked: &[(&other_platform, 1024, 16)],
            expected: Some((similar(true), 16)),
            ..empty
        },
        Case {
            what: "a GPU of the same vendor beats one of the same platform",
            baked: &[(&stranger, 1024, 16), (&other_platform, 1024, 32)],
            expected: Some((similar(true), 32)),
            ..empty
        },
        Case {
            what: "the same GPU through another platform is less similar than another one",
            baked: &[(&other_platform, 1024, 16), (&sibling, 1024, 32)],
            expected: Some((similar(true), 32)),
            ..empty
        },
        Case {
            what: "another type of device says nothing",
            baked: &[(&cpu, 1024, 16)],
            default: Some(128),
            expected: Some((Rule::Default, 128)),
            ..empty
        },
        Case {
            what: "a limit of this device refuses what was tuned elsewhere",
            baked: &[(&sibling, 1024, 1024)],
            default: Some(128),
            expected: Some((Rule::Default, 128)),
            ..empty
        },
        Case {
            what: "the default is refused, too",
            default: Some(1024),
            expected: Some((Rule::FirstValid, 8)),
            ..empty
        },
        Case {
            what: "nothing is known",
            expected: Some((Rule::FirstValid, 8)),
            ..empty
        },
        Case {
            what: "nothing is valid",
            default: Some(8),
            n: 7,
            expected: None,
            ..empty
        },
    ];
    for Case {
        what,
        baked,
        cached,
        default,
        n,
        expected,
    } in cases
    {
        let (model, baked, cached) = (model(default), table(baked), table(cached));
        let dims = [n];
        let selected = select(&model, &gpu, &dims, &baked, &cached);
        let found = selected.map(|candidate| (candidate.rule, candidate.codes[0]));
        assert_eq!(found, expected, "{what}");
    }
}

#[test]
fn candidates_say_what_was_considered_and_why_it_was_refused() {
    let gpu = gpu();
    let sibling = device("sibling", "A", DeviceType::Gpu, 60);
    let baked = table(&[(&gpu, 1024, 1024), (&gpu, 4096, 64), (&sibling, 512, 16)]);
    let model = model(Some(32));
    let shown: Vec<String> = candidates(&model, &gpu, &[1024], &baked, &Table::EMPTY)
        .map(|candidate| candidate.to_string())
        .collect();
    let refused = "tuned on this device for this problem: n = 1024; not usable: ";
    assert!(shown[0].starts_with(refused), "{}", shown[0]);
    assert_eq!(
        shown[1..],
        [
            "tuned on this device for another problem: n = 4096",
            "tuned on a similar device (sibling): n = 512",
            "the declared default",
            "the first valid configuration",
        ]
    );
}

#[test]
fn a_united_table_prefers_the_first_and_keeps_the_order() {
    let (gpu, sibling) = (gpu(), device("sibling", "A", DeviceType::Gpu, 60));
    let first = table(&[(&gpu, 64, 8), (&gpu, 256, 8)]);
    let second = table(&[(&sibling, 64, 16), (&gpu, 128, 16), (&gpu, 256, 16)]);
    let expected = table(&[
        (&gpu, 64, 8),
        (&gpu, 128, 16),
        (&gpu, 256, 8),
        (&sibling, 64, 16),
    ]);
    assert_eq!(first.united(&second), expected);
    assert_eq!(first.united(&Table::EMPTY), first);
    assert_eq!(Table::EMPTY.united(&first), first);
}

#[test]
fn a_damaged_table_is_passed_over() {
    let gpu = gpu();
    let mut baked = table(&[(&gpu, 1024, 64), (&gpu, 1024, 64), (&gpu, 1024, 64)]);
    baked.results.to_mut()[0].device = 7;
    baked.results.to_mut()[1].problem = vec![1, 2].into();
    baked.results.to_mut()[2].values = vec![].into();
    let model = model(Some(32));
    let selected = select(&model, &gpu, &[1024], &baked, &Table::EMPTY).unwrap();
    assert_eq!(selected.rule, Rule::Default);
}

#[test]
fn the_first_valid_configuration_of_a_large_space_is_found_at_once() {
    let mut model = model(None);
    let large = |name: &'static str| Parameter {
        name: name.into(),
        domain: Domain::Range {
            first: 1,
            last: 100_000,
            step: 1,
        },
    };
    model.parameters = vec![large("A"), large("B"), large("C"), large("D")].into();
    let scope = Scope {
        parameters: &model.parameters.clone(),
        dimensions: &model.dimensions.clone(),
    };
    let parse = |text: &str, ty| cltune_formats::formula::parse(text, &scope, ty).unwrap();
    model.constraints = vec![
        parse("A > 99_998", Type::Bool),
        parse("A + B == 100_005 && C == D", Type::Bool),
    ]
    .into();
    model.single_stage_mut().unwrap().local = List::Borrowed(&[]);
    model.single_stage_mut().unwrap().global = vec![parse("n", Type::Int)].into();
    let codes = first_valid(&model, &[64], &gpu().limits);
    assert_eq!(codes, Some(vec![99_999, 6, 1, 1]));
    // Nothing is valid, and there are 10^20 configurations: it gives up instead of hanging.
    model.constraints = vec![parse("A + B + C + D == 0", Type::Bool)].into();
    assert_eq!(first_valid(&model, &[64], &gpu().limits), None);
}

#[test]
fn a_cpu_of_the_same_platform_beats_the_same_cpu_through_another() {
    let here = device("pocl on a", "A", DeviceType::Cpu, 2);
    let of_other_vendor = DeviceInfo {
        platform: here.platform.clone(),
        ..device("pocl on b", "B", DeviceType::Cpu, 16)
    };
    let through_other_platform = |name, vendor| DeviceInfo {
        platform: "other".to_owned(),
        ..device(name, vendor, DeviceType::Cpu, 2)
    };
    let same_cpu = through_other_platform("a", "A");
    let neither = through_other_platform("c", "C");
    let baked = table(&[
        (&neither, 1024, 8),
        (&same_cpu, 1024, 16),
        (&of_other_vendor, 1024, 32),
    ]);
    let model = model(None);
    let found = candidates(&model, &here, &[1024], &baked, &Table::EMPTY);
    let found: Vec<i64> = found.take(3).map(|candidate| candidate.codes[0]).collect();
    assert_eq!(found, [32, 16, 8]);
}

fn any_device() -> impl Strategy<Value = DeviceInfo> {
    (0..4_u8, 0..2_u8, 0..2_u8, 1..200_i64).prop_map(|(name, vendor, kind, compute_units)| {
        let kind = [DeviceType::Gpu, DeviceType::Cpu][usize::from(kind)];
        // The name decides the limits, as it does in reality.
        let compute_units = if name == 0 { 64 } else { compute_units };
        device(
            &format!("{kind} {name}"),
            ["A", "B"][usize::from(vendor)],
            kind,
            compute_units,
        )
    })
}

fn any_rows() -> impl Strategy<Value = Vec<(DeviceInfo, i64, i64)>> {
    proptest::collection::vec(
        (any_device(), 1..5000_i64, (3..11_u32).prop_map(|e| 1 << e)),
        0..30,
    )
}

fn table_of(rows: &[(DeviceInfo, i64, i64)]) -> Table {
    let rows: Vec<_> = rows
        .iter()
        .map(|(info, n, code)| (info, *n, *code))
        .collect();
    table(&rows)
}

const fn order(rule: Rule) -> u8 {
    match rule {
        Rule::ExactDevice { exact: true } => 0,
        Rule::Cache { exact: true } => 1,
        Rule::ExactDevice { exact: false } => 2,
        Rule::Cache { exact: false } => 3,
        Rule::SimilarDevice { same_vendor: true } => 4,
        Rule::SimilarDevice { same_vendor: false } => 5,
        Rule::Default => 6,
        Rule::FirstValid => 7,
        _ => panic!("a rule that this test does not know"),
    }
}

proptest! {
    #[test]
    fn what_is_selected_is_valid_and_nothing_valid_came_before(
        baked in any_rows(), cached in any_rows(), info in any_device(), n in 1..5000_i64,
        default in proptest::option::of((3..11_u32).prop_map(|e| 1 << e)),
    ) {
        let (baked, cached, model) = (table_of(&baked), table_of(&cached), model(default));
        let dims = [n];
        let all: Vec<Candidate<'_>> = candidates(&model, &info, &dims, &baked, &cached).collect();
        for candidate in &all {
            prop_assert_eq!(&candidate.verdict, &model.check(&candidate.codes, &dims, &info.limits));
        }
        prop_assert!(all.is_sorted_by_key(|candidate| order(candidate.rule)));
        let selected = select(&model, &info, &dims, &baked, &cached);
        prop_assert_eq!(selected.as_ref(), all.iter().find(|candidate| candidate.verdict.is_ok()));
        // A model with one valid configuration always gets one.
        prop_assert_eq!(selected.is_some(), n % 8 == 0);

        let exact = baked.results.iter().any(|result| {
            baked.devices[usize::from(result.device)].key().is(info.key())
                && *result.problem == dims
                && model.check(&result.values, &dims, &info.limits).is_ok()
        });
        let rule = selected.map(|candidate| candidate.rule);
        prop_assert_eq!(exact, rule == Some(Rule::ExactDevice { exact: true }));
    }

    #[test]
    fn the_nearest_problem_is_found_in_tables_of_any_shape(
        problems in proptest::collection::btree_set(
            proptest::collection::vec(prop_oneof![-2..5_i64, 1..5000_i64], 3), 1..60,
        ),
        dims in proptest::collection::vec(prop_oneof![-2..5_i64, 1..5000_i64], 3),
        devices in 1..3_u16,
    ) {
        let gpu = gpu();
        let mut model = model(None);
        model.dimensions = ["n", "m", "k"].map(Text::from).to_vec().into();
        let of = |device: u16| problems.iter().map(move |problem| TunedResult {
            device,
            problem: problem.clone().into(),
            values: vec![8].into(),
            time_us: 1.0,
        });
        let names = ["gpu", "sibling"].map(|name| device(name, "A", DeviceType::Gpu, 64));
        let table = Table {
            devices: names[..usize::from(devices)].iter().map(TunedDevice::of).collect(),
            results: (0..devices).flat_map(of).collect(),
        };
        let mut candidates = candidates(&model, &gpu, &dims, &table, &Table::EMPTY);
        let (_, first) = candidates.next().unwrap().known.unwrap();
        // The order that the rule states, found by sorting.
        let mut expected: Vec<&TunedResult> = table.results.iter().filter(|of| of.device == 0).collect();
        let key = |result: &TunedResult| (*result.problem != *dims, problem_distance(&result.problem, &dims));
        expected.sort_by(|a, b| key(a).partial_cmp(&key(b)).unwrap());
        prop_assert_eq!(first, expected[0]);
    }

    #[test]
    fn every_row_is_considered_once(baked in any_rows(), info in any_device()) {
        let mut baked = baked;
        // A lockfile has one result for a device and a problem.
        let mut keys = HashSet::new();
        baked.retain(|(device, n, _)| keys.insert((device.platform.clone(), device.name.clone(), *n)));
        let (baked, model) = (table_of(&baked), model(None));
        let mut seen = HashSet::new();
        for candidate in candidates(&model, &info, &[64], &baked, &Table::EMPTY) {
            if let Some((_, result)) = candidate.known {
                prop_assert!(seen.insert(std::ptr::from_ref(result)));
            }
        }
        let of_type = |result: &&TunedResult| {
            baked.devices[usize::from(result.device)].device_type == info.device_type
        };
        // None is left out either.
        prop_assert_eq!(seen.len(), baked.results.iter().filter(of_type).count());
    }
}
