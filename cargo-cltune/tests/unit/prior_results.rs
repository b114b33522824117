//! Unit tests of `session::prior_results`.

use super::*;
use crate::samples;
use crate::worker::DeviceRecord;
use cltune_core::measure::Measure;
use cltune_core::model::Template;
use cltune_formats::formula::{Scope, Type, parse};
use cltune_formats::lockfile::{Lockfile, Measured};
use cltune_runtime::database::of_user;
use cltune_runtime::tuning::Energy;
use std::fs;

fn job(device: &str, n: i64) -> Job {
    Job {
        folder: "app".into(),
        declaration: samples::declaration("app::saxpy", "b3:1", &[8]),
        device: DeviceRecord::new(0, &samples::device(device)),
        twins: Vec::new(),
        dims: vec![n],
    }
}

fn journal(state: &Path, device: &str, n: i64, lines: &str) {
    let header = format!(
        r#"{{"kernel":"app::saxpy","fingerprint":"b3:1","platform":"platform","device":"{device}","driver":"1","dimensions":["n"],"problem":[{n}],"params":["WG"],"strategy":"auto","seed":0}}"#
    );
    let folder = state.join("journal");
    fs::create_dir_all(&folder).unwrap();
    fs::write(
        folder.join(format!("{device}-{n}.jsonl")),
        format!("{header}\n{lines}\n"),
    )
    .unwrap();
}

#[test]
fn journals_and_lockfile_are_put_together_the_most_similar_first() {
    let folder = tempfile::tempdir().unwrap();
    let state = folder.path();
    journal(state, "other", 8, r#"{"values":[32],"time_us":5}"#);
    journal(
        state,
        "mine",
        64,
        "{\"values\":[32],\"time_us\":4}\n{\"values\":[64],\"time_us\":null}\n{\"values\":[32],\"time_us\":3}",
    );
    journal(state, "mine", 8, r#"{"values":[128],"time_us":1}"#);
    journal(state, "dead", 8, r#"{"values":[128],"time_us":null}"#);
    let mut lockfile = Lockfile::default();
    for (device, n, code) in [("mine", 8, 256), ("other", 8, 64), ("third", 8, 32)] {
        let measured = Measured {
            dims: vec![n],
            codes: vec![code],
            time_us: 2.0,
            default_us: None,
            evaluated: 1,
            valid: 4,
            strategy: "auto".to_owned(),
            verification: None,
            measure: Measure::WARM,
            energy_j: None,
            default_energy_j: None,
        };
        let model = &job(device, n).declaration.model;
        lockfile
            .record(model, &samples::device(device), &measured)
            .unwrap();
    }
    let file = state.join("cltune.lock");
    lockfile_store::write(&file, &lockfile).unwrap();

    let known = prior_results(&job("mine", 8), state, &file, &[], &Table::EMPTY);
    let expected = [
        "2 results on mine for n = 64",
        "2 results on other for n = 8",
        // The own journal is left out, the own entry is not.
        "1 result on mine for n = 8",
        "1 result on third for n = 8",
    ];
    assert_eq!(known.places, expected);
    assert_eq!(known.own, Some(vec![256]));
    assert_eq!(known.selected, None);
    // Without an entry for its size, calls get the one for the nearest size on their device, and
    // without any on their device, one of a similar device.
    let selected =
        |device: &str, n| prior_results(&job(device, n), state, &file, &[], &Table::EMPTY).selected;
    assert_eq!(selected("mine", 16), Some(vec![256]));
    assert_eq!(selected("third", 64), Some(vec![32]));
    assert_eq!(selected("fourth", 8), Some(vec![256]));
    let results = |at: usize| known.results[at].results.clone();
    assert_eq!(results(0), [(vec![256], Score::Time(2.0))]);
    let mine = [(vec![32], Score::Time(3.0)), (vec![64], Score::Failed)];
    assert_eq!(results(1), mine);
    let other = [(vec![32], Score::Time(5.0)), (vec![64], Score::Time(2.0))];
    assert_eq!(results(2), other);
}

#[test]
fn a_search_starts_from_the_database_of_template_defaults() {
    let folder = tempfile::tempdir().unwrap();
    let state = folder.path();
    let mut job = job("mine", 1 << 16);
    let database = of_user().unwrap();
    let of = |job: &Job| {
        let defaults = database.table(&job.declaration.model);
        prior_results(job, state, &state.join("cltune.lock"), &[], &defaults)
    };
    assert_eq!(of(&job).places, [""; 0], "a kernel without a template");
    let model = &mut job.declaration.model;
    let scope = Scope {
        parameters: &model.parameters,
        dimensions: &model.dimensions,
    };
    model.template = Some(Template {
        name: "map".into(),
        scalar_size: 4,
        vectors: 2,
        elements: parse("n", &scope, Type::Int).unwrap(),
    });
    // What ships has entries of GPUs for maps, and the parameter `WG`.
    let known = of(&job);
    let place = "1 result in the database of template defaults";
    assert_eq!(known.places, [place]);
    let selected = known.selected.unwrap();
    assert_eq!(known.results.len(), 1);
    assert_eq!(known.results[0].results[0].0, selected);
    // The lockfile's entry for another size is what calls get. The database's values are tried all
    // the same.
    journal(state, "other", 8, r#"{"values":[32],"time_us":5}"#);
    let known = of(&job);
    assert_eq!(known.places, ["1 result on other for n = 8", place]);
    assert_eq!(known.results[0].results[0].0, selected);
}

#[test]
fn a_journal_of_a_newer_release_is_told_of_and_does_not_start_a_search() {
    let folder = tempfile::tempdir().unwrap();
    let state = folder.path();
    journal(state, "other", 8, r#"{"values":[32],"time_us":5}"#);
    journal(state, "third", 8, r#"{"values":[64],"time_us":1}"#);
    let file = state.join("journal/third-8.jsonl");
    let text = fs::read_to_string(&file).unwrap();
    fs::write(&file, text.replacen('{', "{\"cltune_journal\":2,", 1)).unwrap();
    let known = prior_results(
        &job("mine", 8),
        state,
        &state.join("cltune.lock"),
        &[],
        &Table::EMPTY,
    );
    assert_eq!(known.places, ["1 result on other for n = 8"]);
    let told: Vec<String> = known.left_out.iter().map(LeftOut::warning).collect();
    assert_eq!(told.len(), 1);
    assert!(
        told[0].contains("third-8.jsonl, line 1: version 2 of the format"),
        "{told:?}"
    );
}

#[test]
fn an_entry_that_was_measured_otherwise_is_tried_and_its_time_is_not_compared() {
    let folder = tempfile::tempdir().unwrap();
    let state = folder.path();
    journal(state, "other", 8, r#"{"values":[32],"time_us":5}"#);
    let mut lockfile = Lockfile::default();
    for (device, code) in [("mine", 256), ("other", 64)] {
        let measured = Measured {
            dims: vec![8],
            codes: vec![code],
            time_us: 2.0,
            default_us: None,
            evaluated: 1,
            valid: 4,
            strategy: "auto".to_owned(),
            verification: None,
            measure: Measure::COLD,
            energy_j: None,
            default_energy_j: None,
        };
        let model = &job(device, 8).declaration.model;
        lockfile
            .record(model, &samples::device(device), &measured)
            .unwrap();
    }
    let file = state.join("cltune.lock");
    lockfile_store::write(&file, &lockfile).unwrap();
    let known = prior_results(&job("mine", 8), state, &file, &[], &Table::EMPTY);
    assert_eq!(known.own, Some(vec![256]));
    let expected = ["1 result on mine for n = 8", "1 result on other for n = 8"];
    assert_eq!(known.places, expected);
    let other = [(vec![32], Score::Time(5.0))];
    assert_eq!(known.results[1].results, other);
}

#[test]
fn stale_entries_are_tried_where_nothing_else_is_known_and_bring_no_times() {
    let folder = tempfile::tempdir().unwrap();
    let state = folder.path();
    journal(state, "mine", 8, r#"{"values":[64],"time_us":1}"#);
    journal(state, "mine", 64, r#"{"values":[32],"time_us":4}"#);
    journal(
        state,
        "other",
        8,
        "{\"values\":[32],\"time_us\":5}\n{\"values\":[64],\"time_us\":6}",
    );
    let entry = |device: &str, n: i64, code: i64| StaleEntry {
        place: Place::of(&job(device, n)),
        codes: vec![code],
    };
    let stale = [
        entry("mine", 8, 256),
        entry("mine", 32, 128),
        entry("other", 8, 128),
    ];
    let known = prior_results(
        &job("mine", 8),
        state,
        &state.join("none"),
        &stale,
        &Table::EMPTY,
    );
    let expected = [
        "the values of another version of the kernel on mine for n = 8",
        "2 results on other for n = 8",
        "the values of another version of the kernel on mine for n = 32",
        "1 result on mine for n = 64",
    ];
    assert_eq!(known.places, expected);
    let tried: Vec<&[i64]> = known.results.iter().map(|of| &*of.results[0].0).collect();
    assert_eq!(tried, [[256], [128], [32], [32]], "the nearest first");
    for at in [0, 1] {
        assert_eq!(known.results[at].results.len(), 1, "it compares with none");
    }
    // No call gets them, and no result has to be better than theirs.
    assert_eq!((known.own, known.selected), (None, None));
}

#[test]
fn a_place_counts_by_the_objective_where_its_energy_is_known_and_else_by_its_times() {
    let result = |code: i64, time_us: Option<f64>, joules: Option<f64>| Recorded {
        codes: vec![code],
        time_us,
        energy: joules.map(|joules| Energy {
            joules,
            launches: 9,
            seconds: 0.5,
            uncertainty: 0.01,
        }),
        ..Recorded::default()
    };
    let all = [
        result(32, Some(2.0), Some(3.0)),
        // The lockfile's, whose energy nobody asked for.
        result(64, Some(1.0), None),
        result(128, None, None),
    ];
    let of = |results: &[Recorded], objective| prior(results, objective).results;
    let failed = (vec![128], Score::Failed);
    let energy = (vec![32], Score::Time(3e6));
    assert_eq!(of(&all, Objective::Energy), [energy, failed.clone()]);
    let times = [
        (vec![32], Score::Time(2.0)),
        (vec![64], Score::Time(1.0)),
        failed.clone(),
    ];
    assert_eq!(of(&all, Objective::Time), times);
    let alone = [(vec![64], Score::Time(1.0)), failed];
    assert_eq!(of(&all[1..], Objective::EnergyDelay), alone);
}

#[test]
fn where_nothing_is_known_there_is_nothing_to_start_from() {
    let folder = tempfile::tempdir().unwrap();
    let known = prior_results(
        &job("mine", 8),
        folder.path(),
        &folder.path().join("cltune.lock"),
        &[],
        &Table::EMPTY,
    );
    assert!(known.results.is_empty() && known.places.is_empty() && known.own.is_none());
}
