//! The cost of each device's best values on the other devices.

use crate::chart::Element;
use crate::history::OnDevice;
use crate::report::devices::Devices;
use crate::report::html::{self, cell, note, row_name, table, times};
use cltune_search::Status;

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

/// The cost of values on a device.
#[derive(Clone, Debug, PartialEq)]
enum Cost {
    /// So many times the time of that device's own best values.
    Factor(f64),
    /// They do not work there: the status.
    Fails(Status),
    /// It was never measured there.
    NotMeasured,
}

/// The cost of the best values of each device (the outer list) on each device (the inner lists);
/// `None` for devices where nothing works.
fn costs(devices: &[OnDevice]) -> Vec<Option<Vec<Cost>>> {
    let row = |on: &OnDevice| {
        let (codes, _) = on.best()?;
        Some(devices.iter().map(|there| cost(codes, there)).collect())
    };
    devices.iter().map(row).collect()
}

fn cost(codes: &[i64], there: &OnDevice) -> Cost {
    let latest = there.latest();
    let time_us = match latest.get(codes).map(|of| (of.time_us, &of.status)) {
        Some((None, status)) => return Cost::Fails(status.clone()),
        Some((time_us, _)) => time_us,
        None => None,
    };
    match (there.best(), time_us) {
        (Some((own, _)), _) if own == codes => Cost::Factor(1.0),
        (Some((own, own_us)), Some(time_us)) => {
            // Both from the journal, where it has both: the lockfile's times are of another
            // measurement.
            let own_us = latest.get(own).and_then(|of| of.time_us).unwrap_or(own_us);
            Cost::Factor(time_us / own_us)
        }
        _ => Cost::NotMeasured,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::history::LockfileEntry;
    use crate::session::Recorded;

    fn on(results: &[(i64, Option<f64>)], entry: Option<(i64, f64)>) -> OnDevice {
        let results = results.iter().map(|(code, time_us)| Recorded {
            codes: vec![*code],
            time_us: *time_us,
            status: Status::TimedOut,
            ..Recorded::default()
        });
        OnDevice {
            results: results.collect(),
            entry: entry.map(|(code, time_us)| LockfileEntry {
                codes: vec![code],
                time_us,
                default_us: None,
                valid: 1,
            }),
            ..OnDevice::default()
        }
    }

    #[test]
    fn costs_are_relative_to_the_devices_own_best() {
        let devices = [
            on(&[(1, Some(2.0)), (2, Some(3.0)), (3, None)], None),
            // The entry's time is of other measurements than the journal's.
            on(&[(1, Some(8.0)), (2, Some(4.0))], Some((2, 1.0))),
            on(&[], Some((3, 5.0))),
            on(&[(1, None)], None),
        ];
        let costs = costs(&devices);
        let fails = || Cost::Fails(Status::TimedOut);
        let expected = [
            Some(vec![
                Cost::Factor(1.0),
                Cost::Factor(2.0),
                Cost::NotMeasured,
                fails(),
            ]),
            Some(vec![
                Cost::Factor(1.5),
                Cost::Factor(1.0),
                Cost::NotMeasured,
                Cost::NotMeasured,
            ]),
            Some(vec![
                fails(),
                Cost::NotMeasured,
                Cost::Factor(1.0),
                Cost::NotMeasured,
            ]),
            None,
        ];
        assert_eq!(costs, expected);
    }
}
