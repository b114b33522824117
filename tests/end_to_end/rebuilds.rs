//! Crates that cargo builds again after a change, and crates that it does not build again.

use cltune_tests::samples;
use std::fs;
use std::time::{Duration, SystemTime};

#[test]
fn cargo_builds_again_what_changed_and_nothing_else() {
    let project = samples::program("cltune-e2e-rebuilds");
    assert!(project.compiles_again());
    assert!(!project.compiles_again(), "nothing changed");

    // Reading commands leave everything as it is.
    let _ = project.cltune(&["list"]).expect_code(0);
    let _ = project.cltune(&["check"]).expect_code(1);
    assert!(!project.compiles_again(), "`list` and `check` only read");

    // The first lockfile: nothing can track a file that is not there.
    let _ = project.cltune(&["--budget", "3"]).expect_code(0);
    assert!(project.compiles_again(), "the lockfile appeared");
    assert!(!project.compiles_again(), "nothing changed since");
    let _ = project.run().expect_code(0).expect_stdout(&["baked: 1"]);

    // Kernel, include, lockfile.
    project.edit("kernels/scale.cl", "if (i == 0)", "if (i == 0u)");
    assert!(project.compiles_again(), "the kernel changed");
    project.edit("kernels/waste.h", "2000", "2001");
    assert!(project.compiles_again(), "an included file changed");
    let _ = project.cltune(&["--budget", "3"]).expect_code(0);
    assert!(project.compiles_again(), "the lockfile changed");
    assert!(!project.compiles_again(), "nothing changed since");
    let _ = project.run().expect_code(0).expect_stdout(&["baked: 1"]);

    // A lockfile from another machine or checkout, and none.
    let lockfile = project.path("cltune.lock");
    let kept = project.read("cltune.lock");
    fs::remove_file(&lockfile).expect("it was there");
    assert!(project.compiles_again(), "the lockfile disappeared");
    project.write("cltune.lock", kept);
    let _ = project.cltune(&["check"]).expect_code(0);
    assert!(
        project.compiles_again(),
        "`check` saw that the program lacks the lockfile"
    );
    let _ = project.run().expect_code(0).expect_stdout(&["baked: 1"]);
}

/// At the attribute, and also in a build that compiles nothing again.
#[test]
fn the_compiler_says_what_is_wrong_with_a_lockfile() {
    let project = samples::program("cltune-e2e-said");
    let lockfile = |line: &str| {
        format!(
            "version = 1\n{line}\n[[kernel]]\nname = \"cltune_e2e_said::scale\"\n\
             fingerprint = \"b3:{}\"\nparams = [\"WG\", \"WASTE\"]\n",
            "0".repeat(64)
        )
    };
    let build = || project.cargo(&["build"]);
    let warned = [
        "warning: use of deprecated constant",
        "run `cargo cltune`",
        "src/tunables.rs:5:1",
    ];
    let _ = build().expect_code(0);
    project.write("cltune.lock", lockfile(""));
    // Who creates it touches the source, as `cargo cltune` does.
    project.write("src/tunables.rs", project.read("src/tunables.rs"));
    let _ = build().expect_code(0).expect_stderr(&warned);
    assert!(!project.compiles_again());
    let _ = build().expect_code(0).expect_stderr(&warned);

    project.write("cltune.lock", lockfile("<<<<<<< HEAD"));
    let conflict = build().expect_code(101);
    let conflict = conflict.expect_stderr(&["cltune.lock`, line 2: merge conflict markers"]);
    assert_eq!(
        conflict.stderr.matches("error: ").count(),
        2,
        "one and cargo's own: {conflict}"
    );

    fs::remove_file(project.path("cltune.lock")).expect("it was written");
    let without = build().expect_code(0);
    assert!(!without.stderr.contains("warning"), "{without}");

    project.write("other.lock", lockfile(""));
    let mut command = project.command(&cltune_tests::tools::cargo());
    let overridden = command.arg("build").env("CLTUNE_LOCK", "other.lock");
    let overridden = cltune_tests::Output::of(overridden).expect_code(0);
    let _ = overridden.expect_stderr(&["other.lock", "run `cargo cltune`"]);
    assert!(project.compiles_again(), "the variable is unset again");
}

/// As a backup, an archive or `cp -p` puts it: cargo compares times, and builds nothing again.
#[test]
fn a_kernel_that_is_put_back_with_its_old_time_is_noticed_by_its_content() {
    let project = samples::program("cltune-e2e-put-back");
    let old = SystemTime::now() - Duration::from_secs(1000);
    let put_back = |path: &str, text: &str| {
        project.write(path, text);
        let file = fs::File::options().append(true).open(project.path(path));
        let set = file.and_then(|file| file.set_modified(old));
        set.expect("the time of a file can be set");
    };
    let _ = project.cltune(&["--budget", "3"]).expect_code(0);
    let _ = project.run().expect_code(0).expect_stdout(&["baked: 1"]);
    let tuned = project.read("kernels/waste.h");
    let changed = tuned.replace("2000", "2001");
    assert_ne!(tuned, changed);

    // Another kernel than the one that was tuned.
    put_back("kernels/waste.h", &changed);
    assert!(!project.compiles_again(), "cargo does not see it");
    let stale = project.cltune(&["check"]).expect_code(1);
    let stale = stale.expect_stderr(&["kernels/waste.h is another than when it was built"]);
    let _ = stale.expect_stdout(&["stale"]);
    let _ = project.run().expect_code(0).expect_stdout(&["baked: 0"]);

    // And back: nothing is stale.
    put_back("kernels/waste.h", &tuned);
    let _ = project.cltune(&["check"]).expect_code(0);
    let _ = project.run().expect_code(0).expect_stdout(&["baked: 1"]);
    let quiet = project.cltune(&["check"]).expect_code(0);
    assert!(!quiet.stderr.contains("waste.h"), "said once: {quiet}");

    // The Rust file with the declaration, too.
    let declared = project.read("src/tunables.rs");
    put_back(
        "src/tunables.rs",
        &declared.replace("WG = [4, 16]", "WG = [4, 16, 64]"),
    );
    let stale = project.cltune(&["check"]).expect_code(1);
    let _ = stale.expect_stderr(&["src/tunables.rs is another"]);
}

#[test]
fn an_include_of_a_macro_is_an_error_that_says_what_to_write() {
    let project = samples::program("cltune-e2e-macro-include");
    project.edit(
        "kernels/scale.cl",
        "#include \"waste.h\"",
        "#define HDR \"waste.h\"\n#include HDR",
    );
    let failed = project.cargo(&["build"]).expect_code(101);
    let _ = failed.expect_stderr(&[
        "kernels/scale.cl",
        "line 3: `#include HDR`",
        "`#include \"…\"`",
        "source = \"kernels/scale.cl\"",
    ]);
}

#[test]
fn a_missing_kernel_file_is_an_error_that_ends_with_the_file() {
    let project = samples::program("cltune-e2e-missing-kernel");
    let include = project.path("kernels/waste.h");
    let text = project.read("kernels/waste.h");
    fs::remove_file(&include).expect("it was there");
    let failed = project.cargo(&["build"]).expect_code(101);
    let failed = failed.expect_stderr(&["waste.h", "src/tunables.rs"]);
    // One mistake, one error: the function and its module still exist.
    assert_eq!(
        failed.stderr.matches("error: ").count(),
        2,
        "the error and cargo's: {failed}"
    );
    let _ = project
        .cltune(&["list"])
        .expect_code(2)
        .expect_stderr(&["waste.h"]);
    project.write("kernels/waste.h", text);
    assert!(project.compiles_again());
}

#[test]
fn an_override_lockfile_counts_before_the_packages_own() {
    let project = samples::program("cltune-e2e-override");
    let _ = project
        .cltune(&["--lockfile", "elsewhere.lock", "--budget", "3"])
        .expect_code(0);
    assert!(!project.path("cltune.lock").exists());
    let _ = project.run().expect_code(0).expect_stdout(&["baked: 0"]);
    let path = project.path("elsewhere.lock");
    let mut command = project.command(&cltune_tests::tools::cargo());
    command.args(["run", "--quiet"]).env("CLTUNE_LOCK", path);
    let ran = cltune_tests::Output::of(&mut command).expect_code(0);
    let _ = ran.expect_stdout(&["baked: 1", "tuned on this device"]);
    let _ = project.run().expect_code(0).expect_stdout(&["baked: 0"]);
}
