//! Progress of a search in words.

use super::state::State;
use crate::terminal::printable_name;
use crate::units::time;
use std::time::{Duration, Instant};

/// How wide a bar is at most, in characters, and at least: a narrow terminal shows the counts instead.
const BAR: usize = 30;
const LEAST_BAR: usize = 6;

/// What a terminal of this width shows of a device, line by line.
pub(super) fn block(state: &State, now: Instant, width: usize) -> Vec<String> {
    let (search, searches) = state.search;
    let mut lines = vec![if searches > 1 {
        format!("{}, search {search} of {searches}", state.device)
    } else {
        state.device.clone()
    }];
    lines.push(format!("  {}", state.title));
    lines.extend(state.notes.iter().map(|note| format!("  {note}")));
    let counts = counts(state, now);
    let room = width.saturating_sub("  [] ".len() + counts.chars().count());
    let bar = state.fraction(now).map(|fraction| bar(fraction, room));
    lines.push(format!("  {}{counts}", bar.unwrap_or_default()));
    lines.extend(best(state).map(|best| format!("  {best}")));
    lines.extend(failures(state).map(|failures| format!("  {failures}")));
    let lines = lines.into_iter();
    lines.map(|line| cut(&line, width)).collect()
}

/// The same on one line: `120/300, 4.2/s, 43 s left, best 1.23 ms, 2.00x default: WG = 64`.
pub(super) fn line(state: &State, now: Instant) -> String {
    let parts = [Some(counts(state, now)), best(state), failures(state)];
    parts.into_iter().flatten().collect::<Vec<_>>().join(", ")
}

/// `120/300, 4.2/s, 43 s left`.
fn counts(state: &State, now: Instant) -> String {
    let mut parts = vec![match state.total {
        Some(total) => format!("{}/{total}", state.done),
        None => state.done.to_string(),
    }];
    parts.push(format!("{:.1}/s", state.rate(now)));
    if state.comparing {
        parts.push("timing the best again, in turns".to_owned());
    } else if let Some(left) = state.left(now) {
        parts.push(format!("{} left", duration(left)));
    }
    parts.join(", ")
}

/// `best 1.23 ms, 2.00x default: WG = 64`.
fn best(state: &State) -> Option<String> {
    let (best, configuration) = state.best.as_ref()?;
    let speed_up = state.default_us.map_or_else(String::new, |default| {
        format!(", {:.2}x default", default / best)
    });
    Some(format!("best {}{speed_up}: {configuration}", time(*best)))
}

/// `failed: 3 build-failed, 1 timed-out`.
fn failures(state: &State) -> Option<String> {
    let kinds = state.failures.iter();
    let kinds: Vec<String> = kinds
        .map(|(kind, count)| format!("{count} {kind}"))
        .collect();
    (!kinds.is_empty()).then(|| format!("failed: {}", kinds.join(", ")))
}

/// `[=========>                    ] `, or nothing where there is no room for it.
fn bar(fraction: f64, room: usize) -> String {
    let width = room.min(BAR);
    if width < LEAST_BAR {
        return String::new();
    }
    let done = (fraction * width as f64).floor() as usize;
    let head = if done < width { ">" } else { "" };
    format!("[{:width$}] ", format!("{}{head}", "=".repeat(done)))
}

/// No longer than the terminal is wide: what wraps could not be drawn over.
fn cut(line: &str, width: usize) -> String {
    let line = printable_name(line);
    if line.chars().count() <= width {
        return line.into_owned();
    }
    let start = line.chars().take(width.saturating_sub(1));
    start.chain(['…']).collect()
}

/// `43 s`, `2 min 5 s`, `1 h 3 min`.
fn duration(duration: Duration) -> String {
    match duration.as_secs() {
        seconds @ 0..60 => format!("{seconds} s"),
        seconds @ 60..3600 => format!("{} min {} s", seconds / 60, seconds % 60),
        seconds => format!("{} h {} min", seconds / 3600, seconds % 3600 / 60),
    }
}

/// `1 result`, `2 results`.
pub(super) fn results(count: usize) -> String {
    format!("{count} result{}", if count == 1 { "" } else { "s" })
}

#[cfg(test)]
mod tests {
    use super::*;
    use cltune_search::Status;

    /// Half done after ten seconds.
    fn state() -> (State, Instant) {
        let mut state = State::new(Some(40), None);
        state.device = "GPU".to_owned();
        state.title = "app::saxpy for n = 8".to_owned();
        state.default_us = Some(4000.0);
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
}
