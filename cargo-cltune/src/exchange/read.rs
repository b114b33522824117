//! Reading a file, whatever its format: what it is shows in its content.

use super::measurements::{Measurements, Position};
use super::{csv, kernel_tuner, python_json, t4};
use cltune_files::Bounded;
use flate2::read::MultiGzDecoder;
use serde::Deserialize;
use serde::de::{self, DeserializeOwned, Deserializer, IgnoredAny};
use serde_json::value::RawValue;
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};

/// The text of a file, also of one that is compressed, has no more bytes.
const MOST_TEXT: u64 = 1 << 30;
/// Nor has a part of it that is understood as a whole, such as an entry of a cache: as values, text takes
/// twenty times its size.
const MOST_AT_ONCE: usize = 16 << 20;

/// Why a file cannot be read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ReadError {
    #[error("cannot read {}: {source}", path.display())]
    Read { path: PathBuf, source: io::Error },
    #[error(
        "{}: the compressed data ends early or is damaged: {source}; copy or download it again",
        path.display()
    )]
    Compression { path: PathBuf, source: io::Error },
    #[error("{}, unpacked: {source}", path.display())]
    Unpacked { path: PathBuf, source: io::Error },
    #[error("{}{position}: {problem}", path.display())]
    Content {
        path: PathBuf,
        position: Position,
        problem: String,
    },
    #[error("{}: this is no whole JSON: {source}", path.display())]
    Json {
        path: PathBuf,
        source: serde_json::Error,
    },
    #[error("{}: not a {format} as expected: {source}", path.display())]
    Shape {
        path: PathBuf,
        format: &'static str,
        source: serde_json::Error,
    },
    #[error(
        "{}: neither a Kernel Tuner cache, which has a member `cache`, nor T4 results, which have a \
         member `results`, nor CSV with a column `time_ms`",
        path.display()
    )]
    Unknown { path: PathBuf },
}

/// Reads a file, compressed where its name ends in `.gz`.
pub(crate) fn read(path: &Path) -> Result<Measurements, ReadError> {
    let unreadable = |source| ReadError::Read {
        path: path.to_owned(),
        source,
    };
    let mut file = BufReader::new(cltune_files::open(path, MOST_TEXT).map_err(unreadable)?);
    let mut bytes = Vec::new();
    if path.extension().is_some_and(|extension| extension == "gz") {
        let mut unpacked = Bounded::new(MultiGzDecoder::new(file), MOST_TEXT);
        let read = unpacked.read_to_end(&mut bytes).map(drop);
        read.map_err(|source| match source.kind() {
            io::ErrorKind::FileTooLarge => ReadError::Unpacked {
                path: path.to_owned(),
                source,
            },
            _ => ReadError::Compression {
                path: path.to_owned(),
                source,
            },
        })?;
    } else {
        file.read_to_end(&mut bytes).map_err(unreadable)?;
    }
    parse(path, &cltune_files::text(bytes).map_err(unreadable)?)
}

/// The members that tell formats apart.
#[derive(Deserialize)]
struct Members {
    cache: Option<IgnoredAny>,
    results: Option<IgnoredAny>,
}

/// Understands a file's text.
pub(crate) fn parse(path: &Path, text: &str) -> Result<Measurements, ReadError> {
    if !text.trim_start().starts_with('{') {
        return csv::read(path, text);
    }
    let json = python_json::to_json(text);
    let members: Members = serde_json::from_str(&json).map_err(|source| ReadError::Json {
        path: path.to_owned(),
        source,
    })?;
    match members {
        Members { cache: Some(_), .. } => kernel_tuner::read(path, &json),
        Members {
            results: Some(_), ..
        } => t4::read(path, &json),
        Members { .. } => Err(ReadError::Unknown {
            path: path.to_owned(),
        }),
    }
}

/// A part of a JSON text that is understood as a whole.
///
/// # Errors
/// It is too large, or something else.
pub(super) fn at_once<T: DeserializeOwned>(part: &RawValue) -> Result<T, String> {
    let length = part.get().len();
    if length > MOST_AT_ONCE {
        return Err(format!(
            "it has {length} bytes, more than the {MOST_AT_ONCE} that are read at once"
        ));
    }
    serde_json::from_str(part.get()).map_err(|error| {
        // Its place in the part would be taken for one in the file.
        let place = format!(" at line {} column {}", error.line(), error.column());
        let text = error.to_string();
        text.strip_suffix(&place).unwrap_or(&text).to_owned()
    })
}

/// For a member of an object: a part that is understood as a whole.
pub(super) fn member<'de, T, D>(deserializer: D) -> Result<T, D::Error>
where
    T: DeserializeOwned,
    D: Deserializer<'de>,
{
    let part = <&RawValue>::deserialize(deserializer)?;
    at_once(part).map_err(de::Error::custom)
}

/// A value of a parameter as text; `None` where it is no single value.
pub(super) fn text(value: &serde_json::Value) -> Option<String> {
    match value {
        serde_json::Value::String(text) => Some(text.clone()),
        serde_json::Value::Number(_) | serde_json::Value::Bool(_) => Some(value.to_string()),
        _ => None,
    }
}

/// A time that a configuration can have taken.
pub(super) fn is_time(time: f64) -> bool {
    time.is_finite() && time > 0.0
}

#[cfg(test)]
mod tests {
    use super::*;
    use flate2::Compression;
    use flate2::write::GzEncoder;
    use std::io::Write;

    #[test]
    fn a_compressed_file_is_read_and_one_cut_short_is_an_error() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("space.csv.gz");
        let mut encoder = GzEncoder::new(Vec::new(), Compression::default());
        encoder.write_all(b"X,time_ms\n1,2\n2,1\n").unwrap();
        let bytes = encoder.finish().unwrap();
        std::fs::write(&path, &bytes).unwrap();
        let file = read(&path).unwrap();
        assert_eq!((&*file.name(), file.results.len()), ("space", 2));
        std::fs::write(&path, &bytes[..bytes.len() - 6]).unwrap();
        let error = read(&path).unwrap_err().to_string();
        assert!(
            error.contains("space.csv.gz") && error.contains("ends early"),
            "{error}"
        );
        let error = read(&folder.path().join("absent.csv")).unwrap_err();
        assert!(error.to_string().contains("absent.csv"), "{error}");
    }

    #[test]
    fn what_a_file_is_shows_in_its_content() {
        let parameters = |text: &str| {
            let file = parse(Path::new("a.json"), text);
            file.map(|file| file.parameters)
                .map_err(|of| of.to_string())
        };
        for text in [
            "X,time_ms\n1,2\n",
            r#"{"tune_params_keys": ["X"], "cache": {}}"#,
            r#"{"tune_params_keys": ["X"], "cache": {"#,
            r#" {"results": [{"configuration": {"X": 1}, "invalidity": "compile"}]}"#,
        ] {
            assert_eq!(parameters(text), Ok(vec!["X".to_owned()]), "{text}");
        }
        for (text, says) in [
            ("{}", "neither a Kernel Tuner cache"),
            (
                "{\n\"results\": [,",
                "a.json: this is no whole JSON: expected value at line 2",
            ),
            (r#"{"results": [{"a": 1}"#, "no whole JSON: EOF"),
            (
                "{\n\"cache\": {}\n}",
                "not a Kernel Tuner cache as expected: missing field `tune_params_keys`",
            ),
            (
                r#"{"results": 3}"#,
                "not a file of T4 results as expected: invalid type",
            ),
        ] {
            let error = parameters(text).unwrap_err();
            assert!(error.contains(says), "{text}: {error}");
        }
    }
}
