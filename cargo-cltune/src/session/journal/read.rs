//! The results of earlier sessions, read back from their journals.
//!
//! A journal may end in half a line (a full disk, a power cut) and may have been edited. A line
//! that cannot be understood is left out, and so are the lines of a session whose header cannot.
//! Sessions of newer releases are left out and told of, and so are damaged lines and files that
//! cannot be read.

use super::line::{LARGEST, Line, NewerJournal, Place, Recorded, Session, codes};
use crate::session::repeatability::Repeatability;
use cltune_formats::declaration::Declaration;
use std::collections::BTreeSet;
use std::io::{self, BufRead, BufReader};
use std::path::{Path, PathBuf};

/// A journal of which something is left out, or the folder of all.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum LeftOut {
    /// The sessions of newer releases.
    Newer(NewerJournal),
    /// So many damaged lines.
    Damaged { path: PathBuf, lines: usize },
    /// All of it, or what follows the place where it can no longer be read.
    Unreadable { path: PathBuf, reason: String },
}

impl LeftOut {
    fn unreadable(path: &Path, error: &io::Error) -> Self {
        Self::Unreadable {
            path: path.to_owned(),
            reason: error.to_string(),
        }
    }

    /// What to say where the other results serve all the same.
    pub(crate) fn warning(&self) -> String {
        match self {
            Self::Newer(journal) => journal.warning(),
            Self::Damaged { path, lines } => {
                format!(
                    "{}: damaged lines are left out ({lines}), with what was measured there; if the file was copied, \
                     copy it again",
                    path.display()
                )
            }
            Self::Unreadable { path, reason } => format!(
                "cannot read {}: {reason}. What was measured there is left out; mend that, or move it elsewhere",
                path.display()
            ),
        }
    }
}

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
/// Journals of which something is left out are added to `left_out`.
pub(crate) fn recall(
    state: &Path,
    declaration: &Declaration,
    left_out: &mut BTreeSet<LeftOut>,
) -> Vec<Recalled> {
    let mut recalled: Vec<Recalled> = Vec::new();
    let folder = state.join(super::JOURNALS);
    let files = match std::fs::read_dir(&folder) {
        Ok(files) => files,
        Err(error) => {
            // Before the first session there is none.
            if error.kind() != io::ErrorKind::NotFound {
                left_out.insert(LeftOut::unreadable(&folder, &error));
            }
            return recalled;
        }
    };
    let paths = files.flatten().map(|file| file.path());
    let journals = paths.filter(|path| path.extension().is_some_and(|of| of == super::EXTENSION));
    let mut paths: Vec<_> = journals.collect();
    paths.sort();
    for path in paths {
        match cltune_files::open(&path, LARGEST) {
            Ok(file) => {
                let journal = BufReader::new(file);
                left_out.extend(read(journal, &path, declaration, &mut recalled));
            }
            Err(error) => drop(left_out.insert(LeftOut::unreadable(&path, &error))),
        }
    }
    recalled
}

/// Adds what one journal has. What is left out of it: the first session of a newer release stands for
/// all.
fn read(
    journal: impl BufRead,
    path: &Path,
    declaration: &Declaration,
    recalled: &mut Vec<Recalled>,
) -> Vec<LeftOut> {
    let model = &declaration.model;
    let mut at = None;
    let mut first_newer = None;
    let mut damaged = 0;
    let mut unreadable = None;
    let lines = journal.split(b'\n').map_while(|line| {
        let line = line.map_err(|error| unreadable = Some(LeftOut::unreadable(path, &error)));
        line.ok()
    });
    let mut lines = (1..).zip(lines).peekable();
    while let Some((number, line)) = lines.next() {
        let line = Line::of(&line);
        // The last is half a line where its session was killed, or is writing still. Lines of newer
        // releases may look damaged.
        let is_damaged = matches!(line, Line::Damaged { .. }) && first_newer.is_none();
        damaged += usize::from(is_damaged && lines.peek().is_some());
        match line {
            // A journal has one kernel.
            Line::Header(header) if header.kernel != model.name => return Vec::new(),
            Line::Newer(newer) if !newer.may_be_of(&model.name) => return Vec::new(),
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
    let damaged = (damaged > 0).then(|| LeftOut::Damaged {
        path: path.to_owned(),
        lines: damaged,
    });
    let newer = first_newer.map(LeftOut::Newer);
    let all = newer.into_iter().chain(damaged);
    all.chain(unreadable).collect()
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
