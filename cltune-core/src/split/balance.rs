//! Factors that follow measured times.

/// A split is changed when the times of devices that worked at the same time differ by more than
/// this factor in so many calls in a row, of which each device's fastest counts. A change costs, as
/// launches of a new size are prepared anew, and times scatter, short ones most.
const EVIDENCE: [(u32, f64); 2] = [(2, 1.25), (4, 1.05)];

/// How fast each device is, as far as it is known: positions of the divided dimension per second.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Balance {
    speeds: Vec<Speed>,
    /// How much faster all were in the last calls that changed no factors.
    level: Level,
    seen: Seen,
}

/// A factor of all speeds.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Level(f64);

impl Default for Level {
    fn default() -> Self {
        Self(1.0)
    }
}

/// Calls with one split.
#[derive(Clone, Debug, Default, PartialEq)]
struct Seen {
    calls: u32,
    /// The fastest time of each device.
    times: Vec<ShareTime>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq)]
enum Speed {
    #[default]
    Unknown,
    /// From tuning or a probe: the kernel alone, or a small part of the problem.
    Expected(f64),
    Measured(f64),
}

/// What a device did in a call.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ShareTime {
    /// Its position among the members.
    pub member: usize,
    /// How many positions it computed.
    pub positions: i64,
    /// How long it took, seconds, with its transfers.
    pub seconds: f64,
}

impl ShareTime {
    fn speed(&self) -> Option<f64> {
        let speed = self.positions as f64 / self.seconds;
        (speed.is_finite() && speed > 0.0).then_some(speed)
    }
}

impl Seen {
    fn add(&mut self, times: &[ShareTime]) {
        let is_same =
            |(a, b): (&ShareTime, &ShareTime)| a.member == b.member && a.positions == b.positions;
        if self.times.len() != times.len() || !self.times.iter().zip(times).all(is_same) {
            *self = Self {
                calls: 1,
                times: times.to_vec(),
            };
            return;
        }
        self.calls += 1;
        for (fastest, time) in self.times.iter_mut().zip(times) {
            fastest.seconds = fastest.seconds.min(time.seconds);
        }
    }

    /// Whether the split is to change; `None` as long as that takes more calls.
    fn verdict(&self) -> Option<bool> {
        let seconds = self.times.iter().map(|time| time.seconds);
        let longest = seconds.clone().fold(0.0, f64::max);
        let shortest = seconds.fold(f64::INFINITY, f64::min);
        let is_uneven =
            |(calls, factor): &(u32, f64)| self.calls >= *calls && longest > shortest * factor;
        if EVIDENCE.iter().any(is_uneven) {
            return Some(true);
        }
        let most = EVIDENCE.iter().map(|(calls, _)| *calls).max();
        (Some(self.calls) >= most).then_some(false)
    }
}

impl Speed {
    const fn value(self) -> Option<f64> {
        match self {
            Self::Unknown => None,
            Self::Expected(speed) | Self::Measured(speed) => Some(speed),
        }
    }

    const fn times(self, factor: f64) -> Self {
        match self {
            Self::Unknown => Self::Unknown,
            Self::Expected(speed) => Self::Expected(speed * factor),
            Self::Measured(speed) => Self::Measured(speed * factor),
        }
    }
}

impl Balance {
    /// Nothing is known of so many devices.
    pub fn new(members: usize) -> Self {
        Self {
            speeds: vec![Speed::Unknown; members],
            level: Level::default(),
            seen: Seen::default(),
        }
    }

    /// What tuning or a probe says of a device, in positions per second; used until there is a
    /// measurement of a whole call.
    pub fn expect(&mut self, member: usize, speed: f64) {
        let is_speed = speed.is_finite() && speed > 0.0;
        if let Some(known @ (Speed::Unknown | Speed::Expected(_))) = self.speeds.get_mut(member)
            && is_speed
        {
            *known = Speed::Expected(speed / self.level.0);
        }
    }

    /// The speed of a device, positions per second.
    pub fn speed(&self, member: usize) -> Option<f64> {
        Some(self.speeds.get(member)?.value()? * self.level.0)
    }

    /// How large a part each device is to get (equation 4 of the paper, for speeds); 0 where
    /// nothing is known.
    pub fn factors(&self) -> Vec<f64> {
        let times: Vec<f64> = self
            .speeds
            .iter()
            .map(|speed| speed.value().map_or(f64::INFINITY, |speed| 1.0 / speed))
            .collect();
        super::factors(&times)
    }

    /// Corrects the speeds by what devices that worked at the same time needed. A first measurement
    /// replaces what was expected. Later ones count half, and only when several calls say the same:
    /// where all need about the same time, no factor changes, and all speeds become what was
    /// measured together.
    pub fn learn(&mut self, times: &[ShareTime]) {
        let is_new =
            |time: &ShareTime| !matches!(self.speeds.get(time.member), Some(Speed::Measured(_)));
        if times.iter().any(is_new) {
            self.seen = Seen::default();
            self.correct(times);
            return;
        }
        self.seen.add(times);
        if let Some(is_uneven) = self.seen.verdict() {
            let Seen { times, .. } = std::mem::take(&mut self.seen);
            if is_uneven {
                self.correct(&times);
            } else {
                self.take_level(&times);
            }
        }
    }

    /// Lets all speeds be on the whole those of times, without changing any factor.
    fn take_level(&mut self, times: &[ShareTime]) {
        let ratio = |time: &ShareTime| {
            let known = self.speeds.get(time.member)?.value()?;
            Some((time.speed()? / known).ln())
        };
        let ratios: Vec<f64> = times.iter().filter_map(ratio).collect();
        if !ratios.is_empty() {
            let mean = ratios.iter().sum::<f64>() / ratios.len() as f64;
            self.level = Level(mean.exp());
        }
    }

    fn correct(&mut self, times: &[ShareTime]) {
        let Level(level) = std::mem::take(&mut self.level);
        for speed in &mut self.speeds {
            *speed = speed.times(level);
        }
        for time in times {
            let (Some(known), Some(measured)) = (self.speeds.get_mut(time.member), time.speed())
            else {
                continue;
            };
            *known = Speed::Measured(match *known {
                Speed::Measured(before) => (before * measured).sqrt(),
                Speed::Unknown | Speed::Expected(_) => measured,
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn time(member: usize, positions: i64, seconds: f64) -> ShareTime {
        ShareTime {
            member,
            positions,
            seconds,
        }
    }

    #[test]
    fn measurements_replace_what_was_expected_and_later_ones_count_half() {
        let mut balance = Balance::new(2);
        assert_eq!(balance.factors(), [0.0, 0.0]);
        balance.expect(0, 100.0);
        balance.expect(1, f64::NAN);
        assert_eq!(balance.speed(1), None);
        balance.learn(&[time(0, 100, 2.0), time(1, 100, 1.0)]);
        assert_eq!(
            (balance.speed(0), balance.speed(1)),
            (Some(50.0), Some(100.0))
        );
        balance.expect(0, 1.0);
        assert_eq!(balance.speed(0), Some(50.0));
        let calls = [time(0, 100, 0.5), time(1, 100, 1.0)];
        balance.learn(&calls);
        assert_eq!(balance.speed(0), Some(50.0));
        balance.learn(&calls);
        assert_eq!(
            (balance.speed(0), balance.speed(1)),
            (Some(100.0), Some(100.0))
        );
    }

    #[test]
    fn a_split_that_is_good_enough_stays() {
        let mut balance = Balance::new(2);
        balance.learn(&[time(0, 100, 1.0), time(1, 100, 1.0)]);
        let speeds = balance.speeds.clone();
        let mut after = |calls: u32, seconds: f64| {
            for _ in 0..calls {
                balance.learn(&[time(0, 100, seconds), time(1, 100, 1.0)]);
            }
            balance.speeds != speeds
        };
        assert!(!after(20, 1.04));
        assert!(!after(3, 1.2));
        // One call that took long is not four.
        assert!(!after(1, 1.0));
        assert!(!after(3, 1.2));
        assert!(after(4, 1.2));
    }

    #[test]
    fn it_settles_where_all_end_at_once_even_with_fixed_costs() {
        // Seconds for so many positions of 10 000: one device needs time to begin.
        let cost = [|n: f64| 0.2 + n / 3000.0, |n: f64| n / 1000.0];
        let mut balance = Balance::new(2);
        let mut shares = [5000.0, 5000.0];
        for _ in 0..80 {
            let times = [0, 1]
                .map(|member| time(member, shares[member] as i64, cost[member](shares[member])));
            balance.learn(&times);
            let factors = balance.factors();
            shares = [0, 1].map(|member| (10_000.0 * factors[member]).round());
        }
        let [a, b] = [0, 1].map(|member| cost[member](shares[member]));
        assert!((a / b - 1.0).abs() < 0.06, "{shares:?}: {a} {b}");
    }

    #[test]
    fn where_all_become_faster_speeds_do_and_factors_stay() {
        let mut balance = Balance::new(3);
        let times = |seconds: f64| [time(0, 300, seconds), time(1, 100, seconds)];
        balance.expect(2, 50.0);
        balance.learn(&times(2.0));
        let factors = balance.factors();
        for _ in 0..4 {
            balance.learn(&times(1.0));
        }
        let speeds =
            |balance: &Balance| [0, 1, 2].map(|member| balance.speed(member).unwrap().round());
        assert_eq!(speeds(&balance), [300.0, 100.0, 100.0]);
        assert_eq!(balance.factors(), factors);
        for _ in 0..4 {
            balance.learn(&times(4.0));
        }
        assert_eq!(speeds(&balance), [75.0, 25.0, 25.0]);
        assert_eq!(balance.factors(), factors);
        // What is learned next is relative to that.
        for _ in 0..2 {
            balance.learn(&[time(0, 300, 4.0), time(1, 100, 1.0)]);
        }
        assert_eq!(speeds(&balance), [75.0, 50.0, 25.0]);
        // One device alone has no factors to correct, only a speed.
        let mut alone = Balance::new(1);
        for seconds in [3.0, 1.0, 1.5, 1.25, 2.0] {
            alone.learn(&[time(0, 100, seconds)]);
        }
        assert_eq!(alone.speed(0).map(f64::round), Some(100.0));
    }

    #[test]
    fn turns_without_a_time_teach_nothing() {
        let mut balance = Balance::new(1);
        balance.learn(&[time(0, 100, 0.0), time(7, 100, 1.0), time(0, 0, 1.0)]);
        assert_eq!(balance.speed(0), None);
    }
}
