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
    let report = project.cltune(&["report", "--out", "page.html"]);
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
    let export = project.cltune(&["export", "--format", format, "--out", &file]);
    let _ = export.expect_code(0).expect_stdout(&[&file]);
    let simulate = project.cltune(&["simulate", &file, "--budget", "4", "--repeats", "1"]);
    let _ = simulate.expect_code(0).expect_stdout(&["@4 1.000"]);
    let report = project.cltune(&["report", "--import", &file, "--out", "imported.html"]);
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
    let output = project.cltune(&["report", "--out", "page.html"]);
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
    let output = project.cltune(&["report", "--out", "missing/page.html"]);
    assert_ne!(output.code, Some(0), "{output}");
    let _ = output.expect_stderr(&["missing/page.html", "--out FILE"]);
}
