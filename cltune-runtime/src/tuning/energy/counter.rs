//! A counter of energy.

use super::error::EnergyError;
use std::fmt::Debug;
use std::time::Duration;

/// Something that tells how much energy a device has taken since some moment.
pub(super) trait Counter: Debug + Send {
    /// Joules.
    ///
    /// # Errors
    /// It cannot be read.
    fn joules(&mut self) -> Result<f64, EnergyError>;

    /// The least difference between two readings, joules.
    fn resolution_j(&self) -> f64;

    /// The least time between two advances, where that is known; they may look more frequent.
    fn least_period(&self) -> Duration {
        Duration::ZERO
    }

    /// For so long readings still have something of what the device did before.
    fn lag(&self) -> Duration {
        Duration::ZERO
    }
}
