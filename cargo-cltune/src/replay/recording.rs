//! Recorded spaces: a CSV file, compressed or not, with a row per configuration.
//!
//! The columns before `time_ms` are the parameters; `time_ms` is empty, or no positive finite number,
//! where the configuration failed; what follows it is not read.

use cltune_core::space::{Space, SpaceParameter};
use cltune_runtime::search::{Lesson, Score};
use flate2::read::MultiGzDecoder;
use std::collections::HashMap;
use std::fs::File;
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};
use std::sync::Arc;

/// The column with the times, in milliseconds.
const TIME: &str = "time_ms";

/// A space with the time of each configuration.
#[derive(Debug)]
pub(crate) struct Recording {
    path: PathBuf,
    /// The file's name without its endings.
    pub(crate) name: String,
    pub(crate) space: Arc<Space>,
    /// For each parameter its values as the file has them, by code.
    texts: Vec<HashMap<i64, String>>,
    /// Milliseconds; `None` for configurations that failed.
    times: HashMap<Vec<i64>, Option<f64>>,
    /// The best time, milliseconds.
    pub(crate) best: f64,
}

/// Why a recording cannot be used.
#[derive(Debug, thiserror::Error)]
pub(crate) enum RecordingError {
    #[error("cannot read {}: {source}", path.display())]
    Read { path: PathBuf, source: io::Error },
    #[error(
        "{}: the compressed data ends early or is damaged: {source}; copy or download it again",
        path.display()
    )]
    Compression { path: PathBuf, source: io::Error },
    #[error("{}:{line}: {problem}", path.display())]
    Line {
        path: PathBuf,
        line: usize,
        problem: String,
    },
    #[error(
        "{}: its parameters are {there}, and those of {} are {here}; a warm start needs the same \
         kernel recorded on another device",
        other.display(),
        path.display()
    )]
    OtherParameters {
        path: PathBuf,
        other: PathBuf,
        here: String,
        there: String,
    },
    #[error("{}: every configuration failed, so there is no optimum to look for", path.display())]
    AllFailed { path: PathBuf },
}

impl Recording {
    /// Reads a file, compressed where its name ends in `.gz`.
    pub(crate) fn read(path: &Path) -> Result<Self, RecordingError> {
        let file = File::open(path).map_err(|source| RecordingError::Read {
            path: path.to_owned(),
            source,
        })?;
        let mut text = String::new();
        if path.extension().is_some_and(|extension| extension == "gz") {
            MultiGzDecoder::new(BufReader::new(file))
                .read_to_string(&mut text)
                .map_err(|source| RecordingError::Compression {
                    path: path.to_owned(),
                    source,
                })?;
        } else {
            let mut file = BufReader::new(file);
            file.read_to_string(&mut text)
                .map_err(|source| RecordingError::Read {
                    path: path.to_owned(),
                    source,
                })?;
        }
        Self::parse(path, &text)
    }

    fn parse(path: &Path, text: &str) -> Result<Self, RecordingError> {
        let error = |line: usize, problem: String| RecordingError::Line {
            path: path.to_owned(),
            line,
            problem,
        };
        let mut lines = text
            .lines()
            .enumerate()
            .map(|(number, line)| (number + 1, line.trim_end_matches('\r')))
            .filter(|(_, line)| !line.is_empty());
        let (_, header) = lines.next().ok_or_else(|| {
            error(
                1,
                "the file is empty; a line of column names is expected".into(),
            )
        })?;
        let header: Vec<&str> = header.split(',').map(str::trim).collect();
        let count = header
            .iter()
            .position(|name| *name == TIME)
            .ok_or_else(|| {
                let names = header.join(", ");
                error(1, format!("there is no column `{TIME}` among {names}"))
            })?;
        let names = &header[..count];
        if let Some(twice) = names
            .iter()
            .enumerate()
            .find(|(i, name)| names[..*i].contains(name))
        {
            return Err(error(1, format!("two columns are named `{}`", twice.1)));
        }
        let mut rows: Vec<(usize, Vec<&str>, Option<f64>)> = Vec::new();
        for (number, line) in lines {
            let fields: Vec<&str> = line.split(',').map(str::trim).collect();
            if fields.len() < header.len().min(count + 1) || fields.len() > header.len() {
                let problem = format!("{} fields, but {} columns", fields.len(), header.len());
                return Err(error(number, problem));
            }
            let time = fields[count];
            let time = match time.parse::<f64>() {
                Ok(time) if time.is_finite() && time > 0.0 => Some(time),
                Ok(_) => None,
                Err(_) if time.is_empty() => None,
                Err(_) => return Err(error(number, format!("`{time}` is no time"))),
            };
            rows.push((number, fields[..count].to_vec(), time));
        }
        let domains: Vec<HashMap<&str, i64>> = (0..count)
            .map(|column| codes(rows.iter().map(|(_, fields, _)| fields[column])))
            .collect();
        let mut times: HashMap<Vec<i64>, Option<f64>> = HashMap::with_capacity(rows.len());
        for (number, fields, time) in &rows {
            let codes = fields
                .iter()
                .zip(&domains)
                .map(|(text, domain)| domain[text]);
            let codes: Vec<i64> = codes.collect();
            if let Some(before) = times.insert(codes, *time)
                && before != *time
            {
                let problem = "a configuration for a second time, with another result".into();
                return Err(error(*number, problem));
            }
        }
        let best = times.values().flatten().copied().fold(f64::MAX, f64::min);
        if best == f64::MAX {
            return Err(RecordingError::AllFailed {
                path: path.to_owned(),
            });
        }
        let parameters = names.iter().zip(&domains).map(|(name, domain)| {
            let mut codes: Vec<i64> = domain.values().copied().collect();
            codes.sort_unstable();
            codes.dedup();
            SpaceParameter {
                name: (*name).to_owned().into(),
                codes,
            }
        });
        let configurations: Vec<Vec<i64>> = times.keys().cloned().collect();
        let space = Space::from_configurations(parameters.collect(), &configurations)
            .ok_or_else(|| error(1, "a configuration is outside of its own domains".into()))?;
        let file = path.file_name().unwrap_or_default().to_string_lossy();
        let name = file.trim_end_matches(".gz").trim_end_matches(".csv");
        Ok(Self {
            path: path.to_owned(),
            name: name.to_owned(),
            space: Arc::new(space),
            texts: domains
                .into_iter()
                .map(|domain| {
                    let pairs = domain.into_iter();
                    pairs.map(|(text, code)| (code, text.to_owned())).collect()
                })
                .collect(),
            times,
            best,
        })
    }

    /// The time of a configuration, milliseconds; `None` where it failed.
    pub(crate) fn time(&self, codes: &[i64]) -> Option<f64> {
        self.times.get(codes).copied().flatten()
    }

    /// What a recording of the same kernel on another device teaches about this one's space.
    /// Configurations with a value that does not occur here are left out.
    ///
    /// # Errors
    /// [`RecordingError::OtherParameters`] where the parameters have other names.
    pub(crate) fn lesson(&self, other: &Self) -> Result<Lesson, RecordingError> {
        let names = |of: &Self| -> Vec<String> {
            let parameters = of.space.parameters().iter();
            parameters.map(|p| p.name.to_string()).collect()
        };
        let (here, there) = (names(self), names(other));
        let columns = here
            .iter()
            .map(|name| there.iter().position(|other| other == name))
            .collect::<Option<Vec<usize>>>()
            .filter(|columns| columns.len() == there.len())
            .ok_or_else(|| RecordingError::OtherParameters {
                path: self.path.clone(),
                other: other.path.clone(),
                here: here.join(", "),
                there: there.join(", "),
            })?;
        // The same value may have another code in a recording with other values.
        let codes: Vec<HashMap<&str, i64>> = self
            .texts
            .iter()
            .map(|texts| texts.iter().map(|(code, text)| (&**text, *code)).collect())
            .collect();
        let translate = |there: &[i64]| -> Option<Vec<i64>> {
            let values = columns.iter().zip(&codes);
            values
                .map(|(column, codes)| {
                    let text = other.texts[*column].get(&there[*column])?;
                    codes.get(&**text).copied()
                })
                .collect()
        };
        let mut results: Vec<(Vec<i64>, Score)> = other
            .times
            .iter()
            // Recordings are in milliseconds, scores in microseconds.
            .filter_map(|(codes, ms)| Some((translate(codes)?, Score::of(ms.map(|ms| ms * 1e3)))))
            .collect();
        // A hash map's order is another in each run.
        results.sort_by(|a, b| a.0.cmp(&b.0));
        Ok(Lesson { results })
    }

    /// The fraction of the optimum of every configuration, the lowest first; 0 where it failed.
    pub(crate) fn fractions(&self) -> Vec<f64> {
        let times = self.times.values();
        let fractions = times.map(|time| time.map_or(0.0, |time| self.best / time));
        let mut fractions: Vec<f64> = fractions.collect();
        fractions.sort_by(f64::total_cmp);
        fractions
    }

    /// A configuration as names and values, numbers where they are numbers.
    pub(crate) fn json(&self, codes: &[i64]) -> serde_json::Value {
        let parameters = self.space.parameters().iter().zip(&self.texts).zip(codes);
        let members = parameters.map(|((parameter, texts), code)| {
            let text = texts.get(code).map_or("", String::as_str);
            let value = match serde_json::from_str(text) {
                Ok(serde_json::Value::Number(number)) => number.into(),
                _ => text.into(),
            };
            (parameter.name.to_string(), value)
        });
        serde_json::Value::Object(members.collect())
    }
}

/// The code of each value of a column: the integers themselves where all are integers, otherwise
/// positions in the order of first appearance (numbers in their own order).
fn codes<'a>(column: impl Iterator<Item = &'a str> + Clone) -> HashMap<&'a str, i64> {
    let integers: Option<HashMap<&str, i64>> = column
        .clone()
        .map(|text| Some((text, text.parse().ok()?)))
        .collect();
    if let Some(integers) = integers {
        return integers;
    }
    let mut distinct: Vec<&str> = Vec::new();
    for text in column {
        if !distinct.contains(&text) {
            distinct.push(text);
        }
    }
    let number = |text: &&str| text.parse::<f64>().unwrap_or(f64::NAN);
    if distinct.iter().all(|text| !number(text).is_nan()) {
        distinct.sort_by(|a, b| number(a).total_cmp(&number(b)));
    }
    distinct.into_iter().zip(0..).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::write::GzEncoder;
    use std::io::Write;

    fn parse(text: &str) -> Result<Recording, String> {
        Recording::parse(Path::new("a/space.csv.gz"), text).map_err(|error| error.to_string())
    }

    #[test]
    fn rows_become_configurations_with_times() {
        let recording = parse(
            "X,KIND,SHARE,time_ms,compile_ms,error\r\n2,a,0.5,1.5,3,\n4,b,0.25,,,timeout\n4,a,0.5,NaN,,\n\n2,b,0.5,inf,,\n",
        );
        let recording = recording.unwrap();
        assert_eq!(recording.name, "space");
        assert_eq!(recording.space.count(), 4);
        assert_eq!(recording.best, 1.5);
        assert_eq!(recording.time(&[2, 0, 1]), Some(1.5));
        for failed in [[4, 1, 0], [4, 0, 1], [2, 1, 1], [9, 9, 9]] {
            assert_eq!(recording.time(&failed), None);
        }
        assert_eq!(recording.fractions(), [0.0, 0.0, 0.0, 1.0]);
        let json = recording.json(&[2, 0, 1]);
        assert_eq!(json, serde_json::json!({"X": 2, "KIND": "a", "SHARE": 0.5}));
    }

    #[test]
    fn another_recording_is_understood_by_names_and_values() {
        let here = parse("KIND,X,time_ms\na,1,1\nb,2,2\n").unwrap();
        let there = parse("X,KIND,time_ms\n2,b,4\n2,a,\n3,a,1\n1,c,1\n").unwrap();
        let lesson = here.lesson(&there).unwrap();
        let expected = [
            (vec![0, 2], Score::Failed),
            (vec![1, 2], Score::Time(4000.0)),
        ];
        assert_eq!(lesson.results, expected);
        let other = parse("X,SORT,time_ms\n2,b,4\n").unwrap();
        let error = here.lesson(&other).unwrap_err().to_string();
        assert!(
            error.contains("X, SORT") && error.contains("KIND, X"),
            "{error}"
        );
    }

    #[test]
    fn mistakes_are_located() {
        for (text, says) in [
            ("", ":1: the file is empty"),
            ("X,Y\n1,2\n", ":1: there is no column `time_ms` among X, Y"),
            ("X,X,time_ms\n", ":1: two columns are named `X`"),
            ("X,time_ms\n1,2\n1\n", ":3: 1 fields, but 2 columns"),
            ("X,time_ms\n1,2,3\n", ":2: 3 fields, but 2 columns"),
            ("X,time_ms\n1,fast\n", ":2: `fast` is no time"),
            (
                "X,time_ms\n1,2\n1,3\n",
                ":3: a configuration for a second time, with another result",
            ),
            ("X,time_ms\n1,\n", "every configuration failed"),
            ("X,time_ms\n", "every configuration failed"),
        ] {
            let error = parse(text).unwrap_err();
            assert!(error.contains(says), "{text:?}: {error}");
        }
        // The same row again says nothing new.
        assert_eq!(parse("X,time_ms\n1,2\n1,2\n").unwrap().space.count(), 1);
    }

    #[test]
    fn a_compressed_file_is_read_and_one_cut_short_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("space.csv.gz");
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(b"X,time_ms\n1,2\n2,1\n").unwrap();
        let bytes = encoder.finish().unwrap();
        std::fs::write(&path, &bytes).unwrap();
        assert_eq!(Recording::read(&path).unwrap().best, 1.0);
        std::fs::write(&path, &bytes[..bytes.len() - 6]).unwrap();
        let error = Recording::read(&path).unwrap_err().to_string();
        assert!(
            error.contains("space.csv.gz") && error.contains("ends early"),
            "{error}"
        );
        let error = Recording::read(&folder.path().join("absent.csv")).unwrap_err();
        assert!(error.to_string().contains("absent.csv"), "{error}");
    }
}
