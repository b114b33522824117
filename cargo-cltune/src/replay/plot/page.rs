//! The layout of the page: a row for each space, with its heading, its progress on the left and its
//! violins on the right; the legend is at the top, and the caption at the bottom.

use super::{Panel, Plot, Series, progress, style, violin};
use crate::chart::axes::{Area, text};
use crate::chart::{Element, Scale, step};
use crate::statistics::percentile;

/// Pixels.
const MARGIN: f64 = 24.0;
const LABELS_LEFT: f64 = 60.0;
const PROGRESS_WIDTH: f64 = 370.0;
const VIOLINS_WIDTH: f64 = 460.0;
const HEIGHT: f64 = 270.0;
const HEADING: f64 = 50.0;
const LABELS_BELOW: f64 = 64.0;
const LEGEND_LINE: f64 = 24.0;
/// Above the optimum, so that a line there does not lie on the frame.
const ABOVE: f64 = 10.0;
/// The widest character that a line of text is reckoned with.
const CHARACTER: f64 = 7.6;
/// Characters of a space's name that a heading has room for.
const NAME: usize = 70;

/// The whole document.
pub(super) fn document(plot: &Plot) -> Element {
    let series = plot.panels.first().map_or(&[][..], |panel| &panel.series);
    let least = violin::least_width(plot.points.len(), series.len());
    let violins = VIOLINS_WIDTH.max(least);
    let width = 2.0 * MARGIN + 2.0 * LABELS_LEFT + PROGRESS_WIDTH + violins;
    let mut top = MARGIN;
    let mut content = Element::new("g");
    if series.len() > 1 {
        let (legend, height) = legend(series, top, width);
        content = content.child(legend);
        top += height;
    }
    for (number, panel) in plot.panels.iter().enumerate() {
        let area = Area {
            left: MARGIN + LABELS_LEFT,
            top: top + HEADING,
            width: PROGRESS_WIDTH,
            height: HEIGHT,
        };
        content = content.child(row(plot, panel, number, area, violins));
        top = area.bottom() + LABELS_BELOW;
    }
    for line in caption(series) {
        let line = text(MARGIN, top + 8.0, "start", line).with("class", "weak");
        content = content.child(line);
        top += 20.0;
    }
    let height = top + MARGIN / 2.0;
    let spaces: Vec<&str> = plot.panels.iter().map(|p| p.space.as_str()).collect();
    let strategies: Vec<&str> = series
        .iter()
        .map(|series| series.strategy.as_str())
        .collect();
    let (spaces, strategies) = (spaces.join(", "), strategies.join(", "));
    let title = format!("Search strategies on recorded spaces: {strategies} on {spaces}");
    let paper = Element::new("rect").with("class", "paper");
    Element::new("svg")
        .with("xmlns", "http://www.w3.org/2000/svg")
        .at([("width", width), ("height", height)])
        .with("viewBox", format!("0 0 {width} {height}"))
        .with("role", "img")
        .child(Element::new("title").text(title))
        .child(Element::new("style").text(style::sheet(series.len())))
        .child(paper.with("width", "100%").with("height", "100%"))
        .child(content)
}

/// A space: heading, progress, violins, with the same scale of the fraction.
fn row(plot: &Plot, panel: &Panel, number: usize, area: Area, violins: f64) -> Element {
    let beside = Area {
        left: area.right() + LABELS_LEFT,
        width: violins,
        ..area
    };
    let lowest = lowest(plot, panel);
    let fraction = Scale::new((lowest, 1.0), (area.bottom(), area.top + ABOVE));
    // What is below the lowest label is cut off: the first evaluations, and bad configurations.
    let id = format!("inside{number}");
    let window = Element::new("rect").at([
        ("x", area.left),
        ("y", area.top),
        ("width", beside.right() - area.left),
        ("height", area.height),
    ]);
    let clip = Element::new("clipPath").with("id", &id).child(window);
    let clipped = format!("url(#{id})");
    let title = text(MARGIN, area.top - 34.0, "start", &short(&panel.space));
    let about = text(MARGIN, area.top - 14.0, "start", &about(panel));
    Element::new("g")
        .child(clip)
        .child(title.with("class", "space"))
        .child(about.with("class", "weak"))
        .child(progress::draw(area, fraction, &panel.series, &clipped))
        .child(violin::draw(
            beside,
            fraction,
            &plot.points,
            panel,
            &clipped,
        ))
}

/// The fraction at the foot of the plots: round, and low enough for every run at the first point
/// and for nearly all of the space.
fn lowest(plot: &Plot, panel: &Panel) -> f64 {
    let first = plot.points.first().copied().unwrap_or(1);
    let curves = panel.series.iter().flat_map(|series| &series.curves);
    let reached = curves.map(|curve| curve.after(first));
    // Never quite the optimum, or there would be nothing between the two ends.
    let least = reached.fold(0.99, f64::min);
    let least = least.min(percentile(&panel.configurations, 0.05));
    let step = step(1.0 - least, 5);
    ((least / step).floor() * step).max(0.0)
}

/// The name of a space as a heading has room for it.
fn short(name: &str) -> String {
    if name.chars().count() <= NAME {
        return name.to_owned();
    }
    name.chars().take(NAME - 1).chain(['…']).collect()
}

/// The caption: the number of runs, and of evaluations.
fn about(panel: &Panel) -> String {
    let runs = panel.series.first().map_or(0, |series| series.curves.len());
    let runs = match (runs, panel.series.as_slice()) {
        (1, [only]) => format!("1 run of {}", only.strategy),
        (runs, [only]) => format!("{runs} runs of {}", only.strategy),
        (1, _) => "1 run of each strategy".to_owned(),
        (runs, _) => format!("{runs} runs of each strategy"),
    };
    let count = panel.configurations.len();
    let best = significant(panel.best);
    format!("{runs}; {count} configurations, the best takes {best} ms")
}

/// A number with about four significant digits.
fn significant(value: f64) -> String {
    let decimals = (3.0 - value.log10().floor()).max(0.0) as usize;
    format!("{value:.decimals$}")
}

/// The colours of the strategies, in as many lines as needed; and its height.
fn legend(series: &[Series], top: f64, width: f64) -> (Element, f64) {
    let mut legend = Element::new("g");
    let (mut x, mut y) = (MARGIN, top + 8.0);
    for (position, series) in series.iter().enumerate() {
        let length = 48.0 + CHARACTER * series.strategy.chars().count() as f64;
        if x > MARGIN && x + length > width - MARGIN {
            x = MARGIN;
            y += LEGEND_LINE;
        }
        let sample = format!("M{x},{y}h28");
        let sample = Element::new("path").with("class", "line").with("d", sample);
        let patch = Element::new("rect").with("class", "violin").at([
            ("x", x + 6.0),
            ("y", y - 6.0),
            ("width", 16.0),
            ("height", 12.0),
        ]);
        let entry = Element::new("g").with("class", style::class(position));
        let name = text(x + 36.0, y + 4.5, "start", &series.strategy);
        legend = legend.child(entry.child(patch).child(sample).child(name));
        x += length;
    }
    (legend, y - top + LEGEND_LINE - 8.0)
}

/// The explanation of the picture.
fn caption(series: &[Series]) -> [&'static str; 2] {
    let lines = if series.len() == 1 {
        "Left, the best found so far: thin lines are single runs, the thick one is their mean, the band \
         goes from the 10th to the 90th percentile."
    } else {
        "Left, the best found so far: mean over the runs."
    };
    [
        lines,
        "Right, its distribution over the runs, and that of all configurations: density; mean \
         (circle) and standard deviation (bar).",
    ]
}
