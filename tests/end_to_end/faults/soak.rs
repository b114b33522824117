//! Random processes of a session are killed while it runs; what it leaves has to be what a session
//! that nothing disturbs leaves.
//!
//! `CLTUNE_SOAK_ROUNDS` says how often; `scripts/test --full` does it many times.

use cltune_tests::Running;
use cltune_tests::faulty::{MANY_BEST, Session};
use cltune_tests::process::signal;
use std::thread::sleep;
use std::time::Duration;

/// How often a session is disturbed: less often than there are values of the second parameter, so
/// that one of the fastest configurations is left.
const DISTURBANCES: usize = 6;
/// What may become of a configuration that was measured by what was killed.
const CULPRIT: [&str; 2] = ["crashed", "interrupted"];

#[test]
fn a_disturbed_session_leaves_what_an_undisturbed_one_does() {
    let rounds = std::env::var("CLTUNE_SOAK_ROUNDS").ok();
    let rounds: u64 = rounds.map_or(1, |rounds| rounds.parse().expect("a number of rounds"));
    let undisturbed = Session::new("");
    let _ = tune(&undisturbed, "--fresh").end().expect_code(0);
    let expected = undisturbed.results();
    assert!(
        expected.values().all(|status| status == "ok"),
        "{expected:?}"
    );
    assert_eq!(undisturbed.chosen(), MANY_BEST);
    for round in 1..=rounds {
        let session = Session::new("");
        let killed = disturb(&session, &mut Random(round));
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

/// Runs a session to its end, which takes several runs of the tool. Returns what was killed.
fn disturb(session: &Session, random: &mut Random) -> Vec<&'static str> {
    let mut killed = Vec::new();
    let mut running = tune(session, "--fresh");
    while killed.len() < DISTURBANCES {
        sleep(Duration::from_millis(200 + random.below(900)));
        let workers = running.children();
        if workers.is_empty() || random.below(2) == 0 {
            // It may have come to its end.
            signal(running.id(), "KILL");
            if running.end().code == Some(0) {
                return killed;
            }
            killed.push("supervisor");
            running = tune(session, "--resume");
        } else {
            signal(workers[random.below(workers.len() as u64) as usize], "KILL");
            killed.push("worker");
        }
    }
    // A worker that is killed before it is ready ends the run.
    let mut ended = running.end();
    for _ in 0..DISTURBANCES {
        if ended.code == Some(0) {
            return killed;
        }
        ended = tune(session, "--resume").end();
    }
    panic!("it does not come to its end: {ended}");
}

fn tune(session: &Session, how: &str) -> Running {
    Running::start(&mut session.command(&["--kernel", "many", how]))
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
