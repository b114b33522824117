//! From values to coordinates, and round numbers for labels.

/// A linear scale.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Scale {
    /// The values at its two ends.
    values: (f64, f64),
    /// The coordinates of its two ends, pixels.
    ends: (f64, f64),
}

impl Scale {
    pub(crate) fn new(values: (f64, f64), ends: (f64, f64)) -> Self {
        Self { values, ends }
    }

    /// Where a value is, pixels.
    pub(crate) fn at(&self, value: f64) -> f64 {
        let part = (value - self.values.0) / (self.values.1 - self.values.0);
        self.ends.0 + part * (self.ends.1 - self.ends.0)
    }

    /// How much of the values this many pixels are.
    pub(crate) fn per_pixels(&self, pixels: f64) -> f64 {
        ((self.values.1 - self.values.0) / (self.ends.1 - self.ends.0) * pixels).abs()
    }

    /// Values with labels: round, as many as `most` at most, or few more.
    pub(crate) fn ticks(&self, most: u32, least_step: f64) -> Vec<(f64, String)> {
        let (low, high) = self.values;
        let step = step(high - low, most).max(least_step);
        // Half a thousandth of a step of tolerance: the ends are often ticks themselves.
        let first = (low / step - 5e-4).ceil() as i64;
        let last = (high / step + 5e-4).floor() as i64;
        // A step is 1, 2 or 5 times a power of ten.
        let decimals = (-(step.log10() + 1e-9).floor()).max(0.0) as usize;
        let ticks = (first..=last).map(|number| number as f64 * step);
        ticks
            .map(|value| (value, format!("{value:.decimals$}")))
            .collect()
    }
}

/// The smallest of 1, 2 and 5 times a power of ten of which at most so many fit into the span.
pub(crate) fn step(span: f64, most: u32) -> f64 {
    let least = span / f64::from(most);
    let power = 10_f64.powi(least.log10().floor() as i32);
    [1.0, 2.0, 5.0]
        .into_iter()
        .map(|factor| factor * power)
        .find(|step| *step >= least * (1.0 - 1e-9))
        .unwrap_or(10.0 * power)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn labels(values: (f64, f64), most: u32, least_step: f64) -> String {
        let ticks = Scale::new(values, (0.0, 100.0)).ticks(most, least_step);
        let labels: Vec<String> = ticks.into_iter().map(|(_, label)| label).collect();
        labels.join(" ")
    }

    #[test]
    fn values_have_places() {
        let scale = Scale::new((0.5, 1.0), (300.0, 100.0));
        let places = [0.5, 0.75, 1.0].map(|value| scale.at(value));
        assert_eq!(places, [300.0, 200.0, 100.0]);
        assert_eq!(scale.per_pixels(20.0), 0.05);
    }

    #[test]
    fn labels_are_round_and_within_the_ends() {
        assert_eq!(labels((0.0, 1.0), 5, 0.0), "0.0 0.2 0.4 0.6 0.8 1.0");
        assert_eq!(labels((0.9, 1.0), 5, 0.0), "0.90 0.92 0.94 0.96 0.98 1.00");
        assert_eq!(labels((0.0, 200.0), 5, 1.0), "0 50 100 150 200");
        assert_eq!(labels((0.0, 107.0), 5, 1.0), "0 50 100");
        assert_eq!(labels((0.0, 1.0), 5, 1.0), "0 1");
        assert_eq!(labels((0.0, 3.0), 5, 1.0), "0 1 2 3");
        assert_eq!(labels((0.998, 1.0), 2, 0.0), "0.998 0.999 1.000");
    }
}
