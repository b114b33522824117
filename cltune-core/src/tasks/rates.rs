//! The speed of a device, from what was expected and measured.

/// How fast data gets to a device and back, and is moved there.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct LinkRates {
    /// To the device, bytes per second.
    pub up: f64,
    /// From the device, bytes per second.
    pub down: f64,
    /// Within its memory, bytes read and written per second.
    pub memory: f64,
    /// What a launch costs beside its work, seconds.
    pub launch: f64,
    /// What a line of a block costs beside its bytes where lines are [`FAR`](Self::FAR) apart in
    /// host memory, while the device works, seconds.
    pub line: f64,
}

impl LinkRates {
    /// The distance from which lines of a block cost something beside their bytes, bytes. On an
    /// H200, blocks of nearer lines are sent at the rate of lines that follow each other, and lines
    /// of 4 KiB that are so far apart at six tenths of it, or four tenths while it computes.
    pub const FAR: usize = 64 << 10;

    /// The better of two measurements, each of them: what disturbs one makes it slower.
    #[must_use]
    pub const fn faster(self, other: Self) -> Self {
        Self {
            up: self.up.max(other.up),
            down: self.down.max(other.down),
            memory: self.memory.max(other.memory),
            launch: self.launch.min(other.launch),
            line: self.line.min(other.line),
        }
    }
}

/// The speed of a kernel on a device, work per second.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Speed {
    known: Option<f64>,
    is_measured: bool,
    /// How much longer tasks took than the speed of the kernel says.
    excess: f64,
}

/// The part that a new measurement has in what is known.
const NEW: f64 = 0.5;

/// Measurements beyond these factors are taken for these: a pause of the system is not a speed.
const MOST: f64 = 8.0;

impl Speed {
    /// What tuning says; used until there is a measurement.
    pub fn expect(&mut self, speed: f64) {
        if self.known.is_none() && is_speed(speed) {
            self.known = Some(speed);
        }
    }

    /// A probe of the kernel alone.
    pub fn probe(&mut self, speed: f64) {
        if !self.is_measured && is_speed(speed) {
            self.known = Some(speed);
        }
    }

    /// Corrects it by a task that was expected to take so long, and took so long, seconds.
    pub fn learn(&mut self, expected: f64, taken: f64) {
        let ratio = taken / expected;
        if !is_speed(ratio) {
            return;
        }
        let ratio = ratio.clamp(1.0 / MOST, MOST).ln();
        // The first one replaces what was expected.
        let part = if self.is_measured { NEW } else { 1.0 };
        self.is_measured = true;
        self.excess += part * ratio;
    }

    /// Work per second of the kernel; `None` where nothing is known.
    pub const fn of_kernel(&self) -> Option<f64> {
        self.known
    }

    /// The factor by which tasks take longer than expected.
    pub fn excess(&self) -> f64 {
        self.excess.exp()
    }
}

fn is_speed(speed: f64) -> bool {
    speed.is_finite() && speed > 0.0
}

#[cfg(test)]
mod tests {
    use super::Speed;

    #[test]
    fn measurements_replace_what_was_expected_and_later_ones_count_half() {
        let mut speed = Speed::default();
        assert_eq!(speed.of_kernel(), None);
        speed.expect(f64::NAN);
        speed.expect(100.0);
        speed.expect(1.0);
        assert_eq!(speed.of_kernel(), Some(100.0));
        speed.probe(50.0);
        assert_eq!(speed.of_kernel(), Some(50.0));
        speed.learn(1.0, 2.0);
        assert!((speed.excess() - 2.0).abs() < 1e-9);
        // What was expected has doubled, and was right.
        speed.learn(2.0, 2.0);
        assert!((speed.excess() - 2.0).abs() < 1e-9);
        speed.learn(2.0, 0.5);
        assert!((speed.excess() - 1.0).abs() < 1e-9);
        speed.learn(1.0, 0.0);
        speed.learn(1.0, 1e9);
        assert!(speed.excess() < 3.0, "a pause is not a speed");
    }
}
