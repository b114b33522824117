//! Unit tests of `session::progress::text`.

use super::*;
use cltune_search::Status;

/// Half done after ten seconds.
fn state() -> (State, Instant) {
    let mut state = State::new(Some(40), None);
    state.device = "GPU".to_owned();
    state.title = "app::saxpy for n = 8".to_owned();
    state.default = Some(4000.0);
    for (status, time_us) in [
        (Status::Ok, Some(2000.0)),
        (Status::Crashed, None),
        (Status::BuildFailed, None),
        (Status::Crashed, None),
        (Status::Ok, Some(3000.0)),
    ] {
        state.step(&status, time_us, || "WG = 64".to_owned());
    }
    for _ in 0..15 {
        state.step(&Status::Ok, Some(5000.0), String::new);
    }
    let now = state.begin + Duration::from_secs(10);
    (state, now)
}

#[test]
fn a_block_says_all_that_there_is_to_know() {
    let (mut state, now) = state();
    state.search = (2, 6);
    state.notes.push("starting from nothing".to_owned());
    assert_eq!(
        block(&state, now, 80),
        [
            "GPU, search 2 of 6",
            "  app::saxpy for n = 8",
            "  starting from nothing",
            "  [===============>              ] 20/40, 2.0/s, 10 s left",
            "  best 2.00 ms, 2.00x default: WG = 64",
            "  failed: 1 build-failed, 2 crashed",
        ]
    );
    assert_eq!(
        line(&state, now),
        "20/40, 2.0/s, 10 s left, best 2.00 ms, 2.00x default: WG = 64, \
             failed: 1 build-failed, 2 crashed"
    );
}

#[test]
fn no_line_is_wider_than_the_terminal() {
    let (state, now) = state();
    let lines = block(&state, now, 20);
    assert!(
        lines.iter().all(|line| line.chars().count() <= 20),
        "{lines:?}"
    );
    assert_eq!(lines[2], "  20/40, 2.0/s, 10 …");
    assert_eq!(lines[3], "  best 2.00 ms, 2.0…");
    assert_eq!(
        block(&state, now, 40)[2],
        "  [======>     ] 20/40, 2.0/s, 10 s left"
    );
    assert!(
        block(&state, now, 0)
            .iter()
            .all(|line| line.chars().count() <= 1)
    );
}

#[test]
fn what_comes_first_ends_the_search() {
    let (mut state, now) = state();
    state.deadline = Some(now + Duration::from_secs(4));
    assert!(counts(&state, now).ends_with("4 s left"));
    assert_eq!(state.fraction(now), Some(10.0 / 14.0));
    state.deadline = Some(now + Duration::from_secs(4000));
    assert!(counts(&state, now).ends_with("10 s left"));
    state.total = None;
    assert!(counts(&state, now).ends_with("20, 2.0/s, 1 h 6 min left"));
    state.deadline = None;
    assert_eq!(counts(&state, now), "20, 2.0/s");
    assert_eq!((state.fraction(now), state.left(now)), (None, None));
}

#[test]
fn what_an_earlier_session_did_is_not_this_ones_rate() {
    let (mut state, now) = state();
    state.resume(30);
    assert_eq!(counts(&state, now), "30/40, 0.0/s");
    state.step(&Status::Ok, Some(1.0), String::new);
    assert_eq!(counts(&state, now), "31/40, 0.1/s, 1 min 30 s left");
    state.comparing = true;
    assert!(counts(&state, now).ends_with("in turns"));
}

#[test]
fn a_bar_is_full_at_the_end() {
    assert_eq!(bar(0.0, 99), format!("[>{}] ", " ".repeat(29)));
    assert_eq!(bar(1.0, 99), format!("[{}] ", "=".repeat(30)));
    assert_eq!(bar(1.0, 6), "[======] ");
    assert_eq!(bar(1.0, 5), "");
}
