//! Quantities with their units, for people.

use cltune_core::measure::Objective;

/// `7.42 us`, `12.3 ms`.
pub(crate) fn time(microseconds: f64) -> String {
    match microseconds {
        us if us < 1e3 => format!("{us:.2} us"),
        us if us < 1e6 => format!("{:.2} ms", us / 1e3),
        us => format!("{:.2} s", us / 1e6),
    }
}

/// `7.42 uJ`, `12.3 mJ`.
pub(crate) fn energy(joules: f64) -> String {
    match joules {
        j if j < 1e-3 => format!("{:.2} uJ", j * 1e6),
        j if j < 1.0 => format!("{:.2} mJ", j * 1e3),
        j => format!("{j:.2} J"),
    }
}

/// What an objective wants least of, with the unit of [`Objective::figure`].
pub(crate) fn figure(objective: Objective, figure: f64) -> String {
    match objective {
        Objective::Time => time(figure),
        Objective::Energy => energy(figure / 1e6),
        Objective::EnergyDelay => format!("{:.3e} J s", figure / 1e6),
    }
}

/// A figure of an objective beside that of the default, where it is known: `1.23 ms, 2.00x default`.
pub(crate) fn beside_default(objective: Objective, best: f64, default: Option<f64>) -> String {
    let speed_up = default.map(|default| format!(", {:.2}x default", default / best));
    figure(objective, best) + &speed_up.unwrap_or_default()
}
