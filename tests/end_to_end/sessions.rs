//! Messages for tools, interruption, two sessions at once, several devices.

use cltune_tests::faulty::{BEST, Session};
use cltune_tests::samples::{self, FILL};
use cltune_tests::{Output, Running, is_left_to_full};
use std::collections::BTreeSet;

#[test]
fn messages_for_tools_have_every_promised_field() {
    let project = samples::program("cltune-e2e-messages");
    let arguments = ["tune", "--strategy", "full", "--message-format", "json"];
    let tuned = project.cltune(&arguments).expect_code(0);
    let device = &tuned.messages("device")[0];
    let name = device["name"].as_str().expect("a device has a name");
    for reason in ["space", "configuration", "best", "finished"] {
        let messages = tuned.messages(reason);
        assert!(!messages.is_empty(), "no {reason}: {tuned}");
        for message in messages {
            assert_eq!(message["kernel"], "cltune_e2e_messages::scale", "{message}");
            assert_eq!(message["device"], name, "{message}");
            assert_eq!(message["problem"]["n"], 4096, "{message}");
        }
    }
    let space = &tuned.messages("space")[0];
    assert_eq!(
        (space["cartesian"].as_u64(), space["valid"].as_u64()),
        (Some(4), Some(4))
    );
    let configurations = tuned.messages("configuration");
    let distinct: BTreeSet<String> = configurations
        .iter()
        .map(|message| message["values"].to_string())
        .collect();
    assert_eq!((configurations.len(), distinct.len()), (4, 4), "{tuned}");
    for message in &configurations {
        assert_eq!(message["status"], "ok", "{message}");
        assert!(
            message["time_us"].as_f64().is_some_and(|time| time > 0.0),
            "{message}"
        );
        assert!(
            message["repeats"]
                .as_u64()
                .is_some_and(|repeats| repeats > 0),
            "{message}"
        );
    }
    let finished = &tuned.messages("finished")[0];
    assert_eq!(finished["values"][1], false, "{finished}");
    assert_eq!(
        (&finished["evaluated"], &finished["failed"]),
        (&4.into(), &0.into()),
        "{finished}"
    );
    let number = |field: &str| finished[field].as_f64().unwrap_or_default();
    assert!(
        number("default_us") > number("time_us") && number("time_us") > 0.0,
        "{finished}"
    );
    assert!(number("seconds") > 0.0, "{finished}");
    let parts = [
        "starting_s",
        "measuring_s",
        "waiting_s",
        "comparing_s",
        "simulating_s",
    ];
    let parts = parts.map(number);
    let sum: f64 = parts.iter().sum();
    assert!((sum - number("seconds")).abs() < 1e-6, "{finished}");
    assert!(number("building_s") >= 0.0, "{finished}");
    assert!(finished["enough_budget_s"].is_null(), "{finished}");
    let words = ["sound", "not-checked", "off"];
    assert!(
        words.iter().any(|word| finished["soundness"] == *word),
        "{finished}"
    );
}

#[test]
fn a_budget_that_starting_uses_up_is_told_with_one_that_would_do() {
    let project = samples::inline("cltune-e2e-crowded", "params(A = 0..1000)", FILL);
    let arguments = ["tune", "--budget", "1ms", "--message-format", "json"];
    let tuned = project.cltune(&arguments).expect_code(0);
    let finished = &tuned.messages("finished")[0];
    let number = |field: &str| finished[field].as_f64().unwrap_or_default();
    let enough = number("enough_budget_s");
    assert!(enough >= 5.0 * number("starting_s"), "{finished}");
    let told = project.cltune(&["tune", "--budget", "1ms"]).expect_code(0);
    for part in ["of the budget of 1ms", "leaves time to search"] {
        assert!(told.stdout.contains(part), "no {part}: {told}");
    }
}

#[test]
fn a_search_without_time_keeps_what_calls_get_for_another_problem() {
    let project = samples::program("cltune-e2e-late");
    let tune = |arguments: &[&str]| {
        let json = ["tune", "--message-format", "json"];
        let tuned = project.cltune(&[&json, arguments].concat()).expect_code(0);
        tuned.messages("finished")[0]["values"][1].clone()
    };
    // The default wastes time, and is measured first.
    assert_eq!(tune(&["--strategy", "full", "--problem", "n=1024"]), false);
    assert_eq!(tune(&["--budget", "1ms", "--problem", "n=4096"]), false);
}

#[test]
fn the_same_seed_proposes_the_same_configurations() {
    let project = samples::inline("cltune-e2e-seeds", "params(A = 0..1000)", FILL);
    let proposed = |seed: &str| -> Vec<String> {
        let arguments = [
            "--strategy",
            "random",
            "--budget",
            "6",
            "--no-warm-start",
            "--seed",
            seed,
            "--message-format",
            "json",
        ];
        let tuned = project.cltune(&arguments).expect_code(0);
        let configurations = tuned.messages("configuration");
        configurations
            .iter()
            .map(|message| message["values"].to_string())
            .collect()
    };
    let first = proposed("1");
    assert_eq!(first.len(), 6);
    assert_eq!(proposed("1"), first);
    assert_ne!(proposed("2"), first);
}

#[test]
fn a_search_starts_from_the_best_for_another_problem() {
    let project = samples::program("cltune-e2e-warm");
    let first = ["tune", "--budget", "6", "--problem", "n=1024"];
    let _ = project.cltune(&first).expect_code(0);
    let tune = |arguments: &[&str]| {
        let other = ["tune", "--budget", "2", "--problem", "n=2048"];
        project.cltune(&[&other, arguments].concat()).expect_code(0)
    };
    let known = "starting from 4 results on ";
    let cold = tune(&["--no-warm-start"]);
    assert!(!cold.stderr.contains(known), "{cold}");
    let _ = tune(&[]).expect_stderr(&[known, "for n = 1024"]);
    // Read before it is tuned again, which may choose anew between two that are as good.
    let lockfile = project.read("cltune.lock");
    let json = tune(&["--message-format", "json"]);
    // After the default comes what was chosen for this problem before, then what was fast for the
    // other.
    let proposed = json.messages("configuration")[1]["values"].to_string();
    let entry = lockfile.split("n = 2048").nth(1).unwrap_or_default();
    assert!(
        entry.contains(&proposed.replace(',', ", ")),
        "{proposed}: {lockfile}"
    );

    // Of another version of the kernel only the values count: here these are bad ones, with times
    // that would be hard to beat.
    let values = [("n = 1024", "[16,true]"), ("n = 2048", "[4,false]")];
    let mut entries = lockfile.split("\n[[kernel.tuned]]\n").map(str::to_owned);
    let mut stale = entries.next().unwrap_or_default();
    for entry in entries {
        let (_, values) = values
            .iter()
            .find(|(problem, _)| entry.contains(problem))
            .expect("both were tuned");
        stale += "\n[[kernel.tuned]]\n";
        for line in entry.lines() {
            match line.split(' ').next() {
                Some("values") => stale.extend(["values = ", values]),
                Some("time_us") => stale.push_str("time_us = 0.001"),
                _ => stale.push_str(line),
            }
            stale.push('\n');
        }
    }
    project.write("cltune.lock", &stale);
    let kernel = project.read("kernels/waste.h");
    project.write("kernels/waste.h", format!("// a comment\n{kernel}"));
    let both = [
        "tune",
        "--problem",
        "n=1024",
        "--problem",
        "n=2048",
        "--budget",
        "2",
    ];
    let random = ["--strategy", "random", "--message-format", "json"];
    let again = project
        .cltune(&[&both[..], &random].concat())
        .expect_code(0);
    // After the default; for the second problem too, although the first one's result has replaced
    // all entries of that version.
    let configurations = again.messages("configuration");
    let known = again.messages("known");
    for (at, (problem, values)) in values.iter().enumerate() {
        assert_eq!(
            configurations[2 * at + 1]["values"].to_string(),
            *values,
            "{again}"
        );
        let from = known[at]["places"][0].as_str().unwrap_or_default();
        assert!(
            from.starts_with("the values of another version of the kernel on "),
            "{from}"
        );
        assert!(from.ends_with(&format!(" for {problem}")), "{from}");
    }
    let lockfile = project.read("cltune.lock");
    assert!(!lockfile.contains("time_us = 0.001"), "{lockfile}");
    assert_eq!(lockfile.matches("evaluated = 2").count(), 2, "{lockfile}");
}

#[test]
fn a_search_that_is_stuck_ends_and_says_so() {
    // What a configuration does is all the same, so little is to be gained early on.
    let project = samples::inline("cltune-e2e-stagnant", "params(A = 0..10_000)", FILL);
    let arguments = ["tune", "--budget", "2000", "--stop-when-stagnant=0.5"];
    let tuned = project.cltune(&arguments).expect_code(0);
    let _ = tuned.expect_stdout(&["ended before the budget", " of 10000"]);
}

/// A session that would go on for a long time; and the same arguments, but few configurations.
const LONG: [&str; 5] = ["tune", "--budget", "5000", "--message-format", "json"];

#[cfg(unix)]
#[test]
fn an_interrupted_session_keeps_what_it_measured() {
    let project = samples::inline("cltune-e2e-interrupt", "params(A = 0..10_000)", FILL);
    let mut session = Running::start(&mut project.cltune_command(&LONG));
    session.wait_for("\"configuration\"");
    session.wait_for("\"configuration\"");
    session.signal("INT");
    let ended = session.end().expect_code(130).expect_stderr(&["--resume"]);
    let measured = ended.messages("configuration").len();
    assert!((2..5000).contains(&measured), "{ended}");
    let lockfile = project.read("cltune.lock");
    assert!(
        lockfile.contains(&format!("evaluated = {measured}\n")),
        "{lockfile}"
    );
    // The message for tools and the lockfile tell the same.
    assert_eq!(ended.messages("finished")[0]["evaluated"], measured);
}

#[cfg(unix)]
#[test]
fn a_second_session_waits_and_says_for_whom() {
    let project = samples::inline("cltune-e2e-two-sessions", "params(A = 0..10_000)", FILL);
    let mut first = Running::start(&mut project.cltune_command(&LONG));
    first.wait_for("\"configuration\"");
    let second =
        Running::start(&mut project.cltune_command(&["--budget", "2", "--problem", "n=512"]));
    let holder = first.id();
    // It cannot have passed: the first would go on for hours.
    std::thread::sleep(std::time::Duration::from_secs(3));
    first.signal("INT");
    let _ = first.end().expect_code(130);
    let second = second.end().expect_code(0);
    let _ = second.expect_stderr(&["Blocking", &holder.to_string()]);
    let lockfile = project.read("cltune.lock");
    for problem in ["n = 256", "n = 512"] {
        assert!(
            lockfile.contains(problem),
            "nothing of either session is lost: {lockfile}"
        );
    }
}

/// PoCL can show one processor as two devices.
#[test]
fn every_device_is_tuned_in_one_session() {
    let project = samples::program("cltune-e2e-devices");
    let on_two = |arguments: &[&str]| {
        let mut command = project.cltune_command(arguments);
        Output::of(command.env("POCL_DEVICES", "basic pthread"))
    };
    let devices = on_two(&["devices", "--format", "json"])
        .expect_code(0)
        .json();
    let count = devices["devices"].as_array().map_or(0, Vec::len);
    if count < 2 {
        eprintln!("not PoCL: there is only one device to tune on");
        return;
    }
    let tuned = on_two(&["tune", "--budget", "4", "--message-format", "json"]).expect_code(0);
    assert_eq!(tuned.messages("device").len(), count, "{tuned}");
    assert_eq!(tuned.messages("finished").len(), count, "{tuned}");
    let lockfile = project.read("cltune.lock");
    assert_eq!(lockfile.matches("[[device]]").count(), count, "{lockfile}");
    assert_eq!(
        lockfile.matches("[[kernel.tuned]]").count(),
        count,
        "{lockfile}"
    );
    let tuned = on_two(&["--budget", "2", "--device", "basic"]).expect_code(0);
    assert!(!tuned.stdout.contains("pthread-"), "{tuned}");
}

/// A kernel that never ends where `A` is 1.
const ENDLESS: &str = "__kernel void run(const uint n, __global int* y) {
    volatile int again = get_global_id(0) == 0 ? A : 0;
    while (again) {}
    y[get_global_id(0)] = (int)n;
}";

#[test]
fn a_kernel_that_never_ends_costs_its_time_limit_only() {
    let project = samples::inline(
        "cltune-e2e-endless",
        "params(A = [0, 1, 2]), constraints(A < 2), defaults(A = 0)",
        ENDLESS,
    );
    let arguments = [
        "--strategy",
        "full",
        "--time-limit",
        "3",
        "--message-format",
        "json",
    ];
    let tuned = project.cltune(&arguments).expect_code(0);
    let configurations = tuned.messages("configuration");
    let status = |value: i64| {
        let found = configurations
            .iter()
            .find(|found| found["values"][0] == value);
        found.map(|found| found["status"].clone())
    };
    assert_eq!(status(0), Some("ok".into()), "{tuned}");
    assert_eq!(status(1), Some("timed-out".into()), "{tuned}");
    assert!(project.read("cltune.lock").contains("values = [0]"));
}

/// The supervisor may be killed at any moment; what it started must not use the device for ever.
#[cfg(target_os = "linux")]
#[test]
fn no_worker_outlives_a_killed_session() {
    use cltune_tests::process::{is_running, signal};
    use std::time::Duration;

    let project = samples::inline(
        "cltune-e2e-orphan",
        "params(A = [0, 1]), defaults(A = 0)",
        ENDLESS,
    );
    let arguments = ["--time-limit", "600", "--message-format", "json"];
    let mut session = Running::start(&mut project.cltune_command(&arguments));
    // The default is measured first; then the other one never ends.
    session.wait_for("\"configuration\"");
    let workers = session.children();
    assert!(!workers.is_empty(), "the session has a worker");
    std::thread::sleep(Duration::from_secs(1));
    session.signal("KILL");
    let _ = session.end();
    for _ in 0..300 {
        if !workers.iter().any(|worker| is_running(*worker)) {
            return;
        }
        std::thread::sleep(Duration::from_millis(100));
    }
    for worker in &workers {
        signal(*worker, "KILL");
    }
    panic!("workers were left: {workers:?}");
}

#[test]
fn a_search_without_the_budget_to_measure_what_is_known_does_not_replace_it() {
    if is_left_to_full() {
        return;
    }
    let session = Session::new("");
    let _ = session.tune(&[]).expect_code(0);
    assert_eq!(session.chosen(), BEST);
    // The default alone, then what is known as well.
    let default = session.tune(&["--budget", "1"]).expect_code(0);
    let _ = default.expect_stderr(&["kept the faster lockfile entry"]);
    assert_eq!(session.chosen(), BEST);
    let _ = session.tune(&["--budget", "2"]).expect_code(0);
    assert_eq!(session.chosen(), BEST);
}

#[test]
fn who_predicts_times_says_how_wrong_the_predictions_were_and_what_was_not_predicted() {
    const LIMITATION: &str = "`ann` predicts no more than";
    if is_left_to_full() {
        return;
    }
    let project = samples::inline(
        "cltune-e2e-predicted",
        // C and D are for the size of the space: 128 million.
        "params(A = [1, 2, 3, 4, 5, 6, 7, 8], B = [1, 2, 3, 4], C = 1..=2000, D = 1..=2000)",
        "__kernel void run(const uint n, __global int* y) {
            int sum = 0;
            for (int i = 0; i < 2000 * A; i++) sum += i ^ y[get_global_id(0)];
            y[get_global_id(0)] = (sum & 0) + B - B + C - C + D - D;
        }",
    );
    let tune = ["tune", "--device", "0", "--budget", "20", "--strategy"];
    let predicted = project.cltune(&[&tune[..], &["ann:n=14,m=4"]].concat());
    let _ = predicted.expect_code(0).expect_stdout(&[
        "mean relative error of predicted times, held out: ",
        LIMITATION,
        "there are 128000000",
    ]);
    let few = ["--constraint", "C == 1 && D == 1"];
    for (strategy, predicts) in [("ann:n=14,m=4", true), ("random", false)] {
        let other = project.cltune(&[&tune[..], &[strategy], &few].concat());
        let other = other.expect_code(0);
        assert_eq!(other.stdout.contains("held out"), predicts, "{other}");
        assert!(!other.stdout.contains(LIMITATION), "{other}");
    }
}

#[test]
fn contexts_are_made_while_the_package_is_built() {
    // Its build script ends once a worker has made a context, and fails where none does. The first
    // that does is killed, which leaves the file and costs the session nothing.
    let project = samples::program("cltune-e2e-early").file(
        "build.rs",
        r#"fn main() {
            println!("cargo::rerun-if-env-changed=CLTUNE_TEST_MARK");
            let mark = std::env::var("CLTUNE_TEST_MARK").expect("the test sets it");
            let made = (0..1200).any(|_| {
                std::thread::sleep(std::time::Duration::from_millis(50));
                std::path::Path::new(&mark).exists()
            });
            assert!(made, "no context was made while the package was built");
        }"#,
    );
    let marks = tempfile::tempdir().expect("there is a folder for temporary files");
    let mark = marks.path().join("made");
    let session = Session::new(&format!("killed={}@clCreateContext", mark.display()));
    let arguments = ["tune", "--strategy", "full", "--message-format", "json"];
    let mut command = project.cltune_command(&arguments);
    session.place(&mut command);
    command.current_dir(project.path("."));
    let tuned = Output::of(command.env("CLTUNE_TEST_MARK", &mark)).expect_code(0);
    let finished = &tuned.messages("finished")[0];
    assert_eq!(
        (&finished["evaluated"], &finished["failed"]),
        (&4.into(), &0.into()),
        "{tuned}"
    );
}
