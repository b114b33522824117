//! The frame of a plot, its grid and its labels.

use super::element::Element;
use super::scale::Scale;

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
