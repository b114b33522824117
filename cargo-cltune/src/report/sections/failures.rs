//! Failures: how many of each status, and the first of each.

use crate::chart::Element;
use crate::history::OnDevice;
use crate::report::devices::Devices;
use crate::report::html::{self, cell, details, grouped, number, paragraph, row_name, table};
use crate::session::Recorded;
use cltune_core::model::Model;
use cltune_search::Status;
use std::collections::BTreeMap;

/// Failures of one kind on one device.
#[derive(Debug, PartialEq)]
struct Kind<'a> {
    status: &'a Status,
    count: usize,
    /// The first one.
    first: &'a Recorded,
}

/// A row for each device and kind.
pub(in crate::report) fn section(
    on: &[OnDevice],
    model: &Model,
    devices: &Devices,
    problem: &str,
) -> Element {
    let rows = on.iter().flat_map(|of| {
        let kinds = kinds(of).into_iter();
        kinds.map(move |kind| {
            vec![
                row_name(devices.name(of)),
                cell(kind.status.as_str()),
                number(grouped(kind.count as u128)),
                reason(&kind, model),
            ]
        })
    });
    let rows: Vec<Vec<Element>> = rows.collect();
    let section = html::section("h4", &format!("{problem}-failures"), "Failures");
    if rows.is_empty() {
        return section.child(paragraph("None."));
    }
    let columns = ["Device", "Kind", "Count", "The first one"];
    section.child(table("Configurations that failed", columns, rows))
}

fn kinds(on: &OnDevice) -> Vec<Kind<'_>> {
    let mut kinds: BTreeMap<&Status, Kind> = BTreeMap::new();
    let latest = on.latest();
    let counts = |of: &&Recorded| {
        latest
            .get(&*of.codes)
            .is_some_and(|last| std::ptr::eq(*last, *of))
    };
    let failed = on.results.iter().filter(|of| of.time_us.is_none());
    for first in failed.filter(counts) {
        let new = Kind {
            status: &first.status,
            count: 0,
            first,
        };
        kinds.entry(&first.status).or_insert(new).count += 1;
    }
    kinds.into_values().collect()
}

/// The first line at once, the rest when it is asked for.
fn reason(kind: &Kind, model: &Model) -> Element {
    let configuration = model.describe(&kind.first.codes);
    let text = kind.first.detail.as_deref().unwrap_or_default().trim();
    let first = text.lines().next().unwrap_or("no reason is known").trim();
    let whole = Element::new("pre").text(text);
    let about = paragraph(configuration).with("class", "note");
    cell("")
        .with("class", "reason")
        .child(details(first, [about, whole]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn failures_are_counted_by_kind_with_the_first_of_each() {
        let result = |code: i64, status: Status, detail: &str| Recorded {
            codes: vec![code],
            time_us: (status == Status::Ok).then_some(1.0),
            status,
            detail: Some(detail.to_owned()),
            ..Recorded::default()
        };
        let on = OnDevice {
            results: vec![
                // It works now: a later session measured it.
                result(1, Status::Crashed, "once"),
                result(2, Status::TimedOut, "late"),
                result(3, Status::Crashed, "first"),
                result(4, Status::Crashed, "second"),
                result(1, Status::Ok, ""),
            ],
            ..OnDevice::default()
        };
        let found: Vec<(&str, usize, Option<&str>)> = kinds(&on)
            .iter()
            .map(|kind| {
                (
                    kind.status.as_str(),
                    kind.count,
                    kind.first.detail.as_deref(),
                )
            })
            .collect();
        assert_eq!(
            found,
            [
                ("crashed", 2, Some("first")),
                ("timed-out", 1, Some("late"))
            ]
        );
    }
}
