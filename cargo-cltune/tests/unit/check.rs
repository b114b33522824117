//! Unit tests of `commands::check`: packages in temporary folders, with sample declarations.

use super::{CheckArgs, CheckError, LockfileArgs, run};
use crate::artifact::{Discovery, PackageTunables};
use crate::commands::{Exit, Format};
use crate::lockfile_store;
use crate::samples::{self, declaration};
use cltune_core::measure::{Measure, Objective};
use cltune_formats::declaration::Declaration;
use cltune_formats::fingerprint;
use cltune_formats::formula::{Scope, Type};
use cltune_formats::lockfile::{Lockfile, Measured};
use serde_json::{Value, json};
use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

fn record(lockfile: &mut Lockfile, declaration: &Declaration, device: &str, n: i64) {
    let measured = Measured {
        dims: vec![n],
        codes: vec![64],
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
    lockfile
        .record(&declaration.model, &samples::device(device), &measured)
        .unwrap();
}

fn args(format: Format) -> CheckArgs {
    CheckArgs {
        kernel: Vec::new(),
        artifact: None,
        lockfile: LockfileArgs::default(),
        format,
    }
}

/// One package, and nothing else.
fn found(package: PackageTunables) -> Discovery {
    Discovery {
        packages: vec![package],
        without: Vec::new(),
        dependencies: Vec::new(),
        held_back: Vec::new(),
        state: PathBuf::new(),
    }
}

fn check(folder: &Path, format: Format, declarations: &[Declaration]) -> (Exit, String) {
    check_with(folder, format, declarations, &[])
}

/// Where only examples, benchmarks and tests have `auxiliary`.
fn check_with(
    folder: &Path,
    format: Format,
    declarations: &[Declaration],
    auxiliary: &[&str],
) -> (Exit, String) {
    let package = PackageTunables {
        package: "app".to_owned(),
        manifest_dir: folder.to_owned(),
        is_copy: false,
        declarations: declarations.to_vec(),
        auxiliary: auxiliary.iter().map(ToString::to_string).collect(),
    };
    let mut out = Vec::new();
    let outcome = run(&args(format), found(package), None, &mut out).unwrap();
    (outcome, String::from_utf8(out).unwrap())
}

#[test]
fn results_that_were_verified_otherwise_are_a_warning() {
    let folder = tempfile::tempdir().unwrap();
    let saxpy = declaration("app::saxpy", "b3:1", &[8]);
    let mut lockfile = Lockfile::default();
    record(&mut lockfile, &saxpy, "x", 8);
    // Nobody knows how those were verified that say nothing of it.
    let verified = [None, Some(fingerprint::of_verification(&saxpy))];
    for verification in verified {
        lockfile.kernels[0].tuned[0].verification = verification;
        lockfile_store::write(&folder.path().join("cltune.lock"), &lockfile).unwrap();
        let (outcome, text) = check(folder.path(), Format::Text, std::slice::from_ref(&saxpy));
        assert_eq!(outcome, Exit::Done, "{text}");
        assert!(!text.contains("warning"), "{text}");
    }
    let mut stricter = saxpy;
    stricter.draws = Some(7);
    let (outcome, text) = check(folder.path(), Format::Text, std::slice::from_ref(&stricter));
    assert_eq!(outcome, Exit::Done, "{text}");
    let warning = "warning: app::saxpy: 1 entry verified by other rules than today's";
    assert!(text.contains(warning), "{text}");
    let (outcome, json) = check(folder.path(), Format::Json, &[stricter]);
    assert_eq!(outcome, Exit::Done);
    let json: Value = serde_json::from_str(&json).unwrap();
    assert_eq!(json["ok"], true);
    let warning = &json["packages"][0]["warnings"][0];
    assert_eq!(warning["kind"], "verified-otherwise", "{json}");
    assert_eq!(warning["entries"], 1);
}

#[test]
fn times_with_other_caches_than_declared_are_a_finding() {
    let folder = tempfile::tempdir().unwrap();
    let warm = declaration("app::saxpy", "b3:1", &[8]);
    let cold = Declaration {
        measure: Measure::COLD,
        ..warm.clone()
    };
    let mut lockfile = Lockfile::default();
    record(&mut lockfile, &warm, "x", 8);
    for (declared, measured) in [(&warm, Measure::COLD), (&cold, Measure::WARM)] {
        for (is, finds) in [(declared.measure, 0), (measured, 1)] {
            lockfile.kernels[0].tuned[0].measure = is;
            lockfile_store::write(&folder.path().join("cltune.lock"), &lockfile).unwrap();
            let of = std::slice::from_ref(declared);
            let (outcome, json) = check(folder.path(), Format::Json, of);
            let json: Value = serde_json::from_str(&json).unwrap();
            let findings = json["packages"][0]["findings"].as_array().unwrap();
            assert_eq!(findings.len(), finds, "{json}");
            if let [finding] = &findings[..] {
                assert_eq!(outcome, Exit::Reported);
                assert_eq!(finding["kind"], "measured-otherwise");
                assert_eq!(finding["measured"], measured.caches.word());
                assert_eq!(finding["entries"], 1);
                let (_, text) = check(folder.path(), Format::Text, of);
                let expected = format!("1 entry measured with {measured}");
                assert!(text.contains(&expected), "{text}");
                assert!(text.contains("run `cargo cltune`"), "{text}");
            }
        }
    }
}

#[test]
fn another_objective_than_is_declared_is_a_finding() {
    let folder = tempfile::tempdir().unwrap();
    let by = |objective| Measure {
        objective,
        ..Measure::WARM
    };
    let mut declared = declaration("app::saxpy", "b3:1", &[8, 16]);
    let mut lockfile = Lockfile::default();
    record(&mut lockfile, &declared, "x", 8);
    record(&mut lockfile, &declared, "x", 16);
    lockfile.kernels[0].tuned[0].measure = by(Objective::Energy);
    lockfile.kernels[0].tuned[0].energy_j = Some(0.5);
    lockfile_store::write(&folder.path().join("cltune.lock"), &lockfile).unwrap();
    for (objective, said) in [
        (
            Objective::Time,
            "1 entry chosen by energy, and it declares time now",
        ),
        (
            Objective::Energy,
            "1 entry chosen by time, and it declares energy now",
        ),
    ] {
        declared.measure = by(objective);
        let of = std::slice::from_ref(&declared);
        let (outcome, text) = check(folder.path(), Format::Text, of);
        assert_eq!(outcome, Exit::Reported);
        assert!(text.contains(said), "{text}");
    }
    declared.measure = by(Objective::EnergyDelay);
    let (_, json) = check(folder.path(), Format::Json, std::slice::from_ref(&declared));
    let json: Value = serde_json::from_str(&json).unwrap();
    let findings = json["packages"][0]["findings"].as_array().unwrap();
    let objectives: Vec<&str> = findings
        .iter()
        .filter_map(|finding| finding["objective"].as_str())
        .collect();
    assert_eq!(objectives, ["time", "energy"]);
}

#[test]
fn a_complete_lockfile_is_clean() {
    let folder = tempfile::tempdir().unwrap();
    let saxpy = declaration("app::saxpy", "b3:1", &[8, 9]);
    let mut lockfile = Lockfile::default();
    for device in ["x", "y"] {
        for n in [8, 9, 10] {
            record(&mut lockfile, &saxpy, device, n);
        }
    }
    lockfile_store::write(&folder.path().join("cltune.lock"), &lockfile).unwrap();
    let (outcome, text) = check(folder.path(), Format::Text, &[saxpy]);
    assert_eq!(
        (outcome, text.as_str()),
        (Exit::Done, "app: 1 tunable, lockfile up to date\n")
    );
}

/// A folder with a lockfile, which has one of the two problems of a declaration, for a GPU.
fn half_tuned() -> (tempfile::TempDir, Declaration) {
    let folder = tempfile::tempdir().unwrap();
    let saxpy = declaration("app::saxpy", "b3:1", &[8, 9]);
    let mut lockfile = Lockfile::default();
    record(&mut lockfile, &saxpy, "a GPU", 8);
    lockfile_store::write(&folder.path().join("cltune.lock"), &lockfile).unwrap();
    (folder, saxpy)
}

/// The declaration with this `tune_if`.
fn tuned_if(declaration: &Declaration, condition: &str) -> Declaration {
    let scope = Scope {
        parameters: &[],
        dimensions: &declaration.model.dimensions,
    };
    Declaration {
        tune_if: Some(cltune_formats::formula::parse(condition, &scope, Type::Bool).unwrap()),
        ..declaration.clone()
    }
}

#[test]
fn problems_are_only_missed_on_devices_that_they_are_tuned_on() {
    let (folder, saxpy) = half_tuned();
    let outcome =
        |condition: &str| check(folder.path(), Format::Text, &[tuned_if(&saxpy, condition)]).0;
    assert_eq!(outcome("n == 8"), Exit::Done);
    assert_eq!(outcome("device.is_cpu == 1 || n == 8"), Exit::Done);
    assert_eq!(outcome("device.is_gpu == 1"), Exit::Reported);
    let other = |condition: &str| tuned_if(&declaration("app::other", "b3:2", &[8]), condition);
    let gpu_only = check(folder.path(), Format::Text, &[other("device.is_gpu == 1")]);
    assert!(
        gpu_only.1.contains("app::other: never tuned"),
        "{}",
        gpu_only.1
    );
    let cpu_only = check(folder.path(), Format::Text, &[other("device.is_cpu == 1")]);
    assert_eq!(cpu_only.0, Exit::Done, "{}", cpu_only.1);
    // No value is no reason to leave a problem out.
    assert_eq!(outcome("8 / (9 - n) == 8"), Exit::Reported);
}

#[test]
fn a_limit_that_the_lockfile_does_not_hold_is_not_taken_for_zero() {
    let (folder, saxpy) = half_tuned();
    let missing = |condition: &str| {
        let (_, text) = check(folder.path(), Format::Text, &[tuned_if(&saxpy, condition)]);
        text.contains("not tuned on a-gpu for n = 9")
    };
    // Nobody knows whether it has to be there, so it is not missed.
    assert!(!missing("device.fp64 == 0"));
    assert!(!missing("device.fp64 == 1"));
    assert!(!missing("device.is_gpu == 1 && device.global_mem_size < n"));
    // What the file holds is enough to know.
    assert!(missing("device.is_gpu == 1 || device.fp64 == 1"));
    assert!(!missing("device.is_cpu == 1 && device.fp64 == 0"));
    assert!(missing(
        "device.compute_units + device.max_work_group_size < n"
    ));
}

#[test]
fn everything_that_is_missing_is_listed() {
    let folder = tempfile::tempdir().unwrap();
    let saxpy = declaration("app::saxpy", "b3:1", &[8, 9]);
    let edited = declaration("app::edited", "b3:2", &[8]);
    let fresh = declaration("app::fresh", "b3:3", &[8]);
    let mut lockfile = Lockfile::default();
    record(&mut lockfile, &saxpy, "x", 8);
    record(&mut lockfile, &saxpy, "x", 9);
    // Device y is in the file for another kernel: saxpy should be tuned there, too.
    record(
        &mut lockfile,
        &declaration("app::edited", "b3:before", &[8]),
        "y",
        8,
    );
    lockfile_store::write(&folder.path().join("cltune.lock"), &lockfile).unwrap();

    let declarations = [saxpy, edited, fresh];
    let (outcome, text) = check(folder.path(), Format::Text, &declarations);
    assert_eq!(outcome, Exit::Reported);
    let lines: Vec<&str> = text.lines().skip(1).map(str::trim_start).collect();
    assert_eq!(
        lines[..4],
        [
            "app::edited: stale: it changed since it was tuned (1 entry not used)",
            "app::fresh: never tuned",
            "app::saxpy: not tuned on y for n = 8",
            "app::saxpy: not tuned on y for n = 9",
        ]
    );
    assert!(lines[4].contains("on the devices named above"), "{text}");

    let (outcome, text) = check(folder.path(), Format::Json, &declarations);
    assert_eq!(outcome, Exit::Reported);
    let report: Value = serde_json::from_str(&text).unwrap();
    assert_eq!(report["ok"], json!(false));
    let findings = &report["packages"][0]["findings"];
    assert_eq!(findings[0]["kind"], "stale");
    assert_eq!(findings[1]["kind"], "not-tuned");
    assert_eq!(findings[2]["device"], "y");
    assert_eq!(findings[3]["problem"], json!({ "n": 9 }));
}

#[test]
fn a_missing_lockfile_is_reported_only_where_there_are_tunables() {
    let folder = tempfile::tempdir().unwrap();
    let (outcome, text) = check(
        folder.path(),
        Format::Text,
        &[declaration("app::a", "b3:1", &[8])],
    );
    assert_eq!(outcome, Exit::Reported);
    assert!(text.contains("there is no lockfile"), "{text}");
    assert!(text.contains("run `cargo cltune`, and commit"), "{text}");
    assert_eq!(check(folder.path(), Format::Text, &[]).0, Exit::Done);
}

#[test]
fn what_only_examples_have_need_not_be_tuned_and_must_not_be_stale() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cltune.lock");
    let saxpy = declaration("app::saxpy", "b3:1", &[8]);
    let shown = declaration("app::shown", "b3:2", &[8]);
    let both = [saxpy.clone(), shown.clone()];
    let text = |auxiliary: &[&str]| check_with(folder.path(), Format::Text, &both, auxiliary);
    let tuned = |kernels: &[&Declaration]| {
        let mut lockfile = Lockfile::default();
        for kernel in kernels {
            record(&mut lockfile, kernel, "x", 8);
        }
        lockfile_store::write(&path, &lockfile).unwrap();
    };

    // Without a lockfile it depends on whether there is anything else.
    let (outcome, all) = text(&["app::saxpy", "app::shown"]);
    assert_eq!(outcome, Exit::Done, "{all}");
    let expected = "app: 2 tunables, none that needs a lockfile\n  note: there is no lockfile";
    assert!(all.starts_with(expected), "{all}");
    assert_eq!(text(&["app::shown"]).0, Exit::Reported);

    tuned(&[&saxpy]);
    let (outcome, noted) = text(&["app::shown"]);
    assert_eq!(outcome, Exit::Done, "{noted}");
    let expected = "app: 2 tunables, lockfile up to date\n  note: app::shown: never tuned\n";
    assert!(noted.starts_with(expected), "{noted}");
    assert!(noted.contains("with `--all-targets` they are"), "{noted}");
    assert_eq!(text(&[]).0, Exit::Reported);
    let (_, json) = check_with(folder.path(), Format::Json, &both, &["app::shown"]);
    let report: Value = serde_json::from_str(&json).unwrap();
    let package = &report["packages"][0];
    let parts = (&report["ok"], &package["findings"]);
    assert_eq!(parts, (&json!(true), &json!([])), "{report}");
    assert_eq!(package["notes"][0]["kind"], "not-tuned", "{report}");

    let before = declaration("app::shown", "b3:before", &[8]);
    tuned(&[&saxpy, &before]);
    let (outcome, stale) = text(&["app::shown"]);
    assert_eq!(outcome, Exit::Reported);
    assert!(stale.contains("app::shown: stale"), "{stale}");
    tuned(&[&saxpy, &shown]);
    let entry = fs::read_to_string(&path).unwrap();
    fs::write(&path, entry.replace("[64]", "[65]")).unwrap();
    assert_eq!(text(&["app::saxpy", "app::shown"]).0, Exit::Reported);
}

#[test]
fn a_broken_or_hand_edited_lockfile_is_reported_with_its_place() {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("cltune.lock");
    let saxpy = declaration("app::saxpy", "b3:1", &[8]);
    fs::write(&path, "version = 1\n<<<<<<< HEAD\n").unwrap();
    let (outcome, text) = check(folder.path(), Format::Json, std::slice::from_ref(&saxpy));
    assert_eq!(outcome, Exit::Reported);
    let report: Value = serde_json::from_str(&text).unwrap();
    let (_, told) = check(folder.path(), Format::Text, std::slice::from_ref(&saxpy));
    assert!(!told.contains("run `cargo cltune`"), "{told}");
    let finding = &report["packages"][0]["findings"][0];
    assert_eq!(
        (&finding["kind"], &finding["line"]),
        (&json!("unreadable"), &json!(2))
    );

    let mut lockfile = Lockfile::default();
    record(&mut lockfile, &saxpy, "x", 8);
    fs::write(&path, lockfile.to_text().replace("[64]", "[65]")).unwrap();
    let (outcome, text) = check(folder.path(), Format::Text, &[saxpy]);
    assert_eq!(outcome, Exit::Reported);
    assert!(text.contains("gives parameter `WG` the value 65"), "{text}");
}

#[test]
fn a_lockfile_that_cannot_be_opened_is_an_error() {
    let folder = tempfile::tempdir().unwrap();
    fs::create_dir(folder.path().join("cltune.lock")).unwrap();
    let package = PackageTunables {
        package: "app".to_owned(),
        manifest_dir: folder.path().to_owned(),
        is_copy: false,
        declarations: Vec::new(),
        auxiliary: BTreeSet::new(),
    };
    let result = run(&args(Format::Text), found(package), None, &mut Vec::new());
    assert!(matches!(result, Err(CheckError::Store(_))));
}

#[test]
fn a_lockfile_that_was_named_and_the_kernels_that_were_named_are_judged_alone() {
    let folder = tempfile::tempdir().unwrap();
    let named = folder.path().join("m2.lock");
    let [a, b] = ["app::a", "app::b"].map(|name| declaration(name, "b3:1", &[8]));
    let package = PackageTunables {
        package: "app".to_owned(),
        manifest_dir: folder.path().to_owned(),
        is_copy: false,
        declarations: vec![a.clone(), b],
        auxiliary: BTreeSet::new(),
    };
    let check = |args: &CheckArgs, variable: Option<&Path>| {
        let mut out = Vec::new();
        let outcome = run(args, found(package.clone()), variable, &mut out);
        outcome.map(|exit| (exit, String::from_utf8(out).unwrap()))
    };
    let mut asked = args(Format::Text);
    asked.lockfile = LockfileArgs::named(&named);
    let absent = check(&asked, None).unwrap_err().to_string();
    assert!(absent.contains("m2.lock"), "{absent}");

    let mut lockfile = Lockfile::default();
    record(&mut lockfile, &a, "x", 8);
    lockfile_store::write(&named, &lockfile).unwrap();
    // The file of the variable would be one more.
    let (outcome, text) = check(&asked, Some(&folder.path().join("other.lock"))).unwrap();
    assert_eq!(outcome, Exit::Reported);
    assert!(
        !text.contains("app::a:") && text.contains("app::b: never tuned"),
        "{text}"
    );
    let remedy = format!(
        "run `cargo cltune --lockfile {0}`, and commit {0}",
        named.display()
    );
    assert!(text.contains(&remedy), "{text}");

    asked.kernel = vec!["app::a".to_owned()];
    let (outcome, text) = check(&asked, None).unwrap();
    assert_eq!(
        (outcome, &*text),
        (Exit::Done, "app: 1 tunable, lockfile up to date\n")
    );
    asked.kernel = vec!["app::c".to_owned()];
    let unknown = check(&asked, None).unwrap_err().to_string();
    assert!(unknown.contains("app::c"), "{unknown}");

    // Without cargo the remedy needs none either.
    asked.kernel = vec!["app::b".to_owned()];
    asked.artifact = Some("./app".into());
    let (_, text) = check(&asked, None).unwrap();
    let remedy = "run `cargo cltune tune --artifact ./app --lockfile ";
    assert!(text.contains(remedy), "{text}");
}
