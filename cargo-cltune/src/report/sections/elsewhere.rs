//! What each device's best values cost on the others.

use crate::chart::Element;
use crate::history::OnDevice;
use crate::report::devices::Devices;
use crate::report::html::{self, cell, note, row_name, table, times};
use crate::report::transfer::{Cost, costs};

/// From so much more time on a cell is marked as slower, and as much slower.
const SLOWER: f64 = 1.02;
const MUCH_SLOWER: f64 = 1.25;

/// The table; nothing where there is but one device.
pub(in crate::report) fn section(
    on: &[OnDevice],
    devices: &Devices,
    problem: &str,
) -> Option<Element> {
    if on.len() < 2 {
        return None;
    }
    let costs = costs(on);
    let rows = on.iter().zip(costs).filter_map(|(of, costs)| {
        let mut row = vec![row_name(devices.name(of))];
        row.extend(costs?.iter().map(entry));
        Some(row)
    });
    let names: Vec<String> = on
        .iter()
        .map(|of| format!("on {}", devices.name(of)))
        .collect();
    let columns = ["Best values of"]
        .into_iter()
        .chain(names.iter().map(String::as_str));
    let caption = "Time over that of the device's own best values";
    let table = table(caption, columns, rows);
    let about = note(
        "1.30\u{d7} is 30 % more time than with the device's own best values. Not measured: no session \
         tried those values there.",
    );
    let id = format!("{problem}-elsewhere");
    Some(
        html::section("h4", &id, "One device\u{2019}s best on the others")
            .child(table)
            .child(about),
    )
}

fn entry(cost: &Cost) -> Element {
    let (text, class) = match cost {
        Cost::Factor(factor) if *factor < SLOWER => (times(*factor), "number good"),
        Cost::Factor(factor) if *factor < MUCH_SLOWER => (times(*factor), "number slower"),
        Cost::Factor(factor) => (times(*factor), "number much-slower"),
        Cost::Fails(status) => (format!("fails: {status}"), "number fails"),
        Cost::NotMeasured => ("not measured".to_owned(), "number unknown"),
    };
    cell(text).with("class", class)
}
