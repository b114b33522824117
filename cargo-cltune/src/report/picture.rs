//! The picture of a search: on the left how it went, on the right how all configurations are
//! distributed, both over the same scale.

use crate::chart::axes::{self, Area, text};
use crate::chart::{Element, Scale, pixels, violin};
use crate::history::OnDevice;
use crate::units::time;
use cltune_core::model::Model;
use std::fmt::Write as _;

/// Pixels. As wide as a phone's screen, less margins: there it is not scaled down.
pub(super) const WIDTH: f64 = 340.0;
pub(super) const HEIGHT: f64 = 236.0;
const PROGRESS: Area = Area {
    left: 58.0,
    top: 12.0,
    width: 190.0,
    height: 168.0,
};
const VIOLIN: Area = Area {
    left: 258.0,
    width: 78.0,
    ..PROGRESS
};
/// Configurations that are drawn as dots at most: more would be one blot.
const MOST_DOTS: usize = 500;

/// The description of the picture in words.
pub(super) struct Caption {
    /// Makes the ids of the page's pictures different.
    pub(super) number: usize,
    pub(super) title: String,
}

/// An improvement: the evaluation's number from 1, codes, and time in microseconds.
pub(super) type Improvement<'a> = (usize, &'a [i64], f64);

/// Where the search found better than before.
pub(super) fn improvements(on: &OnDevice) -> Vec<Improvement<'_>> {
    let mut best = f64::INFINITY;
    let mut found = Vec::new();
    for (position, result) in on.results.iter().enumerate() {
        if let Some(time_us) = result.time_us
            && time_us < best
        {
            best = time_us;
            found.push((position + 1, &*result.codes, time_us));
        }
    }
    found
}

/// The picture of a search in which something works.
pub(super) fn draw(on: &OnDevice, model: &Model, caption: &Caption) -> Option<Element> {
    let (_, best_us) = on.fastest()?;
    // The fastest of all single results: of a configuration that was measured again, the last
    // result counts elsewhere.
    let times = on.results.iter().filter_map(|of| of.time_us);
    let best_us = times.fold(best_us, f64::min);
    let improvements = improvements(on);
    let fraction = Scale::new((0.0, 1.0), (PROGRESS.bottom(), PROGRESS.top + 6.0));
    let count = on.results.len();
    let evaluations = Scale::new(
        (0.0, count.max(2) as f64),
        (PROGRESS.left, PROGRESS.right()),
    );
    let ids = ["title", "description"].map(|of| format!("picture-{}-{of}", caption.number));
    let [title, description] = &ids;
    let svg = Element::new("svg")
        .with("viewBox", format!("0 0 {WIDTH} {HEIGHT}"))
        .with("role", "img")
        .with("aria-labelledby", ids.join(" "))
        .child(Element::new("title").with("id", title).text(&caption.title))
        .child(
            Element::new("desc")
                .with("id", description)
                .text(describe(on, &improvements)),
        )
        .child(axes::vertical(PROGRESS, fraction, "best time / time"))
        .child(below(evaluations))
        .child(sessions(on, evaluations))
        .child(dots(on, best_us, evaluations, fraction))
        .child(progress(
            &improvements,
            best_us,
            count,
            evaluations,
            fraction,
        ))
        .children(improvements.iter().map(|of| {
            let label = format!(
                "evaluation {}: {}, {}",
                of.0,
                time(of.2),
                model.describe(of.1)
            );
            dot(
                evaluations.at(of.0 as f64),
                fraction.at(best_us / of.2),
                3.2,
            )
            .with("class", "gain")
            .child(Element::new("title").text(label))
        }))
        .child(distribution(on, best_us, fraction))
        .children(default_line(on, model, best_us, fraction))
        .child(axes::frame(PROGRESS))
        .child(axes::frame(VIOLIN));
    Some(svg)
}

fn below(evaluations: Scale) -> Element {
    let ticks = evaluations.ticks(4, 1.0).into_iter();
    let labels: Vec<axes::Label> = ticks
        .map(|(value, label)| (evaluations.at(value), label))
        .collect();
    let marks: Vec<f64> = labels.iter().map(|(x, _)| *x).collect();
    let middle = VIOLIN.left + VIOLIN.width / 2.0;
    let y = VIOLIN.bottom();
    Element::new("g")
        .child(axes::horizontal(
            PROGRESS,
            &labels,
            &marks,
            "configurations tried",
        ))
        .child(text(middle, y + 19.0, "middle", "all that"))
        .child(text(middle, y + 35.0, "middle", "work"))
}

/// Where sessions begin after the first one.
fn sessions(on: &OnDevice, evaluations: Scale) -> Element {
    let pairs = on.results.windows(2).enumerate();
    let begins = pairs.filter(|(_, pair)| pair[0].session != pair[1].session);
    let lines = begins.map(|(position, _)| {
        let x = evaluations.at(position as f64 + 1.5);
        let ends = [
            ("x1", x),
            ("x2", x),
            ("y1", PROGRESS.top),
            ("y2", PROGRESS.bottom()),
        ];
        Element::new("line").with("class", "session").at(ends)
    });
    Element::new("g").children(lines)
}

/// Every configuration; those that fail lie at the bottom.
fn dots(on: &OnDevice, best_us: f64, evaluations: Scale, fraction: Scale) -> Element {
    let stride = on.results.len().div_ceil(MOST_DOTS).max(1);
    let shown = on.results.iter().enumerate().step_by(stride);
    let dots = shown.map(|(position, result)| {
        let x = evaluations.at(position as f64 + 1.0);
        if let Some(time_us) = result.time_us {
            return dot(x, fraction.at(best_us / time_us), 1.6).with("class", "try");
        }
        let y = PROGRESS.bottom();
        let cross = format!("M{},{}l4,-4m-4,0l4,4", pixels(x - 2.0), pixels(y - 1.5));
        Element::new("path")
            .with("class", "failed")
            .with("d", cross)
    });
    Element::new("g").children(dots)
}

fn dot(x: f64, y: f64, radius: f64) -> Element {
    Element::new("circle").at([("cx", x), ("cy", y), ("r", radius)])
}

/// The best so far, in steps.
fn progress(
    improvements: &[Improvement<'_>],
    best_us: f64,
    count: usize,
    evaluations: Scale,
    fraction: Scale,
) -> Element {
    let mut data = String::new();
    for (at, _, time_us) in improvements {
        let x = pixels(evaluations.at(*at as f64));
        let y = pixels(fraction.at(best_us / time_us));
        // Writing to a string does not fail.
        let _ = if data.is_empty() {
            write!(data, "M{x},{y}")
        } else {
            write!(data, "H{x}V{y}")
        };
    }
    let _ = write!(data, "H{}", pixels(evaluations.at(count as f64)));
    Element::new("path").with("class", "line").with("d", data)
}

fn distribution(on: &OnDevice, best_us: f64, fraction: Scale) -> Element {
    let working = on.working().into_iter();
    let mut fractions: Vec<f64> = working.map(|(_, time_us)| best_us / time_us).collect();
    fractions.sort_by(f64::total_cmp);
    violin(
        VIOLIN.left + VIOLIN.width / 2.0,
        VIOLIN.width,
        fraction,
        &fractions,
    )
}

/// Where the default is.
fn default_line(on: &OnDevice, model: &Model, best_us: f64, fraction: Scale) -> Vec<Element> {
    let Some(default_us) = on.default_us(model) else {
        return Vec::new();
    };
    let y = fraction.at((best_us / default_us).min(1.0));
    let lines = [PROGRESS, VIOLIN].map(|area| {
        let ends = [
            ("x1", area.left),
            ("x2", area.right()),
            ("y1", y),
            ("y2", y),
        ];
        Element::new("line").with("class", "default").at(ends)
    });
    // Below the line where there is no room above it.
    let label = if y < VIOLIN.top + 20.0 {
        y + 14.0
    } else {
        y - 5.0
    };
    let label = text(PROGRESS.right() - 4.0, label, "end", "default").with("class", "halo");
    lines.into_iter().chain([label]).collect()
}

/// The description of the picture for people who cannot see it.
fn describe(on: &OnDevice, improvements: &[Improvement<'_>]) -> String {
    let (tried, failed) = on.tried();
    let first = improvements.first();
    let last = improvements.last();
    let (Some((first, _, from)), Some((at, _, to))) = (first, last) else {
        return String::new();
    };
    format!(
        "{tried} configurations were tried and {failed} failed. The first that worked, at evaluation \
         {first}, took {}; the best, at evaluation {at}, took {}.",
        time(*from),
        time(*to)
    )
}
