//! Unit tests of `session::journal::resume`.

use super::*;
use crate::samples;
use crate::worker::DeviceRecord;
use cltune_core::measure::Measure;
use cltune_search::Status;

fn job() -> Job {
    Job {
        folder: "app".into(),
        declaration: samples::declaration("app::saxpy", "b3:1", &[8]),
        device: DeviceRecord::new(0, &samples::device("d")),
        twins: Vec::new(),
        dims: vec![8],
    }
}

fn header() -> String {
    let verification = fingerprint::of_verification(&job().declaration);
    format!(
        r#"{{"kernel":"app::saxpy","fingerprint":"b3:1","verification":"{verification}","platform":"platform","device":"d","driver":"1","dimensions":["n"],"problem":[8],"params":["WG"],"strategy":"auto","seed":0,"resumed":false}}"#
    )
}

fn left(journal: &str) -> Interrupted {
    read(journal.as_bytes(), &job())
}

/// The values and the times of what is left.
fn times(left: &Interrupted) -> Vec<(i64, Option<f64>)> {
    let results = left.results.iter();
    results.map(|of| (of.codes[0], of.time_us)).collect()
}

#[test]
fn a_configuration_whose_worker_was_killed_is_measured_again() {
    let header = header();
    let killed = r#"{"values":[32],"time_us":null,"status":"crashed","killed":true}"#;
    let journal = format!("{header}\n{{\"begin\":[32]}}\n{killed}\n");
    assert_eq!(left(&journal).results, []);
    assert_eq!(left(&journal).unfinished, [(vec![32], 1)]);
    let then = format!("{journal}{{\"values\":[32],\"time_us\":7}}\n");
    assert_eq!(times(&left(&then)), [(32, Some(7.0))]);
    assert_eq!(left(&then).unfinished, []);
}

#[test]
fn a_search_is_put_together_from_all_its_sessions() {
    let header = header();
    let resumed = header.replace("false", "true");
    let journal = format!(
        "{header}\n{{\"begin\":[256]}}\n{{\"values\":[256],\"time_us\":9}}\n{{\"end\":\"done\"}}\n\
             {header}\n{{\"begin\":[32]}}\n{{\"values\":[32],\"time_us\":2}}\n{{\"begin\":[64]}}\n\
             {resumed}\n{{\"begin\":[64]}}\n{{\"values\":[128],\"time_us\":null}}\n"
    );
    let found = left(&journal);
    assert_eq!(times(&found), [(32, Some(2.0)), (128, None)]);
    assert_eq!(
        (found.unfinished, found.ended),
        (vec![(vec![64], 2)], false)
    );
    assert!(left(&format!("{journal}{{\"end\":\"budget\"}}\n")).ended);
}

#[test]
fn what_fails_later_or_is_abandoned_is_no_result() {
    let header = header();
    let journal = format!(
        "{header}\n{{\"begin\":[32]}}\n{{\"values\":[32],\"time_us\":2}}\n{{\"begin\":[64]}}\n\
             {{\"abandoned\":[64]}}\n{{\"abandoned\":[64]}}\n\
             {{\"values\":[32],\"status\":\"wrong-result\",\"time_us\":null,\"detail\":\"y[3]\"}}\n"
    );
    let found = left(&journal);
    assert_eq!(times(&found), [(32, None)]);
    assert_eq!((&*found.unfinished, found.ended), (&[][..], false));
    // Why it failed is said by the session that goes on, too.
    assert_eq!(found.results[0].status, Status::WrongResult);
    assert_eq!(found.results[0].detail.as_deref(), Some("y[3]"));
}

#[test]
fn times_with_cold_caches_are_not_resumed_with_warm_ones() {
    let result = "{\"values\":[32],\"time_us\":2}";
    let mut cold = job();
    cold.declaration.measure = Measure::COLD;
    let verification = fingerprint::of_verification(&job().declaration);
    let of_cold = fingerprint::of_results(&cold.declaration);
    let journal = |verification_is: &str| {
        let header = header().replace(&verification, verification_is);
        format!("{header}\n{result}\n")
    };
    for (verification, is_warm, is_cold) in [
        (&*verification, true, false),
        (&*of_cold, false, true),
        ("", false, false),
    ] {
        let found = |job: &Job| {
            !read(journal(verification).as_bytes(), job)
                .results
                .is_empty()
        };
        assert_eq!((found(&job()), found(&cold)), (is_warm, is_cold));
    }
}

#[test]
fn a_changed_kernel_driver_or_reference_leaves_nothing() {
    let result = "{\"values\":[32],\"time_us\":2}";
    let found = left(&format!("{}\n{result}\n", header()));
    assert_eq!(found.results.len(), 1);
    let verification = fingerprint::of_verification(&job().declaration);
    for (is, was) in [
        (&*verification, "b3:2"),
        // A release that did not write it.
        (&*verification, ""),
        ("b3:1", "b3:2"),
        (r#""driver":"1""#, r#""driver":"2""#),
        ("[8]", "[9]"),
    ] {
        let header = header().replace(is, was);
        assert_eq!(
            left(&format!("{header}\n{result}\n")),
            Interrupted::default()
        );
        // Nor what came before it.
        let journal = format!("{}\n{result}\n{header}\n", self::header());
        assert_eq!(left(&journal), Interrupted::default());
    }
}
