//! Reports of sessions: the page, and files for other tools.

use cltune_tests::{Project, samples};

#[test]
fn a_page_without_network_and_files_for_other_tools_tell_what_a_session_found() {
    let project = samples::program("cltune-e2e-report");
    // An exported file is about one device; what a test run on another has left is none of this
    // one's.
    project.forget_sessions();
    let tune = project.cltune(&["tune", "--budget", "6", "--device", "0"]);
    let _ = tune.expect_code(0);
    let report = project.cltune(&["report", "--output", "page.html"]);
    let _ = report.expect_code(0).expect_stdout(&["page.html"]);
    let page = project.read("page.html");
    assert!(page.starts_with("<!doctype html>"), "{page}");
    for text in [
        "cltune_e2e_report::",
        "in cltune.lock",
        "<svg",
        "prefers-color-scheme",
        "viewport",
    ] {
        assert!(page.contains(text), "no `{text}` in {page}");
    }
    // A name, which nothing is loaded from.
    let page = page.replace("http://www.w3.org/2000/svg", "");
    for request in [
        "<script",
        "stylesheet",
        "src=",
        "@import",
        "http:",
        "https:",
    ] {
        assert!(!page.contains(request), "`{request}` in {page}");
    }
    for format in ["kernel-tuner", "t4", "csv"] {
        exported(&project, format);
    }
}

/// What is written in a format can be replayed, and shown.
fn exported(project: &Project, format: &str) {
    let file = format!("results.{format}");
    let export = project.cltune(&["export", "--format", format, "--output", &file]);
    let _ = export.expect_code(0).expect_stdout(&[&file]);
    let simulate = project.cltune(&["simulate", &file, "--budget", "4", "--repeats", "1"]);
    let _ = simulate.expect_code(0).expect_stdout(&["@4 1.000"]);
    let report = project.cltune(&["report", "--import", &file, "--output", "imported.html"]);
    let _ = report.expect_code(0);
    let page = project.read("imported.html");
    for text in ["<svg", "WASTE"] {
        assert!(page.contains(text), "no `{text}` in {page}");
    }
    let refused = project.cltune(&["report", "--import", &file, "--kernel", "scale"]);
    let _ = refused.expect_code(2).expect_stderr(&["--import"]);
}

#[test]
fn where_nothing_was_tuned_the_page_says_so() {
    let project = samples::program("cltune-e2e-report-none");
    let export = project.cltune(&["export", "--format", "csv"]);
    let _ = export
        .expect_code(2)
        .expect_stderr(&["nothing was measured"]);
    let output = project.cltune(&["report", "--output", "page.html"]);
    assert!(!output.stderr.contains("panicked"), "{output}");
    let written = project.path("page.html").exists();
    assert!(
        written || output.stderr.contains("cargo cltune"),
        "neither a page nor what to do: {output}"
    );
}

#[test]
fn a_page_that_cannot_be_written_is_an_error() {
    let project: Project = samples::program("cltune-e2e-report-where");
    let _ = project.cltune(&["tune", "--budget", "2"]).expect_code(0);
    let output = project.cltune(&["report", "--output", "missing/page.html"]);
    let _ = output.expect_code(2).expect_stderr(&[
        "--output missing/page.html: there is no folder missing; make it, or name another file",
    ]);
    let output = project.cltune(&["report", "--output", "src"]);
    let _ = output
        .expect_code(2)
        .expect_stderr(&["cannot write src", "--output FILE"]);
}

#[test]
fn what_is_read_is_not_overwritten() {
    let project = samples::program("cltune-e2e-report-inputs");
    project.forget_sessions();
    let tune = ["tune", "--budget", "2", "--device", "0"];
    let _ = project.cltune(&tune).expect_code(0);
    let lockfile = project.read("cltune.lock");
    let csv = ["export", "--format", "csv", "--output"];
    let _ = project.cltune(&[&csv[..], &["results.csv"]].concat());
    let results = project.read("results.csv");
    std::fs::hard_link(project.path("cltune.lock"), project.path("other name"))
        .expect("a file can have two names");
    for (arguments, output) in [
        (&["report", "--output"][..], "src/../cltune.lock"),
        (&["report", "--output"], "other name"),
        (&csv, "cltune.lock"),
        (&["contribute", "--output"], "cltune.lock"),
        (
            &["report", "--import", "results.csv", "--output"],
            "results.csv",
        ),
    ] {
        let refused = project.cltune(&[arguments, &[output]].concat());
        let says = format!("--output {output}: this command reads that file");
        let _ = refused.expect_code(2).expect_stderr(&[&says]);
    }
    assert_eq!(project.read("cltune.lock"), lockfile);
    assert_eq!(project.read("results.csv"), results);
}
