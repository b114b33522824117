//! Unit tests of `session::journal::read`.

use super::*;
use crate::samples;
use cltune_core::measure::Measure;
use cltune_search::Status;

const HEADER: &str = r#"{"kernel":"app::saxpy","fingerprint":"b3:1","platform":"p","device":"d","driver":"1","dimensions":["n"],"problem":[8],"params":["WG"],"strategy":"auto","seed":0}"#;

fn times(recalled: &Recalled) -> Vec<(Vec<i64>, Option<f64>)> {
    let results = recalled.results.iter();
    results
        .map(|result| (result.codes.clone(), result.time_us))
        .collect()
}

fn recalled(journal: &str) -> Vec<Recalled> {
    let (recalled, told) = recalled_and_told(journal);
    assert_eq!(told, [""; 0]);
    recalled
}

/// With what is said of what is left out.
fn recalled_and_told(journal: &str) -> (Vec<Recalled>, Vec<String>) {
    let declaration = samples::declaration("app::saxpy", "b3:1", &[8]);
    let mut recalled = Vec::new();
    let path = Path::new("a.jsonl");
    let left_out = read(journal.as_bytes(), path, &declaration, &mut recalled);
    (recalled, left_out.iter().map(LeftOut::warning).collect())
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
fn an_old_journal_is_of_warm_caches() {
    let journal = format!("{HEADER}\n{{\"values\":[32],\"time_us\":2}}\n");
    for (measure, places) in [(Measure::WARM, 1), (Measure::COLD, 0)] {
        let mut declaration = samples::declaration("app::saxpy", "b3:1", &[8]);
        declaration.measure = measure;
        let mut recalled = Vec::new();
        let path = Path::new("a.jsonl");
        read(journal.as_bytes(), path, &declaration, &mut recalled);
        assert_eq!(recalled.len(), places, "{measure}");
    }
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
    let (recalled, told) = recalled_and_told(&journal);
    assert_eq!(recalled.len(), 1);
    let expected = [(vec![32], Some(3.0)), (vec![64], Some(2.0))];
    assert_eq!(times(&recalled[0]), expected);
    // Half a line at the end is none of them: its session may be writing it.
    let warning = "a.jsonl: damaged lines are left out (2), with what was measured there; if the file was copied, \
                   copy it again";
    assert_eq!(told, [warning]);
    let other = HEADER.replace("app::saxpy", "app::other");
    assert!(self::recalled(&format!("{other}\n{{\"values\":[32],\"time_us\":1}}\n")).is_empty());
}

/// The header in this version of the format.
fn header_of_version(version: u32) -> String {
    HEADER.replacen(
        '{',
        &format!(r#"{{"cltune_journal":{version},"cltune":"7.0.0","#),
        1,
    )
}

#[test]
fn a_header_without_a_version_has_the_first() {
    let result = "{\"values\":[32],\"time_us\":2}";
    let old = recalled(&format!("{HEADER}\n{result}\n"));
    assert_eq!(old[0].results.len(), 1);
    let new = recalled(&format!("{}\n{result}\n", header_of_version(1)));
    assert_eq!(old, new);
}

#[test]
fn sessions_of_a_newer_release_are_left_out_and_told_of_once() {
    let newer = header_of_version(2);
    // Nothing else of it need be known.
    let unknown = r#"{"cltune_journal":9,"of":[1,2]}"#;
    let journal = format!(
        "{HEADER}\n{{\"values\":[32],\"time_us\":3}}\n{newer}\n{{\"values\":[64],\"time_us\":1}}\n\
             {unknown}\n{{\"values\":[64],\"time_us\":1}}\n{HEADER}\n{{\"values\":[128],\"time_us\":4}}\n"
    );
    let (found, told) = recalled_and_told(&journal);
    assert_eq!(
        times(&found[0]),
        [(vec![32], Some(3.0)), (vec![128], Some(4.0))]
    );
    let release = env!("CARGO_PKG_VERSION");
    let expected = format!(
        "a.jsonl, line 3: version 2 of the format, written by cltune 7.0.0, and this cltune {release} reads up to \
         version 1; update cltune. What newer releases measured there is left out"
    );
    assert_eq!(told, [expected]);
    // Nor need its lines be those of this one.
    let (found, told) = recalled_and_told(&format!("{unknown}\nvalues 64\nvalues 32\n"));
    assert_eq!(found, []);
    assert_eq!(told.len(), 1, "{told:?}");
    let begin = "a.jsonl, line 1: version 9 of the format, and this";
    assert!(told[0].starts_with(begin), "{told:?}");
    // That of another kernel is none of this one's.
    let other = newer.replace("app::saxpy", "app::other");
    assert_eq!(recalled(&format!("{other}\n")), []);
}

#[test]
fn what_cannot_be_read_is_told_of_and_the_rest_is_there() {
    let declaration = samples::declaration("app::saxpy", "b3:1", &[8]);
    let folder = tempfile::tempdir().unwrap();
    let recall = || {
        let mut left_out = BTreeSet::new();
        let recalled = recall(folder.path(), &declaration, &mut left_out);
        let told: Vec<String> = left_out.iter().map(LeftOut::warning).collect();
        (recalled, told)
    };
    // Nothing was measured yet.
    assert_eq!(recall(), (vec![], vec![]));
    let journals = folder.path().join("journal");
    std::fs::write(&journals, "").unwrap();
    let (found, told) = recall();
    assert_eq!((found.len(), told.len()), (0, 1), "{told:?}");
    let begin = format!("cannot read {}: ", journals.display());
    assert!(told[0].starts_with(&begin), "{told:?}");
    std::fs::remove_file(&journals).unwrap();
    std::fs::create_dir_all(journals.join("a.jsonl")).unwrap();
    // No journal.
    std::fs::create_dir(journals.join("other")).unwrap();
    let sound = format!("{HEADER}\n{{\"values\":[32],\"time_us\":2}}\n");
    std::fs::write(journals.join("b.jsonl"), &sound).unwrap();
    let (found, told) = recall();
    assert_eq!(times(&found[0]), [(vec![32], Some(2.0))]);
    let expected = format!(
        "cannot read {}: it is a folder, not a file. What was measured there is left out; mend that, or move it \
         elsewhere",
        journals.join("a.jsonl").display()
    );
    assert_eq!(told, [expected]);
}

#[test]
fn what_follows_an_error_of_the_disk_is_told_of() {
    struct Failing;
    impl io::Read for Failing {
        fn read(&mut self, _: &mut [u8]) -> io::Result<usize> {
            Err(io::Error::other("the disk is gone"))
        }
    }
    let declaration = samples::declaration("app::saxpy", "b3:1", &[8]);
    let before = format!("{HEADER}\n{{\"values\":[32],\"time_us\":2}}\n");
    let journal = io::Read::chain(before.as_bytes(), BufReader::new(Failing));
    let mut recalled = Vec::new();
    let left_out = read(journal, Path::new("a.jsonl"), &declaration, &mut recalled);
    assert_eq!(times(&recalled[0]), [(vec![32], Some(2.0))]);
    let [LeftOut::Unreadable { reason, .. }] = &left_out[..] else {
        panic!("{left_out:?}");
    };
    assert_eq!(reason, "the disk is gone");
}
