//! The whole way: declare, tune, build, run; then change what was tuned.

use cltune_tests::{Output, is_full, samples};
use std::process::Command;

/// The lines that the sample program prints.
fn printed(rule: &str, values: &str, baked: usize) -> String {
    format!("rule: {rule}\nselected: {values}\nused: {values}\nbaked: {baked}\n")
}

#[test]
fn values_travel_from_the_device_into_the_program_and_never_survive_a_change() {
    let project = samples::program("cltune-e2e-tuned-program");
    // For a release build all dependencies are built once more, for this test alone.
    let (profile, build, run): (_, &[&str], &[&str]) = if is_full() {
        (
            "release",
            &["build", "--release"],
            &["run", "--quiet", "--release"],
        )
    } else {
        ("debug", &["build"], &["run", "--quiet"])
    };
    let untuned = project.cargo(run).expect_code(0);
    assert_eq!(
        untuned.stdout,
        printed("the declared default", "4 1", 0),
        "{untuned}"
    );

    // Tune.
    let tuned = project
        .cltune(&["tune", "--strategy", "full"])
        .expect_code(0);
    let tuned = tuned.expect_stdout(&["cltune_e2e_tuned_program::scale", "WASTE = false", "GB/s"]);
    assert!(
        !tuned.stdout.contains('\u{1b}'),
        "colour without a terminal: {tuned}"
    );
    let lockfile = project.read("cltune.lock");
    let wg = if lockfile.contains("values = [16, false]") {
        16
    } else {
        4
    };
    assert!(
        lockfile.contains(&format!("values = [{wg}, false]")),
        "{lockfile}"
    );
    for line in [
        "version = 1",
        "name = \"cltune_e2e_tuned_program::scale\"",
        "params = [\"WG\", \"WASTE\"]",
        "problem = { n = 4096 }",
        "evaluated = 4",
        "valid = 4",
        "strategy = \"full\"",
    ] {
        assert!(lockfile.contains(line), "{lockfile}");
    }
    let check = project.cltune(&["check"]).expect_code(0);
    let _ = check.expect_stdout(&["1 tunable, lockfile up to date"]);

    // What the rule gives, and would give if nothing were tuned.
    let rules = project
        .cltune(&["rules", "--message-format", "json"])
        .expect_code(0);
    let rules = rules.messages("rule");
    let of = |rule: &str| rules.iter().find(|message| message["rule"] == rule);
    let (own, default) = (of("this-problem"), of("default"));
    let (own, default) = (own.expect("its own"), default.expect("the default"));
    assert_eq!(own["values"][0], wg, "{own}");
    assert_eq!(default["values"][0], 4, "{default}");
    for message in [own, default] {
        let fraction = message["fraction"].as_f64().expect("it was timed");
        assert!(fraction > 0.0 && fraction <= 1.0, "{message}");
    }

    // Build: the program holds the values, wherever it is.
    let built = project.cargo(build).expect_code(0);
    assert!(!built.stderr.contains("warning"), "{built}");
    let elsewhere = tempfile::tempdir().expect("a temporary folder");
    let copy = elsewhere.path().join("program");
    std::fs::copy(project.executable(profile), &copy).expect("the program can be copied");
    let ran = Output::of(Command::new(&copy).current_dir(elsewhere.path())).expect_code(0);
    let best = format!("{wg} 0");
    assert_eq!(
        ran.stdout,
        printed("tuned on this device for this problem", &best, 1),
        "{ran}"
    );

    // Change the kernel: the build warns, the values are not used, the check fails.
    project.edit("kernels/waste.h", "0.75f", "0.5f");
    let stale = project.cargo(build).expect_code(0);
    let stale = stale.expect_stderr(&["warning", "tuned for another version", "cargo cltune"]);
    assert!(
        stale.stderr.contains("src/tunables.rs:5"),
        "not at the attribute: {stale}"
    );
    let ran = project.cargo(run).expect_code(0);
    assert_eq!(
        ran.stdout,
        printed("the declared default", "4 1", 0),
        "{ran}"
    );
    let check = project.cltune(&["check"]).expect_code(1);
    let _ = check.expect_stdout(&["cltune_e2e_tuned_program::scale: stale"]);
    let list = project
        .cltune(&["list"])
        .expect_code(0)
        .expect_stdout(&["stale"]);
    assert!(list.stdout.contains("WASTE = true, false"), "{list}");

    // Whoever tunes again is not told to tune again; who does not, is.
    project.edit("src/main.rs", "fn main()", "fn unused() {}\nfn main()");
    let warning = "tuned for another version";
    let elsewhere = ["tune", "--budget", "2", "--lockfile", "elsewhere.lock"];
    let elsewhere = project.cltune(&elsewhere).expect_code(0);
    let elsewhere = elsewhere.expect_stderr(&[warning, "`unused` is never used"]);
    assert_eq!(elsewhere.stderr.matches(warning).count(), 1, "{elsewhere}");
    let again = project.cltune(&["tune", "--budget", "4"]).expect_code(0);
    let again = again.expect_stderr(&["`unused` is never used"]);
    assert!(!again.stderr.contains(warning), "{again}");
    let built = project.cargo(build).expect_code(0);
    assert!(!built.stderr.contains(warning), "{built}");
    project.edit("src/main.rs", "fn unused() {}\n", "");

    // Delete the lockfile: an ordinary state.
    std::fs::remove_file(project.path("cltune.lock")).expect("it was there");
    let built = project.cargo(build).expect_code(0);
    assert!(!built.stderr.contains("warning"), "{built}");
    let ran = project.cargo(run).expect_code(0);
    assert_eq!(
        ran.stdout,
        printed("the declared default", "4 1", 0),
        "{ran}"
    );
    let _ = project
        .cltune(&["check"])
        .expect_code(1)
        .expect_stdout(&["there is no lockfile"]);
}

#[test]
fn a_second_problem_joins_the_first_in_the_lockfile() {
    let project = samples::program("cltune-e2e-problems");
    let tune = [
        "--budget",
        "3",
        "--problem",
        "n=1024",
        "--problem",
        "n = 2048",
    ];
    let _ = project.cltune(&tune).expect_code(0);
    // The declared problem is still missing, and is named.
    let check = project.cltune(&["check"]).expect_code(1);
    let _ = check.expect_stdout(&["not tuned on", "n = 4096"]);
    let _ = project.cltune(&["tune", "--budget", "3"]).expect_code(0);
    let _ = project.cltune(&["check"]).expect_code(0);
    let lockfile = project.read("cltune.lock");
    for problem in ["n = 1024", "n = 2048", "n = 4096"] {
        assert!(
            lockfile.contains(&format!("problem = {{ {problem} }}")),
            "{lockfile}"
        );
    }
    let ran = project.run().expect_code(0);
    let _ = ran.expect_stdout(&["tuned on this device for this problem", "baked: 3"]);
}
