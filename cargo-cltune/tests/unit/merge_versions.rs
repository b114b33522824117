//! Unit tests of `commands::merge::versions`.

use super::*;
use crate::samples;

fn source(name: &str, fingerprint: &str, is_contribution: bool) -> Source {
    let text = format!(
        "version = 1\n\n[[device]]\nid = \"x\"\nplatform = \"p\"\nname = \"x\"\nvendor = \"v\"\n\
         type = \"gpu\"\ndriver = \"1\"\ncompute_units = 1\nmax_work_group_size = 1\n\
         local_mem_size = 1\n\n[[kernel]]\nname = \"app::k\"\nfingerprint = \"{fingerprint}\"\n\
         params = [\"WG\"]\n\n[[kernel.tuned]]\ndevice = \"x\"\nproblem = {{ n = 8 }}\nvalues = [32]\n\
         time_us = 1.0\nevaluated = 1\nvalid = 1\nstrategy = \"full\"\n"
    );
    Source {
        name: name.to_owned(),
        lockfile: Lockfile::parse(&text).unwrap(),
        part: None,
        state: None,
        is_contribution,
    }
}

fn versions(fingerprint: &'static str) -> Versions {
    Versions {
        artifact: "./app".into(),
        models: vec![samples::declaration("app::k", fingerprint, &[8]).model],
    }
}

#[test]
fn the_version_of_the_program_stays_wherever_it_is_named() {
    for order in [["old", "new"], ["new", "old"]] {
        let of = |name: &str| source(name, if name == "new" { "b3:2" } else { "b3:1" }, false);
        let mut sources = vec![of(order[0]), of(order[1])];
        sources.push(source("given", "b3:1", true));
        let mut messages = Vec::new();
        assert!(versions("b3:2").keep(&mut sources, &mut messages).unwrap());
        for source in &sources[..2] {
            let is_empty = source.lockfile.is_empty();
            assert_eq!(is_empty, source.name == "old", "{order:?}");
        }
        assert!(!sources[2].lockfile.is_empty(), "a contribution");
        assert_eq!(
            String::from_utf8(messages).unwrap(),
            "warning: app::k: tuned for different versions of the kernel; kept that of new, which ./app has (b3:2), \
             left out 1 entry of old (b3:1)\n"
        );
    }
}

#[test]
fn nothing_is_left_out_where_no_file_has_the_version_of_the_program() {
    let other = "b3:3";
    let mut sources = vec![source("a", "b3:1", false), source("b", "b3:2", false)];
    // A contribution alone does not make others give way.
    sources.push(source("given", other, true));
    let mut messages = Vec::new();
    let is_any_left_out = versions(other).keep(&mut sources, &mut messages).unwrap();
    assert!(!is_any_left_out && messages.is_empty());
    assert!(sources.iter().all(|source| !source.lockfile.is_empty()));
}

#[test]
fn what_is_stale_in_all_files_is_told_of_once() {
    let warnings = |sources: &[Source]| {
        let mut united = sources[0].lockfile.clone();
        let others = sources[1..].iter();
        let reports: Vec<MergeReport> = others.map(|of| united.merge(&of.lockfile)).collect();
        let mut messages = Vec::new();
        let of_program = versions("b3:3");
        let is_any = of_program.warn_of_stale(&united, &reports, &mut messages);
        (is_any.unwrap(), String::from_utf8(messages).unwrap())
    };
    let of = |fingerprint: &str| source("a", fingerprint, false);
    let warning = "warning: app::k: stale: no file has the version of ./app (b3:3); kept 1 entry of another (b3:1), \
                   which ./app does not use: tune again\n";
    assert_eq!(warnings(&[of("b3:1")]), (true, warning.to_owned()));
    assert_eq!(
        warnings(&[of("b3:1"), of("b3:1")]),
        (true, warning.to_owned())
    );
    // The conflict's own warning says so.
    assert_eq!(warnings(&[of("b3:1"), of("b3:2")]), (false, String::new()));
    assert_eq!(warnings(&[of("b3:3")]), (false, String::new()));
}

#[test]
fn the_reason_says_what_to_do_where_the_wrong_version_may_have_stayed() {
    let conflict = FingerprintConflict {
        kernel: "app::k".to_owned(),
        kept: "b3:1".to_owned(),
        kept_entries: 1,
        dropped: "b3:2".to_owned(),
        dropped_entries: 1,
    };
    let of = |program: Option<&'static str>, is_contribution| {
        let versions = program.map(versions);
        let from = source("b", "b3:2", is_contribution);
        reason(versions.as_ref(), &conflict, "a", &from)
    };
    for (program, is_contribution, parts) in [
        (
            None,
            false,
            ["a comes first", "`--artifact PROGRAM`"].as_slice(),
        ),
        (
            Some("b3:3"),
            false,
            &["a comes first", "another version than both"],
        ),
        (Some("b3:1"), true, &["a has the version of ./app"]),
        (
            Some("b3:2"),
            true,
            &["a contribution replaces nothing", "tune again"],
        ),
    ] {
        let reason = of(program, is_contribution);
        for part in parts {
            assert!(reason.contains(part), "{reason}");
        }
    }
}
