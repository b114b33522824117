//! `measure(cold)` and `--measure`: what says what times were measured with, and keeps results of
//! the two apart.

use cltune_tests::{Output, Project, samples};

const KERNEL: &str =
    "__kernel void run(const uint n, __global int* y) { y[get_global_id(0)] = (int)n + A - A; }";

fn project(name: &str, clauses: &str) -> Project {
    let project = samples::inline(name, &format!("params(A = [1, 2]), {clauses}"), KERNEL);
    project.forget_sessions();
    project
}

/// Tunes, and returns the summary.
fn tune(project: &Project, more: &[&str]) -> Output {
    let arguments = ["tune", "--strategy", "full", "--device", "0"];
    project
        .cltune(&[&arguments[..], more].concat())
        .expect_code(0)
}

#[test]
fn what_is_declared_is_measured_and_said() {
    let project = project("cltune-e2e-measure-declared", "measure(cold)");
    let _ = tune(&project, &[]).expect_stdout(&["times with cold caches"]);
    assert!(project.read("cltune.lock").contains("measure = \"cold\"\n"));
    let _ = project.cltune(&["check"]).expect_code(0);
    let _ = project
        .cltune(&["list"])
        .expect_code(0)
        .expect_stdout(&["lockfile: fresh, measured with cold caches"]);

    // Who declares otherwise now has to tune again.
    project.edit("src/lib.rs", "measure(cold)", "measure(warm)");
    let _ = project.cltune(&["check"]).expect_code(1).expect_stdout(&[
        "1 entry measured with cold caches, and it declares otherwise now",
        "run `cargo cltune`",
    ]);
    let _ = project
        .cltune(&["list"])
        .expect_code(0)
        .expect_stdout(&["lockfile: measured otherwise\n"]);
    // Its journal is no report of warm caches; the option asks for that of cold ones.
    let _ = project
        .cltune(&["export", "--format", "t4"])
        .expect_code(2)
        .expect_stderr(&["with warm caches", "`--measure cold`"]);
    let exported = project
        .cltune(&[
            "export",
            "--format",
            "t4",
            "--measure",
            "cold",
            "--output",
            "cold.json",
        ])
        .expect_code(0);
    drop(exported);
    assert!(project.read("cold.json").contains("\"measure\":\"cold\""));
    let _ = tune(&project, &[]);
    assert!(!project.read("cltune.lock").contains("measure = "));
    let _ = project.cltune(&["check"]).expect_code(0);
}

#[test]
fn the_option_is_stronger_than_the_declaration_and_results_stay_apart() {
    let project = project("cltune-e2e-measure-option", "draws = 1");
    let _ = tune(&project, &["--measure", "cold"]);
    assert!(project.read("cltune.lock").contains("measure = \"cold\"\n"));
    let _ = project.cltune(&["check"]).expect_code(1);
    // A search with warm caches finds nothing to resume, one with cold caches does.
    let json = ["--resume", "--message-format", "json"];
    let warm = tune(&project, &json);
    assert!(warm.messages("resumed").is_empty(), "{warm}");
    assert_eq!(warm.messages("finished")[0]["measure"], "warm");
    let cold = tune(&project, &[&json[..], &["--measure", "cold"]].concat());
    assert_eq!(cold.messages("resumed")[0]["results"], 2, "{cold}");
    assert_eq!(cold.messages("finished")[0]["measure"], "cold");
    let _ = project
        .cltune(&["tune", "--measure", "cool"])
        .expect_code(2)
        .expect_stderr(&["invalid value 'cool'", "warm, cold"]);
}
