//! The records in the link sections of executables, libraries and archives.

use cltune_formats::declaration::Declaration;
use cltune_formats::record::{self, RecordError, SECTION_COFF, SECTION_ELF, SECTION_MACHO};
use object::read::archive::ArchiveFile;
use object::{Object, ObjectSection};
use std::collections::HashMap;
use std::path::{Path, PathBuf};

/// The size of an executable or library, bytes; with debug information some have more than one of
/// these.
const LARGEST: u64 = 4 << 30;

/// A file whose tunables cannot be read.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ReadError {
    /// It cannot be opened.
    #[error("cannot read {}: {source}", path.display())]
    Open {
        /// The file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// It is no executable, library or archive.
    #[error("{} is not an executable, library or archive: {source}", path.display())]
    Format {
        /// The file.
        path: PathBuf,
        /// Why.
        source: object::Error,
    },
    /// A record in it is damaged or of another version.
    #[error("{}: {source}", path.display())]
    Record {
        /// The file.
        path: PathBuf,
        /// Why.
        source: RecordError,
    },
}

/// Reads the records of files. A library's are in each program and test that uses it as well;
/// reading them anew in each would take most of the time.
#[derive(Default)]
pub(crate) struct Reader {
    /// By the record's text.
    known: HashMap<String, Declaration>,
}

impl Reader {
    /// Every record of a file, repeated ones included.
    pub(crate) fn declarations(&mut self, path: &Path) -> Result<Vec<Declaration>, ReadError> {
        let bytes = cltune_files::read(path, LARGEST).map_err(|source| ReadError::Open {
            path: path.to_owned(),
            source,
        })?;
        let format = |source| ReadError::Format {
            path: path.to_owned(),
            source,
        };
        let mut found = Vec::new();
        let mut take = |object: &object::File<'_>| {
            for section in object
                .sections()
                .filter(|section| section.name().is_ok_and(is_ours))
            {
                let data = section.uncompressed_data().map_err(format)?;
                for text in record::texts(&data) {
                    let declaration = text.and_then(|text| self.declaration(text));
                    found.push(declaration.map_err(|source| ReadError::Record {
                        path: path.to_owned(),
                        source,
                    })?);
                }
            }
            Ok(())
        };
        if let Ok(archive) = ArchiveFile::parse(&*bytes) {
            for member in archive.members() {
                let data = member.map_err(format)?.data(&*bytes).map_err(format)?;
                // Archives also hold metadata and, for link-time optimisation, bitcode: no objects.
                if let Ok(object) = object::File::parse(data) {
                    take(&object)?;
                }
            }
        } else {
            take(&object::File::parse(&*bytes).map_err(format)?)?;
        }
        Ok(found)
    }

    fn declaration(&mut self, text: &str) -> Result<Declaration, RecordError> {
        if let Some(known) = self.known.get(text) {
            return Ok(known.clone());
        }
        let declaration = record::from_text(text)?;
        self.known.insert(text.to_owned(), declaration.clone());
        Ok(declaration)
    }
}

fn is_ours(name: &str) -> bool {
    // On Mach-O the constant names segment and section, and the reader gives only the section.
    let macho = SECTION_MACHO.rsplit(',').next().unwrap_or(SECTION_MACHO);
    [SECTION_ELF, SECTION_COFF, macho].contains(&name)
}
