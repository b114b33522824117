//! The table of the cache's entries.

use crate::commands::columns::{INDENT, Row, columns};
use crate::json;
use cltune_core::measure::Caches;
use cltune_runtime::cache::{Folder, Listing, NotedResult, Notes};
use serde_json::json;
use std::io::{self, Write};

/// For people.
pub(super) fn print(folder: &Folder, listing: &Listing, out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "{}", folder.path().display())?;
    for notes in &listing.notes {
        writeln!(
            out,
            "\n{} on {} ({})",
            notes.kernel, notes.device.name, notes.device.platform
        )?;
        let rows: Vec<Row<1, 2>> = notes
            .results
            .iter()
            .map(|result| row(notes, result))
            .collect();
        columns(&rows, INDENT, out)?;
        if !notes.refusals.is_empty() {
            let count = notes.refusals.len();
            writeln!(out, "  {count} refused by driver {}", notes.driver)?;
        }
    }
    if listing.unfinished > 0 {
        writeln!(
            out,
            "\nsearches of calls that tune, which the program's next run goes on with: {}",
            listing.unfinished
        )?;
    }
    let megabytes = listing.program_bytes as f64 / f64::from(1 << 20);
    writeln!(out, "\n{} programs, {megabytes:.1} MiB", listing.programs)
}

fn row(notes: &Notes, result: &NotedResult) -> Row<1, 2> {
    let default = match result.default_us {
        Some(default_us) => format!(", default {default_us:.3} us"),
        None => String::new(),
    };
    let caches = match result.measure.caches {
        Caches::Warm => "",
        Caches::Cold => ", cold caches",
    };
    (
        [format!("{:.3} us{default}{caches}", result.time_us)],
        [
            assignments(&notes.dimensions, &result.problem),
            assignments(&notes.params, &result.values),
        ],
    )
}

fn assignments<T: ToString>(names: &[String], values: &[T]) -> String {
    let pairs = names.iter().zip(values);
    let pairs = pairs.map(|(name, value)| format!("{name} = {}", value.to_string()));
    pairs.collect::<Vec<_>>().join(", ")
}

/// For tools.
pub(super) fn json(folder: &Folder, listing: &Listing) -> serde_json::Value {
    let entries: Vec<_> = listing.notes.iter().map(entry).collect();
    json!({
        "folder": folder.path().display().to_string(),
        "entries": entries,
        "unfinished": listing.unfinished,
        "programs": listing.programs,
        "program_bytes": listing.program_bytes,
    })
}

fn entry(notes: &Notes) -> serde_json::Value {
    let results = notes.results.iter().map(|result| {
        json!({
            "problem": named(&notes.dimensions, result.problem.iter().map(|size| json!(size))),
            "values": named(&notes.params, result.values.iter().map(json::parameter_value)),
            "time_us": result.time_us,
            "default_us": result.default_us,
            "evaluated": result.evaluated,
            "measure": result.measure.caches.word(),
        })
    });
    json!({
        "kernel": notes.kernel,
        "fingerprint": notes.fingerprint,
        "device": notes.device.name,
        "platform": notes.device.platform,
        "driver": notes.driver,
        "results": results.collect::<Vec<_>>(),
        "refused": notes.refusals.len(),
    })
}

fn named(
    names: &[String],
    values: impl Iterator<Item = serde_json::Value>,
) -> serde_json::Map<String, serde_json::Value> {
    names.iter().cloned().zip(values).collect()
}
