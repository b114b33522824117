//! The cost of a launch of a configuration: its time, and its energy where that is measured.

use cltune_core::measure::Objective;

/// What a launch of a configuration that works costs.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Cost {
    /// Microseconds.
    pub(crate) time_us: f64,
    /// Joules; `None` where it was not measured.
    pub(crate) energy_j: Option<f64>,
}

impl Cost {
    /// A time alone, microseconds.
    pub(crate) fn of_time(time_us: f64) -> Self {
        Self {
            time_us,
            energy_j: None,
        }
    }

    /// What the objective wants least of; infinite where that was not measured.
    pub(crate) fn figure(self, objective: Objective) -> f64 {
        let figure = objective.figure(self.time_us, self.energy_j);
        figure.unwrap_or(f64::INFINITY)
    }
}
