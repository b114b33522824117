//! Time against energy: every configuration whose energy was measured, and the Pareto front, which
//! has those that no other beats in both.

use crate::chart::axes::{self, Area};
use crate::chart::{Element, Scale, pixels};
use crate::history::OnDevice;
use crate::report::html::{configuration, note, number, row_name, table};
use crate::report::picture::{HEIGHT, WIDTH};
use crate::units::{energy, time};
use cltune_core::model::Model;
use std::fmt::Write as _;

/// Pixels.
const AREA: Area = Area {
    left: 58.0,
    top: 12.0,
    width: 268.0,
    height: 168.0,
};

/// A configuration whose energy was measured.
#[derive(Clone, Copy, Debug, PartialEq)]
struct TimeAndEnergy<'a> {
    codes: &'a [i64],
    time_us: f64,
    energy_j: f64,
}

/// The picture, and a table of the front; nothing where no energy was measured. `number` is that of
/// the search's picture on the page.
pub(in crate::report) fn section(on: &OnDevice, model: &Model, number: usize) -> Vec<Element> {
    let latest = on.latest().into_iter();
    let all = latest.filter_map(|(codes, result)| {
        Some(TimeAndEnergy {
            codes,
            time_us: result.time_us?,
            energy_j: result.energy?.joules,
        })
    });
    let all: Vec<TimeAndEnergy<'_>> = all.collect();
    let front = front(&all);
    let (Some(fastest), Some(least)) = (front.first(), front.last()) else {
        return Vec::new();
    };
    let best = (fastest.time_us, least.energy_j);
    let figure = Element::new("figure").child(picture(&all, &front, best, model, number));
    let mut elements = vec![
        Element::new("h5").text("Time and energy"),
        figure,
        list(&front, model),
    ];
    let idle = on.sessions.iter().rev().find_map(|of| of.idle.as_ref());
    elements.extend(idle.map(|idle| {
        note(format!(
            "Energy is all that the device takes while a launch runs. {:.1} W of its power are those of the idle \
             device ({}).",
            idle.watts, idle.source
        ))
    }));
    elements
}

/// Those that no other beats in both, the fastest first.
fn front<'a>(all: &[TimeAndEnergy<'a>]) -> Vec<TimeAndEnergy<'a>> {
    let mut sorted = all.to_vec();
    sorted.sort_by(|a, b| {
        let times = a.time_us.total_cmp(&b.time_us);
        times.then_with(|| a.energy_j.total_cmp(&b.energy_j))
    });
    let mut front: Vec<TimeAndEnergy<'_>> = Vec::new();
    for measured in sorted {
        if front
            .last()
            .is_none_or(|last| measured.energy_j < last.energy_j)
        {
            front.push(measured);
        }
    }
    front
}

/// Both as parts of the best, so that the best of both would be at the top right.
fn picture(
    all: &[TimeAndEnergy<'_>],
    front: &[TimeAndEnergy<'_>],
    (best_us, best_j): (f64, f64),
    model: &Model,
    number: usize,
) -> Element {
    let across = Scale::new((0.0, 1.0), (AREA.left, AREA.right() - 6.0));
    let up = Scale::new((0.0, 1.0), (AREA.bottom(), AREA.top + 6.0));
    let place =
        |of: &TimeAndEnergy<'_>| (across.at(best_us / of.time_us), up.at(best_j / of.energy_j));
    let dot = |of: &TimeAndEnergy<'_>, radius: f64| {
        let (x, y) = place(of);
        let label = format!(
            "{}, {}, {}",
            time(of.time_us),
            energy(of.energy_j),
            model.describe(of.codes)
        );
        Element::new("circle")
            .at([("cx", x), ("cy", y), ("r", radius)])
            .child(Element::new("title").text(label))
    };
    let mut line = String::new();
    for of in front {
        let (x, y) = place(of);
        // Writing to a string does not fail.
        let _ = if line.is_empty() {
            write!(line, "M{},{}", pixels(x), pixels(y))
        } else {
            write!(line, "H{}V{}", pixels(x), pixels(y))
        };
    }
    let labels: Vec<axes::Label> = across
        .ticks(5, 0.0)
        .into_iter()
        .map(|(value, label)| (across.at(value), label))
        .collect();
    let marks: Vec<f64> = labels.iter().map(|(x, _)| *x).collect();
    let ids = ["title", "description"].map(|of| format!("energy-{number}-{of}"));
    let [title, description] = &ids;
    let about = format!(
        "{} configurations. {} of them are on the Pareto front: from {} and {} to {} and {}.",
        all.len(),
        front.len(),
        front
            .first()
            .map_or_else(String::new, |of| time(of.time_us)),
        front
            .first()
            .map_or_else(String::new, |of| energy(of.energy_j)),
        front.last().map_or_else(String::new, |of| time(of.time_us)),
        front
            .last()
            .map_or_else(String::new, |of| energy(of.energy_j)),
    );
    Element::new("svg")
        .with("viewBox", format!("0 0 {WIDTH} {HEIGHT}"))
        .with("role", "img")
        .with("aria-labelledby", ids.join(" "))
        .child(
            Element::new("title")
                .with("id", title)
                .text("Time and energy"),
        )
        .child(Element::new("desc").with("id", description).text(about))
        .child(axes::vertical(AREA, up, "least energy / energy"))
        .child(axes::horizontal(AREA, &labels, &marks, "best time / time"))
        .children(all.iter().map(|of| dot(of, 1.6).with("class", "try")))
        .child(Element::new("path").with("class", "line").with("d", line))
        .children(front.iter().map(|of| dot(of, 3.2).with("class", "gain")))
        .child(axes::frame(AREA))
}

fn list(front: &[TimeAndEnergy<'_>], model: &Model) -> Element {
    let rows = front.iter().enumerate().map(|(position, of)| {
        let mut row = vec![
            row_name((position + 1).to_string()),
            number(time(of.time_us)),
            number(energy(of.energy_j)),
            number(format!("{:.1} W", of.energy_j / of.time_us * 1e6)),
        ];
        row.extend(configuration(of.codes, model));
        row
    });
    let columns = ["", "Time", "Energy", "Power"];
    let parameters = model.parameters.iter().map(|parameter| &*parameter.name);
    table(
        "Pareto front of time and energy, as first measured",
        columns.into_iter().chain(parameters),
        rows,
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;
    use crate::session::Recorded;
    use cltune_runtime::tuning::Energy;

    #[test]
    fn the_front_has_what_nothing_beats_in_both() {
        let of = |time_us: f64, energy_j: f64| TimeAndEnergy {
            codes: &[],
            time_us,
            energy_j,
        };
        let all = [
            of(3.0, 1.0),
            of(1.0, 9.0),
            of(2.0, 4.0),
            of(2.0, 5.0),
            of(2.5, 4.0),
            of(9.0, 1.0),
            of(1.0, 9.5),
        ];
        let expected = [of(1.0, 9.0), of(2.0, 4.0), of(3.0, 1.0)];
        assert_eq!(front(&all), expected);
        assert_eq!(front(&[]), []);
    }

    /// What is between two texts, each time.
    fn between<'a>(text: &'a str, begin: &str, end: &str) -> Vec<&'a str> {
        let parts = text.split(begin).skip(1);
        parts.map(|part| part.split_once(end).unwrap().0).collect()
    }

    #[test]
    fn the_picture_and_the_table_have_the_front() {
        let result = |code: i64, time_us: f64, joules: Option<f64>| Recorded {
            codes: vec![code],
            time_us: Some(time_us),
            energy: joules.map(|joules| Energy {
                joules,
                launches: 9,
                seconds: 0.5,
                uncertainty: 0.01,
            }),
            ..Recorded::default()
        };
        let mut on = OnDevice {
            results: vec![
                // As slow as it takes little.
                result(64, 4.0, Some(1.0)),
                // Beaten in both by 256.
                result(32, 3.0, Some(4.0)),
                result(256, 2.0, Some(2.0)),
                result(128, 1.0, Some(4.0)),
            ],
            ..OnDevice::default()
        };
        let model = samples::declaration("app::saxpy", "b3:1", &[8]).model;
        let text = |on: &OnDevice| -> String {
            let elements = section(on, &model, 7);
            elements.iter().map(ToString::to_string).collect()
        };
        let page = text(&on);
        let circles = between(&page, "<circle ", "</circle>");
        let of_class = |class: &str| -> Vec<(String, &str)> {
            let class = format!("class=\"{class}\"");
            let circles = circles.iter().filter(|circle| circle.contains(&class));
            circles
                .map(|circle| {
                    let place = ["cx", "cy"].map(|of| {
                        let begin = format!("{of}=\"");
                        between(circle, &begin, "\"")[0]
                    });
                    let (_, values) = between(circle, "<title>", "</title>")[0]
                        .rsplit_once(", ")
                        .unwrap();
                    (place.join(","), values)
                })
                .collect()
        };
        let values = |circles: &[(String, &str)]| -> Vec<String> {
            circles.iter().map(|(_, of)| (*of).to_owned()).collect()
        };
        assert_eq!(
            values(&of_class("try")),
            ["WG = 32", "WG = 64", "WG = 128", "WG = 256"]
        );
        let marked = of_class("gain");
        assert_eq!(values(&marked), ["WG = 128", "WG = 256", "WG = 64"]);
        // The best time is at the right, the least energy at the top, and the line has a corner at
        // each.
        let (right, top) = (pixels(AREA.right() - 6.0), pixels(AREA.top + 6.0));
        assert!(marked[0].0.starts_with(&format!("{right},")), "{page}");
        assert!(marked[2].0.ends_with(&format!(",{top}")), "{page}");
        let corners = marked.iter().map(|(place, _)| place.replace(',', "V"));
        let line = corners.collect::<Vec<_>>().join("H");
        let line = format!("M{}", line.replacen('V', ",", 1));
        assert_eq!(between(&page, "class=\"line\" d=\"", "\""), [line]);
        assert!(page.contains("4 configurations. 3 of them are on the Pareto front"));
        let rows = between(&page, "<tr>", "</tr>");
        assert_eq!(rows.len(), 1 + 3, "{page}");
        for (row, (_, values)) in rows[1..].iter().zip(&marked) {
            let value = values.strip_prefix("WG = ").unwrap();
            assert!(row.contains(&format!(">{value}<")), "{value}: {row}");
        }
        // Where no energy was measured there is nothing.
        on.results = vec![result(32, 3.0, None)];
        assert_eq!(text(&on), "");
    }
}
