//! Missing libraries, drivers and devices, and wrong usage.

use cltune_tests::samples::{self, FILL};
use cltune_tests::{Output, tools};
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

fn cltune(arguments: &[&str]) -> Command {
    let mut command = Command::new(tools::cargo_cltune());
    command.arg("cltune").args(arguments);
    command
}

/// An environment without OpenCL library: the loader finds a file that is none first.
fn without_library(command: &mut Command, folder: &Path) -> Output {
    fs::write(folder.join("libOpenCL.so.1"), "not a library").expect("a file can be written");
    Output::of(
        command
            .env("LD_LIBRARY_PATH", folder)
            .env_remove("OPENCL_DYLIB_PATH"),
    )
}

#[cfg(target_os = "linux")]
#[test]
fn without_opencl_library_devices_cannot_be_used_but_everything_else_works() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let says = ["no OpenCL library", "install"];
    let devices = without_library(&mut cltune(&["devices"]), folder.path());
    let _ = devices.expect_code(2).expect_stderr(&says);

    let project = samples::inline("cltune-e2e-no-library", "params(A = [1, 2])", FILL);
    let run =
        |arguments: &[&str]| without_library(&mut project.cltune_command(arguments), folder.path());
    let _ = run(&["tune"]).expect_code(2).expect_stderr(&says);
    assert!(!project.path("cltune.lock").exists());
    let _ = run(&["check"])
        .expect_code(1)
        .expect_stdout(&["there is no lockfile"]);
    let listed = run(&["list"]).expect_code(0);
    let _ = listed.expect_stdout(&["without limits", "2 of 2 configurations are valid"]);
}

#[cfg(unix)]
#[test]
fn a_library_without_driver_says_to_install_one() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mut command = cltune(&["devices"]);
    // The first is for Linux distributions' loader, the second for Khronos's.
    command
        .env("OCL_ICD_VENDORS", folder.path())
        .env_remove("OCL_ICD_FILENAMES");
    let _ = Output::of(&mut command)
        .expect_code(2)
        .expect_stderr(&["driver", "install"]);
}

#[test]
fn a_filter_that_matches_nothing_lists_what_there_is() {
    let project = samples::inline("cltune-e2e-filters", "params(A = [1, 2])", FILL);
    let failed = project
        .cltune(&["--device", "no such device"])
        .expect_code(2);
    let _ = failed.expect_stderr(&["no such device", "0: "]);
    let failed = project.cltune(&["--device", "99"]).expect_code(2);
    let _ = failed.expect_stderr(&["99", "0: "]);
    let failed = project.cltune(&["--kernel", "absent"]).expect_code(2);
    let _ = failed.expect_stderr(&["absent", "cltune_e2e_filters::run"]);
    for (problem, text) in [
        ("m=4", "`m`"),
        ("n", "n=1024"),
        ("n=many", "integer"),
        ("", "`n`"),
    ] {
        let failed = project.cltune(&["--problem", problem]).expect_code(2);
        let _ = failed.expect_stderr(&["--problem", text]);
    }
    assert!(!project.path("cltune.lock").exists());
    let tuned = project.cltune(&["--kernel", "run", "--device", "0", "--problem", "n=512"]);
    let _ = tuned.expect_code(0).expect_stdout(&["n = 512"]);
}

#[test]
fn outside_of_a_package_cargos_own_error_is_shown() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    for subcommand in ["tune", "list", "check", "verify", "rules"] {
        let mut command = cltune(&[subcommand]);
        let failed = Output::of(command.current_dir(folder.path())).expect_code(2);
        assert!(
            failed
                .stderr
                .starts_with("error: could not find `Cargo.toml`"),
            "{failed}"
        );
    }
}

#[test]
fn a_reader_that_has_gone_is_no_news() {
    let (reader, writer) = std::io::pipe().expect("a pipe");
    drop(reader);
    let mut command = cltune(&["completions", "bash"]);
    let child = command.stdout(writer).stderr(Stdio::piped()).spawn();
    let ended = child.and_then(std::process::Child::wait_with_output);
    let ended = ended.expect("the command can be run");
    assert_eq!(ended.status.code(), Some(2));
    assert_eq!(String::from_utf8_lossy(&ended.stderr), "");
}

#[test]
fn wrong_usage_has_exit_code_2_and_says_what_is_possible() {
    let failed = |arguments: &[&str], texts: &[&str]| {
        let _ = Output::of(&mut cltune(arguments))
            .expect_code(2)
            .expect_stderr(texts);
    };
    failed(&["tune", "--budget", "soon"], &["30s"]);
    failed(&["tune", "--budget", "0"], &["budget"]);
    failed(&["--strategy", "magic"], &["magic", "random"]);
    failed(&["polish"], &["polish"]);
    failed(&["merge"], &["FILE"]);
    failed(&["list", "--format", "xml"], &["text", "json"]);
    let help = Output::of(&mut cltune(&["--help"])).expect_code(0);
    let _ = help.expect_stdout(&[
        "cltune.lock",
        "tune",
        "list",
        "devices",
        "check",
        "merge",
        "130",
    ]);
}

#[test]
fn devices_are_listed_with_their_facts() {
    let devices = Output::of(&mut cltune(&["devices", "--format", "json"]))
        .expect_code(0)
        .json();
    let first = &devices["devices"][0];
    assert_eq!(first["index"], 0, "{devices}");
    for text in ["platform", "name", "vendor", "type", "driver", "version"] {
        assert!(
            first[text].as_str().is_some_and(|text| !text.is_empty()),
            "{text}: {first}"
        );
    }
    for limit in ["compute_units", "max_work_group_size", "local_mem_size"] {
        assert!(
            first["limits"][limit]
                .as_i64()
                .is_some_and(|limit| limit > 0),
            "{limit}: {first}"
        );
    }
    let people = Output::of(&mut cltune(&["devices"])).expect_code(0);
    let name = first["name"].as_str().unwrap_or_default();
    let _ = people.expect_stdout(&[name, "compute_units", "local_mem_size", "driver"]);
}
