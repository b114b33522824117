//! Missing libraries, drivers and devices, and wrong usage.

#[cfg(target_os = "linux")]
use cltune_tests::faulty::{BEST, Session};
use cltune_tests::samples::{self, FILL};
use cltune_tests::{Output, is_left_to_full, tools};
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
    let _ = listed.expect_stdout(&["without its limits", "2 of 2 configurations are valid"]);
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
        ("n=-5", "`u32`"),
        ("", "`n`"),
    ] {
        let failed = project.cltune(&["--problem", problem]).expect_code(2);
        let _ = failed.expect_stderr(&["--problem", text]);
    }
    assert!(!project.path("cltune.lock").exists());
    let tuned = project.cltune(&["--kernel", "run", "--device", "0", "--problem", "n=512"]);
    let tuned = tuned.expect_code(0).expect_stdout(&["n = 512"]);
    let _ = tuned.expect_stderr(&["cltune_e2e_filters::run: nothing names the parameter `A`"]);
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

#[cfg(target_os = "linux")]
#[test]
fn what_cannot_be_written_on_standard_error_is_lost_and_nothing_else() {
    if is_left_to_full() {
        return;
    }
    let session = Session::new("");
    for (number, closed) in ["exec 2>/dev/full", "exec 2>&-"].into_iter().enumerate() {
        let lockfile = format!("{number}.lock");
        // Words for people, since those for tools are on standard output.
        let arguments = ["--message-format", "human", "--lockfile", &lockfile];
        let tuned = Output::of(&mut session.command_in(closed, &arguments));
        let tuned = tuned.expect_code(0).expect_stdout(&["A = 4"]);
        assert_eq!(tuned.stderr, "");
        assert!(session.path(&lockfile).exists());
        let merged = ["cltune", "merge", "-o", "all.lock", &lockfile, &lockfile];
        let mut merge = Command::new("sh");
        merge.args(["-c", &format!("{closed} && exec \"$@\""), "sh"]);
        session.place(merge.arg(tools::cargo_cltune()).args(merged));
        let _ = Output::of(&mut merge).expect_code(0);
    }
}

#[cfg(target_os = "linux")]
#[test]
fn what_cannot_be_written_on_standard_output_is_an_error_in_the_end() {
    let session = Session::new("");
    let says = ["error: cannot write to standard output: "];
    for format in ["human", "json"] {
        let arguments = ["--message-format", format];
        let tuned = Output::of(&mut session.command_in("exec >/dev/full", &arguments));
        let _ = tuned.expect_code(2).expect_stderr(&says);
        // What was found is kept, and where it is was said.
        assert_eq!(session.chosen(), BEST);
        fs::remove_file(session.path("cltune.lock")).expect("it was written");
    }
    for arguments in [&["devices"][..], &["--help"], &["completions", "bash"]] {
        let full = fs::File::options().write(true).open("/dev/full");
        let child = cltune(arguments)
            .stdout(full.expect("Linux has it"))
            .stderr(Stdio::piped())
            .spawn();
        let ended = child.and_then(std::process::Child::wait_with_output);
        let ended = ended.expect("the command can be run");
        assert_eq!(ended.status.code(), Some(2), "{arguments:?}");
        let said = String::from_utf8_lossy(&ended.stderr);
        assert!(said.contains(says[0]), "{arguments:?}: {said}");
    }
}

#[cfg(target_os = "linux")]
#[test]
fn the_results_are_only_where_they_were_written() {
    let session = Session::new("error=-5@clEnqueueNDRangeKernel");
    let failed = session.tune(&["--message-format", "human"]).expect_code(1);
    assert!(!failed.stderr.contains("The results are in"), "{failed}");
    let session = session.without_faults();
    let tuned = session.tune(&["--message-format", "human"]).expect_code(0);
    let place = session.path("cltune.lock").display().to_string();
    let _ = tuned.expect_stderr(&[&format!("The results are in {place}")]);
}

/// As few threads as a user may have: whatever is refused, the session or its worker says so, or
/// does without. Root is not limited, so there the command runs as nobody.
#[cfg(target_os = "linux")]
#[test]
fn threads_that_are_refused_are_no_panic() {
    use std::os::unix::fs::{PermissionsExt, chown};
    const NOBODY: u32 = 65534;
    if is_left_to_full() {
        return;
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let place = |name: &str| folder.path().join(name);
    let program = samples::program("cltune-e2e-few-threads");
    let _ = program.cargo(&["build"]).expect_code(0);
    fs::copy(tools::cargo_cltune(), place("cargo-cltune")).expect("a program can be copied");
    fs::copy(program.executable("debug"), place("app")).expect("a program can be copied");
    let rows = (0..64).map(|at| format!("{at},{}\n", 64 - at));
    let rows = rows.collect::<Vec<_>>().concat();
    fs::write(place("space.csv"), "X,time_ms\n".to_owned() + &rows).expect("a file can be written");
    let root = chown(folder.path(), Some(NOBODY), Some(NOBODY)).is_ok();
    let mode = fs::Permissions::from_mode(0o755);
    fs::set_permissions(folder.path(), mode).expect("its owner may");
    let cltune = |most: u32, arguments: &[&str]| {
        let mut command = Command::new("prlimit");
        command.arg(format!("--nproc={most}"));
        if root {
            command = Command::new("setpriv");
            command.args([
                "--reuid=65534",
                "--regid=65534",
                "--clear-groups",
                "prlimit",
            ]);
            command.arg(format!("--nproc={most}"));
        }
        command
            .arg(place("cargo-cltune"))
            .arg("cltune")
            .args(arguments);
        command
            .current_dir(folder.path())
            .env("POCL_CACHE_DIR", place("pocl"));
        Output::of(&mut command)
    };
    let replay = ["simulate", "space.csv", "--budget", "30", "--repeats", "4"];
    let alone = cltune(1, &replay).expect_code(0).expect_stderr(&[]);
    assert_eq!(alone.stdout, cltune(1000, &replay).expect_code(0).stdout);
    let tune = [
        "tune",
        "--artifact",
        "app",
        "--budget",
        "3",
        "--jobs",
        "2",
        "--fresh",
    ];
    let mut codes = Vec::new();
    for most in [1, 3, 5, 7, 10, 14, 1000] {
        let tuned = cltune(most, &tune).expect_stderr(&[]);
        assert!(matches!(tuned.code, Some(0..=2)), "{most}: {tuned}");
        // A search that cannot replace its worker keeps what it found.
        let kept = "the search ended early and what it found is kept: cannot start a worker";
        let says_why = |reason| tuned.stderr.contains(reason);
        assert!(
            tuned.code == Some(0) || says_why("error: ") || tuned.code == Some(1) && says_why(kept),
            "{tuned}"
        );
        codes.push(tuned.code);
    }
    assert_eq!((codes[0], codes[6]), (Some(2), Some(0)), "{codes:?}");
}

/// What `script` makes a terminal for, which may not be there.
#[cfg(target_os = "linux")]
#[test]
fn control_characters_are_shown_on_a_terminal() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let name = "a\u{1b}]0;title\u{7}b.csv";
    let text = "X,time_ms\n1,2\n2,1\n";
    fs::write(folder.path().join(name), text).expect("a file can be written");
    fs::write(
        folder.path().join("bad.csv"),
        "X\u{1b}[2J,time_ms\n1,x\u{1b}[2J\n",
    )
    .expect("a file can be written");
    let command = |file: &str| {
        let program = tools::cargo_cltune().display();
        format!("'{program}' cltune simulate '{file}' --budget 2 --repeats 1 --strategy random")
    };
    let on_a_terminal = |file: &str| {
        let mut script = Command::new("script");
        script.args(["-qec", &command(file), "/dev/null"]);
        Output::of(script.current_dir(folder.path()))
    };
    if !Command::new("script")
        .arg("-V")
        .output()
        .is_ok_and(|of| of.status.success())
    {
        cltune_tests::skip("there is no `script`, which makes terminals");
        return;
    }
    let shown = on_a_terminal(name).expect_code(0);
    let shown = shown.expect_stdout(&["a\\u{1b}]0;title\\u{7}b"]);
    assert!(!shown.stdout.contains('\u{7}'), "{shown}");
    // Neither in errors.
    let shown = on_a_terminal("bad.csv").expect_code(2);
    let shown = shown.expect_stdout(&["`x\\u{1b}[2J` is no time"]);
    assert!(!shown.stdout.contains("\u{1b}[2J"), "{shown}");
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
