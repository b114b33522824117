//! Recording results, merging by hand-made examples, and the tables made from entries.

use cltune_core::device::{DeviceField, DeviceInfo, DeviceLimits, DeviceType};
use cltune_core::measure::Measure;
use cltune_core::model::{Model, Stage, Step};
use cltune_core::parameter::{Domain, Parameter, Value};
use cltune_core::select::Table;
use cltune_core::{List, Text};
use cltune_formats::lockfile::{BakeError, Lockfile, Measured, RecordError, split_conflict};

fn model(fingerprint: &'static str) -> Model {
    let parameter = |name: &'static str, domain| Parameter {
        name: name.into(),
        domain,
    };
    let names: List<Text> = vec!["float".into(), "half".into()].into();
    Model {
        name: "app::saxpy".into(),
        fingerprint: fingerprint.into(),
        source: "".into(),
        options: List::Borrowed(&[]),
        parameters: vec![
            parameter(
                "WG",
                Domain::PowersOfTwo {
                    first: 32,
                    last: 256,
                },
            ),
            parameter("CACHE", Domain::Booleans(vec![false, true].into())),
            parameter("T", Domain::Names(names)),
        ]
        .into(),
        dimensions: vec!["n".into(), "m".into()].into(),
        constraints: List::Borrowed(&[]),
        defines: List::Borrowed(&[]),
        arguments: List::Borrowed(&[]),
        scratch: vec![].into(),
        steps: vec![Step::Launch(Stage::new("saxpy".into()))].into(),
        default: None,
        template: None,
    }
}

fn device(platform: &str, name: &str, driver: &str) -> DeviceInfo {
    DeviceInfo {
        platform: platform.to_owned(),
        name: name.to_owned(),
        vendor: "vendor".to_owned(),
        device_type: DeviceType::Gpu,
        driver: driver.to_owned(),
        version: "OpenCL 3.0".to_owned(),
        limits: DeviceLimits::NONE.with(DeviceField::ComputeUnits, 132),
    }
}

fn measured(dims: [i64; 2], codes: [i64; 3], time_us: f64) -> Measured {
    Measured {
        dims: dims.to_vec(),
        codes: codes.to_vec(),
        time_us,
        default_us: Some(20.0),
        evaluated: 5,
        valid: 8,
        strategy: "random".to_owned(),
        verification: Some("b3:9".to_owned()),
        measure: Measure::WARM,
        energy_j: None,
        default_energy_j: None,
    }
}

fn record(file: &mut Lockfile, model: &Model, device: &DeviceInfo, result: &Measured) -> usize {
    file.record(model, device, result).unwrap().dropped
}

#[test]
fn a_result_is_inserted_then_replaced() {
    let (model, gpu) = (model("b3:1"), device("CUDA", "H200", "1"));
    let mut file = Lockfile::default();
    let first = file
        .record(&model, &gpu, &measured([8, 2], [64, 1, 0], 7.123_456))
        .unwrap();
    assert_eq!(
        (first.device.as_str(), first.replaced, first.dropped),
        ("h200", None, 0)
    );
    record(&mut file, &model, &gpu, &measured([4, 9], [32, 0, 1], 5.0));

    let newer_driver = device("CUDA", "H200", "2");
    let again = measured([8, 2], [128, 1, 1], 6.0);
    let second = file.record(&model, &newer_driver, &again).unwrap();
    assert_eq!(second.replaced.map(|tuned| tuned.time_us), Some(7.123));

    assert_eq!(file.device_of(&gpu).unwrap().driver, "2");
    let kernel = file.kernel("app::saxpy").unwrap();
    assert_eq!(kernel.params, ["WG", "CACHE", "T"]);
    assert_eq!(kernel.tuned.len(), 2);
    let entry = kernel.entry("h200", &[8, 2]).unwrap();
    assert_eq!(
        entry.values,
        [
            Value::Int(128),
            Value::Bool(true),
            Value::Name("half".into())
        ]
    );
    assert!(kernel.entry("h200", &[2, 8]).is_none());
    assert_eq!(Lockfile::parse(&file.to_text()).unwrap(), file);
}

#[test]
fn entries_of_another_version_of_the_kernel_are_dropped_and_no_others() {
    let gpu = device("CUDA", "H200", "1");
    let mut file = Lockfile::default();
    let old = model("b3:1");
    let other = Model {
        name: "app::other".into(),
        ..old.clone()
    };
    record(&mut file, &old, &gpu, &measured([8, 2], [64, 1, 0], 7.0));
    record(&mut file, &old, &gpu, &measured([9, 2], [64, 1, 0], 7.0));
    record(&mut file, &other, &gpu, &measured([8, 2], [64, 1, 0], 7.0));
    assert!(file.kernel("app::saxpy").unwrap().is_current(&old));

    let changed = model("b3:2");
    assert!(!file.kernel("app::saxpy").unwrap().is_current(&changed));
    assert_eq!(
        record(
            &mut file,
            &changed,
            &gpu,
            &measured([1, 1], [32, 0, 0], 3.0)
        ),
        2
    );
    assert_eq!(file.kernel("app::saxpy").unwrap().tuned.len(), 1);
    assert_eq!(file.kernel("app::other").unwrap().tuned.len(), 1);

    // The same fingerprint with other parameters: a damaged file must not mix the two.
    let mut reordered = changed.clone();
    reordered.parameters.to_mut().reverse();
    let result = measured([1, 1], [0, 0, 32], 3.0);
    assert_eq!(record(&mut file, &reordered, &gpu, &result), 1);
    assert_eq!(
        file.kernel("app::saxpy").unwrap().params,
        ["T", "CACHE", "WG"]
    );
}

type Expectation = fn(&RecordError) -> bool;

#[test]
fn a_result_that_does_not_fit_is_refused_and_changes_nothing() {
    let (model, gpu) = (model("b3:1"), device("CUDA", "H200", "1"));
    let good = measured([8, 2], [64, 1, 0], 7.0);
    let broken: [(Measured, Expectation); 7] = [
        (
            Measured {
                codes: vec![64],
                ..good.clone()
            },
            |e| {
                matches!(
                    e,
                    RecordError::ValueCount {
                        found: 1,
                        expected: 3,
                        ..
                    }
                )
            },
        ),
        (
            Measured {
                dims: vec![],
                ..good.clone()
            },
            |e| {
                matches!(
                    e,
                    RecordError::DimensionCount {
                        found: 0,
                        expected: 2,
                        ..
                    }
                )
            },
        ),
        (
            Measured {
                codes: vec![65, 1, 0],
                ..good.clone()
            },
            |e| matches!(e, RecordError::NotInDomain { code: 65, .. }),
        ),
        (
            Measured {
                codes: vec![64, 1, 2],
                ..good.clone()
            },
            |e| matches!(e, RecordError::NotInDomain { code: 2, .. }),
        ),
        (
            Measured {
                time_us: f64::NAN,
                ..good.clone()
            },
            |e| matches!(e, RecordError::BadTime { .. }),
        ),
        (
            Measured {
                time_us: -1.0,
                ..good.clone()
            },
            |e| matches!(e, RecordError::BadTime { .. }),
        ),
        (
            Measured {
                default_us: Some(f64::INFINITY),
                ..good.clone()
            },
            |e| matches!(e, RecordError::BadTime { .. }),
        ),
    ];
    for (result, expected) in broken {
        let mut file = Lockfile::default();
        let error = file.record(&model, &gpu, &result).unwrap_err();
        assert!(expected(&error), "{error}");
        assert!(file.is_empty());
    }
}

#[test]
fn ids_of_devices_are_unique_and_stay() {
    let model = model("b3:1");
    let result = measured([8, 2], [64, 1, 0], 7.0);
    let mut file = Lockfile::default();
    let devices = [
        (device("NVIDIA CUDA", "NVIDIA H200", "1"), "nvidia-h200"),
        (device("rusticl", "NVIDIA H200", "1"), "nvidia-h200-rusticl"),
        (
            DeviceInfo {
                vendor: "Mesa".to_owned(),
                ..device("rusticl", "NVIDIA H200", "1")
            },
            "nvidia-h200-rusticl-2",
        ),
        (device("NVIDIA CUDA", "NVIDIA H200", "2"), "nvidia-h200"),
    ];
    for (info, id) in &devices {
        assert_eq!(
            file.device_id(info),
            *id,
            "the id is known before the device is in the file"
        );
        assert_eq!(file.record(&model, info, &result).unwrap().device, *id);
        file = Lockfile::parse(&file.to_text()).unwrap();
    }
    assert_eq!(file.devices.len(), 3);
    // Reading back and recording in another order changes no id.
    for (info, id) in devices.iter().rev() {
        assert_eq!(file.record(&model, info, &result).unwrap().device, *id);
    }
}

#[test]
fn a_table_has_codes_for_values_and_only_current_entries() {
    let (model_1, gpu) = (model("b3:1"), device("CUDA", "H200", "1"));
    let mut file = Lockfile::default();
    record(
        &mut file,
        &model_1,
        &gpu,
        &measured([8, 2], [64, 1, 1], 7.0),
    );
    let other = Model {
        name: "app::other".into(),
        ..model_1.clone()
    };
    record(
        &mut file,
        &other,
        &device("CUDA", "A100", "1"),
        &measured([8, 2], [64, 1, 0], 7.0),
    );

    let table = file.table(&model_1).unwrap();
    assert_eq!(
        table.devices.len(),
        1,
        "only devices that the kernel was tuned on"
    );
    assert!(table.devices[0].key().is(gpu.key()));
    assert_eq!(
        (&*table.results[0].problem, &*table.results[0].values),
        (&[8, 2][..], &[64, 1, 1][..])
    );
    assert_eq!(file.table(&model("b3:2")).unwrap(), Table::EMPTY, "stale");
    assert_eq!(
        Lockfile::default().table(&model_1).unwrap(),
        Table::EMPTY,
        "absent"
    );

    let edited = file.to_text().replace("\"half\"", "\"double\"");
    let error = Lockfile::parse(&edited)
        .unwrap()
        .table(&model_1)
        .unwrap_err();
    assert!(
        matches!(&error, BakeError::NotInDomain { parameter, .. } if parameter == "T"),
        "{error}"
    );
}

#[test]
fn merging_keeps_the_faster_result_and_the_newer_driver() {
    let model = model("b3:1");
    let (mut a, mut b) = (Lockfile::default(), Lockfile::default());
    record(
        &mut a,
        &model,
        &device("CUDA", "H200", "580.9"),
        &measured([8, 2], [64, 1, 1], 7.0),
    );
    record(
        &mut b,
        &model,
        &device("CUDA", "H200", "580.10"),
        &measured([8, 2], [32, 1, 1], 6.0),
    );
    record(
        &mut b,
        &model,
        &device("CUDA", "A100", "1"),
        &measured([8, 2], [32, 0, 1], 9.0),
    );
    let report = a.merge(&b);
    assert_eq!(report.added_devices, ["a100"]);
    assert_eq!(report.added_entries, 1);
    assert_eq!(report.results.len(), 1);
    assert!(report.results[0].kept_other);
    let shown = report.results[0].to_string();
    assert!(
        shown.contains("app::saxpy on h200 for { n = 8, m = 2 }"),
        "{shown}"
    );
    assert_eq!(a.device("h200").unwrap().driver, "580.10");
    assert_eq!(
        a.kernel("app::saxpy")
            .unwrap()
            .entry("h200", &[8, 2])
            .unwrap()
            .time_us,
        6.0
    );
}

#[test]
fn merging_different_versions_of_a_kernel_reports_them_and_mixes_nothing() {
    let gpu = device("CUDA", "H200", "1");
    let (mut a, mut b) = (Lockfile::default(), Lockfile::default());
    record(
        &mut a,
        &model("b3:old"),
        &gpu,
        &measured([8, 2], [64, 1, 1], 7.0),
    );
    record(
        &mut b,
        &model("b3:new"),
        &gpu,
        &measured([8, 2], [32, 1, 1], 6.0),
    );
    record(
        &mut b,
        &model("b3:new"),
        &gpu,
        &measured([9, 2], [32, 1, 1], 6.0),
    );
    let before = a.clone();
    let report = a.merge(&b);
    assert_eq!(a, before);
    assert_eq!(report.fingerprints.len(), 1);
    let shown = report.fingerprints[0].to_string();
    assert!(
        shown.contains("kept 1 entry (b3:old), left out 2 entries (b3:new)"),
        "{shown}"
    );
}

#[test]
fn both_sides_of_a_conflict_can_be_read_and_united() {
    let model = model("b3:1");
    let (mut a, mut b) = (Lockfile::default(), Lockfile::default());
    record(
        &mut a,
        &model,
        &device("CUDA", "H200", "1"),
        &measured([8, 2], [64, 1, 1], 7.0),
    );
    record(
        &mut b,
        &model,
        &device("CUDA", "H200", "1"),
        &measured([9, 2], [32, 1, 1], 6.0),
    );
    let text = format!(
        "<<<<<<< HEAD\n{}=======\n{}>>>>>>> side\n",
        a.to_text(),
        b.to_text()
    );
    assert!(Lockfile::parse(&text).is_err());
    let sides = split_conflict(&text).unwrap();
    assert_eq!(Lockfile::parse(&sides.ours).unwrap(), a);
    assert_eq!(Lockfile::parse(&sides.theirs).unwrap(), b);
}

#[test]
fn merging_never_mixes_dimensions_even_when_a_file_was_edited_by_hand() {
    let (model, gpu) = (model("b3:1"), device("CUDA", "H200", "1"));
    let (mut a, mut b) = (Lockfile::default(), Lockfile::default());
    record(&mut a, &model, &gpu, &measured([8, 2], [64, 1, 1], 7.0));
    record(&mut b, &model, &gpu, &measured([9, 2], [32, 1, 1], 6.0));
    // Keys in another order are the same problem.
    let sorted = b.to_text().replace("{ n = 9, m = 2 }", "{ m = 2, n = 9 }");
    let mut united = a.clone();
    assert!(
        united
            .merge(&Lockfile::parse(&sorted).unwrap())
            .fingerprints
            .is_empty()
    );
    assert!(united.kernels[0].entry("h200", &[9, 2]).is_some());
    // Other names are another kernel, whatever its fingerprint says.
    let renamed = b.to_text().replace("{ n = 9, m = 2 }", "{ n = 9, k = 2 }");
    let report = a.merge(&Lockfile::parse(&renamed).unwrap());
    assert_eq!(report.fingerprints.len(), 1);
    assert_eq!(Lockfile::parse(&a.to_text()).unwrap(), a);
}
