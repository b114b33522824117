//! Measuring a launch: the state of the device's caches when it is timed, and the objective, by
//! which the best configuration is best.

use std::fmt;

/// How results come about that can be compared with each other: with which caches they were
/// measured, and by which objective the best was chosen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Measure {
    /// The state of the caches when launches are timed.
    pub caches: Caches,
    /// What the best configuration has least of.
    pub objective: Objective,
}

/// What caches hold when a launch is timed: what the launch before left there, or other data.
///
/// A kernel that runs in a loop on the same data finds them in the caches. One that runs once,
/// between other kernels, does not, and another configuration may be its best.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Caches {
    /// After a launch of the same kernel on the same data.
    #[default]
    Warm,
    /// After other data have displaced these from the caches.
    Cold,
}

/// What the best configuration has least of.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Objective {
    /// The time of a launch.
    #[default]
    Time,
    /// The energy that the device takes for a launch.
    Energy,
    /// The product of both.
    EnergyDelay,
}

impl Measure {
    /// Times with warm caches.
    pub const WARM: Self = Self {
        caches: Caches::Warm,
        objective: Objective::Time,
    };
    /// Times with cold caches.
    pub const COLD: Self = Self {
        caches: Caches::Cold,
        objective: Objective::Time,
    };

    /// The words for what differs from the default, in the order of the fields.
    pub fn words(self) -> impl Iterator<Item = &'static str> {
        let caches = (self.caches != Caches::default()).then(|| self.caches.word());
        let objective = (self.objective != Objective::default()).then(|| self.objective.word());
        caches.into_iter().chain(objective)
    }
}

/// For people: `cold caches`, `warm caches, chosen by energy`.
impl fmt::Display for Measure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} caches", self.caches)?;
        match self.objective {
            Objective::Time => Ok(()),
            other => write!(f, ", chosen by {other}"),
        }
    }
}

impl Caches {
    /// All of them.
    pub const ALL: [Self; 2] = [Self::Warm, Self::Cold];

    /// The word for it in declarations, files and on the command line.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Warm => "warm",
            Self::Cold => "cold",
        }
    }

    /// The one that a word stands for.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|caches| caches.word() == word)
    }
}

impl fmt::Display for Caches {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

impl Objective {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Time, Self::Energy, Self::EnergyDelay];

    /// The word for it in files and on the command line.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Time => "time",
            Self::Energy => "energy",
            Self::EnergyDelay => "energy-delay",
        }
    }

    /// The one that a word stands for.
    pub fn from_word(word: &str) -> Option<Self> {
        Self::ALL
            .into_iter()
            .find(|objective| objective.word() == word)
    }

    /// Whether the energy of launches has to be measured for it.
    pub const fn needs_energy(self) -> bool {
        !matches!(self, Self::Time)
    }

    /// The figure of a configuration, of which less is better: its time in microseconds, its energy
    /// in microjoules, or the product of microseconds and joules. `None` where the energy is needed
    /// and not known.
    pub fn figure(self, time_us: f64, energy_j: Option<f64>) -> Option<f64> {
        match self {
            Self::Time => Some(time_us),
            Self::Energy => Some(energy_j? * 1e6),
            Self::EnergyDelay => Some(energy_j? * time_us),
        }
    }
}

impl fmt::Display for Objective {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_has_a_word_of_its_own() {
        for caches in Caches::ALL {
            assert_eq!(Caches::from_word(&caches.to_string()), Some(caches));
        }
        for objective in Objective::ALL {
            assert_eq!(
                Objective::from_word(&objective.to_string()),
                Some(objective)
            );
        }
        assert_eq!(Caches::from_word("Cold"), None);
        assert_eq!(Objective::from_word("energy_delay"), None);
        assert_eq!(Measure::default().words().count(), 0);
        let measure = Measure {
            caches: Caches::Cold,
            objective: Objective::EnergyDelay,
        };
        assert!(measure.words().eq(["cold", "energy-delay"]));
        assert_eq!(measure.to_string(), "cold caches, chosen by energy-delay");
    }

    #[test]
    fn the_figure_is_what_there_should_be_least_of() {
        let of = |objective: Objective| objective.figure(2.0, Some(3.0));
        assert_eq!(of(Objective::Time), Some(2.0));
        assert_eq!(of(Objective::Energy), Some(3e6));
        assert_eq!(of(Objective::EnergyDelay), Some(6.0));
        assert_eq!(Objective::Time.figure(2.0, None), Some(2.0));
        assert_eq!(Objective::EnergyDelay.figure(2.0, None), None);
    }
}
