//! Results and sweeps as CSV, which `benches/splitting` makes tables and pictures of.

use crate::Failure;
use crate::measure::Alone;
use crate::sweep::Point;
use std::fmt::Write as _;
use std::fs::OpenOptions;
use std::io::Write as _;
use std::path::Path;

/// A problem on several devices: what is in the paper's table 3, and the times.
pub(crate) struct Result {
    pub(crate) problem: String,
    /// Of the devices.
    pub(crate) names: Vec<String>,
    pub(crate) alone: Vec<Alone>,
    /// Factors that follow from the times of each device alone (equation 4).
    pub(crate) optimal: Vec<f64>,
    /// Factors of the split that was used.
    pub(crate) adjusted: Vec<f64>,
    /// Milliseconds at best (algorithm 1).
    pub(crate) best: f64,
    /// Milliseconds.
    pub(crate) together: f64,
}

impl Result {
    /// Adds a line for each device to a file, which gets a header when it is new.
    pub(crate) fn add_to(&self, path: &Path) -> std::result::Result<(), Failure> {
        let mut text = String::new();
        if !path.exists() {
            text += "problem,device,alone_ms,is_scaled,optimal,adjusted,best_ms,together_ms\n";
        }
        for (position, name) in self.names.iter().enumerate() {
            let Alone { time, is_scaled } = self.alone[position];
            // Writing to a String cannot fail.
            let _ = writeln!(
                text,
                "{},{},{time:.4},{is_scaled},{:.4},{:.4},{:.4},{:.4}",
                quoted(&self.problem),
                quoted(name),
                self.optimal[position],
                self.adjusted[position],
                self.best,
                self.together
            );
        }
        let file = OpenOptions::new().create(true).append(true).open(path);
        file.and_then(|mut file| file.write_all(text.as_bytes()))
            .map_err(|error| Failure::File(path.to_owned(), error))
    }
}

/// Writes the times of other splits, and the split that was used as the last line.
pub(crate) fn write_sweep(
    path: &Path,
    result: &Result,
    points: &[Point],
) -> std::result::Result<(), Failure> {
    let mut text = "problem,first,second,factor,measured_ms,calculated_ms,is_chosen\n".to_owned();
    let of = format!(
        "{},{},{}",
        quoted(&result.problem),
        quoted(&result.names[0]),
        quoted(&result.names[1])
    );
    let chosen = Point {
        factor: result.adjusted[0],
        measured: result.together,
        calculated: result.best,
    };
    let points = points.iter().map(|point| (point, false));
    for (point, is_chosen) in points.chain([(&chosen, true)]) {
        let Point {
            factor,
            measured,
            calculated,
        } = point;
        let _ = writeln!(
            text,
            "{of},{factor:.4},{measured:.4},{calculated:.4},{is_chosen}"
        );
    }
    std::fs::write(path, text).map_err(|error| Failure::File(path.to_owned(), error))
}

/// A text that may have commas.
fn quoted(text: &str) -> String {
    format!("\"{}\"", text.replace('"', "\"\""))
}
