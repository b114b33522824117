//! Random processes of a session are killed while it runs; what it leaves has to be what a session
//! that nothing disturbs leaves. Once with good kernels, once with good and bad ones mixed.
//!
//! `CLTUNE_SOAK_ROUNDS` says how often, and `CLTUNE_SOAK_MINUTES` how long the second goes on;
//! `scripts/test --full` does it many times, and for ten minutes or as long as the variable says.

use cltune_tests::faulty::{MANY_BEST, Session, stands};
use cltune_tests::process::signal;
use cltune_tests::{Running, bad, is_left_to_full};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::thread::sleep;
use std::time::{Duration, Instant};

/// How often a session is disturbed: less often than there are values of the second parameter, so
/// that one of the fastest configurations is left.
const DISTURBANCES: usize = 6;
/// What may become of a configuration that was measured by what was killed.
const CULPRIT: [&str; 2] = ["crashed", "interrupted"];

#[test]
fn a_disturbed_session_leaves_what_an_undisturbed_one_does() {
    if is_left_to_full() {
        return;
    }
    let rounds = std::env::var("CLTUNE_SOAK_ROUNDS").ok();
    let rounds: u64 = rounds.map_or(1, |rounds| rounds.parse().expect("a number of rounds"));
    let undisturbed = Session::new("");
    let _ = tune(&undisturbed, "many", "--fresh").end().expect_code(0);
    let expected = undisturbed.results();
    assert!(
        expected.values().all(|status| status == "ok"),
        "{expected:?}"
    );
    assert_eq!(undisturbed.chosen(), MANY_BEST);
    for round in 1..=rounds {
        let session = Session::new("");
        let killed = disturb(&session, "many", &mut Random(round), |_| {});
        let found = session.results();
        assert!(
            found.keys().eq(expected.keys()),
            "round {round}: {killed:?}: {found:?}"
        );
        let culprits = found.values().filter(|status| *status != "ok");
        let failed = culprits.clone().count();
        assert!(
            failed <= killed.len() && culprits.clone().all(|status| CULPRIT.contains(&&**status)),
            "round {round}: {killed:?}: {found:?}"
        );
        assert_eq!(session.chosen(), MANY_BEST, "round {round}: {killed:?}");
        eprintln!("round {round}: killed {killed:?}; {failed} culprits");
    }
}

/// Runs a session to its end, which takes several runs of the tool. `left` is told when the session
/// itself was killed. Returns what was killed.
fn disturb(
    session: &Session,
    kernel: &str,
    random: &mut Random,
    mut left: impl FnMut(&Session),
) -> Vec<&'static str> {
    let mut killed = Vec::new();
    let mut running = tune(session, kernel, "--fresh");
    while killed.len() < DISTURBANCES {
        sleep(Duration::from_millis(200 + random.below(900)));
        let workers = running.children();
        if workers.is_empty() || random.below(2) == 0 {
            // It may have come to its end.
            signal(running.id(), "KILL");
            if running.end().code == Some(0) {
                return killed;
            }
            left(session);
            killed.push("supervisor");
            running = tune(session, kernel, "--resume");
        } else {
            signal(workers[random.below(workers.len() as u64) as usize], "KILL");
            killed.push("worker");
        }
    }
    // A worker that is killed before it is ready, twice, ends the run.
    let mut ended = running.end();
    for _ in 0..DISTURBANCES {
        if ended.code == Some(0) {
            return killed;
        }
        left(session);
        ended = tune(session, kernel, "--resume").end();
    }
    panic!("it does not come to its end: {ended}");
}

fn tune(session: &Session, kernel: &str, how: &str) -> Running {
    let arguments = ["--kernel", kernel, how];
    Running::start(&mut session.command(&arguments))
}

/// What a soak has counted.
#[derive(Debug, Default, PartialEq)]
struct Count {
    /// Chosen configurations that are wrong or unsound.
    wrong: usize,
    /// Good configurations that are no results in the end.
    lost_configurations: usize,
    /// Results that a journal had when a session was killed, and has not in the end.
    lost_results: usize,
    /// Configurations that were measured again although they had a result that stands.
    measured_twice: usize,
}

#[test]
fn bad_kernels_and_kills_cost_no_good_configuration() {
    let Ok(minutes) = std::env::var("CLTUNE_SOAK_MINUTES") else {
        cltune_tests::skip(
            "a round takes a minute or more; CLTUNE_SOAK_MINUTES says how long to go on",
        );
        return;
    };
    let minutes: u64 = minutes.parse().expect("a number of minutes");
    let (begin, mut total, mut kills, mut evaluations) = (Instant::now(), Count::default(), 0, 0);
    for round in 1.. {
        let session = Session::new("");
        let mut before: BTreeSet<String> = BTreeSet::new();
        // Those during which the session itself was killed. The second time they are given up,
        // which is right.
        let mut unfinished: BTreeMap<String, usize> = BTreeMap::new();
        let killed = disturb(&session, "mixed", &mut Random(round), |session| {
            before.extend(lines(session));
            for values in begun(&lines(session)) {
                *unfinished.entry(values).or_default() += 1;
            }
        });
        let lines = lines(&session);
        let mut results: BTreeMap<String, Value> = BTreeMap::new();
        for line in &lines {
            let result: Value = serde_json::from_str(line).expect("a line is JSON");
            if !result["status"].is_string() {
                continue;
            }
            evaluations += 1;
            let earlier = results.insert(result["values"].to_string(), result.clone());
            if earlier.is_some_and(|earlier| stands(&earlier) && result["status"] == "ok") {
                total.measured_twice += 1;
                eprintln!("round {round}: {killed:?}: measured twice: {result}");
            }
        }
        let here: BTreeSet<&String> = lines.iter().collect();
        total.lost_results += before.iter().filter(|line| !here.contains(line)).count();
        for speed in 0..bad::SPEEDS {
            let values = format!("[{},{speed}]", bad::GOOD);
            let status = results.get(&values).map(|result| result["status"].clone());
            if status != Some("ok".into()) && unfinished.get(&values) < Some(&2) {
                total.lost_configurations += 1;
                eprintln!(
                    "round {round}: {killed:?}: lost: {values}: {:?}",
                    results.get(&values)
                );
            }
        }
        for of in bad::all() {
            let result = &results[&format!("[{},0]", of.kind)];
            let status = result["status"].as_str().unwrap_or_default();
            let known = of.statuses.contains(&status) || CULPRIT.contains(&status);
            assert!(known, "round {round}: {killed:?}: `{}`: {result}", of.name);
        }
        if session.chosen() != bad::GOOD {
            total.wrong += 1;
            eprintln!(
                "round {round}: {killed:?}: chosen: KIND = {}",
                session.chosen()
            );
        }
        kills += killed.len();
        if begin.elapsed() >= Duration::from_mins(minutes) {
            eprintln!("{round} rounds, {kills} kills, {evaluations} evaluations: {total:?}");
            break;
        }
    }
    assert_eq!(total, Count::default());
}

/// The lines of a session's journal, less one that was torn.
fn lines(session: &Session) -> Vec<String> {
    let text = session.journal().unwrap_or_default();
    let whole = text.rfind('\n').map_or("", |end| &text[..end]);
    whole.lines().map(str::to_owned).collect()
}

/// The configurations that were begun and have no result.
fn begun(lines: &[String]) -> Vec<String> {
    let mut begun = Vec::new();
    for line in lines {
        let line: Value = serde_json::from_str(line).expect("a line is JSON");
        if line["begin"].is_array() {
            begun.push(line["begin"].to_string());
        } else if line["values"].is_array() {
            let values = line["values"].to_string();
            begun.retain(|of| *of != values);
        } else if line["kernel"].is_string() {
            // What an earlier session has left was counted then.
            begun.clear();
        }
    }
    begun
}

/// SplitMix64 (Steele, Lea and Flood, «Fast splittable pseudorandom number generators», 2014).
struct Random(u64);

impl Random {
    fn below(&mut self, bound: u64) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut z = self.0;
        z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        (z ^ (z >> 31)) % bound
    }
}
