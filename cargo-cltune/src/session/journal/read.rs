//! The results of earlier sessions, read back from their journals.
//!
//! A journal may end in half a line (a full disk, a power cut) and may have been edited. A line that
//! cannot be understood is left out, and so are the lines of a session whose header cannot.

use super::line::{LARGEST, Line, Place, Recorded, Session, codes};
use cltune_core::declaration::Declaration;
use std::io::{BufRead, BufReader};
use std::path::Path;

/// The results of one place.
#[derive(Debug, PartialEq)]
pub(crate) struct Recalled {
    pub(crate) place: Place,
    /// The sessions that measured there, the first one first.
    pub(crate) sessions: Vec<Session>,
    /// What they measured, in the order in which it was.
    pub(crate) results: Vec<Recorded>,
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
        match Line::of(&line) {
            // A journal has one kernel.
            Line::Header(header) if header.kernel != model.name => return,
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
            Line::Begin(_) | Line::Abandoned(_) | Line::End | Line::Damaged { .. } => {}
        }
    }
}

/// The position of a place, which is added where it is new.
fn position(place: Place, recalled: &mut Vec<Recalled>) -> usize {
    let known = recalled.iter().position(|of| of.place == place);
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
    use cltune_search::Status;

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
                status: Status::Ok,
                samples_us: vec![3.0, 2.0],
                build_seconds: Some(0.5),
                session: 1,
                ..Recorded::default()
            },
            Recorded {
                codes: vec![64],
                status: Status::TimedOut,
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
