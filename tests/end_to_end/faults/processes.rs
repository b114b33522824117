//! Processes that are killed, stopped, or told to end.

use cltune_tests::Running;
use cltune_tests::faulty::{BEST, Session, fate};
use cltune_tests::process::signal;
use std::time::Duration;

/// Results of `A = 2` are read slowly: there are three reads, for there are guard zones.
const SLOW: &str = "sleep=0.5@clEnqueueReadBuffer:A=2";

#[test]
fn a_worker_that_is_killed() {
    // As the system does when memory runs out.
    let session = Session::new(SLOW);
    let mut running = Running::start(&mut session.command(&[]));
    running.wait_for("\"values\":[1]");
    std::thread::sleep(Duration::from_millis(300));
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
fn a_session_that_is_stopped_for_longer_than_the_time_limit() {
    let session = Session::new(SLOW);
    let mut running = Running::start(&mut session.command(&[]));
    running.wait_for("\"values\":[1]");
    std::thread::sleep(Duration::from_millis(300));
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
