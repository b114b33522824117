//! The bound on the overhead, the forecast and the measured cost of builds, on made-up programs.

use super::*;
use proptest::prelude::*;

/// The costs of calls when every step that is afforded is made: the costs of trials, in default
/// times, come from `trials`, of builds from `builds` (what is expected and what they cost); other
/// calls take `usual` default times.
fn costs(
    bucket: &mut TokenBucket,
    default: f64,
    usual: f64,
    trials: &[(f64, f64)],
    builds: &[(f64, f64)],
) -> Vec<f64> {
    let mut trials = trials.iter().cycle();
    let mut builds = builds.iter().cycle().copied();
    let mut build = builds.next();
    let mut costs = Vec::new();
    for _ in 0..6000 {
        let (mut took, mut extra) = (usual * default, 0.0);
        let expected = build.map_or(0.0, |(expected, _)| expected * default);
        if let Some((_, cost)) = build
            && bucket.afford(expected, default) == Affordable::Now
        {
            extra = cost * default;
            build = None;
        } else if build.is_none() && bucket.afford(RESERVE * default, default) == Affordable::Now {
            let (launch, check) = trials.next().copied().unwrap_or((1.0, 0.0));
            (took, extra) = (launch * default, check * default);
            build = builds.next();
        }
        bucket.extra(extra);
        bucket.call(took, default, expected);
        costs.push(took + extra);
    }
    costs
}

/// Excess over what is allowed, summed up to each call: none may be higher than one that is a
/// window or more before. Returns by how many default times the worst is.
fn worst(costs: &[f64], default: f64, fraction: f64, window: usize) -> f64 {
    let mut sums = vec![0.0];
    for cost in costs {
        sums.push(sums[sums.len() - 1] + cost / default - (1.0 + fraction));
    }
    let (mut least, mut worst) = (f64::INFINITY, f64::NEG_INFINITY);
    for end in window..sums.len() {
        least = least.min(sums[end - window]);
        worst = worst.max(sums[end] - least);
    }
    worst
}

proptest! {
    #[test]
    fn no_window_exceeds_the_overhead(
        fraction in 0.02_f64..2.0, default in 0.1_f64..1e6, usual in 0.2_f64..1.0,
        trials in proptest::collection::vec((0.1_f64..10.0, 0.0_f64..3.0), 1..50),
        builds in proptest::collection::vec((0.0_f64..30.0, 0.0_f64..1.0), 0..20),
    ) {
        // What is expected, and what it costs: less than that, or more.
        let most = 600.0_f64.max(24.0 / fraction) * fraction / 2.0;
        let calls = 2.0 * most / fraction;
        let saved = builds.iter().map(|(expected, _)| *expected).fold(RESERVE, f64::max);
        let builds: Vec<(f64, f64)> = builds
            .iter()
            .map(|(expected, cost)| {
                let more = (2.0 * cost - 1.0).max(0.0) * (most - saved).max(0.0);
                (*expected, expected * (2.0 * cost).min(1.0) + more)
            })
            .collect();
        let window = Duration::from_secs_f64(calls * default / 1e6);
        let overhead = Overhead::Fraction { fraction, window };
        let costs = costs(&mut TokenBucket::new(overhead), default, usual, &trials, &builds);
        prop_assert!(worst(&costs, default, fraction, calls.ceil() as usize + 1) <= 1e-6);
    }

    #[test]
    fn shorter_windows_keep_the_bound_where_steps_cost_what_was_expected(
        fraction in 0.02_f64..2.0, default in 0.1_f64..1e3,
        trials in proptest::collection::vec((0.1_f64..10.0, 0.0_f64..3.0), 1..50),
        expected in 0.0_f64..30.0, costs_of_it in 0.0_f64..1.0,
    ) {
        let mut bucket = TokenBucket::new(Overhead::fraction(fraction));
        let builds = [(expected, costs_of_it * expected)];
        let costs = costs(&mut bucket, default, 1.0, &trials, &builds);
        let window = 2.0 * RESERVE.max(expected) / fraction;
        prop_assert!(worst(&costs, default, fraction, window.ceil() as usize) <= 1e-6);
    }

    #[test]
    fn a_time_is_not_exceeded(
        milliseconds in 1_u64..1000, default in 1.0_f64..1e4,
        trials in proptest::collection::vec((0.1_f64..10.0, 0.0_f64..3.0), 1..50),
    ) {
        let mut bucket = TokenBucket::new(Overhead::Time(Duration::from_millis(milliseconds)));
        let costs = costs(&mut bucket, default, 1.0, &trials, &[]);
        let excess: f64 = costs.iter().map(|cost| cost - default).sum();
        prop_assert!(excess <= milliseconds as f64 * 1e3 + 1e-3, "{}", excess);
    }
}

#[test]
fn a_step_that_costs_more_than_a_window_allows_is_never_begun() {
    let overhead = Overhead::Fraction {
        fraction: 0.1,
        window: Duration::from_secs(10),
    };
    let mut bucket = TokenBucket::new(overhead);
    assert_eq!(bucket.afford(5e5, 10.0), Affordable::Later);
    assert_eq!(bucket.afford(5.001e5, 10.0), Affordable::Never);
    // Windows have 240 calls at least.
    assert_eq!(bucket.afford(12e6, 1e6), Affordable::Later);
    for _ in 0..1_000_100 {
        bucket.call(10.0, 10.0, 5e5);
    }
    assert_eq!(bucket.afford(5e5, 10.0), Affordable::Now);
    let time = TokenBucket::new(Overhead::Time(Duration::from_millis(1)));
    assert_eq!(time.afford(1e3, 10.0), Affordable::Now);
    assert_eq!(time.afford(1.001e3, 10.0), Affordable::Never);
}

#[test]
fn a_debt_is_paid_before_a_trial() {
    let mut bucket = TokenBucket::new(Overhead::fraction(0.1));
    let affordable = |bucket: &TokenBucket| bucket.afford(RESERVE * 10.0, 10.0);
    for _ in 0..240 {
        assert_eq!(affordable(&bucket), Affordable::Later);
        bucket.call(10.0, 10.0, 0.0);
    }
    assert_eq!(affordable(&bucket), Affordable::Now);
    bucket.call(1000.0, 10.0, 0.0);
    let calls = (0..).take_while(|_| {
        bucket.call(10.0, 10.0, 0.0);
        affordable(&bucket) != Affordable::Now
    });
    assert!((1975..2225).contains(&calls.count()));
}

#[test]
fn a_default_that_was_cached_tells_nothing() {
    let cached = CostForecast::of(Duration::from_millis(2), None);
    assert_eq!((cached.build_us(1e9), cached.check_us()), (1e5, 0.0));
    let built = CostForecast::of(Duration::from_millis(300), Some(1 << 20));
    assert_eq!(built.build_us(1e9), 1.8e5);
    assert!(built.check_us() > 1e4);
}

#[test]
fn a_high_cost_is_expected_for_a_while() {
    let mut forecast = CostForecast::new(100.0, 8.0);
    forecast.built(10.0);
    forecast.checked(50.0);
    assert_eq!((forecast.build_us(1e9), forecast.check_us()), (50.0, 75.0));
    for _ in 0..10 {
        forecast.built(10.0);
    }
    assert_eq!(forecast.build_us(1e9), 15.0);
}

#[test]
fn the_safety_margin_is_given_up_before_the_build() {
    let forecast = CostForecast::new(15.0, 0.0);
    for (most_us, expected_us) in [(20.0, 15.0), (12.0, 12.0), (10.0, 10.0), (9.9, 15.0)] {
        assert_eq!(forecast.build_us(most_us), expected_us);
    }
}

/// A program whose calls come at these intervals, again and again, and by a factor later while
/// something is built.
struct Program {
    cost: BuildCost,
    now_us: f64,
    calls: usize,
    intervals: Vec<f64>,
}

impl Program {
    fn new(intervals: &[f64]) -> Self {
        Self {
            cost: BuildCost::default(),
            now_us: 0.0,
            calls: 0,
            intervals: intervals.to_vec(),
        }
    }

    /// So many calls; returns by how much they were later than without building.
    fn call(&mut self, calls: usize, factor: Option<f64>) -> f64 {
        let mut late_us = 0.0;
        for _ in 0..calls {
            self.cost.call(self.now_us);
            self.cost.is_ordinary(self.now_us, factor.is_some());
            let interval = self.intervals[self.calls % self.intervals.len()];
            let longer = (factor.unwrap_or(1.0) - 1.0) * interval;
            self.now_us += interval + longer;
            late_us += longer;
            self.calls += 1;
        }
        // The last interval ends with the next call.
        self.cost.call(self.now_us);
        late_us
    }
}

proptest! {
    #[test]
    fn the_cost_of_building_is_the_delay_of_the_calls(
        intervals in proptest::collection::vec(1.0_f64..1e4, 1..8),
        rounds in 1_usize..100, factor in 1.0_f64..4.0,
    ) {
        let mut program = Program::new(&intervals);
        let round = intervals.len();
        program.call(100 * round, None);
        prop_assert!(program.cost.is_known());
        let begin_us = program.now_us;
        let late_us = program.call(rounds * round, Some(factor));
        let found = program.cost.take(program.now_us - begin_us);
        // The mean of the last 240 is off by how uneven a round is, at most.
        let sum: f64 = intervals.iter().sum();
        let tolerance = 0.02 * rounds as f64 * sum + 1e-6;
        prop_assert!((found - late_us).abs() <= tolerance, "{} instead of {}", found, late_us);
        prop_assert_eq!(program.cost.take(1e9), 0.0);
    }

    #[test]
    fn a_build_never_costs_more_than_its_time(
        pause in 0.0_f64..1e9, took in 0.0_f64..1e6,
    ) {
        let mut program = Program::new(&[10.0]);
        program.call(50, None);
        program.call(10, Some(1.0));
        program.now_us += pause;
        program.cost.call(program.now_us);
        let cost = program.cost.take(took);
        prop_assert!((0.0..=took).contains(&cost));
    }
}

#[test]
fn calls_that_are_bucketed_for_elsewhere_say_nothing() {
    let mut program = Program::new(&[10.0]);
    program.call(50, None);
    // A trial takes long, while something is built.
    program.cost.call(program.now_us);
    program.now_us += 5000.0;
    program.cost.call(program.now_us);
    assert_eq!(program.cost.take(1e9), 0.0);
}

#[test]
fn a_faster_kernel_shortens_the_interval() {
    let mut program = Program::new(&[10.0]);
    assert!(!program.cost.is_known());
    program.cost.incumbent(9.0);
    program.call(50, None);
    program.cost.incumbent(9.0);
    assert!(program.cost.is_known());
    program.cost.incumbent(3.0);
    assert!(!program.cost.is_known());
    program.intervals = vec![4.0];
    let late_us = program.call(100, Some(1.5));
    assert!((program.cost.take(1e9) - late_us).abs() < 1e-6);
    program.cost.incumbent(-1e3);
    assert!(program.cost.mean_us >= 0.0);
}
