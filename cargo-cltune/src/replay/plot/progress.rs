//! Progress: the fraction of the optimum over the number of evaluations (CLTune's figure 4).

use super::Series;
use super::style;
use crate::chart::axes::{self, Area};
use crate::chart::{Element, Scale, pixels, through};
use crate::replay::statistics::sorted;
use crate::statistics::{moments, percentile};
use cltune_search::recorded::BestSoFar;
use std::fmt::Write as _;

/// Single runs that are drawn at most: more would be one blot.
const MOST_RUNS: usize = 100;
/// Places along a line at most; a plot is not many more pixels wide.
const MOST_PLACES: usize = 200;

/// The lines of all strategies, with single runs and percentiles where there is but one; `clip`
/// says where they are seen.
pub(super) fn draw(area: Area, fraction: Scale, series: &[Series], clip: &str) -> Element {
    let runs = series.iter().flat_map(|series| &series.curves);
    let last = runs.map(BestSoFar::evaluations).max().unwrap_or_default();
    let last = last.max(1);
    let evaluations = Scale::new((0.0, last as f64), (area.left, area.right()));
    let places = Places {
        counts: counts(last),
        evaluations,
        fraction,
    };
    let mut lines = Element::new("g").with("clip-path", clip);
    if let [only] = series {
        let group = Element::new("g").with("class", style::class(0));
        let group = group.child(places.band(&only.curves));
        let runs = only.curves.iter().take(MOST_RUNS);
        let runs = runs.map(|curve| places.run(curve));
        lines = lines.child(group.children(runs).child(places.mean(&only.curves)));
    } else {
        // The first is drawn last and so lies on top.
        for (position, series) in series.iter().enumerate().rev() {
            let group = Element::new("g").with("class", style::class(position));
            lines = lines.child(group.child(places.mean(&series.curves)));
        }
    }
    let ticks = evaluations.ticks(5, 1.0).into_iter();
    let labels = ticks.map(|(value, label)| (evaluations.at(value), label));
    let labels: Vec<axes::Label> = labels.collect();
    let marks: Vec<f64> = labels.iter().map(|(x, _)| *x).collect();
    let title = "evaluations (configurations tried)";
    Element::new("g")
        .child(axes::vertical(area, fraction, "fraction of the optimum"))
        .child(axes::horizontal(area, &labels, &marks, title))
        .child(lines)
        .child(axes::frame(area))
}

/// Numbers of evaluations from the first to the last.
fn counts(last: usize) -> Vec<usize> {
    let stride = last.div_ceil(MOST_PLACES);
    let mut counts: Vec<usize> = (1..=last).step_by(stride).collect();
    if counts.last() != Some(&last) {
        counts.push(last);
    }
    counts
}

/// Where lines go through.
struct Places {
    counts: Vec<usize>,
    evaluations: Scale,
    fraction: Scale,
}

impl Places {
    /// A line through what the runs have in common after each number of evaluations.
    fn line(&self, curves: &[BestSoFar], of: impl Fn(&[f64]) -> f64) -> Vec<(f64, f64)> {
        let place = |count: &usize| {
            let value = of(&sorted(curves, *count));
            (self.evaluations.at(*count as f64), self.fraction.at(value))
        };
        self.counts.iter().map(place).collect()
    }

    fn mean(&self, curves: &[BestSoFar]) -> Element {
        let line = self.line(curves, |values| moments(values).0);
        Element::new("path")
            .with("class", "line")
            .with("d", through(line))
    }

    /// From the 10th to the 90th percentile.
    fn band(&self, curves: &[BestSoFar]) -> Element {
        let low = self.line(curves, |values| percentile(values, 0.1));
        let high = self.line(curves, |values| percentile(values, 0.9));
        let outline = through(low.into_iter().chain(high.into_iter().rev()));
        Element::new("path")
            .with("class", "band")
            .with("d", outline + "Z")
    }

    /// A single run in steps: it stays where it is until it finds better.
    fn run(&self, curve: &BestSoFar) -> Element {
        let place = |count: usize| {
            let x = self.evaluations.at(count as f64);
            (pixels(x), pixels(self.fraction.at(curve.after(count))))
        };
        let (x, mut height) = place(1);
        let mut data = format!("M{x},{height}");
        for count in &self.counts {
            let (x, y) = place(*count);
            if y != height {
                // Writing to a string does not fail.
                let _ = write!(data, "H{x}V{y}");
                height = y;
            }
        }
        let end = self.counts.last().copied().unwrap_or(1);
        let _ = write!(data, "H{}", place(end).0);
        Element::new("path").with("class", "run").with("d", data)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn places_are_few_and_reach_the_end() {
        assert_eq!(counts(1), [1]);
        assert_eq!(counts(4), [1, 2, 3, 4]);
        let many = counts(100_003);
        assert_eq!((many[0], many.last()), (1, Some(&100_003)));
        assert!(many.len() <= MOST_PLACES + 1);
    }
}
