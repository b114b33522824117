//! Unit tests of `fleet::part_file`.

use super::*;
use crate::fleet::units;
use crate::plan::Job;
use crate::samples;
use crate::worker::DeviceRecord;
use cltune_core::measure::Measure;
use cltune_formats::lockfile::Measured;
use std::fs;

/// Part `slice:K/N` of two kernels on one device, for two problems each.
pub(crate) fn part(partition: &str) -> Part {
    let mut jobs = Vec::new();
    for kernel in ["app::a", "app::b"] {
        for n in [8, 16] {
            jobs.push(Job {
                folder: "app".into(),
                declaration: samples::declaration(kernel, "b3:1", &[8]),
                device: DeviceRecord::new(0, &samples::device("X")),
                twins: Vec::new(),
                dims: vec![n],
            });
        }
    }
    Part {
        partition: partition.parse().unwrap(),
        artifact: "b3:1".to_owned(),
        lockfile: "cltune.lock".to_owned(),
        units: units(&jobs),
    }
}

/// A lockfile with results of some units.
fn results<'a>(of: impl IntoIterator<Item = &'a Unit>) -> Lockfile {
    let mut lockfile = Lockfile::default();
    for unit in of {
        let kernel = ["app::a", "app::b"]
            .into_iter()
            .find(|kernel| *kernel == unit.kernel);
        let measured = Measured {
            dims: unit.dims().to_vec(),
            codes: vec![32],
            time_us: 1.0,
            default_us: None,
            evaluated: 1,
            valid: 4,
            strategy: "full".to_owned(),
            verification: None,
            measure: Measure::WARM,
            energy_j: None,
            default_energy_j: None,
        };
        let model = samples::declaration(kernel.unwrap(), "b3:1", &[8]).model;
        let device = samples::device("X");
        lockfile.record(&model, &device, &measured).unwrap();
    }
    lockfile
}

fn read(folder: &Path) -> PartFile {
    PartFile::read(folder).unwrap().unwrap()
}

#[test]
fn what_was_done_is_read_back() {
    let folder = tempfile::tempdir().unwrap();
    assert_eq!(PartFile::read(folder.path()).unwrap(), None);
    let part = part("slice:1/1");
    let log = PartPlan::new(folder.path(), part.clone(), None)
        .unwrap()
        .begin()
        .unwrap();
    log.note(&part.units[1], &UnitResult::Tuned).unwrap();
    let failed = UnitResult::Failed("no room".to_owned());
    log.note(&part.units[2], &failed).unwrap();
    let file = read(folder.path());
    assert_eq!(file.part, part);
    let expected = [(1, UnitResult::Tuned), (2, failed)];
    assert_eq!(file.outcomes, expected.into());

    // Gone on with, what is tuned is left; what failed is tried again.
    let lockfile = results([&part.units[1]]);
    let plan = PartPlan::new(folder.path(), part.clone(), Some(&lockfile)).unwrap();
    let open: Vec<bool> = part.units.iter().map(plan.is_open()).collect();
    assert_eq!(open, [true, false, true, true]);
    assert!(
        plan.to_string().contains("4 of 4 units; 1 are done"),
        "{plan}"
    );
    plan.begin()
        .unwrap()
        .note(&part.units[2], &UnitResult::Tuned)
        .unwrap();
    assert_eq!(read(folder.path()).outcomes[&2], UnitResult::Tuned);

    let plan = PartPlan::new(folder.path(), part.clone(), None).unwrap();
    assert!(part.units.iter().all(plan.is_open()));
    // Before it begins, the file is as it was.
    assert_ne!(read(folder.path()).outcomes, BTreeMap::new());
    drop(plan.begin().unwrap());
    assert_eq!(read(folder.path()).outcomes, BTreeMap::new());
}

#[test]
fn what_has_no_result_in_the_lockfile_is_open_again() {
    let folder = tempfile::tempdir().unwrap();
    let part = part("slice:1/1");
    let log = PartPlan::new(folder.path(), part.clone(), None)
        .unwrap()
        .begin()
        .unwrap();
    for unit in &part.units {
        log.note(unit, &UnitResult::Tuned).unwrap();
    }
    let rest = results([&part.units[0], &part.units[3]]);
    let plan = PartPlan::new(folder.path(), part.clone(), Some(&rest)).unwrap();
    let open: Vec<bool> = part.units.iter().map(plan.is_open()).collect();
    assert_eq!(open, [false, true, true, false]);
    assert!(plan.to_string().contains("; 2 are done"), "{plan}");
}

#[test]
fn units_of_other_parts_are_not_open() {
    let folder = tempfile::tempdir().unwrap();
    let part = part("slice:2/2");
    let plan = PartPlan::new(folder.path(), part.clone(), None).unwrap();
    let open: Vec<bool> = part.units.iter().map(plan.is_open()).collect();
    assert_eq!(open, [false, false, true, true]);
}

#[test]
fn a_folder_is_of_one_part() {
    let folder = tempfile::tempdir().unwrap();
    drop(
        PartPlan::new(folder.path(), part("slice:1/2"), None)
            .unwrap()
            .begin()
            .unwrap(),
    );
    let other_artifact = Part {
        artifact: "b3:2".to_owned(),
        ..part("slice:1/2")
    };
    let other_lockfile = Part {
        lockfile: "other.lock".to_owned(),
        ..part("slice:1/2")
    };
    for (other, words) in [
        (
            part("slice:2/2"),
            "is of slice:1/2 of 4 units, and this is slice:2/2",
        ),
        (
            other_artifact,
            "artifact b3:1, and this is slice:1/2 of artifact b3:2: name a folder of its own for each part, artifact, \
             `--measure` and `--objective`",
        ),
        (other_lockfile, "the results in other.lock"),
    ] {
        for resumed in [None, Some(&Lockfile::default())] {
            let error = PartPlan::new(folder.path(), other.clone(), resumed)
                .err()
                .unwrap();
            let error = error.to_string();
            assert!(
                error.contains(words) && error.contains("--lockfile"),
                "{error}"
            );
        }
    }
}

#[test]
fn a_killed_session_costs_half_a_line() {
    let folder = tempfile::tempdir().unwrap();
    let part = part("slice:1/1");
    let log = PartPlan::new(folder.path(), part.clone(), None)
        .unwrap()
        .begin()
        .unwrap();
    log.note(&part.units[0], &UnitResult::Tuned).unwrap();
    let path = folder.path().join(NAME);
    let text = fs::read_to_string(&path).unwrap();
    let torn = format!("{text}{}", r#"{"unit":1,"crc"#);
    fs::write(&path, torn).unwrap();
    let lockfile = results(&part.units);
    let log = PartPlan::new(folder.path(), part.clone(), Some(&lockfile))
        .unwrap()
        .begin()
        .unwrap();
    log.note(&part.units[3], &UnitResult::Tuned).unwrap();
    let outcomes = read(folder.path()).outcomes;
    assert_eq!(outcomes.into_keys().collect::<Vec<_>>(), [0, 3]);
    // So does damage after which it is no text.
    let mut bytes = fs::read(&path).unwrap();
    *bytes.iter_mut().rev().nth(10).unwrap() = 0xff;
    fs::write(&path, &bytes).unwrap();
    let outcomes = read(folder.path()).outcomes;
    assert_eq!(outcomes.into_keys().collect::<Vec<_>>(), [0]);
}

#[test]
fn damage_and_newer_versions_are_refused_with_the_line() {
    let folder = tempfile::tempdir().unwrap();
    drop(
        PartPlan::new(folder.path(), part("slice:1/2"), None)
            .unwrap()
            .begin()
            .unwrap(),
    );
    let path = folder.path().join(NAME);
    let text = fs::read_to_string(&path).unwrap();
    let lines: Vec<&str> = text.lines().collect();
    for (changed, words) in [
        (
            text.replace("slice:1/2", "slice:2/2"),
            "line 1: the line is damaged",
        ),
        (
            text.replace("app::b", "app::c"),
            "line 4: the line is damaged",
        ),
        (
            lines[..3].join("\n"),
            "line 4: the file ends after 2 of 4 units",
        ),
        (String::new(), "line 1: the line is damaged"),
        ("no JSON".to_owned(), "line 1: the line is damaged"),
        (
            text.replacen(
                "\"cltune_part\":1,\"cltune\":\"0.1.0\"",
                "\"cltune_part\":9,\"cltune\":\"7.0.0\"",
                1,
            ),
            "version 9 of the format, written by cltune 7.0.0, and this cltune",
        ),
    ] {
        fs::write(&path, changed).unwrap();
        let error = PartFile::read(folder.path()).unwrap_err().to_string();
        assert!(error.contains(words), "{words}: {error}");
    }
    let mut bytes = text.into_bytes();
    bytes[20] = 0xff;
    fs::write(&path, bytes).unwrap();
    let error = PartFile::read(folder.path()).unwrap_err().to_string();
    assert!(
        error.contains("line 1: the line is damaged; remove that file"),
        "{error}"
    );
}
