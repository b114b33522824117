//! Unit tests of `fleet::contribution`.

use super::*;
use crate::samples;
use crate::worker::DeviceRecord;
use cltune_core::measure::Measure;
use cltune_formats::lockfile::Measured;

fn contribution() -> Contribution {
    let declaration = samples::declaration("app::saxpy", "b3:1", &[8]);
    let device = samples::device("X");
    let mut lockfile = Lockfile::default();
    let measured = Measured {
        dims: vec![8],
        codes: vec![64],
        time_us: 7.0,
        default_us: None,
        evaluated: 3,
        valid: 4,
        strategy: "auto".into(),
        verification: None,
        measure: Measure::WARM,
        energy_j: None,
        default_energy_j: None,
    };
    lockfile
        .record(&declaration.model, &device, &measured)
        .unwrap();
    Contribution {
        cltune: "0.1.0".to_owned(),
        devices: vec![DeviceFacts::of("x", &DeviceRecord::new(0, &device))],
        lockfile,
    }
}

#[test]
fn it_is_read_back_whatever_its_indentation() {
    let contribution = contribution();
    let text = contribution.to_text().unwrap();
    assert!(is_contribution(&text));
    assert_eq!(Contribution::parse(&text).unwrap(), contribution);
    let value: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert_eq!(
        Contribution::parse(&value.to_string()).unwrap(),
        contribution
    );
}

#[test]
fn every_changed_part_breaks_the_seal() {
    let text = contribution().to_text().unwrap();
    for (from, to) in [
        ("time_us = 7.0", "time_us = 1.0"),
        ("values = [64]", "values = [32]"),
        ("\"X\\\"", "\"Y\\\""),
        ("OpenCL 3.0", "OpenCL 2.0"),
        ("\"cltune\": \"0.1.0\"", "\"cltune\": \"0.2.0\""),
        ("\"seal\": \"b3:", "\"seal\": \"b3:0"),
    ] {
        assert!(text.contains(from), "{from}: {text}");
        let changed = text.replace(from, to);
        let error = Contribution::parse(&changed).unwrap_err();
        assert!(
            matches!(error, ContributionError::Changed),
            "{from}: {error}"
        );
        assert!(
            error.to_string().contains("was changed after it was made"),
            "{error}"
        );
    }
}

#[test]
fn what_is_none_says_why() {
    let text = contribution().to_text().unwrap();
    let newer = text.replace("\"cltune_contribution\": 1", "\"cltune_contribution\": 9");
    let newer = newer.replace("\"cltune\": \"0.1.0\"", "\"cltune\": \"7.0.0\"");
    let add = |before: &str| text.replace(before, &format!("\"added\": \"/home\", {before}"));
    let (of_file, of_device) = (add("\"devices\""), add("\"version\""));
    for (text, words) in [
        (
            newer.as_str(),
            "version 9 of the format, written by cltune 7.0.0",
        ),
        ("{", "it is no contribution"),
        ("{\"cltune_contribution\": 1}", "missing field"),
        (&of_file, "unknown field `added`"),
        (&of_device, "unknown field `added`"),
    ] {
        let error = Contribution::parse(text).unwrap_err().to_string();
        assert!(error.contains(words), "{error}");
    }
}
