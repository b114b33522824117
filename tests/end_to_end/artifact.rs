//! Tuning a program where there is neither cargo nor source.

use cltune_tests::{Output, is_full, samples, tools};
use std::fs;
use std::process::Command;
use tempfile::TempDir;

#[test]
fn a_stripped_program_is_tuned_in_an_empty_folder() {
    let project = samples::program("cltune-e2e-artifact");
    let empty = tempfile::tempdir().expect("a temporary folder");
    let program = empty.path().join("app");
    if is_full() {
        // All dependencies are built once more, for this test alone.
        let release = "\n[profile.release]\nstrip = true\nlto = \"fat\"\n";
        project.write("Cargo.toml", project.read("Cargo.toml") + release);
        let _ = project.cargo(&["build", "--release"]).expect_code(0);
        fs::copy(project.executable("release"), &program).expect("the program can be copied");
    } else {
        let _ = project.cargo(&["build"]).expect_code(0);
        let mut strip = Command::new("strip");
        strip.arg("-o").arg(&program);
        let _ = Output::of(strip.arg(project.executable("debug"))).expect_code(0);
    }
    let found = only_the_linker();
    let cltune = |subcommand: &str, arguments: &[&str]| {
        let mut command = Command::new(tools::cargo_cltune());
        command
            .args(["cltune", subcommand, "--artifact", "./app"])
            .args(arguments);
        // Neither cargo nor rustc can be found.
        command
            .current_dir(empty.path())
            .env("PATH", found.path())
            .env_remove("CARGO");
        Output::of(&mut command)
    };
    let tune = |arguments: &[&str]| cltune("tune", arguments);
    let listed = cltune("list", &[]).expect_code(0);
    let _ = listed.expect_stdout(&["cltune_e2e_artifact::scale", "lockfile: missing"]);
    let missing = cltune("check", &[]).expect_code(1);
    let _ = missing.expect_stdout(&["there is no lockfile"]);
    let _ = tune(&["--budget", "4"])
        .expect_code(0)
        .expect_stdout(&["WASTE = false"]);
    let _ = cltune("check", &[]).expect_code(0);
    let listed = cltune("list", &[]).expect_code(0);
    let _ = listed.expect_stdout(&["lockfile: fresh"]);
    let lockfile = fs::read_to_string(empty.path().join("cltune.lock")).expect("it is written");
    assert!(
        lockfile.contains("name = \"cltune_e2e_artifact::scale\""),
        "{lockfile}"
    );
    let _ = tune(&["--budget", "3", "--lockfile", "named.lock"]).expect_code(0);
    assert!(empty.path().join("named.lock").exists());
    // What reads lockfiles reads that one, too.
    fs::remove_file(empty.path().join("cltune.lock")).expect("it was written");
    for (subcommand, word) in [("check", "up to date"), ("list", "lockfile: fresh")] {
        let found = cltune(subcommand, &["--lockfile", "named.lock"]).expect_code(0);
        let _ = found.expect_stdout(&[word]);
    }
    let verify = ["--lockfile", "named.lock", "--larger", "1", "--draws", "1"];
    let verified = cltune("verify", &verify).expect_code(0);
    assert!(!verified.stdout.contains("not tuned"), "{verified}");
    let absent = cltune("contribute", &["--lockfile", "absent.lock"]).expect_code(2);
    let _ = absent.expect_stderr(&["there is no file absent.lock"]);

    // Brought home, the values belong to this very program.
    project.write("cltune.lock", &lockfile);
    let _ = project.cltune(&["check"]).expect_code(0);
    let ran = project.run().expect_code(0);
    let _ = ran.expect_stdout(&["tuned on this device for this problem", "baked: 1"]);
}

/// A folder with nothing in it but `ld`, with which PoCL links kernels that its cache does not
/// have.
fn only_the_linker() -> TempDir {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let path = std::env::var_os("PATH").unwrap_or_default();
    let all = std::env::split_paths(&path).map(|folder| folder.join("ld"));
    if let Some(linker) = all.into_iter().find(|file| file.exists()) {
        std::os::unix::fs::symlink(linker, folder.path().join("ld")).expect("a link can be made");
    }
    folder
}

#[test]
fn a_file_that_holds_no_tunable_is_refused_with_a_reason() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let tune = |file: &str| {
        let mut command = Command::new(tools::cargo_cltune());
        command
            .args(["cltune", "tune", "--artifact", file])
            .current_dir(folder.path());
        Output::of(&mut command).expect_code(2)
    };
    let _ = tune("absent").expect_stderr(&["absent", "No such file"]);
    fs::write(folder.path().join("text"), "no program").expect("a file can be written");
    let _ = tune("text").expect_stderr(&["text", "not an executable"]);
    let cargo = tools::cargo_cltune().display().to_string();
    let nothing = tune(&cargo).expect_stderr(&["no tunable", "cargo-cltune"]);
    assert!(!nothing.stderr.contains("--features"), "{nothing}");
    assert!(!folder.path().join("cltune.lock").exists());
}
