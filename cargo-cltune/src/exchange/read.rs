//! Reading a file of results, compressed or not. `cltune_search::recorded` parses its text.

use cltune_files::Bounded;
use cltune_search::recorded::{Measurements, ParseError, parse};
use flate2::read::MultiGzDecoder;
use std::io::{self, BufReader, Read};
use std::path::{Path, PathBuf};

/// The text of a file, also of one that is compressed, has no more bytes.
const MOST_TEXT: u64 = 1 << 30;

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
    #[error(transparent)]
    Parse(#[from] ParseError),
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
    let text = cltune_files::text(bytes).map_err(unreadable)?;
    Ok(parse(path, &text)?)
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
}
