//! Lockfiles that cannot be read or written: found before anything is measured, and left as they
//! are.

use cltune_tests::samples::{self, FILL};
use cltune_tests::{Output, Project, tools};
use std::fs;
use std::process::Command;

fn project(name: &str) -> Project {
    samples::inline(name, "params(A = [1, 2])", FILL)
}

/// A lockfile that the macro refuses too: the build fails at the attribute, and so does tuning.
fn refused(name: &str, lockfile: &str, texts: &[&str]) {
    let project = project(name);
    project.write("cltune.lock", lockfile);
    let _ = project
        .cargo(&["build"])
        .expect_code(101)
        .expect_stderr(texts);
    let _ = project
        .cltune(&["tune"])
        .expect_code(2)
        .expect_stderr(texts);
    let _ = project
        .cltune(&["check"])
        .expect_code(2)
        .expect_stderr(texts);
    assert_eq!(
        project.read("cltune.lock"),
        lockfile,
        "it is left as it was"
    );
}

#[test]
fn a_newer_version_says_to_update() {
    refused(
        "cltune-e2e-newer",
        "version = 99\n",
        &["cltune.lock", "line 1", "99", "update"],
    );
}

#[test]
fn conflict_markers_say_how_to_unite_both_sides() {
    let lockfile = "version = 1\n<<<<<<< ours\n=======\n>>>>>>> theirs\n";
    refused(
        "cltune-e2e-conflict",
        lockfile,
        &["cltune.lock", "line 2", "cargo cltune merge"],
    );
}

#[test]
fn a_damaged_file_says_the_line() {
    let lockfile = "version = 1\n\n[[device]]\nid = \n";
    refused("cltune-e2e-damaged", lockfile, &["cltune.lock", "line 4"]);
}

#[test]
fn a_folder_in_its_place_is_an_error_before_tuning() {
    let project = project("cltune-e2e-folder");
    fs::create_dir(project.path("elsewhere.lock")).expect("a folder can be made");
    let arguments = ["--lockfile", "elsewhere.lock", "--message-format", "json"];
    let tuned = project
        .cltune(&arguments)
        .expect_code(2)
        .expect_stderr(&["elsewhere.lock"]);
    assert!(tuned.messages("configuration").is_empty(), "{tuned}");
}

#[test]
fn a_folder_that_does_not_exist_is_an_error_before_tuning() {
    let project = project("cltune-e2e-no-folder");
    let arguments = [
        "--lockfile",
        "nowhere/cltune.lock",
        "--message-format",
        "json",
    ];
    let tuned = project.cltune(&arguments).expect_code(2);
    let tuned = tuned.expect_stderr(&["nowhere/cltune.lock", "--lockfile"]);
    assert!(tuned.messages("configuration").is_empty(), "{tuned}");
}

/// Its folder can be written to, so that replacing the file would work: it must not, and the user
/// must hear of it before an hour of measuring.
#[test]
fn a_read_only_lockfile_is_an_error_before_tuning() {
    let project = project("cltune-e2e-read-only-file");
    let path = project.path("cltune.lock");
    project.write("cltune.lock", "version = 1\n");
    let mut permissions = fs::metadata(&path)
        .expect("it was just written")
        .permissions();
    permissions.set_readonly(true);
    fs::set_permissions(&path, permissions).expect("its owner may");
    let tuned = project
        .cltune(&["--message-format", "json"])
        .expect_code(2)
        .expect_stderr(&["cltune.lock", "read-only", "--lockfile"]);
    assert!(tuned.messages("configuration").is_empty(), "{tuned}");
    assert_eq!(project.read("cltune.lock"), "version = 1\n");
}

#[test]
fn results_join_what_is_already_there() {
    let project = project("cltune-e2e-join");
    let other = "version = 1\n\n[[device]]\nid = \"far\"\nplatform = \"P\"\nname = \"Far\"\n\
                 vendor = \"V\"\ntype = \"gpu\"\ndriver = \"1\"\ncompute_units = 1\n\
                 max_work_group_size = 1\nlocal_mem_size = 1\n\n[[kernel]]\nname = \"other::kernel\"\n\
                 fingerprint = \"b3:00\"\nparams = [\"X\"]\n\n[[kernel.tuned]]\ndevice = \"far\"\n\
                 problem = {}\nvalues = [1]\ntime_us = 1.0\nevaluated = 1\nvalid = 1\n\
                 strategy = \"full\"\n";
    project.write("cltune.lock", other);
    let _ = project.cltune(&[]).expect_code(0);
    let lockfile = project.read("cltune.lock");
    assert!(
        lockfile.contains("other::kernel") && lockfile.contains("id = \"far\""),
        "{lockfile}"
    );
    assert!(lockfile.contains("cltune_e2e_join::run"), "{lockfile}");
}

/// Runs as somebody who may not write into the folder: root may write everywhere, so there the
/// command runs as nobody.
#[cfg(unix)]
#[test]
fn a_read_only_folder_is_an_error_before_tuning() {
    use std::os::unix::fs::{PermissionsExt, chown};
    use std::os::unix::process::CommandExt;
    const NOBODY: u32 = 65534;

    let project = samples::program("cltune-e2e-read-only");
    let _ = project.cargo(&["build"]).expect_code(0);
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mode = |path: &std::path::Path, mode: u32| {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("its owner may");
    };
    let place = |name: &str| folder.path().join(name);
    fs::copy(tools::cargo_cltune(), place("cargo-cltune")).expect("a program can be copied");
    fs::copy(project.executable("debug"), place("app")).expect("a program can be copied");
    fs::create_dir(place("writable")).expect("a folder can be made");
    // Only root may give files away; whoever else runs the tests owns the folder and needs not.
    let root = chown(place("writable"), Some(NOBODY), None).is_ok();
    mode(folder.path(), 0o555);
    let cltune = |subcommand: &str, arguments: &[&str]| {
        let mut command = Command::new(place("cargo-cltune"));
        command
            .args(["cltune", subcommand, "--artifact", "app"])
            .args(arguments);
        command
            .current_dir(folder.path())
            .env("POCL_CACHE_DIR", place("writable"));
        if root {
            command.uid(NOBODY);
        }
        Output::of(&mut command)
    };
    let failed = cltune("tune", &[])
        .expect_code(2)
        .expect_stderr(&["cltune.lock", "--lockfile"]);
    assert!(failed.stdout.is_empty(), "{failed}");
    let _ = cltune("verify", &[])
        .expect_code(2)
        .expect_stderr(&["cltune-state", "--lockfile"]);
    let tuned = cltune(
        "tune",
        &["--budget", "3", "--lockfile", "writable/cltune.lock"],
    );
    mode(folder.path(), 0o755);
    let _ = tuned.expect_code(0);
    assert!(place("writable/cltune.lock").exists());
}
