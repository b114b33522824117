//! Factors that follow measured times.

/// How far devices that work at the same time may differ in time before the split is changed. A change
/// costs: launches of a new size are prepared anew.
const TOLERATED: f64 = 1.05;

/// How fast each device is, as far as it is known: positions of the divided dimension per second.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Balance {
    speeds: Vec<Speed>,
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
pub struct Turn {
    /// Its position among the members.
    pub member: usize,
    /// How many positions it computed.
    pub positions: i64,
    /// How long it took, seconds, with its transfers.
    pub seconds: f64,
}

impl Turn {
    fn speed(&self) -> Option<f64> {
        let speed = self.positions as f64 / self.seconds;
        (speed.is_finite() && speed > 0.0).then_some(speed)
    }
}

impl Speed {
    const fn value(self) -> Option<f64> {
        match self {
            Self::Unknown => None,
            Self::Expected(speed) | Self::Measured(speed) => Some(speed),
        }
    }
}

impl Balance {
    /// Nothing is known of so many devices.
    pub fn new(members: usize) -> Self {
        Self {
            speeds: vec![Speed::Unknown; members],
        }
    }

    /// What tuning or a probe says of a device, in positions per second; used until there is a
    /// measurement of a whole call.
    pub fn expect(&mut self, member: usize, speed: f64) {
        let is_speed = speed.is_finite() && speed > 0.0;
        if let Some(known @ (Speed::Unknown | Speed::Expected(_))) = self.speeds.get_mut(member)
            && is_speed
        {
            *known = Speed::Expected(speed);
        }
    }

    /// The speed of a device, positions per second.
    pub fn speed(&self, member: usize) -> Option<f64> {
        self.speeds.get(member)?.value()
    }

    /// How large a part each device is to get (equation 4 of the paper, for speeds); 0 where nothing
    /// is known.
    pub fn factors(&self) -> Vec<f64> {
        let times: Vec<f64> = self
            .speeds
            .iter()
            .map(|speed| speed.value().map_or(f64::INFINITY, |speed| 1.0 / speed))
            .collect();
        super::factors(&times)
    }

    /// Corrects the speeds by what devices that worked at the same time needed. A first measurement
    /// replaces what was expected; later ones count half, so that one slow call does not turn the
    /// split over. Where all needed about the same time, nothing changes.
    pub fn learn(&mut self, turns: &[Turn]) {
        let is_new =
            |turn: &Turn| !matches!(self.speeds.get(turn.member), Some(Speed::Measured(_)));
        let seconds = turns.iter().map(|turn| turn.seconds);
        let longest = seconds.clone().fold(0.0, f64::max);
        let shortest = seconds.fold(f64::INFINITY, f64::min);
        if longest <= shortest * TOLERATED && !turns.iter().any(is_new) {
            return;
        }
        for turn in turns {
            let (Some(known), Some(measured)) = (self.speeds.get_mut(turn.member), turn.speed())
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

    fn turn(member: usize, positions: i64, seconds: f64) -> Turn {
        Turn {
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
        balance.learn(&[turn(0, 100, 2.0), turn(1, 100, 1.0)]);
        assert_eq!(
            (balance.speed(0), balance.speed(1)),
            (Some(50.0), Some(100.0))
        );
        balance.expect(0, 1.0);
        assert_eq!(balance.speed(0), Some(50.0));
        balance.learn(&[turn(0, 100, 0.5), turn(1, 100, 1.0)]);
        assert_eq!(
            (balance.speed(0), balance.speed(1)),
            (Some(100.0), Some(100.0))
        );
    }

    #[test]
    fn a_split_that_is_good_enough_stays() {
        let mut balance = Balance::new(2);
        balance.learn(&[turn(0, 100, 1.0), turn(1, 100, 1.0)]);
        let before = balance.clone();
        balance.learn(&[turn(0, 100, 1.04), turn(1, 100, 1.0)]);
        assert_eq!(balance, before);
        balance.learn(&[turn(0, 100, 1.2), turn(1, 100, 1.0)]);
        assert_ne!(balance, before);
    }

    #[test]
    fn it_settles_where_all_end_at_once_even_with_fixed_costs() {
        // Seconds for so many positions of 10 000: one device needs time to begin.
        let cost = [|n: f64| 0.2 + n / 3000.0, |n: f64| n / 1000.0];
        let mut balance = Balance::new(2);
        let mut shares = [5000.0, 5000.0];
        for _ in 0..20 {
            let turns = [0, 1]
                .map(|member| turn(member, shares[member] as i64, cost[member](shares[member])));
            balance.learn(&turns);
            let factors = balance.factors();
            shares = [0, 1].map(|member| (10_000.0 * factors[member]).round());
        }
        let [a, b] = [0, 1].map(|member| cost[member](shares[member]));
        assert!((a / b - 1.0).abs() < 0.06, "{shares:?}: {a} {b}");
    }

    #[test]
    fn turns_without_a_time_teach_nothing() {
        let mut balance = Balance::new(1);
        balance.learn(&[turn(0, 100, 0.0), turn(7, 100, 1.0), turn(0, 0, 1.0)]);
        assert_eq!(balance.speed(0), None);
    }
}
