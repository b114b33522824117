//! Journals read back: what earlier sessions measured.
//!
//! A journal may end in half a line (a full disk, a power cut) and may have been edited. A line that
//! cannot be understood is left out, and so are the lines of a session whose header cannot.

use super::entry::{Entry, LARGEST, codes};
use cltune_core::declaration::Declaration;
use serde::Deserialize;
use std::io::{BufRead, BufReader};
use std::path::Path;

/// Where and for what results were measured.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
pub(crate) struct Place {
    pub(crate) platform: String,
    pub(crate) device: String,
    pub(crate) problem: Vec<i64>,
}

/// The results of one place.
#[derive(Debug, PartialEq)]
pub(crate) struct Recalled {
    pub(crate) place: Place,
    /// The sessions that measured there, the first one first.
    pub(crate) sessions: Vec<Session>,
    /// What they measured, in the order in which it was.
    pub(crate) results: Vec<Recorded>,
}

/// What a session was like.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(default)]
pub(crate) struct Session {
    /// `CL_DRIVER_VERSION`.
    pub(crate) driver: String,
    /// How it searched.
    pub(crate) strategy: String,
    pub(crate) seed: u64,
    /// Whether it went on where the session before it had ended.
    pub(crate) resumed: bool,
}

/// A configuration and what became of it.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Recorded {
    pub(crate) codes: Vec<i64>,
    /// Microseconds; `None` where it failed.
    pub(crate) time_us: Option<f64>,
    /// `ok`, or how it failed; [`Line`](super::Line) has the words.
    pub(crate) status: String,
    /// Why it failed.
    pub(crate) detail: Option<String>,
    /// The single runs, microseconds.
    pub(crate) samples_us: Vec<f64>,
    pub(crate) build_seconds: Option<f64>,
    /// The position of its session in [`Recalled::sessions`].
    pub(crate) session: usize,
}

/// What the journals in the folder `state` have on this very declaration, a place each.
pub(crate) fn recall(state: &Path, declaration: &Declaration) -> Vec<Recalled> {
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
            read(BufReader::new(file), declaration, &mut recalled);
        }
    }
    recalled
}

/// Adds what one journal has.
fn read(journal: impl BufRead, declaration: &Declaration, recalled: &mut Vec<Recalled>) {
    let model = &declaration.model;
    let mut at = None;
    for line in journal.split(b'\n').map_while(std::io::Result::ok) {
        match Entry::of(&line) {
            // A journal has one kernel.
            Entry::Header(header) if header.kernel != model.name => return,
            Entry::Header(header) => {
                at = header.is_of(declaration).then(|| {
                    let at = place(header.place, recalled);
                    recalled[at].sessions.push(header.session);
                    at
                });
            }
            Entry::Result(result) => {
                if let Some(at) = at
                    && let Some(codes) = codes(&result.values, model)
                {
                    let session = recalled[at].sessions.len() - 1;
                    recalled[at].results.push(Recorded {
                        codes,
                        time_us: result.time_us,
                        status: result.status,
                        detail: result.detail,
                        samples_us: result.samples_us,
                        build_seconds: result.build_seconds,
                        session,
                    });
                }
            }
            Entry::Damaged { header: true } => at = None,
            Entry::Begin(_) | Entry::Abandoned(_) | Entry::End | Entry::Damaged { .. } => {}
        }
    }
}

/// Where the results of a place are collected.
fn place(place: Place, recalled: &mut Vec<Recalled>) -> usize {
    let known = recalled.iter().position(|known| known.place == place);
    known.unwrap_or_else(|| {
        recalled.push(Recalled {
            place,
            sessions: Vec::new(),
            results: Vec::new(),
        });
        recalled.len() - 1
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;

    const HEADER: &str = r#"{"kernel":"app::saxpy","fingerprint":"b3:1","platform":"p","device":"d","driver":"1","dimensions":["n"],"problem":[8],"params":["WG"],"strategy":"auto","seed":0}"#;

    fn times(recalled: &Recalled) -> Vec<(Vec<i64>, Option<f64>)> {
        let results = recalled.results.iter();
        results
            .map(|result| (result.codes.clone(), result.time_us))
            .collect()
    }

    fn recalled(journal: &str) -> Vec<Recalled> {
        let declaration = samples::declaration("app::saxpy", "b3:1", &[8]);
        let mut recalled = Vec::new();
        read(journal.as_bytes(), &declaration, &mut recalled);
        recalled
    }

    #[test]
    fn sessions_of_a_place_are_put_together() {
        let other = HEADER.replace("[8]", "[16]");
        let journal = format!(
            "{HEADER}\n{{\"values\":[32],\"status\":\"ok\",\"time_us\":2.5}}\n{other}\n\
             {{\"values\":[64],\"status\":\"ok\",\"time_us\":1}}\n{HEADER}\n\
             {{\"values\":[128],\"status\":\"crashed\",\"time_us\":null,\"detail\":\"x\"}}\n"
        );
        let recalled = recalled(&journal);
        assert_eq!(recalled.len(), 2);
        assert_eq!(recalled[0].place.problem, [8]);
        let expected = [(vec![32], Some(2.5)), (vec![128], None)];
        assert_eq!(times(&recalled[0]), expected);
        assert_eq!(times(&recalled[1]), [(vec![64], Some(1.0))]);
    }

    #[test]
    fn everything_a_line_has_is_there() {
        let second = HEADER.replace("\"auto\"", "\"random\"");
        let journal = format!(
            "{HEADER}\n{second}\n\
             {{\"values\":[32],\"status\":\"ok\",\"time_us\":2,\"samples_us\":[3,2],\"build_seconds\":0.5}}\n\
             {{\"values\":[64],\"status\":\"timed-out\",\"time_us\":null,\"detail\":\"late\",\"new\":1}}\n"
        );
        let recalled = &recalled(&journal)[0];
        let strategies: Vec<_> = recalled.sessions.iter().map(|of| &*of.strategy).collect();
        assert_eq!(strategies, ["auto", "random"]);
        assert_eq!(recalled.sessions[0].driver, "1");
        let expected = [
            Recorded {
                codes: vec![32],
                time_us: Some(2.0),
                status: "ok".to_owned(),
                samples_us: vec![3.0, 2.0],
                build_seconds: Some(0.5),
                session: 1,
                ..Recorded::default()
            },
            Recorded {
                codes: vec![64],
                status: "timed-out".to_owned(),
                detail: Some("late".to_owned()),
                session: 1,
                ..Recorded::default()
            },
        ];
        assert_eq!(recalled.results, expected);
    }

    #[test]
    fn what_is_damaged_or_of_another_declaration_is_left_out() {
        let stale = HEADER.replace("b3:1", "b3:2");
        let torn = &HEADER[..HEADER.len() / 2];
        let journal = format!(
            "{HEADER}\n{{\"values\":[33],\"time_us\":1}}\n{{\"values\":[32,1],\"time_us\":1}}\n\
             garbage \u{fffd}\n{{\"values\":[32],\"time_us\":3}}\n{stale}\n\
             {{\"values\":[64],\"time_us\":1}}\n{HEADER}\n{{\"values\":[64],\"time_us\":2}}\n\
             {torn}\n{{\"values\":[128],\"time_us\":1}}\n{{\"values\":[25"
        );
        let recalled = recalled(&journal);
        assert_eq!(recalled.len(), 1);
        let expected = [(vec![32], Some(3.0)), (vec![64], Some(2.0))];
        assert_eq!(times(&recalled[0]), expected);
        let other = HEADER.replace("app::saxpy", "app::other");
        assert!(
            self::recalled(&format!("{other}\n{{\"values\":[32],\"time_us\":1}}\n")).is_empty()
        );
    }
}
