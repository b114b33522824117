//! Unit tests of `commands::merge`.

use super::*;
use std::fs;
use std::path::Path;

fn lockfile(device: &str, fingerprint: &str, time_us: f64) -> String {
    format!(
        "version = 1\n\n[[device]]\nid = \"{device}\"\nplatform = \"p\"\nname = \"{device}\"\n\
             vendor = \"v\"\ntype = \"gpu\"\ndriver = \"1\"\ncompute_units = 1\n\
             max_work_group_size = 1\nlocal_mem_size = 1\n\n[[kernel]]\nname = \"a::k\"\n\
             fingerprint = \"{fingerprint}\"\nparams = [\"WG\"]\n\n[[kernel.tuned]]\n\
             device = \"{device}\"\nproblem = {{}}\nvalues = [1]\ntime_us = {time_us:?}\n\
             evaluated = 1\nvalid = 1\nstrategy = \"full\"\n"
    )
}

struct Run {
    result: Result<Exit, MergeError>,
    stdout: String,
    stderr: String,
}

fn merge(folder: &Path, files: &[(&str, String)], output: Option<&str>) -> Run {
    for (name, text) in files {
        fs::write(folder.join(name), text).unwrap();
    }
    let args = MergeArgs {
        files: files.iter().map(|(name, _)| folder.join(name)).collect(),
        output: output.map(|name| folder.join(name)),
        ..MergeArgs::default()
    };
    let (mut stdout, mut stderr) = (Vec::new(), Vec::new());
    let result = run(&args, &mut stdout, &mut stderr);
    let text = |bytes| String::from_utf8(bytes).unwrap();
    Run {
        result,
        stdout: text(stdout),
        stderr: text(stderr),
    }
}

#[test]
fn two_machines_are_united_on_standard_output() {
    let folder = tempfile::tempdir().unwrap();
    let files = [
        ("a", lockfile("x", "b3:1", 1.0)),
        ("b", lockfile("y", "b3:1", 2.0)),
    ];
    let run = merge(folder.path(), &files, None);
    assert_eq!(run.result.unwrap(), Exit::Done);
    let united = Lockfile::parse(&run.stdout).unwrap();
    assert_eq!(united.kernels[0].tuned.len(), 2);
    assert!(
        run.stderr.contains("1 new entry, new devices: y"),
        "{}",
        run.stderr
    );
}

#[test]
fn times_that_do_not_compare_are_reported() {
    let folder = tempfile::tempdir().unwrap();
    let cold = format!("{}measure = \"cold\"\n", lockfile("x", "b3:1", 9.0));
    let files = [("a", cold), ("b", lockfile("x", "b3:1", 1.0))];
    let run = merge(folder.path(), &files, None);
    assert_eq!(run.result.unwrap(), Exit::Reported);
    let united = Lockfile::parse(&run.stdout).unwrap();
    assert_eq!(united.kernels[0].tuned[0].time_us, 9.0);
    for part in [
        "measured with cold caches, left out the one measured with warm caches",
        "cltune check",
    ] {
        assert!(run.stderr.contains(part), "{}", run.stderr);
    }
}

#[test]
fn the_output_may_be_one_of_the_files() {
    let folder = tempfile::tempdir().unwrap();
    let files = [
        ("a", lockfile("x", "b3:1", 1.0)),
        ("b", lockfile("x", "b3:1", 0.5)),
    ];
    let run = merge(folder.path(), &files, Some("a"));
    assert_eq!(run.result.unwrap(), Exit::Done);
    assert_eq!(run.stdout, "");
    assert!(
        run.stderr.contains("0.5 us instead of 1 us"),
        "{}",
        run.stderr
    );
    assert_eq!(
        fs::read_to_string(folder.path().join("a")).unwrap(),
        files[1].1
    );
}

#[test]
fn conflict_markers_are_resolved() {
    let folder = tempfile::tempdir().unwrap();
    let (ours, theirs) = (lockfile("x", "b3:1", 1.0), lockfile("y", "b3:1", 2.0));
    let text = format!("<<<<<<< HEAD\n{ours}=======\n{theirs}>>>>>>> branch\n");
    let run = merge(folder.path(), &[("cltune.lock", text)], Some("cltune.lock"));
    assert_eq!(run.result.unwrap(), Exit::Done);
    let united = lockfile_store::read(&folder.path().join("cltune.lock"))
        .unwrap()
        .unwrap();
    assert_eq!(united.devices.len(), 2);
}

#[test]
fn different_versions_of_a_kernel_are_reported() {
    let folder = tempfile::tempdir().unwrap();
    let files = [
        ("a", lockfile("x", "b3:1", 1.0)),
        ("b", lockfile("y", "b3:2", 2.0)),
    ];
    let run = merge(folder.path(), &files, None);
    assert_eq!(run.result.unwrap(), Exit::Reported);
    assert_eq!(
        Lockfile::parse(&run.stdout).unwrap().kernels[0].fingerprint,
        "b3:1"
    );
    assert!(run.stderr.contains("cargo cltune check"), "{}", run.stderr);
}

#[test]
fn an_output_that_is_one_of_the_files_does_not_lose_results_of_its_own() {
    let folder = tempfile::tempdir().unwrap();
    let cold = format!("{}measure = \"cold\"\n", lockfile("x", "b3:1", 9.0));
    for (other, reason) in [
        (lockfile("y", "b3:2", 2.0), "left out 1 entry (b3:2)"),
        (cold, "left out the one measured with cold caches"),
    ] {
        let files = [("a", lockfile("x", "b3:1", 1.0)), ("b", other)];
        let refused = merge(folder.path(), &files, Some("b")).result;
        let refused = refused.unwrap_err().to_string();
        for part in ["b: nothing was written", reason, "name this one first"] {
            assert!(refused.contains(part), "{part}: {refused}");
        }
        let left = fs::read_to_string(folder.path().join("b")).unwrap();
        assert_eq!(left, files[1].1);
        // Nothing of the first file is left out, and the other one stays where it is.
        let run = merge(folder.path(), &files, Some("a"));
        assert_eq!(run.result.unwrap(), Exit::Reported);
        // Git has both sides.
        let sides = files.map(|(_, text)| text);
        let text = format!("<<<<<<< HEAD\n{}=======\n{}>>>>>>> b\n", sides[0], sides[1]);
        let run = merge(folder.path(), &[("c", text)], Some("c"));
        assert_eq!(run.result.unwrap(), Exit::Reported);
    }
}

#[test]
fn unreadable_files_are_named_and_nothing_is_written() {
    let folder = tempfile::tempdir().unwrap();
    let good = lockfile("x", "b3:1", 1.0);
    let newer = "version = 2\n".to_owned();
    let run = merge(
        folder.path(),
        &[("a", good.clone()), ("b", newer)],
        Some("a"),
    );
    let shown = run.result.unwrap_err().to_string();
    assert!(
        shown.contains("b: line 1") && shown.contains("update cltune"),
        "{shown}"
    );
    assert_eq!(fs::read_to_string(folder.path().join("a")).unwrap(), good);

    let broken = "<<<<<<< HEAD\nversion = 1\n=======\nversion = x\n>>>>>>> b\n".to_owned();
    let shown = merge(folder.path(), &[("c", broken)], None)
        .result
        .unwrap_err()
        .to_string();
    assert!(shown.contains("c, their side"), "{shown}");

    let args = MergeArgs {
        files: vec![folder.path().join("none")],
        ..MergeArgs::default()
    };
    let result = super::run(&args, &mut Vec::new(), &mut Vec::new());
    assert!(matches!(result, Err(MergeError::NoFile { .. })));
}
