//! Tests of `cache/notes`.

use super::*;

pub(in super::super) fn notes() -> Notes {
    Notes {
        kernel: "app::saxpy".into(),
        fingerprint: "b3:1".into(),
        params: vec!["WG".into(), "U".into(), "T".into()],
        dimensions: vec!["n".into(), "m".into()],
        device: TunedDevice {
            platform: "P".into(),
            name: "a device, with (R) signs".into(),
            vendor: "".into(),
            device_type: DeviceType::Cpu,
            compute_units: 2,
            max_work_group_size: 4096,
            local_mem_size: 1 << 19,
        },
        driver: "3.1".into(),
        results: Vec::new(),
        refusals: Vec::new(),
    }
}

fn result(n: i64, wg: i64) -> NotedResult {
    NotedResult {
        problem: vec![n, -1],
        values: vec![
            Value::Int(wg),
            Value::Bool(true),
            Value::Name("half".into()),
        ],
        time_us: 7.25,
        default_us: (n > 4).then_some(9.5),
        evaluated: 48,
        valid: u128::MAX,
        strategy: "auto".into(),
        measure: if wg > 32 {
            Measure::COLD
        } else {
            Measure::WARM
        },
    }
}

fn refusal(n: i64, wg: i64, driver: &str) -> NotedRefusal {
    let NotedResult {
        problem, values, ..
    } = result(n, wg);
    NotedRefusal {
        problem,
        values,
        driver: driver.into(),
        reason: line("does not build:\n\tno"),
    }
}

#[test]
fn the_text_of_notes_is_read_back() {
    let mut notes = notes();
    assert_eq!(Notes::parse(&notes.to_text()).as_ref(), Ok(&notes));
    notes.add_result(result(4, 32));
    notes.add_result(result(8, 64));
    notes.add_refusal(refusal(8, 128, "3.1"));
    assert_eq!(Notes::parse(&notes.to_text()).as_ref(), Ok(&notes));
    notes.params.clear();
    notes.dimensions.clear();
    notes.results.clear();
    notes.refusals.clear();
    notes.results.push(NotedResult {
        problem: vec![],
        values: vec![],
        ..result(1, 1)
    });
    assert_eq!(Notes::parse(&notes.to_text()).as_ref(), Ok(&notes));
}

#[test]
fn other_texts_are_errors_that_name_the_line() {
    let mut notes = notes();
    notes.add_result(result(4, 32));
    let text = notes.to_text();
    assert_eq!(Notes::parse(""), Err(DamagedNotes { line: 1 }));
    for (from, to, line) in [
        ("kernel\t", "kernels\t", 1),
        ("compute_units\t2", "compute_units\ttwo", 9),
        ("4,-1", "4", 13),
        ("32,true,'half", "32,true", 13),
        ("'half", "half", 13),
        ("7.25", "NaN", 13),
        ("\tauto", "", 13),
        ("result", "outcome", 13),
        ("\tauto", "\tauto\tlukewarm", 13),
        ("\tauto", "\tauto\tcold\tcold", 13),
    ] {
        let damaged = text.replacen(from, to, 1);
        assert_ne!(damaged, text, "{from}");
        assert_eq!(Notes::parse(&damaged), Err(DamagedNotes { line }), "{from}");
    }
}

#[test]
fn a_problem_has_one_result_and_refusals_are_of_one_driver() {
    let mut notes = notes();
    notes.add_result(result(4, 32));
    notes.add_result(result(8, 32));
    notes.add_result(result(4, 64));
    assert_eq!(notes.results, [result(8, 32), result(4, 64)]);
    notes.add_refusal(refusal(4, 1, "old"));
    for _ in 0..2 {
        notes.add_refusal(refusal(8, 32, "new"));
    }
    assert_eq!(notes.refusals, [refusal(8, 32, "new")]);
    assert_eq!(notes.results, [result(4, 64)]);
    for n in 0..2 * MOST as i64 {
        notes.add_result(result(n, 1));
        notes.add_refusal(refusal(n, 2, "new"));
    }
    assert_eq!((notes.results.len(), notes.refusals.len()), (MOST, MOST));
}
