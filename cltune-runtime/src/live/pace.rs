//! How far apart a program's calls are, and by how much building beside them changes that.
//!
//! On a CPU, compilers and kernels share the cores, and drivers let launches wait while they build. How much
//! that costs the program cannot be computed, so it is measured: a program that calls a kernel again and
//! again does so at a certain pace, and what its calls are later while something is being built is what
//! building costs it. Whatever else the program does between its calls is in both, and so are kernels,
//! launches and waiting. Knows nothing of clocks.

/// Intervals are averaged over about so many.
const MEMORY: f64 = 240.0;
/// The mean of fewer is not known.
const FEWEST: f64 = 20.0;

/// Watches when calls come. Times are in microseconds.
#[derive(Clone, Debug, Default)]
pub(super) struct Pace {
    /// The mean interval while nothing is built, and of how many.
    mean_us: f64,
    count: f64,
    /// When the last call came, if the interval that it begins says something.
    last_us: Option<f64>,
    /// Whether something was being built then.
    is_building: bool,
    /// How much later calls came than without building, since [`cost`](Self::cost).
    late_us: f64,
    /// How long the kernel of ordinary calls takes.
    usual_us: Option<f64>,
}

impl Pace {
    /// A call comes.
    pub(super) fn call(&mut self, now_us: f64) {
        let Some(last_us) = self.last_us.take() else {
            return;
        };
        let interval_us = (now_us - last_us).max(0.0);
        if self.is_building {
            self.late_us += interval_us - self.mean_us;
        } else {
            self.count = (self.count + 1.0).min(MEMORY);
            self.mean_us += (interval_us - self.mean_us) / self.count;
        }
    }

    /// The call that came now is an ordinary one: it is neither a trial nor timed, so that nothing else
    /// accounts for what it takes.
    pub(super) fn is_ordinary(&mut self, now_us: f64, is_building: bool) {
        self.last_us = Some(now_us);
        self.is_building = is_building;
    }

    /// Whether the pace is known, so that a build may begin.
    pub(super) fn is_known(&self) -> bool {
        self.count >= FEWEST
    }

    /// The kernel of ordinary calls takes so long from now on. Where that is news, the pace changes by as much: a
    /// first guess, until the new one is known.
    pub(super) fn usual(&mut self, us: f64) {
        if let Some(before_us) = self.usual_us.replace(us)
            && before_us != us
        {
            self.mean_us = (self.mean_us + us - before_us).max(0.0);
            self.count = 0.0;
        }
    }

    /// What a build that took so long has cost the calls meanwhile: not more than its own time, in which
    /// the program may have had other reasons to call late.
    pub(super) fn cost(&mut self, took_us: f64) -> f64 {
        std::mem::take(&mut self.late_us).clamp(0.0, took_us)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// A program whose calls come at these intervals, again and again, and by a factor later while
    /// something is built.
    struct Program {
        pace: Pace,
        now_us: f64,
        calls: usize,
        intervals: Vec<f64>,
    }

    impl Program {
        fn new(intervals: &[f64]) -> Self {
            Self {
                pace: Pace::default(),
                now_us: 0.0,
                calls: 0,
                intervals: intervals.to_vec(),
            }
        }

        /// So many calls; returns by how much they were later than without building.
        fn call(&mut self, calls: usize, factor: Option<f64>) -> f64 {
            let mut late_us = 0.0;
            for _ in 0..calls {
                self.pace.call(self.now_us);
                self.pace.is_ordinary(self.now_us, factor.is_some());
                let interval = self.intervals[self.calls % self.intervals.len()];
                let longer = (factor.unwrap_or(1.0) - 1.0) * interval;
                self.now_us += interval + longer;
                late_us += longer;
                self.calls += 1;
            }
            // The last interval ends with the next call.
            self.pace.call(self.now_us);
            late_us
        }
    }

    proptest! {
        #[test]
        fn what_building_costs_is_what_calls_are_later(
            intervals in proptest::collection::vec(1.0_f64..1e4, 1..8),
            rounds in 1_usize..100, factor in 1.0_f64..4.0,
        ) {
            let mut program = Program::new(&intervals);
            let round = intervals.len();
            program.call(100 * round, None);
            prop_assert!(program.pace.is_known());
            let begin_us = program.now_us;
            let late_us = program.call(rounds * round, Some(factor));
            let found = program.pace.cost(program.now_us - begin_us);
            // The mean of the last 240 is off by how uneven a round is, at most.
            let sum: f64 = intervals.iter().sum();
            let tolerance = 0.02 * rounds as f64 * sum + 1e-6;
            prop_assert!((found - late_us).abs() <= tolerance, "{} instead of {}", found, late_us);
            prop_assert_eq!(program.pace.cost(1e9), 0.0);
        }

        #[test]
        fn a_build_never_costs_more_than_its_time(
            pause in 0.0_f64..1e9, took in 0.0_f64..1e6,
        ) {
            let mut program = Program::new(&[10.0]);
            program.call(50, None);
            program.call(10, Some(1.0));
            program.now_us += pause;
            program.pace.call(program.now_us);
            let cost = program.pace.cost(took);
            prop_assert!((0.0..=took).contains(&cost));
        }
    }

    #[test]
    fn calls_that_are_accounted_for_elsewhere_say_nothing() {
        let mut program = Program::new(&[10.0]);
        program.call(50, None);
        // A trial takes long, while something is built.
        program.pace.call(program.now_us);
        program.now_us += 5000.0;
        program.pace.call(program.now_us);
        assert_eq!(program.pace.cost(1e9), 0.0);
    }

    #[test]
    fn a_faster_kernel_is_a_faster_pace() {
        let mut program = Program::new(&[10.0]);
        assert!(!program.pace.is_known());
        program.pace.usual(9.0);
        program.call(50, None);
        program.pace.usual(9.0);
        assert!(program.pace.is_known());
        program.pace.usual(3.0);
        assert!(!program.pace.is_known());
        program.intervals = vec![4.0];
        let late_us = program.call(100, Some(1.5));
        assert!((program.pace.cost(1e9) - late_us).abs() < 1e-6);
        program.pace.usual(-1e3);
        assert!(program.pace.mean_us >= 0.0);
    }
}
