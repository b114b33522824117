//! What an interrupted search has left.

use super::entry::{Entry, LARGEST, codes};
use super::read::Place;
use cltune_core::model::Model;
use std::collections::BTreeMap;
use std::io::{BufRead, BufReader};
use std::path::Path;

/// What is known of a search that ended before it was done.
#[derive(Debug, Default, PartialEq)]
pub(crate) struct Interrupted {
    /// The configurations and their times, microseconds; `None` where one failed.
    pub(crate) results: Vec<(Vec<i64>, Option<f64>)>,
    /// Configurations whose measuring began and never ended, and how often: the session was killed
    /// meanwhile, or the machine went down with it.
    pub(crate) unfinished: Vec<(Vec<i64>, usize)>,
    /// Whether it ended by itself all the same.
    pub(crate) ended: bool,
}

impl Interrupted {
    /// The best time, microseconds.
    pub(crate) fn best_us(&self) -> Option<f64> {
        let times = self.results.iter().filter_map(|(_, time)| *time);
        times.reduce(f64::min)
    }
}

/// What the last search in a journal has left, with all that it was resumed from; nothing where
/// there is none of this declaration, place and driver.
pub(super) fn interrupted(path: &Path, model: &Model, place: &Place, driver: &str) -> Interrupted {
    cltune_files::open(path, LARGEST).map_or_else(
        |_| Interrupted::default(),
        |file| read(BufReader::new(file), model, place, driver),
    )
}

fn read(journal: impl BufRead, model: &Model, place: &Place, driver: &str) -> Interrupted {
    let mut results = BTreeMap::new();
    let mut begun: BTreeMap<Vec<i64>, usize> = BTreeMap::new();
    let mut order = Vec::new();
    let mut ours = false;
    let mut ended = false;
    for line in journal.split(b'\n').map_while(std::io::Result::ok) {
        match Entry::of(&line) {
            Entry::Header(header) => {
                ours = header.is_of(model)
                    && header.place == *place
                    && header.session.driver == driver;
                if !ours || !header.session.resumed {
                    results.clear();
                    begun.clear();
                    order.clear();
                }
                ended = false;
            }
            Entry::Begin(begin) if ours => {
                if let Some(codes) = codes(&begin.begin, model) {
                    *begun.entry(codes).or_default() += 1;
                }
            }
            Entry::Result(result) if ours => {
                if let Some(codes) = codes(&result.values, model) {
                    begun.remove(&codes);
                    if results.insert(codes.clone(), result.time_us).is_none() {
                        order.push(codes);
                    }
                }
            }
            Entry::End => ended = true,
            Entry::Damaged { header: true } => ours = false,
            Entry::Begin(_) | Entry::Result(_) | Entry::Damaged { .. } => {}
        }
    }
    let results = order.into_iter().map(|codes| {
        let time = results.get(&codes).copied().flatten();
        (codes, time)
    });
    Interrupted {
        results: results.collect(),
        unfinished: begun.into_iter().collect(),
        ended,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;

    const HEADER: &str = r#"{"kernel":"app::saxpy","fingerprint":"b3:1","platform":"p","device":"d","driver":"1","dimensions":["n"],"problem":[8],"params":["WG"],"strategy":"auto","seed":0,"resumed":false}"#;

    fn left(journal: &str) -> Interrupted {
        let model = samples::declaration("app::saxpy", "b3:1", &[8]).model;
        let place = Place {
            platform: "p".into(),
            device: "d".into(),
            problem: vec![8],
        };
        read(journal.as_bytes(), &model, &place, "1")
    }

    #[test]
    fn a_search_is_put_together_from_all_its_sessions() {
        let resumed = HEADER.replace("false", "true");
        let journal = format!(
            "{HEADER}\n{{\"begin\":[256]}}\n{{\"values\":[256],\"time_us\":9}}\n{{\"end\":\"done\"}}\n\
             {HEADER}\n{{\"begin\":[32]}}\n{{\"values\":[32],\"time_us\":2}}\n{{\"begin\":[64]}}\n\
             {resumed}\n{{\"begin\":[64]}}\n{{\"values\":[128],\"time_us\":null}}\n"
        );
        let expected = Interrupted {
            results: vec![(vec![32], Some(2.0)), (vec![128], None)],
            unfinished: vec![(vec![64], 2)],
            ended: false,
        };
        assert_eq!(left(&journal), expected);
        assert!(left(&format!("{journal}{{\"end\":\"budget\"}}\n")).ended);
    }

    #[test]
    fn a_changed_kernel_or_driver_leaves_nothing() {
        let result = "{\"values\":[32],\"time_us\":2}";
        let found = left(&format!("{HEADER}\n{result}\n"));
        assert_eq!(found.results.len(), 1);
        for (is, was) in [
            ("b3:1", "b3:2"),
            (r#""driver":"1""#, r#""driver":"2""#),
            ("[8]", "[9]"),
        ] {
            let header = HEADER.replace(is, was);
            assert_eq!(
                left(&format!("{header}\n{result}\n")),
                Interrupted::default()
            );
            // Nor what came before it.
            let journal = format!("{HEADER}\n{result}\n{header}\n");
            assert_eq!(left(&journal), Interrupted::default());
        }
    }
}
