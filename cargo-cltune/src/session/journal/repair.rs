//! Repair of a journal before lines are appended: a session may have been killed in the middle of a
//! line, and a disk may have lost data.

use super::line::{LARGEST, Line};
use super::{JournalError, READABLE};
use crate::lockfile_store::replace;
use std::fs::OpenOptions;
use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

/// The state in which a journal was found.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Repair {
    /// Nothing to mend but the last line, which a killed session leaves torn: it is dropped, or gets
    /// its newline where it lacks nothing else.
    Sound,
    /// Lines in the middle were damaged, or were those of a session whose header was. The journal
    /// as it was is kept.
    Damaged { lines: usize, kept: PathBuf },
}

/// Mends the journal at `path`, if there is one.
///
/// # Errors
/// It cannot be read or written, or a newer release wrote to it; then it is left as it is.
pub(super) fn repair(path: &Path) -> Result<Repair, JournalError> {
    let text = match cltune_files::read(path, LARGEST) {
        Ok(text) => text,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(Repair::Sound),
        Err(error) => return Err(error.into()),
    };
    let mut sound = Vec::with_capacity(text.len() + 1);
    let mut damaged = 0;
    // Without its header, the kernel and the device of a session's lines are not known.
    let mut headless = false;
    let lines = text.split_inclusive(|byte| *byte == b'\n');
    for (number, line) in (1..).zip(lines) {
        let ended = line.strip_suffix(b"\n");
        let line = ended.unwrap_or(line);
        let understood = Line::of(line);
        let is_damaged = matches!(understood, Line::Damaged { .. });
        if is_damaged && ended.is_none() {
            break;
        }
        match understood {
            Line::Damaged { header: true } => headless = true,
            Line::Header(_) => headless = false,
            Line::Newer(newer) => return Err(newer.at(path, number).into()),
            _ => {}
        }
        if headless || is_damaged {
            damaged += 1;
        } else {
            sound.extend_from_slice(line);
            sound.push(b'\n');
        }
    }
    if damaged == 0 {
        if sound.len() < text.len() {
            let file = OpenOptions::new().write(true).open(path)?;
            file.set_len(sound.len() as u64)?;
        } else if sound.len() > text.len() {
            OpenOptions::new()
                .append(true)
                .open(path)?
                .write_all(b"\n")?;
        }
        return Ok(Repair::Sound);
    }
    let kept = aside(path);
    std::fs::copy(path, &kept)?;
    replace(path, &sound)?;
    Ok(Repair::Damaged {
        lines: damaged,
        kept,
    })
}

/// A name beside the journal that is not taken.
fn aside(path: &Path) -> PathBuf {
    let stem = path.file_stem().unwrap_or_default().to_string_lossy();
    // The name of a journal may be as long as a file's may be, and this ending is longer.
    let stem: String = stem.chars().take(READABLE).collect();
    let mut names = (1_u64..).map(|number| path.with_file_name(format!("{stem}.damaged-{number}")));
    names
        .find(|name| !name.exists())
        .unwrap_or_else(|| path.with_file_name(format!("{stem}.damaged")))
}

#[cfg(test)]
mod tests {
    use super::super::line::seal;
    use super::*;
    use serde_json::json;
    use std::fs;

    fn line(value: i64) -> String {
        seal(&json!({ "values": [value], "status": "ok", "time_us": 1.0 })).unwrap()
    }

    #[test]
    fn a_torn_last_line_is_dropped() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.jsonl");
        assert_eq!(repair(&path).unwrap(), Repair::Sound);
        assert!(!path.exists());
        let (whole, torn) = (line(32), line(64));
        for length in 0..torn.len() {
            fs::write(&path, format!("{whole}{}", &torn[..length])).unwrap();
            assert_eq!(repair(&path).unwrap(), Repair::Sound);
            // The last of them lacks nothing but its newline.
            let left = if length + 1 < torn.len() {
                &whole
            } else {
                &(whole.clone() + &torn)
            };
            assert_eq!(fs::read_to_string(&path).unwrap(), *left);
        }
    }

    #[test]
    fn a_damaged_middle_is_kept_aside_and_the_rest_stays() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.jsonl");
        let damaged = line(64).replace("64", "65");
        let text = format!("{}{damaged}{}", line(32), line(128));
        for number in 1..3 {
            fs::write(&path, &text).unwrap();
            let kept = folder.path().join(format!("a.damaged-{number}"));
            let expected = Repair::Damaged {
                lines: 1,
                kept: kept.clone(),
            };
            assert_eq!(repair(&path).unwrap(), expected);
            assert_eq!(fs::read_to_string(&kept).unwrap(), text);
            let left = format!("{}{}", line(32), line(128));
            assert_eq!(fs::read_to_string(&path).unwrap(), left);
        }
    }

    #[test]
    fn a_journal_of_a_newer_release_is_left_as_it_is() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.jsonl");
        // Its checksum is another, and so are its lines.
        let newer = "{\"cltune_journal\":2,\"cltune\":\"7.0.0\",\"sum\":\"1\"}\nvalues 64\n";
        // Neither what is damaged before it nor what is torn after it is mended.
        let text = format!("{}garbage\n{newer}{{\"val", line(32));
        fs::write(&path, &text).unwrap();
        let error = repair(&path).unwrap_err().to_string();
        for part in [
            "a.jsonl, line 3: version 2 of the format, written by cltune 7.0.0",
            "update cltune, or move that file elsewhere",
        ] {
            assert!(error.contains(part), "{error}");
        }
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
        // Nor is its header taken for a torn line.
        let text = text.lines().nth(2).unwrap();
        fs::write(&path, text).unwrap();
        repair(&path).unwrap_err();
        assert_eq!(fs::read_to_string(&path).unwrap(), text);
        assert_eq!(fs::read_dir(folder.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_session_without_its_header_is_left_out() {
        let header = |fingerprint: &str| {
            seal(&json!({
                "kernel": "app::saxpy", "fingerprint": fingerprint, "params": ["WG"],
                "platform": "p", "device": "d", "problem": [8],
            }))
            .unwrap()
        };
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("a.jsonl");
        let (before, after) = (header("b3:1") + &line(32), header("b3:3") + &line(128));
        let damaged = header("b3:2").replace("saxpy", "maxpy");
        let glued = header("b3:2").replacen('{', "", 1);
        for lost in [
            damaged,
            glued,
            header("b3:2").replace("fingerprint", "finger"),
        ] {
            fs::write(&path, format!("{before}{lost}{}{after}", line(64))).unwrap();
            assert!(matches!(
                repair(&path).unwrap(),
                Repair::Damaged { lines: 2, .. }
            ));
            assert_eq!(
                fs::read_to_string(&path).unwrap(),
                format!("{before}{after}")
            );
        }
    }
}
