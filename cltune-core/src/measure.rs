//! The state of the device's caches when a launch is timed.

use std::fmt;

/// What a time was measured with: caches that hold what the launch before left there, or other
/// data.
///
/// A kernel that runs in a loop on the same data finds them in the caches. One that runs once,
/// between other kernels, does not, and another configuration may be its best.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Measure {
    /// After a launch of the same kernel on the same data.
    #[default]
    Warm,
    /// After other data have displaced these from the caches.
    Cold,
}

impl Measure {
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
        Self::ALL.into_iter().find(|measure| measure.word() == word)
    }
}

impl fmt::Display for Measure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.word())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_has_a_word_of_its_own() {
        for measure in Measure::ALL {
            assert_eq!(Measure::from_word(&measure.to_string()), Some(measure));
        }
        assert_eq!(Measure::from_word("Cold"), None);
        assert_eq!(Measure::default(), Measure::Warm);
    }
}
