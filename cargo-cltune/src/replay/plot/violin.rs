//! Violins: the distribution of the fraction of the optimum over runs (CLTune's figures 5 and 7).

use super::Panel;
use super::style;
use crate::chart::axes::{self, Area};
use crate::chart::{Element, Scale, violin};
use crate::replay::statistics::sorted;

/// The space between two groups of violins, in violins.
const GAP: f64 = 0.8;
/// The narrowest place of a violin, pixels.
const NARROWEST: f64 = 16.0;

/// The width that a plot needs at least, pixels.
pub(super) fn least_width(points: usize, strategies: usize) -> f64 {
    NARROWEST * violins(points, strategies)
}

/// The width of a plot in violins: a group for each number of evaluations, and the space itself.
fn violins(points: usize, strategies: usize) -> f64 {
    points as f64 * (strategies as f64 + GAP) + 1.0 + GAP
}

/// A group of violins for each number of evaluations, and the distribution of the whole space;
/// `clip` says where they are seen.
pub(super) fn draw(
    area: Area,
    fraction: Scale,
    points: &[usize],
    panel: &Panel,
    clip: &str,
) -> Element {
    let strategies = panel.series.len();
    let place = area.width / violins(points.len(), strategies);
    let group = (strategies as f64 + GAP) * place;
    let mut shapes = Element::new("g").with("clip-path", clip);
    let mut labels = Vec::new();
    let mut borders = Vec::new();
    for (number, point) in points.iter().enumerate() {
        let left = area.left + number as f64 * group;
        labels.push((left + group / 2.0, point.to_string()));
        borders.push(left + group);
        for (position, series) in panel.series.iter().enumerate() {
            let x = left + (GAP / 2.0 + position as f64 + 0.5) * place;
            let values = sorted(&series.curves, *point);
            let violin = violin(x, place, fraction, &values);
            shapes = shapes.child(violin.with("class", style::class(position)));
        }
    }
    let x = area.right() - (0.5 + GAP / 2.0) * place;
    labels.push((x, "space".to_owned()));
    let whole = violin(x, place, fraction, &panel.configurations);
    shapes = shapes.child(whole.with("class", "all"));
    let borders = borders.into_iter().map(|x| {
        let ends = [
            ("x1", x),
            ("x2", x),
            ("y1", area.top),
            ("y2", area.bottom()),
        ];
        Element::new("line").with("class", "grid").at(ends)
    });
    let title = "after so many evaluations (configurations tried)";
    Element::new("g")
        .child(axes::vertical(area, fraction, ""))
        .children(borders)
        .child(axes::horizontal(area, &labels, &[], title))
        .child(shapes)
        .child(axes::frame(area))
}
