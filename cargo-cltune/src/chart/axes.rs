//! The axes of a plot: scales with round labels, the frame, the grid.

use super::element::Element;

/// A plot's place on the page, pixels.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Area {
    pub(crate) left: f64,
    pub(crate) top: f64,
    pub(crate) width: f64,
    pub(crate) height: f64,
}

impl Area {
    pub(crate) fn right(&self) -> f64 {
        self.left + self.width
    }

    pub(crate) fn bottom(&self) -> f64 {
        self.top + self.height
    }
}

/// A label below a plot, at this x.
pub(crate) type Label = (f64, String);

/// The grid and the labels of the fraction of the optimum, left of a plot.
pub(crate) fn vertical(area: Area, scale: Scale, title: &str) -> Element {
    let ticks = scale.ticks(5, 0.0).into_iter().flat_map(|(value, label)| {
        let y = scale.at(value);
        let ends = [
            ("x1", area.left),
            ("x2", area.right()),
            ("y1", y),
            ("y2", y),
        ];
        let line = Element::new("line").with("class", "grid").at(ends);
        let label = text(area.left - 8.0, y + 4.5, "end", &label);
        [line, label]
    });
    let (x, y) = (area.left - 48.0, area.top + area.height / 2.0);
    let turned = format!("rotate(-90 {x} {y})");
    let title = text(x, y, "middle", title).with("transform", turned);
    Element::new("g").children(ticks).child(title)
}

/// Labels below a plot, with short lines where wanted, and a title below them.
pub(crate) fn horizontal(area: Area, labels: &[Label], marks: &[f64], title: &str) -> Element {
    let y = area.bottom();
    let marks = marks.iter().map(|x| {
        let ends = [("x1", *x), ("x2", *x), ("y1", y), ("y2", y + 5.0)];
        Element::new("line").with("class", "frame").at(ends)
    });
    let labels = labels
        .iter()
        .map(|(x, label)| text(*x, y + 19.0, "middle", label));
    let title = text(area.left + area.width / 2.0, y + 40.0, "middle", title);
    Element::new("g")
        .children(marks)
        .children(labels)
        .child(title)
}

/// The frame around a plot.
pub(crate) fn frame(area: Area) -> Element {
    Element::new("rect").with("class", "frame").at([
        ("x", area.left),
        ("y", area.top),
        ("width", area.width),
        ("height", area.height),
    ])
}

/// Text at a place; `anchor` says which part of it is there.
pub(crate) fn text(x: f64, y: f64, anchor: &str, text: &str) -> Element {
    let element = Element::new("text").at([("x", x), ("y", y)]);
    element.with("text-anchor", anchor).text(text)
}

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

    /// The part of the values that this many pixels are.
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
