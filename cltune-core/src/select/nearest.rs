//! The rows of a table in order of distance, without sorting: each is found by at most one pass over
//! the table, since nearly always the first is valid and no other is needed.

use super::distance::{DeviceDistance, problem_distance};
use super::{KnownDevice, KnownResult, Table};
use crate::device::DeviceInfo;
use std::cmp::Ordering;

/// Where a row stands in the order. Rows that are equally near keep the table's order.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub(super) struct Rank {
    device: DeviceDistance,
    /// Whether the problem is not the one asked for.
    other_problem: bool,
    problem: f64,
    row: usize,
}

/// A row of a table.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row<'a> {
    pub(super) device: &'a KnownDevice,
    pub(super) result: &'a KnownResult,
    pub(super) rank: Rank,
}

impl Row<'_> {
    /// Whether it is for the problem asked for.
    pub(super) const fn is_for_problem(&self) -> bool {
        !self.rank.other_problem
    }

    /// Whether its device is of another vendor.
    pub(super) const fn is_of_other_vendor(&self) -> bool {
        self.rank.device.other_vendor
    }
}

/// The row for this very device and problem. The tables made from lockfiles and caches are sorted by
/// device and problem, so that this needs no pass; in a table that is not, the row may be missed here
/// and is found by [`nearest_after`].
pub(super) fn find_exact<'a>(table: &'a Table, dims: &[i64], info: &DeviceInfo) -> Option<Row<'a>> {
    let devices = table.devices.iter().enumerate();
    let mut this = devices.filter(|(_, device)| device.is(info));
    this.find_map(|(index, device)| {
        let key = |result: &KnownResult| {
            usize::from(result.device)
                .cmp(&index)
                .then_with(|| (*result.problem).cmp(dims))
        };
        let row = table.results.binary_search_by(key).ok()?;
        let rank = Rank {
            device: DeviceDistance::SAME,
            other_problem: false,
            problem: 0.0,
            row,
        };
        Some(Row {
            device,
            result: table.results.get(row)?,
            rank,
        })
    })
}

/// The nearest row after `after` in the order; rows whose device has no distance are left out, as
/// are those that do not fit (a damaged cache).
pub(super) fn nearest_after<'a>(
    table: &'a Table,
    dims: &[i64],
    after: Option<&Rank>,
    distance: impl Fn(&KnownDevice) -> Option<DeviceDistance>,
) -> Option<Row<'a>> {
    let mut best: Option<Row<'a>> = None;
    // Rows of one device stand together, so its distance is computed once.
    let mut current: Option<(u16, &KnownDevice, Option<DeviceDistance>)> = None;
    for (row, result) in table.results.iter().enumerate() {
        let (device, device_distance) = match current {
            Some((index, device, distance)) if index == result.device => (device, distance),
            _ => {
                let Some(device) = table.devices.get(usize::from(result.device)) else {
                    continue;
                };
                let device_distance = distance(device);
                current = Some((result.device, device, device_distance));
                (device, device_distance)
            }
        };
        let Some(device_distance) = device_distance else {
            continue;
        };
        if result.problem.len() != dims.len() {
            continue;
        }
        let other_problem = *result.problem != *dims;
        let rank = Rank {
            device: device_distance,
            other_problem,
            problem: if other_problem {
                problem_distance(&result.problem, dims)
            } else {
                0.0
            },
            row,
        };
        if after.is_some_and(|after| !precedes(after, &rank)) {
            continue;
        }
        if best.as_ref().is_none_or(|best| precedes(&rank, &best.rank)) {
            best = Some(Row {
                device,
                result,
                rank,
            });
        }
    }
    best
}

/// Whether `a` comes before `b`. Distances are never NaN, so any two ranks compare.
fn precedes(a: &Rank, b: &Rank) -> bool {
    a.partial_cmp(b) == Some(Ordering::Less)
}
