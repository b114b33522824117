//! The rows of a table in order of distance. Nearly always the first is valid and no other is
//! needed: it is found by a search that uses the table's order, the others by a pass over the table
//! each.

use super::distance::{DeviceDistance, problem_distance, squared_log_ratio};
use super::{Table, TunedDevice, TunedResult};
use crate::device::DeviceInfo;
use std::cmp::Ordering;
use std::ops::Range;

/// Where a row stands in the order. Rows that are equally near keep the table's order.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub(super) struct Rank {
    device: DeviceDistance,
    /// Whether the problem is not the one asked for.
    other_problem: bool,
    problem: f64,
    row: usize,
}

impl Rank {
    const fn is_exact(&self) -> bool {
        !self.other_problem
    }
}

/// A row of a table.
#[derive(Clone, Copy, Debug)]
pub(super) struct Row<'a> {
    pub(super) device: &'a TunedDevice,
    pub(super) result: &'a TunedResult,
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

/// The row for this very device and problem. The tables made from lockfiles and caches are sorted
/// by device and problem, so that this needs no pass; in a table that is not, the row may be missed
/// here and is found by [`nearest_after`].
pub(super) fn find_exact<'a>(table: &'a Table, dims: &[i64], info: &DeviceInfo) -> Option<Row<'a>> {
    let devices = table.devices.iter().enumerate();
    let mut this = devices.filter(|(_, device)| device.key().is(info.key()));
    this.find_map(|(index, device)| {
        let key = |result: &TunedResult| {
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

/// The nearest row, as [`nearest_after`] finds it when nothing came before.
pub(super) fn nearest<'a>(
    table: &'a Table,
    dims: &[i64],
    distance: impl Fn(&TunedDevice) -> Option<DeviceDistance>,
) -> Option<Row<'a>> {
    let mut farther_than: Option<DeviceDistance> = None;
    loop {
        let distances = table.devices.iter().filter_map(&distance);
        let distances = distances.filter(|of| farther_than.is_none_or(|than| *of > than));
        let least = distances.min_by(|a, b| a.partial_cmp(b).unwrap_or(Ordering::Equal))?;
        let mut best: Option<Row<'a>> = None;
        for (index, device) in table.devices.iter().enumerate() {
            if distance(device) != Some(least) {
                continue;
            }
            let Some(found) = NearestRows::among_rows_of(table, index, dims) else {
                continue;
            };
            let rank = Rank {
                device: least,
                ..found
            };
            if best.is_none_or(|best| precedes(&rank, &best.rank)) {
                best = table.results.get(rank.row).map(|result| Row {
                    device,
                    result,
                    rank,
                });
            }
        }
        if best.is_some() {
            return best;
        }
        farther_than = Some(least);
    }
}

/// A search among the rows of one device, which are sorted by their problems. Rows with equal sizes
/// in the first dimensions stand together, and from size to size the distance in the next dimension
/// grows to both sides of the size asked for: so most rows are never looked at.
struct NearestRows<'a, 'd> {
    results: &'a [TunedResult],
    dims: &'d [i64],
    best: Option<Rank>,
}

impl<'a, 'd> NearestRows<'a, 'd> {
    /// The nearest row of a device.
    fn among_rows_of(table: &'a Table, device: usize, dims: &'d [i64]) -> Option<Rank> {
        let first = |least: usize| {
            let is_before = |result: &TunedResult| usize::from(result.device) < least;
            table.results.partition_point(is_before)
        };
        let mut search = Self {
            results: &table.results,
            dims,
            best: None,
        };
        search.nearest_in(first(device)..first(device + 1), 0, 0.0);
        search.best
    }

    /// Looks at rows whose sizes before `dimension` are equal, and are so far from those asked for.
    fn nearest_in(&mut self, rows: Range<usize>, dimension: usize, distance: f64) {
        let Some(&wanted) = self.dims.get(dimension) else {
            self.consider(rows.start, distance);
            return;
        };
        let (mut below, mut above) = (self.first(&rows, dimension, wanted), None);
        let mut next = below;
        // The nearest sizes on both sides, and how far they are.
        let mut left = self.size_before(rows.start, below, dimension);
        loop {
            if above.is_none() {
                above = self.size_at(next, rows.end, dimension);
            }
            let far = |size: Option<i64>| {
                size.map_or(f64::INFINITY, |size| {
                    distance + squared_log_ratio(size, wanted)
                })
            };
            let (to_left, to_right) = (far(left), far(above));
            let nearer = to_left.min(to_right);
            let is_hopeless = |best: Rank| nearer > best.problem && !best.is_exact();
            let is_found = |best: Rank| best.is_exact() && nearer > 0.0;
            if nearer.is_infinite() || self.best.is_some_and(|b| is_hopeless(b) || is_found(b)) {
                return;
            }
            if to_left <= to_right {
                let Some(size) = left else { return };
                let first = self.first(&(rows.start..below), dimension, size);
                self.nearest_in(first..below, dimension + 1, to_left);
                below = first;
                left = self.size_before(rows.start, below, dimension);
            } else {
                let Some(size) = above.take() else { return };
                let end = match size.checked_add(1) {
                    Some(larger) => self.first(&(next..rows.end), dimension, larger),
                    None => rows.end,
                };
                self.nearest_in(next..end, dimension + 1, to_right);
                next = end;
            }
        }
    }

    /// The first of these rows whose size is at least this.
    fn first(&self, rows: &Range<usize>, dimension: usize, size: i64) -> usize {
        let of = self.results.get(rows.clone()).unwrap_or_default();
        rows.start + of.partition_point(|row| size_of(row, dimension) < size)
    }

    fn size_before(&self, start: usize, end: usize, dimension: usize) -> Option<i64> {
        let row = end.checked_sub(1).filter(|row| *row >= start)?;
        self.results.get(row).map(|row| size_of(row, dimension))
    }

    fn size_at(&self, row: usize, end: usize, dimension: usize) -> Option<i64> {
        let row = Some(row).filter(|row| *row < end)?;
        self.results.get(row).map(|row| size_of(row, dimension))
    }

    /// Takes a row if it comes before the best so far.
    fn consider(&mut self, row: usize, problem: f64) {
        let Some(result) = self.results.get(row) else {
            return;
        };
        if result.problem.len() != self.dims.len() {
            return;
        }
        let rank = Rank {
            device: DeviceDistance::SAME,
            other_problem: *result.problem != *self.dims,
            problem,
            row,
        };
        if self.best.is_none_or(|best| precedes(&rank, &best)) {
            self.best = Some(rank);
        }
    }
}

/// A size of a row's problem; of a damaged row the least there is.
fn size_of(row: &TunedResult, dimension: usize) -> i64 {
    row.problem.get(dimension).copied().unwrap_or(i64::MIN)
}

/// The nearest row after `after` in the order; rows whose device has no distance are left out, as
/// are those that do not fit (a damaged cache).
pub(super) fn nearest_after<'a>(
    table: &'a Table,
    dims: &[i64],
    after: Option<&Rank>,
    distance: impl Fn(&TunedDevice) -> Option<DeviceDistance>,
) -> Option<Row<'a>> {
    let mut best: Option<Row<'a>> = None;
    // Rows of one device stand together, so its distance is computed once.
    let mut current: Option<(u16, &TunedDevice, Option<DeviceDistance>)> = None;
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
