//! What a strategy is, and what it is told.

use super::lesson::Lesson;
use crate::space::Space;
use std::sync::Arc;

/// Decides which configuration to try next.
///
/// [`Search`](super::Search) calls the two methods in an order that does not depend on the order
/// or the speed in which results arrive, so a strategy is deterministic when it draws every random
/// number from a [`Generator`](super::Generator) of the setting's seed.
pub trait Strategy: Send {
    /// The next configuration to try, as codes in the order of the space's parameters. One that
    /// was tried before is not measured again: the strategy is told the known score, then asked
    /// again.
    ///
    /// `None`: nothing to propose before more results are told; the search ends when none are
    /// outstanding.
    fn propose(&mut self) -> Option<Vec<i64>>;

    /// What became of a configuration: one it proposed, or one the search started with.
    fn tell(&mut self, configuration: &[i64], score: Score);
}

/// What became of a configuration.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Score {
    /// It is right and takes this time in microseconds, positive and finite.
    Time(f64),
    /// It failed, for whatever reason.
    Failed,
}

impl Score {
    /// The score of a measured time, or of none. A time that is not positive and finite is a
    /// failure.
    pub fn of(time: Option<f64>) -> Self {
        match time {
            Some(time) if time.is_finite() && time > 0.0 => Self::Time(time),
            _ => Self::Failed,
        }
    }

    /// The time, unless it failed.
    pub fn time(self) -> Option<f64> {
        match self {
            Self::Time(time) => Some(time),
            Self::Failed => None,
        }
    }
}

/// What a strategy is made for.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Setting {
    /// The valid configurations.
    pub space: Arc<Space>,
    /// Decides every random choice.
    pub seed: u64,
    /// How many configurations may be evaluated; `None` where something else ends the search.
    pub budget: Option<u64>,
    /// How many configurations are measured at once, at least 1.
    pub in_flight: usize,
    /// What is known from other devices and problem sizes, the most similar first.
    pub lessons: Arc<[Lesson]>,
    /// What to evaluate before all else, where the space contains it.
    pub first: Option<Vec<i64>>,
}

impl Setting {
    /// Seed 0, no budget, one configuration at a time.
    pub fn new(space: Arc<Space>) -> Self {
        Self {
            space,
            seed: 0,
            budget: None,
            in_flight: 1,
            lessons: Arc::default(),
            first: None,
        }
    }

    /// With another seed.
    #[must_use]
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// With a number of evaluations (`200` or `Some(200)`), or with none.
    #[must_use]
    pub fn budget(mut self, evaluations: impl Into<Option<u64>>) -> Self {
        self.budget = evaluations.into();
        self
    }

    /// With so many configurations measured at once; 0 counts as 1.
    #[must_use]
    pub fn in_flight(mut self, configurations: usize) -> Self {
        self.in_flight = configurations.max(1);
        self
    }

    /// With a configuration to evaluate before all else.
    #[must_use]
    pub fn first(mut self, configuration: &[i64]) -> Self {
        self.first = Some(configuration.to_vec());
        self
    }

    /// With what is known from other devices and problem sizes, the most similar first.
    #[must_use]
    pub fn lessons(mut self, lessons: impl Into<Arc<[Lesson]>>) -> Self {
        self.lessons = lessons.into();
        self
    }
}
