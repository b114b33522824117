//! What each part of the selection rule gives this device, against the fastest of them.

use crate::Failure;
use crate::convolver::Convolver;
use crate::filter::Filter;
use crate::kernel::convolve::{self, Params};
use crate::picture::Picture;
use crate::timing::{medians, milliseconds};
use cltune_core::select::{KnownDevice, KnownResult, Rule, Table, select};
use cltune_runtime::Queue;
use std::time::Duration;

/// For each size: what would be selected if less were known, and how fast that is here. Where this device
/// is in the lockfile, the fastest is, or is close to, its optimum.
pub(crate) fn run(
    queue: &Queue,
    picture: &Picture,
    sizes: impl Iterator<Item = u32>,
) -> Result<(), Failure> {
    println!("\n| filter | rule | values of | time here | of the fastest |");
    println!("|---|---|---|---|---|");
    for size in sizes {
        let mut convolver = Convolver::new(queue, &picture.planes[0], &Filter::unsharp_mask(size))?;
        let dims = convolver.problem().to_dims();
        let rows = rows(queue, &dims);
        let configurations: Vec<Params> = rows.iter().map(|row| row.params).collect();
        let times = medians(&mut convolver, &configurations);
        let known = times.iter().filter_map(|time| time.as_ref().ok());
        let fastest = known.min().copied().unwrap_or_default();
        for (row, time) in rows.iter().zip(&times) {
            let (time, part) = match time {
                Ok(time) => (milliseconds(*time), fraction(fastest, *time)),
                Err(error) => ("cannot run here".to_owned(), error.to_string()),
            };
            println!(
                "| {size}x{size} | {} | {} | {time} | {part} |",
                row.rule, row.device
            );
        }
    }
    Ok(())
}

/// What the rule selects.
struct Row {
    rule: Rule,
    /// The device that it was tuned on.
    device: String,
    params: Params,
}

/// What the rule selects from ever smaller tables.
fn rows(queue: &Queue, dims: &[i64]) -> Vec<Row> {
    let info = queue.device().info();
    let model = convolve::TUNABLE.model();
    let is_here = |device: &KnownDevice| device.is(info);
    let without_problem = keep(|device, result| !(is_here(device) && *result.problem == *dims));
    let without_device = keep(|device, _| !is_here(device));
    let mut without_default = model.clone();
    without_default.default = None;
    let cases = [
        (model, convolve::TUNABLE.table().clone()),
        (model, without_problem),
        (model, without_device),
        (model, Table::EMPTY),
        (&without_default, Table::EMPTY),
    ];
    let mut rows: Vec<Row> = Vec::new();
    for (model, table) in cases {
        let selected = select(model, info, dims, &table, &Table::EMPTY);
        let row = selected.and_then(|selected| {
            let device = selected.known.map(|(device, _)| device.name.to_string());
            Some(Row {
                rule: selected.rule,
                device: device.unwrap_or_default(),
                params: Params::from_codes(&selected.codes)?,
            })
        });
        // Where nothing was left out, the same is selected again.
        rows.extend(row.filter(|row| rows.iter().all(|known| known.rule != row.rule)));
    }
    rows
}

/// The lockfile's results for which this holds.
fn keep(holds: impl Fn(&KnownDevice, &KnownResult) -> bool) -> Table {
    let table = convolve::TUNABLE.table();
    let results = table.results.iter().filter(|result| {
        let device = table.devices.get(usize::from(result.device));
        device.is_some_and(|device| holds(device, result))
    });
    Table {
        devices: table.devices.clone(),
        results: results.cloned().collect(),
    }
}

fn fraction(fastest: Duration, time: Duration) -> String {
    format!(
        "{:.0} %",
        100.0 * fastest.as_secs_f64() / time.as_secs_f64()
    )
}
