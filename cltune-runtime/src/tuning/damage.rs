//! Damage to memory that no configuration may touch, and its attribution.

use super::arguments::Damage;
use super::buffers::Round;
use super::build::launch_failed;
use super::measurer::Measurer;
use super::outcome::{Outcome, WrongResult};

impl Measurer {
    /// The outcome of a configuration after it ran, unless it touched memory that it must not, or
    /// another one has touched the memory that it was compared with.
    ///
    /// `is_certain`: the kept memory was intact before this configuration ran, so that any damage
    /// is its own.
    pub(super) fn judged(&self, outcome: Outcome, is_certain: bool) -> Outcome {
        let (is_wrong, is_out_of_bounds) = match &outcome {
            // Nothing was run, or nothing that the device is asked can be relied on.
            Outcome::BuildFailed { .. } | Outcome::LaunchFailed { .. } => return outcome,
            Outcome::WrongResult(wrong) => (true, wrong.kind.is_out_of_bounds()),
            _ => (false, false),
        };
        // A difference from results that have changed themselves is not attributed to the
        // configuration.
        let damage = self.arguments.damage(
            &self.queue,
            self.arguments.is_kept_in_sight() || is_wrong || is_certain,
        );
        match damage {
            Err(error) => launch_failed(&error),
            Ok(Some(Damage::Beside(wrong))) if !is_wrong => Outcome::WrongResult(wrong),
            Ok(Some(Damage::Kept(wrong))) => {
                let verdict = match is_certain {
                    _ if is_out_of_bounds => outcome,
                    true => Outcome::WrongResult(wrong.clone()),
                    false => unjudged(&wrong),
                };
                *self.spoilt.borrow_mut() = Some(wrong);
                verdict
            }
            Ok(_) => outcome,
        }
    }

    /// Damage to any memory that no configuration may touch, since the last check.
    pub(super) fn touched(&self) -> Option<Outcome> {
        match self.arguments.damage(&self.queue, true) {
            Err(error) => Some(launch_failed(&error)),
            Ok(None) => None,
            Ok(Some(Damage::Beside(wrong))) => Some(Outcome::WrongResult(wrong)),
            Ok(Some(Damage::Kept(wrong))) => {
                *self.spoilt.borrow_mut() = Some(wrong.clone());
                Some(Outcome::WrongResult(wrong))
            }
        }
    }

    /// Whether anything can be judged.
    ///
    /// # Errors
    /// [`Outcome::Unjudged`].
    pub(super) fn is_able_to_judge(&self) -> Result<(), Outcome> {
        self.spoilt
            .borrow()
            .as_ref()
            .map_or(Ok(()), |wrong| Err(unjudged(wrong)))
    }

    /// Whether the device still does what it is asked, and what the tuner keeps is as it was. After
    /// a failed launch the device may not: NVIDIA's driver, for one, refuses everything in a
    /// context in which a kernel accessed an invalid address. Then only a new process helps.
    pub fn is_usable(&self) -> bool {
        let is_intact = || match self.arguments.damage(&self.queue, true) {
            Ok(Some(Damage::Kept(wrong))) => {
                *self.spoilt.borrow_mut() = Some(wrong);
                false
            }
            looked => matches!(looked, Ok(None)),
        };
        let restore = || {
            let restored = self.arguments.restore(&self.queue, Round::default());
            restored.and_then(|()| self.queue.finish())
        };
        self.is_able_to_judge().is_ok() && is_intact() && restore().is_ok()
    }
}

pub(super) fn unjudged(wrong: &WrongResult) -> Outcome {
    Outcome::Unjudged {
        reason: format!("{wrong}, perhaps by another configuration that was run before"),
    }
}
