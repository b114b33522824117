//! Declarations inside compiled artifacts.
//!
//! The macro puts each tunable's whole [`Declaration`] into a link section of the artifact, and
//! `cargo cltune` reads it from there. A record is a header (magic number, version and length) and
//! a TOML text. Linkers concatenate sections of the same name and may pad between them, and several
//! targets of a package carry the same tunable, so a section is scanned for the magic number, and
//! duplicates are left to the caller.

mod error;
mod fields;
mod read;
mod read_model;
mod read_steps;
mod read_structs;
mod write;

pub use error::{RecordError, RecordProblem};
pub use write::VERSION;
pub(crate) use write::scratch_content;

use crate::declaration::Declaration;

/// The section's name in ELF files.
pub const SECTION_ELF: &str = ".cltune";
/// The section's name in Mach-O files, as segment and section.
pub const SECTION_MACHO: &str = "__DATA,__cltune";
/// The section's name in COFF and PE files.
pub const SECTION_COFF: &str = ".cltune";

/// What a record starts with. The first byte occurs in no UTF-8 text, so no record's own text, and
/// no text of a program, looks like the start of a record.
const MAGIC: [u8; 16] = *b"\xc1CLTUNE-RECORD\n\0";
/// Magic number, version (`u32`) and the text's length (`u64`), little-endian.
const HEADER: usize = MAGIC.len() + 4 + 8;

/// The record of a declaration.
pub fn encode(declaration: &Declaration) -> Vec<u8> {
    frame(write::version(declaration), &write::text(declaration))
}

/// The record of a declaration with structs, whose tables the compiler appends: the header up to
/// the text's length, and the text
/// ([`record_with_structs`](cltune_core::model::record_with_structs)).
pub fn encode_parts(declaration: &Declaration) -> (Vec<u8>, String) {
    let mut header = MAGIC.to_vec();
    header.extend(write::version(declaration).to_le_bytes());
    (header, write::text(declaration))
}

/// The text of a declaration's record, for a process of the same release.
pub fn to_text(declaration: &Declaration) -> String {
    write::text(declaration)
}

/// The declaration of a record's text.
///
/// # Errors
/// The text is damaged.
pub fn from_text(text: &str) -> Result<Declaration, RecordError> {
    read::declaration(text)
}

fn frame(version: u32, text: &str) -> Vec<u8> {
    let mut record = Vec::with_capacity(HEADER + text.len());
    record.extend(MAGIC);
    record.extend(version.to_le_bytes());
    record.extend((text.len() as u64).to_le_bytes());
    record.extend(text.as_bytes());
    record
}

/// The declarations in a section's bytes, in order, duplicates included. Bytes between records are
/// skipped.
///
/// # Errors
/// The first record that is cut off, damaged, or of a newer version.
pub fn decode_all(bytes: &[u8]) -> Result<Vec<Declaration>, RecordError> {
    texts(bytes).map(|text| read::declaration(text?)).collect()
}

/// The texts of the records in a section's bytes, each for [`from_text`], in order, duplicates
/// included. Bytes between records are skipped.
///
/// # Errors
/// The first record that is cut off or of a newer version, which is the last item.
pub fn texts(bytes: &[u8]) -> impl Iterator<Item = Result<&str, RecordError>> {
    let mut rest = bytes;
    std::iter::from_fn(move || {
        let start = rest.windows(MAGIC.len()).position(|window| window == MAGIC);
        let record = unframe(&std::mem::take(&mut rest)[start?..]);
        Some(record.map(|(text, after)| {
            rest = after;
            text
        }))
    })
}

/// The text of the record that `bytes` starts with, and what follows the record.
fn unframe(bytes: &[u8]) -> Result<(&str, &[u8]), RecordError> {
    let cut_off = || RecordError::unnamed(RecordProblem::CutOff);
    let (_, header) = bytes.split_at_checked(MAGIC.len()).ok_or_else(cut_off)?;
    let (version, header) = header.split_first_chunk::<4>().ok_or_else(cut_off)?;
    let (length, text) = header.split_first_chunk::<8>().ok_or_else(cut_off)?;
    let found = u32::from_le_bytes(*version);
    if found > VERSION {
        return Err(RecordError::unnamed(RecordProblem::NewerVersion { found }));
    }
    let length = usize::try_from(u64::from_le_bytes(*length)).map_err(|_| cut_off())?;
    let (text, rest) = text.split_at_checked(length).ok_or_else(cut_off)?;
    let text = std::str::from_utf8(text).map_err(|_| {
        let message = "the text is not UTF-8".to_owned();
        RecordError::unnamed(RecordProblem::Damaged {
            at: String::new(),
            message,
        })
    })?;
    Ok((text, rest))
}
