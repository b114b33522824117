//! Journals that another release has written, or that cannot be read, beside parts and lockfiles.

use super::lucky;
use cltune_tests::fleet::Fleet;
use std::fs;
use std::path::PathBuf;

#[test]
fn a_journal_of_a_newer_release_is_told_of_and_left_as_it_is() {
    let fleet = Fleet::new();
    let first = ["--kernel", "first", "--problem", "n=256"];
    // The entries are bad, and the best is in the journals.
    for (folder, value) in [("newer", 5), ("other", 0)] {
        let _ = fleet.part("slice:1/1", folder, &first).expect_code(0);
        let lockfile = format!("{folder}/cltune.lock");
        fleet.write(&lockfile, &lucky(&fleet.read(&lockfile), value));
    }
    let journals = || -> Vec<PathBuf> {
        let files = fs::read_dir(fleet.path("newer/cltune-state/journal"));
        let files = files.expect("there are journals").flatten();
        files.map(|file| file.path()).collect()
    };
    let [journal] = &journals()[..] else {
        panic!("there is one journal: {:?}", journals());
    };
    let text = fs::read_to_string(journal).expect("a journal is text");
    let newer = text.replace(
        "{\"cltune_journal\":1,\"cltune\":\"",
        "{\"cltune_journal\":2,\"cltune\":\"9.",
    );
    assert_ne!(newer, text);
    fs::write(journal, &newer).expect("a journal can be written");
    let name = journal.file_name().expect("it has a name");
    let told = format!(
        "{}, line 1: version 2 of the format, written by cltune 9.",
        name.display()
    );
    let warning: &[&str] = &["warning: ", &told, "update cltune", "is left out"];

    let report = [
        "report",
        "--artifact",
        "app",
        "--lockfile",
        "newer/cltune.lock",
    ];
    let reported = fleet.cltune(&report).expect_code(0).expect_stderr(warning);
    assert_eq!(reported.stderr.matches(&told).count(), 1, "{reported}");
    let again = ["merge", "newer", "other", "--output", "cltune.lock"];
    let again = fleet.cltune(&[&again[..], &["--time-again", "--artifact", "app"]].concat());
    let again = again.expect_code(1).expect_stderr(warning);
    // By the other journal.
    let _ = again.expect_stderr(&["taken: A = 2, the fastest"]);

    let tune = |arguments: &[&str]| {
        let tune = [
            "tune",
            "--artifact",
            "app",
            "--lockfile",
            "newer/cltune.lock",
        ];
        let usual = ["--kernel", "first", "--soundness", "off", "--device", "0"];
        fleet.cltune(&[&tune[..], &usual, arguments].concat())
    };
    for option in ["--resume", "--fresh"] {
        let refused = tune(&["--problem", "n=256", option]).expect_code(1);
        let _ = refused.expect_stderr(&[&told, "update cltune, or move that file elsewhere"]);
    }
    assert_eq!(fs::read_to_string(journal).expect("it is there"), newer);
    assert_eq!(journals().len(), 1, "{:?}", journals());
    // A search for another size has no results of it to start from.
    let other_size = tune(&["--problem", "n=512", "--budget", "1"]).expect_code(0);
    let _ = other_size.expect_stderr(warning);
}

#[test]
fn a_journal_that_cannot_be_read_is_told_of() {
    let fleet = Fleet::new();
    let first = ["--kernel", "first", "--problem", "n=256"];
    let _ = fleet.part("slice:1/1", "part", &first).expect_code(0);
    let journals = fs::read_dir(fleet.path("part/cltune-state/journal"));
    let mut journals = journals.expect("there are journals").flatten();
    let journal = journals.next().expect("there is one").path();
    // Also where tests may read every file.
    fs::rename(&journal, fleet.path("elsewhere")).expect("a journal can be moved");
    fs::create_dir(&journal).expect("a folder can be made");
    let name = journal.file_name().expect("it has a name");
    let told = format!("{}: it is a folder, not a file", name.display());
    let warning: &[&str] = &["warning: cannot read ", &told, "is left out"];

    let lockfile = ["--artifact", "app", "--lockfile", "part/cltune.lock"];
    let reported = fleet.cltune(&[&["report"], &lockfile[..]].concat());
    let reported = reported.expect_code(0).expect_stderr(warning);
    assert_eq!(reported.stderr.matches(&told).count(), 1, "{reported}");
    let tune = |arguments: &[&str]| {
        let usual = ["--soundness", "off", "--device", "0", "--budget", "1"];
        fleet.cltune(&[&["tune"], &lockfile[..], &usual, arguments].concat())
    };
    let own = tune(&first).expect_code(1);
    let _ = own.expect_stderr(&["cannot write the journal ", &told]);
    // Searches that it would start: once for all of them.
    let others = tune(&["--problem", "n=512"]).expect_code(0);
    let others = others.expect_stderr(warning);
    assert_eq!(others.stderr.matches(&told).count(), 1, "{others}");
}
