//! Files that are none, larger than anybody needs, damaged, or links. A command that would wait for
//! ever, or take all memory, is ended after minutes, and its test fails by the exit code.

use cltune_tests::faulty::{BEST, Session};
use cltune_tests::samples::{self, FILL};
use cltune_tests::{Output, Project, is_left_to_full, tools};
use std::fs;
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::Command;
use tempfile::TempDir;

/// Long enough for every command on a busy machine.
const MINUTES: &str = "240";

/// `cargo cltune …` in a folder, with 4 GB of memory.
fn cltune(folder: &Path, arguments: &[&str]) -> Output {
    let mut command = Command::new("timeout");
    command.args([MINUTES, "prlimit", "--data=4000000000"]);
    command.arg(tools::cargo_cltune()).arg("cltune");
    Output::of(command.args(arguments).current_dir(folder))
}

/// A folder with what is no file, by what it is called in errors.
fn no_files() -> (TempDir, Vec<(&'static str, &'static str)>) {
    let folder = tempfile::tempdir().expect("a temporary folder");
    make_pipe(&folder.path().join("pipe"));
    fs::create_dir(folder.path().join("folder")).expect("a folder can be made");
    for (link, target) in [
        ("loop", "loop"),
        ("dangling", "nowhere"),
        ("to a pipe", "pipe"),
    ] {
        symlink(target, folder.path().join(link)).expect("a link can be made");
    }
    let all = vec![
        ("pipe", "it is a named pipe, not a file"),
        ("to a pipe", "it is a named pipe, not a file"),
        ("folder", "it is a folder, not a file"),
        ("/dev/zero", "it is a device, not a file"),
        ("loop", "symbolic links"),
    ];
    (folder, all)
}

fn make_pipe(path: &Path) {
    let made = Command::new("mkfifo").arg(path).status();
    assert!(
        made.is_ok_and(|status| status.success()),
        "{}",
        path.display()
    );
}

#[test]
fn what_is_no_file_is_an_error_that_says_what_it_is() {
    let (folder, all) = no_files();
    let commands: [&[&str]; 9] = [
        &["space"],
        &["simulate"],
        &["merge"],
        &["report", "--import"],
        &["list", "--artifact"],
        &["check", "--artifact"],
        &["verify", "--artifact"],
        &["export", "--format", "csv", "--artifact"],
        &["tune", "--artifact"],
    ];
    for command in commands {
        for (name, says) in &all {
            let failed = cltune(folder.path(), &[command, &[name]].concat()).expect_code(2);
            let _ = failed.expect_stderr(&[name, says]);
        }
        let failed = cltune(folder.path(), &[command, &["dangling"]].concat()).expect_code(2);
        let _ = failed.expect_stderr(&["dangling", "no"]);
    }
}

#[test]
fn what_is_no_file_in_place_of_a_lockfile_is_an_error_before_tuning() {
    let session = Session::new("");
    make_pipe(&session.path("pipe"));
    symlink("loop", session.path("loop")).expect("a link can be made");
    for (name, says) in [
        ("pipe", "it is a named pipe, not a file"),
        ("/dev/null", "it is a device, not a file"),
        ("loop", "link"),
    ] {
        let mut command = session.command_in("ulimit -t 240", &["--lockfile", name]);
        let failed = Output::of(&mut command).expect_code(2);
        let failed = failed.expect_stderr(&[name, says]);
        assert!(failed.messages("configuration").is_empty(), "{failed}");
    }
}

#[test]
fn what_is_no_file_is_an_error_when_a_program_is_compiled() {
    let project = samples::program("cltune-e2e-no-files");
    let build = |lockfile: &str| {
        let mut command = project.command(Path::new("timeout"));
        command.arg(MINUTES).arg(tools::cargo());
        Output::of(command.arg("build").env("CLTUNE_LOCK", lockfile)).expect_code(101)
    };
    let kernel = project.read("kernels/waste.h");
    fs::remove_file(project.path("kernels/waste.h")).expect("it was there");
    make_pipe(&project.path("kernels/waste.h"));
    let _ = build("").expect_stderr(&["waste.h", "it is a named pipe", "src/tunables.rs"]);
    fs::remove_file(project.path("kernels/waste.h")).expect("it was there");
    project.write("kernels/waste.h", kernel);
    let _ = build("/dev/zero").expect_stderr(&["/dev/zero", "it is a device", "src/tunables.rs"]);
    make_pipe(&project.path("cltune.lock"));
    let _ = build("").expect_stderr(&["cltune.lock", "it is a named pipe", "src/tunables.rs"]);
}

#[test]
fn what_is_no_file_in_the_users_cache_is_left_alone() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let place = |name: &str| folder.path().join("v1").join(name);
    let list = || {
        let mut command = Command::new("timeout");
        command.arg(MINUTES).arg(tools::cargo_cltune());
        command.args(["cltune", "cache", "list"]);
        command.env("CLTUNE_CACHE", folder.path());
        Output::of(&mut command).expect_code(0)
    };
    let _ = list();
    make_pipe(&place("notes/0123456789abcdef"));
    let _ = list().expect_stderr(&["0123456789abcdef", "it is a named pipe, not a file"]);
}

#[test]
fn a_definition_costs_no_more_than_expected() {
    if is_left_to_full() {
        return;
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let space = |parameters: usize, values: &str, restrictions: &[String]| {
        let parameters = (0..parameters).map(|at| format!("{{\"name\":\"P{at}\",{values}}}"));
        let parameters: Vec<String> = parameters.collect();
        let quoted: Vec<String> = restrictions.iter().map(|of| format!("\"{of}\"")).collect();
        let (parameters, restrictions) = (parameters.join(","), quoted.join(","));
        let text = format!(
            "{{\"name\":\"s\",\"parameters\":[{parameters}],\"restrictions_c\":[{restrictions}]}}"
        );
        fs::write(folder.path().join("s.json"), text).expect("a file can be written");
        cltune(folder.path(), &["space", "s.json", "--format", "json"])
    };
    let two = "\"values\":[1,2]";
    let groups = |built: Output| built.json()["groups"].as_array().map(Vec::len);
    let several = |count: usize, restriction: &dyn Fn(usize) -> String| -> Vec<String> {
        (0..count).map(restriction).collect()
    };

    // As many parameters as conditions can name; pairs of them; many conditions on one.
    let built = space(1 << 16, two, &[]).expect_code(0);
    assert_eq!(groups(built), Some(1 << 16));
    let pairs = several(10_000, &|at| format!("P{} + P{} <= 3", 2 * at, 2 * at + 1));
    let built = space(20_000, two, &pairs).expect_code(0);
    assert_eq!(groups(built), Some(10_000));
    let many = several(100_000, &|at| format!("P0 + P1 != {}", at + 5));
    assert_eq!(groups(space(2, two, &many).expect_code(0)), Some(1));

    // What cannot be told apart in reasonable time says so.
    let ring = several(20_000, &|at| format!("P{at} + P{} <= 3", (at + 1) % 20_000));
    let failed = space(20_000, two, &ring).expect_code(2);
    let failed = failed.expect_stderr(&["too many cases to be told apart", "`P19` and 19980 more"]);
    assert!(failed.stderr.len() < 2000, "{failed}");
    let sum = several(2000, &|at| format!("P{at}")).join("+") + " <= 2003";
    let _ = space(2000, two, &[sum]).expect_code(2);

    // More than that is an error that says how many there may be.
    let failed = space((1 << 16) + 1, two, &[]).expect_code(2);
    let _ = failed.expect_stderr(&["65537 parameters", "at most 65536"]);
    let failed = space(5, "\"range\":[1,16777216,1]", &[]).expect_code(2);
    let _ = failed.expect_stderr(&["`P4`", "more than 67108864 values"]);
}

#[test]
fn a_recording_costs_no_more_than_expected() {
    if is_left_to_full() {
        return;
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let import = |name: &str| {
        cltune(
            folder.path(),
            &["report", "--output", "r.html", "--import", name],
        )
    };
    // 16 MB of compressed zeros, which are 16 GB.
    let bomb = "head -c 268435456 /dev/zero | gzip -1 > one.gz && for i in $(seq 64); do cat one.gz; \
                done > bomb.csv.gz";
    let made = Command::new("sh")
        .args(["-c", bomb])
        .current_dir(folder.path())
        .status();
    assert!(made.is_ok_and(|status| status.success()));
    let failed = import("bomb.csv.gz").expect_code(2);
    let _ = failed.expect_stderr(&["bomb.csv.gz, unpacked", "more than 1 GiB"]);

    let columns: Vec<String> = (0..100_000).map(|at| format!("P{at}")).collect();
    let text = columns.join(",") + ",time_ms\n";
    fs::write(folder.path().join("wide.csv"), text).expect("a file can be written");
    let failed = import("wide.csv").expect_code(2);
    let _ = failed.expect_stderr(&["wide.csv:1: there are 100000 parameters", "1024"]);

    // As values, these would take thirty times their size.
    let json = format!(
        "{{\"tune_params_keys\":[\"X\"],\"cache\":{{\"1\":{{\"X\":1,\"time\":1,\"times\":[{}1]}}}}}}",
        "1,".repeat(9_000_000)
    );
    fs::write(folder.path().join("deep.json"), json).expect("a file can be written");
    let failed = import("deep.json").expect_code(2);
    let _ = failed.expect_stderr(&["deep.json: cache entry `1`", "read at once"]);

    // Values that are all different, and names.
    let rows = (0..30_000).map(|at| format!("{at},v{at},{}\n", at + 1));
    let rows = rows.collect::<Vec<_>>().concat();
    fs::write(
        folder.path().join("rows.csv"),
        "X,NAME,time_ms\n".to_owned() + &rows,
    )
    .expect("a file can be written");
    let _ = import("rows.csv").expect_code(0);
}

#[test]
fn a_lockfile_costs_no_more_than_expected() {
    if is_left_to_full() {
        return;
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let merge = |text: String| {
        fs::write(folder.path().join("a.lock"), text).expect("a file can be written");
        cltune(folder.path(), &["merge", "a.lock", "a.lock"])
    };
    let device = |id: usize, name: usize| {
        format!(
            "[[device]]\nid = \"d{id}\"\nplatform = \"P\"\nname = \"N\"\nvendor = \"{name}\"\ntype = \"gpu\"\n\
             driver = \"1\"\ncompute_units = 1\nmax_work_group_size = 1\nlocal_mem_size = 1\n"
        )
    };
    let devices: String = (0..20_000).map(|at| device(at, at)).collect();
    let _ = merge(format!("version = 1\n{devices}")).expect_code(0);
    let tuned = |n: usize| {
        format!(
            "[[kernel.tuned]]\ndevice = \"d0\"\nproblem = {{ n = {n} }}\nvalues = [1]\ntime_us = 1.0\n\
             evaluated = 1\nvalid = 1\nstrategy = \"full\"\n"
        )
    };
    let entries: String = (0..20_000).map(tuned).collect();
    let kernel = "[[kernel]]\nname = \"a::k\"\nfingerprint = \"b3:00\"\nparams = [\"X\"]\n";
    let device = device(0, 0);
    let merged = merge(format!("version = 1\n{device}{kernel}{entries}")).expect_code(0);
    let _ = merged.expect_stderr(&["a.lock: 0 new entries"]);
    let names: Vec<String> = (0..600_000).map(|at| format!("\"P{at}\"")).collect();
    let names = names.join(", ");
    let kernel =
        format!("[[kernel]]\nname = \"a::k\"\nfingerprint = \"b3:00\"\nparams = [{names}]\n");
    let _ = merge(format!("version = 1\n{kernel}")).expect_code(0);

    let comments = "# nothing but comments\n".repeat(4 << 20);
    let failed = merge(format!("version = 1\n{comments}")).expect_code(2);
    let _ = failed.expect_stderr(&["a.lock", "more than 64 MiB"]);
}

#[test]
fn the_lock_of_a_session_follows_no_link() {
    let session = Session::new("");
    fs::create_dir(session.path("cltune-state")).expect("a folder can be made");
    fs::write(session.path("precious"), "text").expect("a file can be written");
    let lock = session.path("cltune-state/session.lock");
    symlink("../precious", &lock).expect("a link can be made");
    let failed = session.tune(&[]).expect_code(2);
    let failed = failed.expect_stderr(&["session.lock", "it is a link", "remove it"]);
    assert!(failed.messages("configuration").is_empty(), "{failed}");
    assert_eq!(
        fs::read_to_string(session.path("precious")).ok().as_deref(),
        Some("text")
    );
    fs::remove_file(&lock).expect("it was there");
    make_pipe(&lock);
    let failed = Output::of(&mut session.command_in("ulimit -t 240", &[])).expect_code(2);
    let _ = failed.expect_stderr(&["session.lock", "it is a named pipe"]);
}

#[test]
fn a_lockfile_that_is_a_link_stays_one() {
    let session = Session::new("");
    fs::create_dir(session.path("shared")).expect("a folder can be made");
    symlink("shared/all.lock", session.path("cltune.lock")).expect("a link can be made");
    for _ in 0..2 {
        let _ = session.tune(&[]).expect_code(0);
        let metadata = fs::symlink_metadata(session.path("cltune.lock"));
        assert!(metadata.is_ok_and(|metadata| metadata.is_symlink()));
        assert_eq!(session.chosen(), BEST);
        let entries = fs::read_dir(session.path("shared")).expect("it is there");
        assert_eq!(
            entries.count(),
            1,
            "the file that it leads to, and nothing else"
        );
    }
}

#[test]
fn sessions_with_one_lockfile_lose_nothing() {
    let session = Session::new("");
    // Each has a state of its own, in its own folder.
    let problems: Vec<String> = (1..=8).map(|step| format!("n={}", 64 * step)).collect();
    let running: Vec<_> = problems
        .chunks(2)
        .enumerate()
        .map(|(number, problems)| {
            let folder = session.path(&number.to_string());
            fs::create_dir(&folder).expect("a folder can be made");
            symlink("../cltune.lock", folder.join("cltune.lock")).expect("a link can be made");
            let mut arguments = vec!["--kernel", "many", "--budget", "2", "--lockfile"];
            let lockfile = format!("{number}/cltune.lock");
            arguments.push(&lockfile);
            for problem in problems {
                arguments.extend(["--problem", problem]);
            }
            cltune_tests::Running::start(&mut session.command(&arguments))
        })
        .collect();
    for session in running {
        let _ = session.end().expect_code(0);
    }
    let lockfile = fs::read_to_string(session.path("cltune.lock")).expect("there is a lockfile");
    for step in 1..=8 {
        let problem = format!("problem = {{ n = {} }}", 64 * step);
        assert!(lockfile.contains(&problem), "{problem} is lost: {lockfile}");
    }
}

#[test]
fn lockfiles_that_are_united_at_the_same_time_lose_nothing() {
    let folder = tempfile::tempdir().expect("a temporary folder");
    let part = |number: usize| -> PathBuf {
        let path = folder.path().join(format!("{number}.lock"));
        let device = format!(
            "version = 1\n[[device]]\nid = \"d{number}\"\nplatform = \"P\"\nname = \"N{number}\"\nvendor = \"V\"\n\
             type = \"gpu\"\ndriver = \"1\"\ncompute_units = 1\nmax_work_group_size = 1\nlocal_mem_size = 1\n"
        );
        fs::write(&path, device).expect("a file can be written");
        path
    };
    fs::write(folder.path().join("all.lock"), "version = 1\n").expect("a file can be written");
    let running: Vec<_> = (0..12)
        .map(|number| {
            let mut command = Command::new(tools::cargo_cltune());
            command.args(["cltune", "merge", "--output", "all.lock", "all.lock"]);
            command.arg(part(number)).current_dir(folder.path());
            cltune_tests::Running::start(&mut command)
        })
        .collect();
    for merge in running {
        let _ = merge.end().expect_code(0);
    }
    let all = fs::read_to_string(folder.path().join("all.lock")).expect("there is a lockfile");
    for number in 0..12 {
        assert!(
            all.contains(&format!("\"N{number}\"")),
            "{number} is lost: {all}"
        );
    }
    let left = fs::read_dir(folder.path()).expect("it is there").count();
    assert_eq!(left, 13, "no litter");
}

#[test]
fn a_name_that_no_file_can_have_is_cut() {
    let names: Vec<String> = (0..11)
        .map(|at| format!("number_of_feature_channels_along_axis_{at}"))
        .collect();
    let arguments: Vec<String> = names.iter().map(|name| format!("{name}: u32")).collect();
    let sizes: Vec<String> = names.iter().map(|name| format!("{name} = 16")).collect();
    let c: Vec<String> = names
        .iter()
        .map(|name| format!("const uint {name}"))
        .collect();
    let source = format!(
        "use cltune::{{Buffer, Event, Queue, Result, tunable}};\n\
         #[tunable(global({n}), tune({}), params(A = [1, 2]))]\n\
         pub fn run(queue: &Queue, {}, #[arg(out, len = {n})] y: &mut Buffer<i32>) -> Result<Event> {{\n\
         \"__kernel void run({}, __global int* y) {{ y[get_global_id(0)] = 1; }}\"\n}}\n",
        sizes.join(", "),
        arguments.join(", "),
        c.join(", "),
        n = names[0],
    );
    let project = Project::new("cltune-e2e-long-names").file("src/lib.rs", source);
    project.forget_sessions();
    let tuned = project
        .cltune(&["tune", "--message-format", "json"])
        .expect_code(0);
    assert_eq!(tuned.messages("configuration").len(), 2, "{tuned}");
    // The same name the next time, and found by whoever looks for it.
    let resumed = project.cltune(&["tune", "--resume", "--message-format", "json"]);
    let resumed = resumed.expect_code(0);
    assert_eq!(resumed.messages("configuration").len(), 0, "{resumed}");
    let exported = project
        .cltune(&["export", "--format", "csv"])
        .expect_code(0);
    let file = exported.stdout.trim().to_owned();
    assert!(Path::new(&file).exists(), "{exported}");
    fs::remove_file(file).expect("it was there");
}

#[test]
fn a_damaged_line_of_a_capture_costs_that_line() {
    let session = Session::new("");
    fs::create_dir(session.path("launches")).expect("a folder can be made");
    let device = session
        .tune(&["--budget", "1"])
        .expect_code(0)
        .messages("device")
        .remove(0);
    let line = |n: usize| {
        format!(
            "{{\"kernel\":\"cltune_e2e_faults::run\",\"fingerprint\":\"b3:0\",\"platform\":{},\"device\":{},\
             \"problem\":{{\"n\":{n}}},\"launches\":1,\"seconds\":1}}\n",
            device["platform"], device["name"]
        )
    };
    let text = format!(
        "{{\"cltune_capture\":1}}\n{}{}\u{0}garbage\n{}",
        line(64),
        &line(96)[..50],
        line(128)
    );
    fs::write(session.path("launches/capture-1.jsonl"), text).expect("a file can be written");
    let tuned = session
        .tune(&["--captured", "launches", "--budget", "1"])
        .expect_code(0);
    let tuned = tuned.expect_stderr(&["1 damaged line was left out", "capture-1.jsonl; line 3"]);
    assert_eq!(tuned.messages("finished").len(), 2, "{tuned}");
}

#[test]
fn a_kernel_whose_fill_is_no_file_is_an_error() {
    let project = samples::inline("cltune-e2e-fill-pipe", "params(A = [1, 2])", FILL);
    project.edit(
        "src/lib.rs",
        "#[arg(out, len = n)] y",
        "#[arg(len = n, fill = file(\"x.bin\"))] y",
    );
    make_pipe(&project.path("x.bin"));
    let mut command = project.cltune_command(&["tune"]);
    let failed = Output::of(command.env("CLTUNE_TEST", "1")).expect_code(1);
    let _ = failed.expect_stderr(&["x.bin", "it is a named pipe, not a file"]);
}
