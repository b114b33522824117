//! Progress of a search in words.

use super::state::State;
use crate::terminal::printable_name;
use crate::units::beside_default;
use std::time::{Duration, Instant};

/// How wide a bar is at most, in characters, and at least: a narrow terminal shows the counts
/// instead.
const BAR: usize = 30;
const LEAST_BAR: usize = 6;

/// The block of a device for a terminal of this width, line by line.
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
    let best = beside_default(state.objective, *best, state.default);
    Some(format!("best {best}: {configuration}"))
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
#[path = "../../../tests/unit/progress.rs"]
mod tests;
