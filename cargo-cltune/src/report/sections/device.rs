//! A search on a device: its figures, its picture, its fastest configurations.

use super::energy;
use super::overview::gain;
use crate::chart::Element;
use crate::history::OnDevice;
use crate::report::devices::Devices;
use crate::report::html::{
    configuration, details, grouped, note, number, paragraph, row_name, table, times,
};
use crate::report::picture::{self, Caption, improvements};
use crate::session::Repeatability;
use crate::units::time;
use cltune_core::model::Model;

/// So many of the fastest configurations are listed.
const FASTEST: usize = 10;

/// The search for a problem on a device; `number` is that of the picture on the page.
pub(in crate::report) fn card(
    on: &OnDevice,
    model: &Model,
    problem: &str,
    devices: &Devices,
    number: usize,
) -> Element {
    let name = devices.name(on);
    let id = format!("search-{number}");
    let card = Element::new("article")
        .with("class", format!("card {}", devices.class(on)))
        .with("aria-labelledby", &id)
        .child(Element::new("h4").with("id", &id).text(&name))
        .child(note(about(on)))
        .child(facts(on, model));
    let caption = Caption {
        number,
        title: format!(
            "{} on {name} for {problem}: progress and distribution",
            model.name
        ),
    };
    let card = card.children(on.best().map(|(codes, _)| values(codes, model)));
    match picture::draw(on, model, &caption) {
        Some(svg) => card
            .child(Element::new("figure").child(svg))
            .children(energy::section(on, model, number))
            .children(stages(on))
            .child(fastest(on, model))
            .child(course(on, model)),
        None if on.results.is_empty() => card.child(paragraph(
            "Only the lockfile knows of this device: its journal is on the machine that it was tuned on.",
        )),
        None => card.child(paragraph("No configuration works.")),
    }
}

/// Platform, drivers, strategies, as far as they are known.
fn about(on: &OnDevice) -> String {
    let drivers = distinct(on.sessions.iter().map(|session| &*session.driver));
    let drivers = drivers.iter().map(|driver| format!("driver {driver}"));
    let strategies = distinct(on.sessions.iter().map(|session| &*session.strategy));
    let platform = distinct([&*on.platform]).into_iter().map(str::to_owned);
    let mut parts: Vec<String> = platform.chain(drivers).collect();
    if !strategies.is_empty() {
        parts.push(format!("strategy {}", strategies.join(", ")));
    }
    if on.sessions.len() > 1 {
        parts.push(format!("{} sessions", on.sessions.len()));
    }
    parts.join(" · ")
}

/// The texts that are not empty, each once.
fn distinct<'a>(texts: impl IntoIterator<Item = &'a str>) -> Vec<&'a str> {
    let mut distinct = Vec::new();
    for text in texts {
        if !text.is_empty() && !distinct.contains(&text) {
            distinct.push(text);
        }
    }
    distinct
}

fn facts(on: &OnDevice, model: &Model) -> Element {
    let (tried, failed) = on.tried();
    let tried = match &on.entry {
        Some(entry) => format!("{} of {}", grouped(tried as u128), grouped(entry.valid)),
        None => grouped(tried as u128),
    };
    let known = if on.entry.is_some() {
        "in cltune.lock"
    } else {
        "not in cltune.lock"
    };
    let of = |part: fn(&Repeatability) -> f64| {
        let part = on.repeatability.as_ref().map(part)?;
        Some(format!("{:.1} %", 100.0 * part))
    };
    let facts = [
        (
            "best",
            on.best().map(|(_, time_us)| time(time_us)),
            Some(known),
        ),
        ("default", on.default_us(model).map(time), None),
        ("gain", gain(on, model).map(times), None),
        ("spread", of(|of| of.spread), None),
        ("flip rate", of(|of| of.flip_rate), None),
        ("regret", of(|of| of.regret), None),
        ("tried", Some(tried), None),
        ("failed", Some(grouped(failed as u128)), None),
    ];
    let facts = facts.into_iter().filter_map(|(label, figure, remark)| {
        let remark = remark.map(|text| Element::new("small").text(text));
        let value = Element::new("dd").child(Element::new("span").text(figure?));
        let fact = Element::new("div").child(Element::new("dt").text(label));
        Some(fact.child(value.children(remark)))
    });
    Element::new("dl").with("class", "facts").children(facts)
}

/// The best values; those that are not the default's stand out.
fn values(codes: &[i64], model: &Model) -> Element {
    let parameters = model.parameters.iter().zip(codes).enumerate();
    let values = parameters.map(|(position, (parameter, code))| {
        let default = model.default.as_deref().map(|default| default[position]);
        let name = if default == Some(*code) {
            "span"
        } else {
            "strong"
        };
        let text = model.describe_value(position, *code);
        let value = Element::new(name).text(format!("{} = {text}", parameter.name));
        Element::new("li").child(value)
    });
    Element::new("ul")
        .with("class", "values")
        .with("aria-label", "Best values")
        .children(values)
}

/// The fastest configurations.
fn fastest(on: &OnDevice, model: &Model) -> Element {
    let mut working = on.working();
    working.sort_by(|a, b| a.1.total_cmp(&b.1));
    let latest = on.latest();
    let best_us = working.first().map_or(1.0, |(_, time_us)| *time_us);
    let conversion_us = |codes: &[i64]| latest.get(codes).and_then(|of| of.conversion_us);
    let converts = working
        .iter()
        .take(FASTEST)
        .any(|(codes, _)| conversion_us(codes).is_some());
    let rows = working.iter().take(FASTEST).enumerate();
    let rows = rows.map(|(position, (codes, time_us))| {
        let samples = latest.get(codes).map_or(&[][..], |of| &of.samples_us);
        let least = samples.iter().copied().fold(f64::MAX, f64::min);
        let most = samples.iter().copied().fold(0.0, f64::max);
        let spread = if samples.is_empty() {
            "–".to_owned()
        } else {
            format!("{} to {}", time(least), time(most))
        };
        let mut row = vec![
            row_name((position + 1).to_string()),
            number(time(*time_us)),
            number(times(time_us / best_us)),
            number(spread),
        ];
        if converts {
            row.push(number(
                conversion_us(codes).map_or_else(|| "–".to_owned(), time),
            ));
        }
        row.extend(configuration(codes, model));
        row
    });
    let columns = ["", "Time", "Times the fastest", "Single runs"];
    let conversion = converts.then_some("Conversion");
    let parameters = model.parameters.iter().map(|parameter| &*parameter.name);
    let rows: Vec<Vec<Element>> = rows.collect();
    let caption = format!("The {} fastest as first measured", rows.len());
    let about = note(
        "The finalists are measured again in turns before one is chosen, so that the best values need \
         not be those of the first row.",
    );
    details(
        "Fastest configurations",
        [
            table(
                &caption,
                columns.into_iter().chain(conversion).chain(parameters),
                rows,
            ),
            about,
        ]
        .into_iter()
        .chain(converts.then(|| note(CONVERSION))),
    )
}

const CONVERSION: &str = "A conversion is the copy of buffers to images. It is no part of the time of a \
                          call, and is done again only when the data of the buffers change.";

/// The parts of a call of the best configuration; none for a single launch.
fn stages(on: &OnDevice) -> Option<Element> {
    let (codes, _) = on.best()?;
    let recorded = *on.latest().get(codes)?;
    let parts_us: f64 = recorded.stages.iter().map(|stage| stage.time_us).sum();
    let rows = recorded.stages.iter().map(|stage| {
        vec![
            row_name(&*stage.stage),
            number(stage.launches.to_string()),
            number(time(stage.time_us)),
            number(format!("{:.0} %", 100.0 * stage.time_us / parts_us)),
        ]
    });
    let rows: Vec<Vec<Element>> = rows.collect();
    if rows.is_empty() {
        return None;
    }
    let about = note(
        "Of one call with the best values. The time of a call is from the first start to the last end, gaps \
         between launches included.",
    );
    let columns = ["Stage", "Launches", "Time", "Share"];
    let table = table("The stages of a call", columns, rows);
    Some(details("Stages", [table, about]))
}

/// The best-so-far configurations of the search.
fn course(on: &OnDevice, model: &Model) -> Element {
    let rows = improvements(on).into_iter().map(|(at, codes, time_us)| {
        let mut row = vec![row_name(at.to_string()), number(time(time_us))];
        row.extend(configuration(codes, model));
        row
    });
    let columns = ["Evaluation", "Time"];
    let parameters = model.parameters.iter().map(|parameter| &*parameter.name);
    let columns = columns.into_iter().chain(parameters);
    details(
        "Each improvement",
        [table("Each improvement", columns, rows)],
    )
}
