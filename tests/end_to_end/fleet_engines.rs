//! Job engines that run the parts of a fleet, with the job scripts of the book. Only
//! `scripts/test --full` runs these, which installs the engines.

use cltune_tests::fleet::{Fleet, job_script};
use cltune_tests::process::{is_running, signal};
use cltune_tests::slurm::Slurm;
use cltune_tests::{Output, Running, is_left_to_full, tools};
use std::fs;
use std::os::unix::fs::PermissionsExt as _;
use std::path::Path;
use std::process::Command;
use std::thread::sleep;
use std::time::Duration;

/// What every part is tuned with: all configurations, one device, no simulator.
const OPTIONS: [&str; 8] = [
    "--strategy",
    "full",
    "--jobs",
    "1",
    "--soundness",
    "off",
    "--device",
    "0",
];

/// The folder of `cargo-cltune`.
fn programs() -> &'static Path {
    let program = tools::cargo_cltune();
    program.parent().expect("a program is in a folder")
}

/// A fleet with a script to run.
fn with_script(mark: &str) -> Fleet {
    let fleet = Fleet::new();
    fleet.write("tune-part", &job_script(mark));
    let runs = fs::Permissions::from_mode(0o755);
    fs::set_permissions(fleet.path("tune-part"), runs).expect("a script can be made to run");
    fleet
}

/// How many units the part in a folder has done.
fn done(fleet: &Fleet, folder: &str) -> usize {
    let file = fleet.path(&format!("{folder}/cltune-state/part.jsonl"));
    let text = fs::read_to_string(file).unwrap_or_default();
    text.matches("{\"unit\":").count()
}

/// The process that tunes the part in a folder.
fn process(fleet: &Fleet, folder: &str) -> u32 {
    let lock = fleet.read(&format!("{folder}/cltune-state/session.lock"));
    let id = lock
        .trim()
        .strip_prefix("process ")
        .and_then(|id| id.parse().ok());
    id.expect("the lock says who holds it")
}

fn merge(fleet: &Fleet, folders: &[&str]) -> Output {
    let output = ["--output", "cltune.lock"];
    fleet.cltune(&[&["merge"], folders, &output].concat())
}

/// Whether three kernels with two problems each are in the united lockfile.
#[track_caller]
fn assert_united(fleet: &Fleet, folders: &[&str]) {
    let _ = merge(fleet, folders).expect_code(0);
    assert_eq!(
        fleet
            .read("cltune.lock")
            .matches("[[kernel.tuned]]")
            .count(),
        6
    );
    let _ = fleet.cltune(&["check", "--artifact", "app"]).expect_code(0);
}

/// The arguments of the job script in the book.
fn array(tasks: &str) -> Vec<String> {
    let array = format!("--array={tasks}");
    // A feature of both nodes: how machines of one kind are chosen.
    let script = [
        array.as_str(),
        "--constraint=cpu",
        "tune-part",
        "./app",
        "3",
    ];
    script
        .iter()
        .chain(&OPTIONS)
        .map(ToString::to_string)
        .collect()
}

fn submit(slurm: &Slurm, fleet: &Fleet, tasks: &str) -> String {
    let arguments = array(tasks);
    let arguments: Vec<&str> = arguments.iter().map(String::as_str).collect();
    slurm.submit(&fleet.path(""), programs(), &arguments)
}

const PARTS: [&str; 3] = ["part-1", "part-2", "part-3"];

#[test]
fn a_slurm_array_goes_on_after_requeueing_cancelling_and_losing_a_node() {
    if is_left_to_full() {
        return;
    }
    let mut slurm = Slurm::new();
    let fleet = with_script("slurm");
    let job = submit(&slurm, &fleet, "1-3");
    // In the middle: one of the two units of the part is done.
    slurm.until("the first part has done a unit", |_| {
        done(&fleet, "part-1") == 1
    });
    let killed = process(&fleet, "part-1");
    let _ = slurm
        .run("scontrol", &["requeue", &format!("{job}_1")])
        .expect_code(0);
    slurm.until("the process is gone", |_| !is_running(killed));
    slurm.until("the second part has done a unit", |_| {
        done(&fleet, "part-2") >= 1
    });
    // A task that is queued again waits for a while.
    slurm.until("the third part has done a unit", |_| {
        done(&fleet, "part-3") == 1
    });
    let _ = slurm.run("scancel", &[&format!("{job}_3")]).expect_code(0);
    slurm.wait();
    let log = fleet.read("part-1.log");
    assert!(log.contains("2 of 6 units; 1 are done"), "{log}");
    assert_eq!(
        [1, 2, 3].map(|part| done(&fleet, &format!("part-{part}"))),
        [2, 2, 1]
    );
    let _ = merge(&fleet, &PARTS).expect_code(2).expect_stderr(&[
        "slice:3/3 (part-3) has not done 1 unit",
        "cltune_e2e_fleet::third on ",
    ]);

    // Submitted alone, on the node that is left while the other goes down.
    slurm.lose_second_node();
    let _ = submit(&slurm, &fleet, "3");
    slurm.wait();
    assert_united(&fleet, &PARTS);
    let log = fleet.read("part-3.log");
    assert!(log.contains("2 of 6 units; 1 are done"), "{log}");
}

#[test]
fn a_node_that_never_comes_back_is_named() {
    if is_left_to_full() {
        return;
    }
    let mut slurm = Slurm::new();
    let fleet = with_script("slurm");
    let job = submit(&slurm, &fleet, "1-2");
    slurm.until("both parts have begun", |_| {
        done(&fleet, "part-1") >= 1 && done(&fleet, "part-2") >= 1
    });
    let on_second = slurm.run("squeue", &["--noheader", "--nodelist=n2", "--format=%K"]);
    let part = format!("part-{}", on_second.stdout.trim());
    let lost = process(&fleet, &part);
    slurm.lose_second_node();
    assert!(signal(lost, "KILL"));
    slurm.until("the process is gone", |_| !is_running(lost));
    let other = if part == "part-1" { "part-2" } else { "part-1" };
    slurm.until("the other part is done", |_| done(&fleet, other) == 2);
    let _ = slurm.run("scancel", &[&job]);
    let missing = merge(&fleet, &[other]).expect_code(2);
    let lost = part.replace("part-", "slice:") + "/3 is missing, with 2 units";
    let _ = missing.expect_stderr(&[&lost, "slice:3/3 is missing, with 2 units"]);
    let missing = merge(&fleet, &["part-1", "part-2"]).expect_code(2);
    let _ = missing.expect_stderr(&[
        &format!("({part}) has not done 1 unit"),
        "slice:3/3 is missing",
    ]);
    assert!(!fleet.path("cltune.lock").exists());
}

/// HyperQueue's server, and a worker with two cores, to which the script is submitted for each
/// entry of `units.json`: what `hq submit --from-json` does, which its package on PyPI lacks.
fn hyperqueue(fleet: &Fleet) -> Command {
    let packages = tools::repository().join("target/hyperqueue");
    let driver = tools::repository().join("tests/end_to_end/run_on_hyperqueue.py");
    let path = std::env::var("PATH").unwrap_or_default();
    let mut command = Command::new("python3");
    command
        .arg(driver)
        .args(["units.json", "./tune-part", "./app"])
        .args(OPTIONS)
        .current_dir(fleet.path(""))
        .env("PYTHONPATH", packages)
        .env("PATH", format!("{}:{path}", programs().display()));
    command
}

#[test]
fn hyperqueue_runs_the_units_and_a_killed_one_goes_on() {
    if is_left_to_full() {
        return;
    }
    let fleet = with_script("hyperqueue");
    let units = ["units", "--artifact", "app", "--format", "array"];
    let units = fleet
        .cltune(&[&units[..], &["--device", "0"]].concat())
        .expect_code(0)
        .stdout;
    fleet.write("units.json", &units);
    let parts = ["part-slice-1-3", "part-slice-2-3", "part-slice-3-3"];
    let running = Running::start(&mut hyperqueue(&fleet));
    let begun = (0..3000).any(|_| {
        sleep(Duration::from_millis(100));
        done(&fleet, parts[0]) == 1
    });
    assert!(begun, "{}", running.end());
    assert!(signal(process(&fleet, parts[0]), "KILL"));
    let ended = running.end().expect_code(1);
    let _ = ended.expect_stdout(&["failed: 1 of 3"]);
    let _ = merge(&fleet, &parts).expect_code(2).expect_stderr(&[
        "slice:1/3 (part-slice-1-3) has not done 1 unit",
        "cltune_e2e_fleet::first on ",
    ]);
    let again = Output::of(&mut hyperqueue(&fleet)).expect_code(0);
    let _ = again.expect_stdout(&["failed: 0 of 3"]);
    assert_united(&fleet, &parts);
}
