//! Processes that are killed, stopped, or told to end.

use cltune_tests::faulty::{BEST, Session, fate};
use cltune_tests::process::signal;
use cltune_tests::{Output, Running, is_left_to_full};
use std::time::Duration;

/// Results of `A = 2` are read slowly: there are three reads, for there are guard zones.
const SLOW: &str = "sleep=0.5@clEnqueueReadBuffer:A=2";

#[test]
fn a_worker_that_is_killed() {
    // As the system does when memory runs out.
    let session = Session::new(SLOW);
    let running = Running::start(&mut session.command(&[]));
    session.wait_until_begun(&[2]);
    let workers = running.children();
    assert!(!workers.is_empty(), "there is a worker");
    for worker in workers {
        signal(worker, "KILL");
    }
    let tuned = running.end().expect_code(0);
    // A worker that had measured others may have died of them: a new one tries again.
    for value in 0..=5 {
        assert_eq!(fate(&tuned, &[value]), "ok", "{tuned}");
    }
    assert_eq!(session.chosen(), BEST);
}

#[test]
fn a_worker_that_is_killed_before_it_has_measured_anything() {
    if is_left_to_full() {
        return;
    }
    // While devices are listed, while the device is made ready, at the first configuration of all.
    for call in [
        "clGetDeviceIDs",
        "clCreateContext",
        "clEnqueueNDRangeKernel#3",
    ] {
        let marks = tempfile::tempdir().expect("there is a folder for temporary files");
        let mark = marks.path().join("killed");
        let session = Session::new(&format!("killed={}@{call}", mark.display()));
        let tuned = session.tune(&["--jobs", "1"]).expect_code(0);
        assert!(mark.exists(), "{call}: nothing was killed");
        for value in 0..=5 {
            assert_eq!(fate(&tuned, &[value]), "ok", "{call}: {tuned}");
        }
        assert_eq!(session.chosen(), BEST, "{call}");
    }
}

#[test]
fn a_session_that_is_stopped_for_longer_than_the_time_limit() {
    if is_left_to_full() {
        return;
    }
    let session = Session::new(SLOW);
    let running = Running::start(&mut session.command(&[]));
    session.wait_until_begun(&[2]);
    let workers = running.children();
    let all = || workers.iter().copied().chain([running.id()]);
    all().for_each(|process| assert!(signal(process, "STOP"), "{process} has ended"));
    std::thread::sleep(Duration::from_secs(4));
    all().for_each(|process| assert!(signal(process, "CONT"), "{process} has ended"));
    let tuned = running.end().expect_code(0);
    for value in 0..=5 {
        assert_eq!(fate(&tuned, &[value]), "ok", "{tuned}");
    }
}

#[test]
fn a_session_that_is_killed_and_resumed() {
    let session = Session::new(SLOW);
    let running = Running::start(&mut session.command(&[]));
    session.wait_until_begun(&[2]);
    running.signal("KILL");
    let _ = running.end();
    // Half a line, as a kill in the middle of writing it leaves.
    session.damage_journal(|text| text.push_str("{\"values\":[3],\"stat"));

    let resumed = session.tune(&["--resume"]).expect_code(0);
    // Nothing twice; what the session was killed at is the last to be tried.
    assert_eq!(values(&resumed), [3, 4, 5, 2], "{resumed}");
    assert_eq!(session.chosen(), BEST, "{resumed}");
    let again = session.tune(&["--fresh"]).expect_code(0);
    assert_eq!(again.messages("configuration").len(), 6, "{again}");
}

#[test]
fn a_session_that_is_killed_is_mentioned_by_the_next_one() {
    if is_left_to_full() {
        return;
    }
    let session = Session::new(SLOW);
    let running = Running::start(&mut session.command(&[]));
    session.wait_until_begun(&[2]);
    running.signal("KILL");
    let _ = running.end();
    let next = session.tune(&["--message-format", "human"]).expect_code(0);
    let next = next.expect_stderr(&["`--resume` would go on from its 2 results"]);
    let _ = next.expect_stdout(&["A = 4", "6 of 6"]);
}

#[test]
fn a_session_that_is_interrupted_and_resumed() {
    let session = Session::new(SLOW);
    let running = Running::start(&mut session.command(&[]));
    session.wait_until_begun(&[2]);
    running.signal("INT");
    let ended = running.end().expect_code(130);
    // What was under way was finished, and the best so far was kept: which of those measured that is
    // depends on what else the machine does.
    assert_eq!(fate(&ended, &[2]), "ok", "{ended}");
    let finished = &ended.messages("finished")[0]["values"][0];
    assert_eq!(*finished, session.chosen(), "{ended}");
    let resumed = session.tune(&["--resume"]).expect_code(0);
    assert_eq!(values(&resumed), [3, 4, 5], "{resumed}");
    assert_eq!(session.chosen(), BEST);
}

#[test]
fn a_session_that_is_interrupted_twice() {
    // What is under way never ends, and the time limit is far off.
    let session = Session::new("hang@clEnqueueReadBuffer:A=2");
    let running = Running::start(&mut session.command(&["--time-limit", "600"]));
    session.wait_until_begun(&[2]);
    running.signal("INT");
    std::thread::sleep(Duration::from_millis(200));
    running.signal("INT");
    let _ = running.end().expect_code(130);
    let session = session.without_faults();
    let resumed = session.tune(&["--resume"]).expect_code(0);
    assert_eq!(values(&resumed), [3, 4, 5, 2], "{resumed}");
}

#[test]
fn a_configuration_that_takes_the_session_down_with_it() {
    let session = Session::new("kill-parent@clEnqueueReadBuffer:A=2");
    assert_eq!(session.tune(&[]).code, None, "it is killed");
    assert_eq!(session.tune(&["--resume"]).code, None, "it is killed again");
    let ended = session.tune(&["--resume"]).expect_code(0);
    let culprit = fate(&ended, &[2]);
    assert!(culprit.starts_with("interrupted: "), "{culprit}");
    assert_eq!(ended.messages("configuration").len(), 1, "{ended}");
    assert_eq!(session.chosen(), BEST);
}

#[test]
fn a_journal_that_is_damaged() {
    if is_left_to_full() {
        return;
    }
    let session = Session::new("");
    let _ = session.tune(&[]).expect_code(0);
    session.damage_journal(|text| *text = text.replacen("\"values\":[3]", "\"values\":[2]", 1));
    let resumed = session.tune(&["--resume"]).expect_code(0);
    let resumed = resumed.expect_stderr(&["1 damaged line", "is kept as"]);
    // The configuration whose result is lost is measured again.
    assert_eq!(resumed.messages("configuration").len(), 1, "{resumed}");
    assert_eq!(fate(&resumed, &[3]), "ok", "{resumed}");
}

/// What was measured, in that order.
fn values(output: &Output) -> Vec<i64> {
    let messages = output.messages("configuration");
    let values = messages.iter().map(|message| message["values"][0].as_i64());
    values.map(|value| value.expect("a number")).collect()
}
