//! Programs that tune themselves, on drivers that fail. The program is this test binary, run again.

use cltune::{Buffer, Event, Queue, Result, tunable};
use cltune_tests::faulty::Session;
use cltune_tests::process::Output;
use cltune_tests::tools;
use std::process::Command;

/// Adds 2 to each element. The farther from 4, the slower.
#[tunable(
    params(A = 0..=5),
    global(n), local(4),
    tune(n = 64),
    defaults(A = 0),
)]
pub fn add(queue: &Queue, n: u32, #[arg(len = n)] y: &mut Buffer<f32>) -> Result<Event> {
    "__kernel void add(const uint n, __global float* y) {
        const int distance = A > 4 ? A - 4 : 4 - A;
        float waste = get_global_id(0);
        for (int i = 0; i < 1000 * distance; i++) waste = waste * 0.75f + 0.125f * waste + 1.0f;
        y[get_global_id(0)] += waste > 1e30f ? 0 : 2;
    }"
}

/// The program: so many calls, and what each has added.
#[test]
fn program() -> Result<()> {
    let Ok(calls) = std::env::var("CALLS") else {
        return Ok(());
    };
    let queue = Queue::default_device()?;
    let mut y = Buffer::from_slice(&queue, &[0.0_f32; 64])?;
    let mut sum = 0.0;
    for call in 1..=calls.parse().expect("a number") {
        match add(&queue, 64, &mut y).and_then(|event| event.wait()) {
            Ok(()) => sum += 2.0,
            Err(error) => println!("call {call}: {error}"),
        }
    }
    match y.read(&queue) {
        Ok(y) => assert_eq!(y, [sum; 64]),
        Err(error) => println!("reading: {error}"),
    }
    println!(
        "sum {sum}\n{}",
        add::explain(&queue, add::Problem { n: 64 })?
    );
    Ok(())
}

/// The program with so many calls under a policy, with the session's driver and a cache in its
/// folder.
fn run(session: &Session, policy: &str, calls: u32) -> Output {
    let mut command = Command::new(std::env::current_exe().expect("this test has a file"));
    command.args(["--exact", "end_to_end::run_time::program", "--nocapture"]);
    session.place(&mut command);
    command
        .env("CLTUNE_POLICY", policy)
        .env("CLTUNE_CACHE", session.path("cache"))
        .env("CALLS", calls.to_string());
    Output::of(&mut command)
}

fn cache(session: &Session, arguments: &[&str]) -> Output {
    let mut command = Command::new(tools::cargo_cltune());
    command.args(["cltune", "cache"]).args(arguments);
    session.place(&mut command);
    Output::of(command.env("CLTUNE_CACHE", session.path("cache")))
}

#[test]
fn a_driver_that_crashes_costs_one_configuration_at_the_next_start() {
    let session = Session::new("segv@clEnqueueNDRangeKernel:A=4");
    assert_ne!(run(&session, "tune-once:10", 1).code, Some(0));
    let said = run(&session, "tune-once:10", 1)
        .expect_code(0)
        .expect_stdout(&["sum 2\n"]);
    let line = said.stdout.lines().find(|line| line.starts_with('>'));
    let line = line.unwrap_or_default();
    assert!(
        line.contains("from this user's cache, for this problem"),
        "{line}"
    );
    assert!(
        line.starts_with("> A = 3") || line.starts_with("> A = 5"),
        "{line}"
    );

    let _ = cache(&session, &["list"])
        .expect_code(0)
        .expect_stdout(&["add on "]);
    let exported = cache(&session, &["export", "--output", "found.lock"]);
    let _ = exported.expect_code(0);
    // What a file has already is not lost.
    let found = std::fs::read_to_string(session.path("found.lock")).expect("it was written");
    let other = found.replace("n = 64", "n = 96");
    std::fs::write(session.path("other.lock"), other).expect("a file can be written");
    let added = cache(&session, &["export", "--output", "other.lock"]);
    let _ = added.expect_code(0);
    let both = std::fs::read_to_string(session.path("other.lock")).expect("it was written");
    assert!(both.contains("n = 64") && both.contains("n = 96"), "{both}");
    std::fs::write(session.path("other.lock"), "mine").expect("a file can be written");
    let refused = cache(&session, &["export", "--output", "other.lock"]).expect_code(2);
    let _ = refused.expect_stderr(&["other.lock"]);
    let kept = std::fs::read_to_string(session.path("other.lock")).expect("it is there");
    assert_eq!(kept, "mine");
    let notes = std::fs::read_dir(session.path("cache/v1/notes")).expect("a folder");
    for note in notes.map(|note| note.expect("an entry").path()) {
        let note = note.to_string_lossy();
        let refused = cache(&session, &["export", "--output", &note]).expect_code(2);
        let _ = refused.expect_stderr(&["this command reads that file"]);
    }
    let text = std::fs::read_to_string(session.path("found.lock")).expect("it was written");
    assert!(text.contains("problem = { n = 64 }"), "{text}");
    // What was found can be read at run time, too.
    let _ = cache(&session, &["clear"])
        .expect_code(0)
        .expect_stdout(&["removed "]);
    let offline = run(&session, "offline:found.lock", 1);
    let _ = offline
        .expect_code(0)
        .expect_stdout(&["tuned on this device for this problem"]);
    let _ = cache(&session, &["export"])
        .expect_code(2)
        .expect_stderr(&["nothing"]);
}

#[test]
fn what_fails_while_calls_tune_is_not_seen_by_the_program() {
    let faults = "error=-5@clEnqueueNDRangeKernel:A=1;error=-11@clBuildProgram:A=2";
    let session = Session::new(faults);
    for policy in ["online:60s", "online:60s,unchecked"] {
        let said = run(&session, policy, 3000).expect_code(0);
        let said = said.expect_stdout(&["sum 6000\n"]);
        assert!(!said.stdout.contains("\ncall "), "{}", said.stdout);
        let _ = cache(&session, &["clear"]);
    }
}

#[test]
fn a_device_that_vanishes_between_calls_is_an_error_of_each_later_call() {
    let session = Session::new("lost=gone@clEnqueueNDRangeKernel#3");
    for policy in ["baked", "online:1000%"] {
        let said = run(&session, policy, 5).expect_code(0);
        let said = said.expect_stdout(&["sum 4\n"]);
        for call in ["call 3: ", "call 4: ", "call 5: ", "reading: "] {
            assert!(said.stdout.contains(call), "{}", said.stdout);
        }
        assert!(
            said.stdout.contains("CL_DEVICE_NOT_AVAILABLE"),
            "{}",
            said.stdout
        );
        std::fs::remove_file(session.path("gone")).expect("it was lost");
    }
}
