//! The content of a recorded file, the same for all formats.

use crate::Status;
use std::collections::HashSet;
use std::fmt;
use std::path::PathBuf;

/// So many parameters a file may have.
const MOST_PARAMETERS: usize = 1 << 10;
/// So many configurations: as many as a parameter may have values.
const MOST_CONFIGURATIONS: usize = 1 << 24;
/// And so many values in all, which take some gigabytes.
const MOST_VALUES: usize = 1 << 27;

/// What was measured of a kernel on one device for one problem, as a file has it.
#[derive(Clone, Debug, PartialEq)]
pub struct Measurements {
    /// Where it was read.
    pub path: PathBuf,
    /// About what, as far as the file says.
    pub about: About,
    /// The names of the parameters, none twice.
    pub parameters: Vec<String>,
    /// In the order of the file.
    pub results: Vec<RecordedResult>,
}

/// What was measured, and where.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct About {
    /// The name of the kernel.
    pub kernel: Option<String>,
    /// `CL_PLATFORM_NAME`.
    pub platform: Option<String>,
    /// The device's name.
    pub device: Option<String>,
    /// `CL_DRIVER_VERSION`.
    pub driver: Option<String>,
    /// The sizes by name.
    pub problem: Vec<(String, i64)>,
}

/// A configuration and what became of it.
#[derive(Clone, Debug, PartialEq)]
pub struct RecordedResult {
    /// Where in the file it is.
    pub position: Position,
    /// In the order of the parameters, as texts.
    pub values: Vec<String>,
    /// Milliseconds; `None` where it failed.
    pub time_ms: Option<f64>,
    /// The single runs, milliseconds.
    pub samples_ms: Vec<f64>,
    /// Milliseconds.
    pub build_ms: Option<f64>,
    /// What came of it; a word that is no status of ours is kept.
    pub status: Status,
    /// Why it failed.
    pub detail: Option<String>,
}

/// Where in a file something is.
#[derive(Clone, Debug, PartialEq)]
pub enum Position {
    /// All of it.
    File,
    /// A line, from 1.
    Line(usize),
    /// The entry of a Kernel Tuner cache with this key.
    Entry(String),
    /// The element of `results` at this position, from 0.
    Result(usize),
}

impl fmt::Display for Position {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::File => Ok(()),
            Self::Line(line) => write!(f, ":{line}"),
            Self::Entry(key) => write!(f, ": cache entry `{key}`"),
            Self::Result(position) => write!(f, ": results[{position}]"),
        }
    }
}

/// Why the text of a file cannot be understood.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum ParseError {
    /// Something in it is wrong.
    #[error("{}{position}: {problem}", path.display())]
    Content {
        /// The file.
        path: PathBuf,
        /// Where in the file.
        position: Position,
        /// What is wrong.
        problem: String,
    },
    /// The text ends early, or is no JSON, though it begins like it.
    #[error("{}: this is no whole JSON: {source}", path.display())]
    Json {
        /// The file.
        path: PathBuf,
        /// What is wrong, with line and column.
        source: serde_json::Error,
    },
    /// It is JSON, and not of the format that its members are those of.
    #[error("{}: not a {format} as expected: {source}", path.display())]
    Shape {
        /// The file.
        path: PathBuf,
        /// Which format it seems to be.
        format: &'static str,
        /// What is missing or of another type.
        source: serde_json::Error,
    },
    /// It is JSON of no format that is known.
    #[error(
        "{}: neither a Kernel Tuner cache, which has a member `cache`, nor T4 results, which have a \
         member `results`, nor CSV with a column `time_ms`",
        path.display()
    )]
    Unknown {
        /// The file.
        path: PathBuf,
    },
}

/// A time that a configuration can have taken.
pub(super) fn is_time(time: f64) -> bool {
    time.is_finite() && time > 0.0
}

impl Measurements {
    /// Sets the names of the parameters.
    ///
    /// # Errors
    /// There are too many, or two have the same name.
    pub(super) fn name_parameters(
        &mut self,
        at: Position,
        names: Vec<String>,
    ) -> Result<(), ParseError> {
        if names.len() > MOST_PARAMETERS {
            let problem = format!(
                "there are {} parameters, more than the {MOST_PARAMETERS} that are read",
                names.len()
            );
            return Err(self.error(at, problem));
        }
        let mut seen = HashSet::with_capacity(names.len());
        if let Some(twice) = names.iter().find(|name| !seen.insert(*name)) {
            return Err(self.error(at, format!("two parameters are named `{twice}`")));
        }
        self.parameters = names;
        Ok(())
    }

    /// Adds a configuration.
    ///
    /// # Errors
    /// There are too many.
    pub(super) fn add(&mut self, result: RecordedResult) -> Result<(), ParseError> {
        let most = MOST_CONFIGURATIONS.min(MOST_VALUES / self.parameters.len().max(1));
        if self.results.len() >= most {
            let problem = format!(
                "the file has more than {most} configurations, the most that are read of {} parameters",
                self.parameters.len()
            );
            return Err(self.error(result.position, problem));
        }
        self.results.push(result);
        Ok(())
    }

    /// An error at a place in this file.
    pub fn error(&self, position: Position, problem: impl Into<String>) -> ParseError {
        ParseError::Content {
            path: self.path.clone(),
            position,
            problem: problem.into(),
        }
    }

    /// The file's name without its endings.
    pub fn name(&self) -> String {
        let name = self.path.file_name().unwrap_or_default().to_string_lossy();
        let name = name.trim_end_matches(".gz");
        let name = name.strip_suffix(".csv").or(name.strip_suffix(".json"));
        name.map_or_else(
            || {
                self.path
                    .file_name()
                    .unwrap_or_default()
                    .to_string_lossy()
                    .into_owned()
            },
            str::to_owned,
        )
    }
}
