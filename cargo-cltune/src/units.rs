//! Quantities with their units, for people.

/// `7.42 us`, `12.3 ms`.
pub(crate) fn time(microseconds: f64) -> String {
    match microseconds {
        us if us < 1e3 => format!("{us:.2} us"),
        us if us < 1e6 => format!("{:.2} ms", us / 1e3),
        us => format!("{:.2} s", us / 1e6),
    }
}
