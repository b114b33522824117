//! The results of earlier sessions, read back from their journals.
//!
//! A journal may end in half a line (a full disk, a power cut) and may have been edited. A line
//! that cannot be understood is left out, and so are the lines of a session whose header cannot.
//! Sessions of newer releases are left out and told of.

use super::line::{LARGEST, Line, NewerJournal, Place, Recorded, Session, codes};
use crate::session::repeatability::Repeatability;
use cltune_formats::declaration::Declaration;
use std::collections::BTreeSet;
use std::io::{BufRead, BufReader};
use std::path::Path;

/// The results of one place.
#[derive(Debug, PartialEq)]
pub(crate) struct Recalled {
    pub(crate) place: Place,
    /// The sessions that measured there, the first one first.
    pub(crate) sessions: Vec<Session>,
    /// Their results, in the order of measuring.
    pub(crate) results: Vec<Recorded>,
    /// That of the last choice.
    pub(crate) repeatability: Option<Repeatability>,
}

/// The results of the journals in the folder `state` on this very declaration, by place.
/// Journals that newer releases wrote to are added to `newer`.
pub(crate) fn recall(
    state: &Path,
    declaration: &Declaration,
    newer: &mut BTreeSet<NewerJournal>,
) -> Vec<Recalled> {
    let mut recalled: Vec<Recalled> = Vec::new();
    let Ok(files) = std::fs::read_dir(state.join(super::FOLDER)) else {
        return recalled;
    };
    let paths = files.flatten().map(|file| file.path());
    let journals = paths.filter(|path| path.extension().is_some_and(|of| of == super::EXTENSION));
    let mut paths: Vec<_> = journals.collect();
    paths.sort();
    for path in paths {
        if let Ok(file) = cltune_files::open(&path, LARGEST) {
            newer.extend(read(
                BufReader::new(file),
                &path,
                declaration,
                &mut recalled,
            ));
        }
    }
    recalled
}

/// Adds what one journal has. The first session of a newer release, where there is one.
fn read(
    journal: impl BufRead,
    path: &Path,
    declaration: &Declaration,
    recalled: &mut Vec<Recalled>,
) -> Option<NewerJournal> {
    let model = &declaration.model;
    let mut at = None;
    let mut first_newer = None;
    let lines = journal.split(b'\n').map_while(std::io::Result::ok);
    for (number, line) in (1..).zip(lines) {
        match Line::of(&line) {
            // A journal has one kernel.
            Line::Header(header) if header.kernel != model.name => return None,
            Line::Newer(newer) if !newer.may_be_of(&model.name) => return None,
            Line::Newer(newer) => {
                at = None;
                first_newer.get_or_insert_with(|| newer.at(path, number));
            }
            Line::Header(header) => {
                at = header.is_of(declaration).then(|| {
                    let (place, session) = header.parts();
                    let at = position(place, recalled);
                    recalled[at].sessions.push(session);
                    at
                });
            }
            Line::Result(result) => {
                if let Some(at) = at
                    && let Some(codes) = codes(&result.values, model)
                {
                    let session = recalled[at].sessions.len() - 1;
                    recalled[at].results.push(Recorded {
                        codes,
                        session,
                        ..result.recorded
                    });
                }
            }
            Line::Damaged { header: true } => at = None,
            Line::End(end) => {
                if let Some(at) = at {
                    recalled[at].repeatability = end.repeatability;
                }
            }
            Line::Begin(_) | Line::Abandoned(_) | Line::Damaged { .. } => {}
        }
    }
    first_newer
}

/// The position of a place, which is added where it is new.
fn position(place: Place, recalled: &mut Vec<Recalled>) -> usize {
    let known = recalled.iter().position(|of| of.place.is(&place));
    known.unwrap_or_else(|| {
        recalled.push(Recalled {
            place,
            sessions: Vec::new(),
            results: Vec::new(),
            repeatability: None,
        });
        recalled.len() - 1
    })
}

#[cfg(test)]
#[path = "../../../tests/unit/journal_read.rs"]
mod tests;
