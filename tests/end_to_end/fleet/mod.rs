//! Several machines that tune parts of one artifact, and what they found united.

mod contributions;
mod journals;

use cltune_tests::fleet::{self, Fleet, KERNELS};
use cltune_tests::process::signal;
use cltune_tests::{Running, is_left_to_full};
use serde_json::Value;
use std::fs;
use std::sync::OnceLock;

/// The partitions of a fleet of two.
const HALVES: [&str; 2] = ["slice:1/2", "slice:2/2"];

/// A fleet whose two parts are tuned, as `part-1` and `part-2`.
fn tuned() -> Fleet {
    static TUNED: OnceLock<Fleet> = OnceLock::new();
    let tuned = TUNED.get_or_init(|| {
        let fleet = Fleet::new();
        for (number, partition) in (1..).zip(HALVES) {
            let folder = format!("part-{number}");
            let _ = fleet.part(partition, &folder, &[]).expect_code(0);
        }
        fleet
    });
    tuned.copied()
}

/// The kernels that a lockfile has entries of, and how many.
fn entries(lockfile: &str) -> Vec<(String, usize)> {
    let mut entries: Vec<(String, usize)> = Vec::new();
    for line in lockfile.lines() {
        if let Some(name) = line.strip_prefix("name = \"cltune_e2e_fleet") {
            entries.push((format!("cltune_e2e_fleet{}", name.trim_end_matches('"')), 0));
        } else if line == "[[kernel.tuned]]" {
            entries.last_mut().expect("entries have a kernel").1 += 1;
        }
    }
    entries
}

#[test]
fn parts_are_united_and_the_lockfile_knows_nothing_of_them() {
    let fleet = tuned();
    let of = |number: usize| entries(&fleet.read(&format!("part-{number}/cltune.lock")));
    let [first, second, third] = KERNELS.map(|kernel| (kernel.to_owned(), 2));
    // Both problems of a kernel are in one part.
    assert_eq!(of(1), [first.clone(), third.clone()]);
    assert_eq!(of(2), std::slice::from_ref(&second));
    let merge = ["merge", "part-1", "part-2", "--output", "cltune.lock"];
    let _ = fleet.cltune(&merge).expect_code(0);
    let united = fleet.read("cltune.lock");
    assert_eq!(entries(&united), [first, second, third]);
    for word in ["slice", "part", "artifact"] {
        assert!(!united.contains(word), "{word}: {united}");
    }
    let _ = fleet.cltune(&["check", "--artifact", "app"]).expect_code(0);
    // The lockfiles of parts say as much as their folders.
    let files = ["merge", "part-1/cltune.lock", "part-2/cltune.lock"];
    let by_files = fleet.cltune(&files).expect_code(0);
    assert_eq!(by_files.stdout, united);
    let _ = fleet
        .cltune(&files[..2])
        .expect_code(2)
        .expect_stderr(&["slice:2/2 is missing", "cltune_e2e_fleet::second on "]);
}

#[test]
fn parts_by_hash_are_united_whatever_falls_to_each() {
    let fleet = Fleet::new();
    for number in 1..=2 {
        let (partition, folder) = (format!("hash:{number}/2"), format!("part-{number}"));
        let problem = ["--problem", "n=256"];
        let _ = fleet.part(&partition, &folder, &problem).expect_code(0);
    }
    // The names of the device are hashed, too, and a part may have nothing to do.
    let of = |number: usize| -> Vec<(String, usize)> {
        let lockfile = fs::read_to_string(fleet.path(&format!("part-{number}/cltune.lock")));
        lockfile.map_or_else(|_| Vec::new(), |lockfile| entries(&lockfile))
    };
    let all = KERNELS.map(|kernel| (kernel.to_owned(), 1));
    let mut both = [of(1), of(2)].concat();
    both.sort();
    assert_eq!(both, all);
    let merge = ["merge", "part-1", "part-2", "--output", "cltune.lock"];
    let _ = fleet.cltune(&merge).expect_code(0);
    assert_eq!(entries(&fleet.read("cltune.lock")), all);
    let (lost, kept) = if of(1).is_empty() { (2, 1) } else { (1, 2) };
    let missing = format!("hash:{lost}/2 is missing, with ");
    let kernel = format!("{} on ", of(lost)[0].0);
    let merged = fleet.cltune(&["merge", &format!("part-{kept}")]);
    let _ = merged.expect_code(2).expect_stderr(&[&missing, &kernel]);
}

#[test]
fn units_are_listed_as_engines_take_them() {
    let fleet = Fleet::new();
    let units = |arguments: &[&str]| {
        let units = ["units", "--artifact", "app", "--device", "0"];
        let listed = fleet.cltune(&[&units, arguments].concat());
        listed.expect_code(0).stdout
    };
    let lines = units(&[]);
    let lines: Vec<Value> = lines
        .lines()
        .map(|line| serde_json::from_str(line).expect("a line is JSON"))
        .collect();
    let kernels: Vec<&str> = lines
        .iter()
        .filter_map(|line| line["kernel"].as_str())
        .collect();
    assert_eq!(kernels, KERNELS);
    for (number, line) in (1..).zip(&lines) {
        assert_eq!(line["partition"], format!("slice:{number}/3"));
        assert_eq!(line["problems"][1]["n"], 512, "{line}");
        assert!(
            line["device"].is_string() && line["platform"].is_string(),
            "{line}"
        );
    }
    let array: Value = serde_json::from_str(&units(&["--format", "array"])).expect("JSON");
    assert_eq!(array, Value::from(lines.clone()));
    let second = units(&["--partition", "slice:2/2"]);
    let second: Value = serde_json::from_str(&second).expect("one line");
    assert_eq!(second, lines[1]);
}

#[test]
fn a_partition_that_is_none_says_why() {
    let fleet = Fleet::new();
    for (partition, words) in [
        ("slice:0/3", "the first of 3 is `slice:1/3`"),
        ("slice:4/3", "the last is `slice:3/3`"),
        ("half", "`slice:K/N` or `hash:K/N`"),
    ] {
        let _ = fleet
            .part(partition, "part", &[])
            .expect_code(2)
            .expect_stderr(&[words]);
    }
    let built = fleet.cltune(&["tune", "--partition", "slice:1/3"]);
    let _ = built.expect_code(2).expect_stderr(&["--artifact"]);
    assert!(!fleet.path("part/cltune-state").exists());
}

#[test]
fn what_is_missing_is_named_and_nothing_is_written() {
    let fleet = Fleet::new();
    let _ = fleet.part("slice:1/2", "part-1", &[]).expect_code(0);
    let merge = ["merge", "part-1", "--output", "cltune.lock"];
    let _ = fleet.cltune(&merge).expect_code(2).expect_stderr(&[
        "slice:2/2 is missing, with 2 units",
        "cltune_e2e_fleet::second on ",
        " for n = 256",
        "--incomplete",
    ]);
    assert!(!fleet.path("cltune.lock").exists());
    let incomplete = fleet.cltune(&[&merge[..], &["--incomplete"]].concat());
    let _ = incomplete
        .expect_code(1)
        .expect_stderr(&["warning: slice:2/2 is missing"]);
    assert_eq!(entries(&fleet.read("cltune.lock")).len(), 2);
}

#[test]
fn a_part_without_its_lockfile_has_done_nothing() {
    if is_left_to_full() {
        return;
    }
    let fleet = tuned();
    fs::remove_file(fleet.path("part-2/cltune.lock")).expect("a file can be removed");
    let merge = ["merge", "part-1", "part-2"];
    let merged = fleet.cltune(&merge).expect_code(2);
    let _ = merged.expect_stderr(&[
        "slice:2/2 (part-2) has not done 2 units; go on with it by `--resume`",
        "::second on ",
    ]);
    // That helps, and measures nothing again: the journals are there.
    let json = ["--resume", "--message-format", "json"];
    let resumed = fleet.part(HALVES[1], "part-2", &json).expect_code(0);
    assert_eq!(resumed.messages("finished").len(), 2, "{resumed}");
    assert!(resumed.messages("configuration").is_empty(), "{resumed}");
    let _ = fleet.cltune(&merge).expect_code(0);
    // A damaged one is named.
    fleet.write("part-2/cltune.lock", "version = ");
    let merged = fleet.cltune(&merge).expect_code(2);
    let _ = merged.expect_stderr(&["part-2/cltune.lock: line 1: "]);
}

#[test]
fn parts_that_do_not_belong_together_are_refused() {
    let fleet = tuned();
    let merge = |folders: &[&str]| fleet.cltune(&[&["merge"], folders].concat()).expect_code(2);
    // The same part twice: named twice, and tuned twice.
    let twice = merge(&["part-1", "part-2", "part-1"]);
    let _ = twice.expect_stderr(&["part-1 and part-1 are both slice:1/2", "--time-again"]);
    // Another build.
    fs::copy(fleet::other_artifact(), fleet.path("app")).expect("the artifact can be replaced");
    let _ = fleet.part("slice:2/2", "other", &[]).expect_code(0);
    let _ = merge(&["part-1", "other"])
        .expect_stderr(&["part-1 and other are parts of different artifacts"]);
    // Its folder is of a part of the first build.
    let resumed = fleet
        .part("slice:2/2", "part-2", &["--resume"])
        .expect_code(2);
    let _ = resumed.expect_stderr(&[
        "part.jsonl is of slice:2/2 of artifact b3:",
        "remove that file",
    ]);
    // A file of a part instead of its folder.
    let file = merge(&["part-1", "part-2/cltune-state/part.jsonl"]);
    let _ = file.expect_stderr(&[
        "part.jsonl: it lies in the folder of a part",
        "name that folder",
    ]);
    // A folder of nothing.
    fs::create_dir(fleet.path("empty")).expect("a folder can be made");
    let _ = merge(&["empty"])
        .expect_stderr(&["empty: it is a folder, not a file, and no part is in it"]);
}

#[test]
fn a_part_of_another_release_or_damaged_is_refused() {
    let fleet = tuned();
    let file = "part-2/cltune-state/part.jsonl";
    let text = fleet.read(file);
    for (from, to, words) in [
        (
            "\"cltune_part\":1",
            "\"cltune_part\":2",
            "version 2 of the format, written by cltune",
        ),
        ("slice:2/2", "slice:1/2", "line 1: the line is damaged"),
        ("::third", "::fourth", "the line is damaged"),
    ] {
        fleet.write(file, &text.replace(from, to));
        let merged = fleet.cltune(&["merge", "part-1", "part-2"]).expect_code(2);
        let _ = merged.expect_stderr(&["part.jsonl", words]);
    }
}

#[test]
fn a_killed_part_goes_on_and_does_not_tune_again_what_it_has() {
    let fleet = Fleet::new();
    let json = ["--message-format", "json", "--resume"];
    let mut killed = Running::start(&mut fleet.part_command("slice:1/1", "part", &json));
    killed.wait_for("\"reason\":\"finished\"");
    killed.wait_for("\"reason\":\"configuration\"");
    assert!(signal(killed.id(), "KILL"));
    let _ = killed.end();
    let merge = ["merge", "part", "--output", "cltune.lock"];
    let _ = fleet.cltune(&merge).expect_code(2).expect_stderr(&[
        "slice:1/1 (part) has not done",
        "go on with it by `--resume`",
        "::third on ",
    ]);
    let resumed = fleet.part("slice:1/1", "part", &json).expect_code(0);
    // The first search was done, and the second was begun.
    assert_eq!(resumed.messages("finished").len(), 5, "{resumed}");
    assert!(!resumed.messages("resumed").is_empty(), "{resumed}");
    let again = fleet
        .part("slice:1/1", "part", &["--resume"])
        .expect_code(0);
    let _ = again.expect_stderr(&["slice:1/1: 6 of 6 units; 6 are done"]);
    let _ = fleet.cltune(&merge).expect_code(0);
    assert_eq!(entries(&fleet.read("cltune.lock")).len(), 3);
}

#[test]
fn a_unit_without_a_result_is_reported_and_the_rest_is_united() {
    let fleet = Fleet::new();
    // The constraint leaves nothing of all kernels for the smaller problem.
    let one = ["--kernel", "first", "--constraint", "A + n / 256 > 6"];
    let _ = fleet.part("slice:1/1", "part", &one).expect_code(1);
    let merged = fleet
        .cltune(&["merge", "part", "--output", "cltune.lock"])
        .expect_code(1);
    let _ = merged.expect_stderr(&[
        "warning: cltune_e2e_fleet::first on ",
        "no configuration is valid",
    ]);
    assert_eq!(
        entries(&fleet.read("cltune.lock")),
        [(KERNELS[0].to_owned(), 1)]
    );
}

#[test]
fn a_copied_lockfile_does_not_speak_for_other_parts() {
    if is_left_to_full() {
        return;
    }
    let fleet = tuned();
    let merge = ["merge", "part-1", "part-2", "--output", "cltune.lock"];
    let _ = fleet.cltune(&merge).expect_code(0);
    // What was known before, faster than anything is.
    let old = fleet.read("cltune.lock");
    let old = old.lines().map(|line| {
        let time = line.starts_with("time_us = ");
        if time { "time_us = 0.001" } else { line }
    });
    let old = old.collect::<Vec<_>>().join("\n");
    for (number, partition) in (3..).zip(HALVES) {
        let folder = format!("part-{number}");
        fs::create_dir(fleet.path(&folder)).expect("a folder can be made");
        fleet.write(&format!("{folder}/cltune.lock"), &old);
        let _ = fleet.part(partition, &folder, &[]).expect_code(0);
    }
    let merge = ["merge", "part-3", "part-4", "--output", "new.lock"];
    let _ = fleet.cltune(&merge).expect_code(0);
    let new = fleet.read("new.lock");
    assert_eq!(entries(&new).len(), 3);
    assert!(!new.contains("time_us = 0.001"), "{new}");
}

/// A lockfile whose only entry has these values and a time that nothing reaches.
fn lucky(lockfile: &str, value: i64) -> String {
    let lines = lockfile.lines().map(|line| {
        if line.starts_with("values = [") {
            format!("values = [{value}]\n")
        } else if line.starts_with("time_us = ") {
            "time_us = 0.001\n".to_owned()
        } else {
            format!("{line}\n")
        }
    });
    lines.collect()
}

#[test]
fn a_part_that_cannot_be_tuned_as_asked_is_not_begun() {
    let fleet = Fleet::new();
    let cold = ["--objective", "energy", "--measure", "cold"];
    let refused = fleet.part("slice:1/2", "part-1", &cold).expect_code(2);
    let _ = refused.expect_stderr(&["energy cannot be measured with cold caches"]);
    // Such a file would refuse every other objective.
    assert!(!fleet.path("part-1/cltune-state/part.jsonl").exists());
}

#[test]
fn where_machines_disagree_their_finalists_are_timed_again() {
    let fleet = Fleet::new();
    // Both did the only part; one of them was lucky with a slow configuration.
    let first = ["--kernel", "first", "--problem", "n=256"];
    for folder in ["lucky", "other"] {
        let _ = fleet.part("slice:1/1", folder, &first).expect_code(0);
    }
    let lockfile = fleet.read("lucky/cltune.lock");
    assert!(lockfile.contains("values = [2]"), "{lockfile}");
    fleet.write("lucky/cltune.lock", &lucky(&lockfile, 5));
    let both = ["merge", "lucky", "other", "--output", "cltune.lock"];
    let _ = fleet
        .cltune(&both)
        .expect_code(2)
        .expect_stderr(&["are both slice:1/1"]);
    let without = fleet.cltune(&[&both[..], &["--time-again"]].concat());
    let _ = without.expect_code(2).expect_stderr(&["--artifact"]);
    let again = fleet.cltune(&[&both[..], &["--time-again", "--artifact", "app"]].concat());
    let again = again.expect_code(0).expect_stderr(&[
        "cltune_e2e_fleet::first on ",
        "2 results, timed again here:",
        "A = 5  (lucky had 0.00 us)",
        "A = 2  (other had ",
        "taken: A = 2, the fastest",
    ]);
    let united = fleet.read("cltune.lock");
    assert!(
        united.contains("values = [2]") && !united.contains("0.001"),
        "{again}\n{united}"
    );
    // Where both entries are bad, the best is in their journals.
    fleet.write("other/cltune.lock", &lucky(&lockfile, 0));
    let again = fleet.cltune(&[&both[..], &["--time-again", "--artifact", "app"]].concat());
    let again = again
        .expect_code(0)
        .expect_stderr(&["A = 0  (other had ", "taken: A = 2, the fastest"]);
    assert!(
        fleet.read("cltune.lock").contains("values = [2]"),
        "{again}"
    );
    // Of a damaged journal the rest is, and it is told of.
    let journals = fs::read_dir(fleet.path("other/cltune-state/journal")).expect("there are some");
    for journal in journals.flatten() {
        let text = fs::read_to_string(journal.path()).expect("a journal is text");
        let damaged = text.replacen("\"time_us\":", "\"time_as\":", 1);
        fs::write(journal.path(), damaged).expect("a journal can be written");
    }
    let again = fleet.cltune(&[&both[..], &["--time-again", "--artifact", "app"]].concat());
    let _ = again.expect_code(1).expect_stderr(&[
        "warning: other/cltune-state/journal/",
        ".jsonl: damaged lines are left out (1)",
        "taken: A = 2, the fastest",
    ]);
    // Of a device that is not here the faster stays.
    for (file, value) in [("a.lock", 3), ("b.lock", 1)] {
        let elsewhere = lucky(&lockfile, value).replace("\nname = \"", "\nname = \"other ");
        let elsewhere = elsewhere.replace("other cltune_e2e", "cltune_e2e");
        fleet.write(file, &elsewhere);
    }
    let absent = [
        "merge",
        "a.lock",
        "b.lock",
        "--time-again",
        "--artifact",
        "app",
    ];
    let _ = fleet.cltune(&absent).expect_code(1).expect_stderr(&[
        "warning: cltune_e2e_fleet::first on other ",
        "not timed again: this machine has no such device; the faster entry stays",
    ]);
    // What both agree on is not measured.
    fs::copy(
        fleet.path("other/cltune.lock"),
        fleet.path("lucky/cltune.lock"),
    )
    .expect("a copy");
    let again = fleet.cltune(&[&both[..], &["--time-again", "--artifact", "app"]].concat());
    let _ = again
        .expect_code(0)
        .expect_stderr(&["1 result is the same on several machines"]);
    // Of two versions of a kernel, that of the program stays, or else the first.
    let other_version = lockfile.replace("fingerprint = \"", "fingerprint = \"0");
    fleet.write("old.lock", &other_version);
    fleet.write("new.lock", &lockfile);
    let files = ["merge", "old.lock", "new.lock", "--output", "cltune.lock"];
    let of_program = fleet.cltune(&[&files[..], &["--artifact", "app"]].concat());
    let _ = of_program.expect_code(1).expect_stderr(&[
        "warning: cltune_e2e_fleet::first: tuned for different versions of the kernel; kept that of new.lock",
        "left out 1 entry of old.lock",
    ]);
    assert_eq!(fleet.read("cltune.lock"), lockfile);
    let first = fleet.cltune(&files).expect_code(1);
    let _ = first.expect_stderr(&["old.lock comes first", "--artifact PROGRAM"]);
    assert_eq!(fleet.read("cltune.lock"), other_version);
    // Where no file has that of the program, what stays is stale.
    let stale = ["merge", "old.lock", "old.lock", "--artifact", "app"];
    let stale = fleet.cltune(&stale).expect_code(1);
    let stale = stale.expect_stderr(&[
        "warning: cltune_e2e_fleet::first: stale: no file has the version of app (b3:",
        "kept 1 entry of another (0b3:",
        "which app does not use: tune again",
    ]);
    assert_eq!(stale.stdout, other_version);
}
