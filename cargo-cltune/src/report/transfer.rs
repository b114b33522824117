//! What the best values of each device cost on the others.

use crate::history::OnDevice;
use cltune_search::Status;

/// What values cost on a device.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Cost {
    /// So many times the time of that device's own best values.
    Factor(f64),
    /// They do not work there: the status.
    Fails(Status),
    /// Nobody has tried.
    NotMeasured,
}

/// The cost of the best values of each device (the outer list) on each device (the inner lists);
/// `None` for devices where nothing works.
pub(super) fn costs(devices: &[OnDevice]) -> Vec<Option<Vec<Cost>>> {
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
