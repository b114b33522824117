//! Unit tests of `fleet::completeness`.

use super::*;
use crate::fleet::part_file::tests::part;

/// A part that has done these of the four units: 0 and 1 are `a`'s, 2 and 3 `b`'s.
fn file(partition: &str, done: &[usize]) -> PartFile {
    PartFile {
        part: part(partition),
        outcomes: done.iter().map(|unit| (*unit, UnitResult::Tuned)).collect(),
    }
}

fn checked(files: &[PartFile], again: bool) -> Result<Gaps, String> {
    let names = (1..).map(|number| format!("part-{number}"));
    let named: Vec<_> = names.zip(files).collect();
    check(&named, again).map_err(|error| error.to_string())
}

/// What is missing, as text.
fn missing(files: &[PartFile]) -> Vec<String> {
    let gaps = checked(files, false).unwrap();
    gaps.missing.iter().map(ToString::to_string).collect()
}

#[test]
fn all_parts_that_did_all_of_theirs_are_complete() {
    let files = [file("slice:2/2", &[2, 3]), file("slice:1/2", &[0, 1])];
    assert_eq!(checked(&files, false), Ok(Gaps::default()));
    assert_eq!(checked(&[], false), Ok(Gaps::default()));
}

#[test]
fn a_missing_part_is_named_with_its_units() {
    assert_eq!(
        missing(&[file("slice:1/2", &[0, 1])]),
        [
            "slice:2/2 is missing, with 2 units\n    app::b on X for n = 8\n    app::b on X for n = 16"
        ]
    );
    // The third has no units, but nobody has said so.
    let files = [file("slice:1/3", &[0, 1]), file("slice:2/3", &[2, 3])];
    assert_eq!(missing(&files), ["slice:3/3 is missing, with 0 units"]);
    // However many there are, most of them without units.
    let files = [file("slice:3/4294967295", &[])];
    assert_eq!(
        missing(&files),
        [
            "slice:1/4294967295 is missing, with 2 units\n    app::a on X for n = 8\n    app::a on X for n = 16",
            "slice:2/4294967295 is missing, with 2 units\n    app::b on X for n = 8\n    app::b on X for n = 16",
            "slice:4/4294967295 and 4294967291 more parts are missing, with 0 units",
        ]
    );
}

#[test]
fn what_a_part_has_not_done_is_named() {
    let files = [file("slice:1/2", &[0]), file("slice:2/2", &[2, 3])];
    assert_eq!(
        missing(&files),
        [
            "slice:1/2 (part-1) has not done 1 unit; go on with it by `--resume`\n    app::a on X for n = 16"
        ]
    );
}

#[test]
fn what_failed_is_not_missing() {
    let mut failing = file("slice:1/1", &[0, 1, 2]);
    let reason = "no configuration is valid".to_owned();
    failing
        .outcomes
        .insert(3, UnitResult::Failed(reason.clone()));
    let gaps = checked(&[failing], false).unwrap();
    assert!(gaps.missing.is_empty());
    let failed: Vec<_> = gaps
        .failed
        .iter()
        .map(|(unit, why)| (unit.to_string(), why))
        .collect();
    assert_eq!(failed, [("app::b on X for n = 16".to_owned(), &reason)]);
}

#[test]
fn the_same_part_twice_is_refused_unless_it_is_timed_again() {
    let files = [
        file("slice:1/2", &[0]),
        file("slice:2/2", &[2, 3]),
        file("slice:1/2", &[1]),
    ];
    let error = checked(&files, false).unwrap_err();
    assert!(
        error.contains("part-1 and part-3 are both slice:1/2"),
        "{error}"
    );
    // Together they have done all.
    assert_eq!(checked(&files, true), Ok(Gaps::default()));
}

#[test]
fn parts_that_do_not_belong_together_are_refused() {
    let whole = file("slice:1/2", &[0, 1]);
    let mut other = file("slice:2/2", &[2, 3]);
    other.part.artifact = "b3:2".to_owned();
    let error = checked(&[whole.clone(), other], false).unwrap_err();
    assert!(
        error.contains("different `--measure` or `--objective`: b3:1 and b3:2"),
        "{error}"
    );

    let mut other = file("slice:2/2", &[2]);
    other.part.units.pop();
    let error = checked(&[whole.clone(), other], false).unwrap_err();
    assert!(
        error.contains("app::b on X for n = 16 is in the list of part-1 only"),
        "{error}"
    );

    for partition in ["slice:2/3", "hash:2/2"] {
        let error = checked(&[whole.clone(), file(partition, &[])], false).unwrap_err();
        let expected = format!("part-1 is slice:1/2 and part-2 is {partition}");
        assert!(error.contains(&expected), "{error}");
    }
}

#[test]
fn machines_with_other_devices_have_parts_of_their_own() {
    let on = |device: &str, partition: &str, done: &[usize]| {
        let mut file = file(partition, done);
        for unit in &mut file.part.units {
            device.clone_into(&mut unit.device);
        }
        file
    };
    let x = [on("X", "slice:1/2", &[0, 1]), on("X", "slice:2/2", &[2, 3])];
    let y = [on("Y", "slice:1/1", &[0, 1, 2, 3])];
    let both = [&x[..], &y[..]].concat();
    assert_eq!(checked(&both, false), Ok(Gaps::default()));
    let missing = missing(&[&x[..1], &y[..]].concat());
    assert!(
        missing[0].starts_with("slice:2/2 of the units on X is missing, with 2 units"),
        "{missing:?}"
    );
    assert_eq!(missing.len(), 1);
}
