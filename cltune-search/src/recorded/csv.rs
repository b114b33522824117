//! CSV: a row per configuration. The columns before `time_ms` are the parameters; `time_ms` is
//! empty, or no positive finite number, where the configuration failed.
//!
//! Of the columns after it `compile_ms` and `error` are understood, and others are not read. Values
//! are names and numbers, so there are no quotes.

use super::measurements::{About, Measurements, ParseError, Position, RecordedResult, is_time};
use crate::Status;
use std::path::Path;

/// The column with the times, in milliseconds.
pub const TIME_COLUMN: &str = "time_ms";
/// The column with the times that building took, in milliseconds.
pub const COMPILE_COLUMN: &str = "compile_ms";
/// The column with how configurations failed.
pub const ERROR_COLUMN: &str = "error";

/// Understands a file's text.
pub(super) fn read(path: &Path, text: &str) -> Result<Measurements, ParseError> {
    let mut measurements = Measurements {
        path: path.to_owned(),
        about: About::default(),
        parameters: Vec::new(),
        results: Vec::new(),
    };
    let mut lines = text
        .lines()
        .enumerate()
        .map(|(number, line)| (Position::Line(number + 1), line.trim_end_matches('\r')))
        .filter(|(_, line)| !line.is_empty());
    let Some((first, header)) = lines.next() else {
        let problem = "the file is empty; a line of column names is expected";
        return Err(measurements.error(Position::Line(1), problem));
    };
    let header: Vec<&str> = header.split(',').map(str::trim).collect();
    let column = |name: &str| header.iter().position(|of| *of == name);
    let Some(time) = column(TIME_COLUMN) else {
        let problem = format!(
            "there is no column `{TIME_COLUMN}` among {}",
            several(&header)
        );
        return Err(measurements.error(first, problem));
    };
    let names = header[..time].iter().map(|&name| name.to_owned());
    measurements.name_parameters(first, names.collect())?;
    let (compile, error) = (column(COMPILE_COLUMN), column(ERROR_COLUMN));
    for (position, line) in lines {
        let fields: Vec<&str> = line.split(',').map(str::trim).collect();
        if fields.len() <= time || fields.len() > header.len() {
            let problem = format!("{} fields, but {} columns", fields.len(), header.len());
            return Err(measurements.error(position, problem));
        }
        let field = |column: Option<usize>| column.and_then(|column| fields.get(column).copied());
        let time_ms = match fields[time].parse::<f64>() {
            Ok(time) => Some(time).filter(|time| is_time(*time)),
            Err(_) if fields[time].is_empty() => None,
            Err(_) => {
                return Err(measurements.error(position, format!("`{}` is no time", fields[time])));
            }
        };
        let status = match (time_ms, field(error)) {
            (Some(_), _) => Status::Ok,
            (None, Some(error)) if !error.is_empty() => Status::from(error),
            (None, _) => Status::Failed,
        };
        measurements.add(RecordedResult {
            position,
            values: fields[..time].iter().map(|&text| text.to_owned()).collect(),
            time_ms,
            samples_ms: Vec::new(),
            build_ms: field(compile)
                .and_then(|text| text.parse().ok())
                .filter(|time| is_time(*time)),
            status,
            detail: None,
        })?;
    }
    Ok(measurements)
}

/// Names in a row, of which there may be any number.
fn several(names: &[&str]) -> String {
    const SHOWN: usize = 16;
    let shown = names[..names.len().min(SHOWN)].join(", ");
    match names.len().saturating_sub(SHOWN) {
        0 => shown,
        more => format!("{shown} and {more} more"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_that_are_not_known_are_not_read() {
        let text = "X,time_ms,other,error,compile_ms\r\n2,1.5,a,,3\n4,,b,timeout,\n\n5,inf,,\n";
        let file = read(Path::new("a.csv"), text).unwrap();
        assert_eq!(file.parameters, ["X"]);
        let results = file.results.iter();
        let found: Vec<_> = results
            .map(|of| (&*of.values[0], of.time_ms, of.status.as_str(), of.build_ms))
            .collect();
        assert_eq!(
            found,
            [
                ("2", Some(1.5), "ok", Some(3.0)),
                ("4", None, "timeout", None),
                ("5", None, "failed", None)
            ]
        );
    }

    #[test]
    fn mistakes_are_located() {
        for (text, says) in [
            ("", ":1: the file is empty"),
            ("X,Y\n1,2\n", ":1: there is no column `time_ms` among X, Y"),
            ("X,X,time_ms\n", ":1: two parameters are named `X`"),
            ("X,time_ms\n1,2\n1\n", ":3: 1 fields, but 2 columns"),
            ("X,time_ms\n1,2,3\n", ":2: 3 fields, but 2 columns"),
            ("X,time_ms\n1,fast\n", ":2: `fast` is no time"),
        ] {
            let error = read(Path::new("a.csv"), text).unwrap_err().to_string();
            assert!(error.contains(says), "{text:?}: {error}");
        }
    }
}
