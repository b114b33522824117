//! Tests of `opencl/runs`.

use super::*;

const COLUMNS: Runs = Runs {
    first: 3,
    width: 4,
    rows: 5,
    pitch: 10,
};

#[test]
fn runs_stay_inside_a_slice() {
    let runs = |first, width, rows, pitch| Runs {
        first,
        width,
        rows,
        pitch,
    };
    for good in [
        runs(0, 24, 1, 0),
        runs(2, 4, 3, 8),
        runs(4, 4, 3, 8),
        runs(0, 0, 0, 8),
    ] {
        assert!(good.check(24).is_ok(), "{good:?}");
    }
    for bad in [
        runs(1, 24, 1, 0),
        runs(5, 4, 3, 8),
        runs(0, 9, 2, 8),
        runs(0, 8, usize::MAX, 8),
    ] {
        assert!(bad.check(24).is_err(), "{bad:?}");
    }
}

#[test]
fn packets_have_every_byte_once_and_no_more_than_fits() {
    let one_run = Runs { rows: 1, ..COLUMNS };
    let no_gaps = Runs {
        pitch: 4,
        ..COLUMNS
    };
    for (runs, most) in [COLUMNS, one_run, no_gaps]
        .into_iter()
        .flat_map(|runs| (1..60).map(move |most| (runs, most)))
    {
        let mut next = 0;
        for packet in runs.packets(most) {
            assert_eq!(packet.start, next);
            assert!(!packet.is_empty());
            assert!(
                runs.extent(&packet).len() <= most,
                "{runs:?} {most} {packet:?}"
            );
            next = packet.end;
        }
        assert_eq!(next, runs.len(), "{runs:?} {most}");
    }
    let nothing = Runs {
        width: 0,
        ..COLUMNS
    };
    assert!(nothing.packets(8).is_empty());
}

#[test]
fn bytes_are_found_run_by_run() {
    let parts: Vec<_> = COLUMNS.by_run(2..13).collect();
    assert_eq!(parts, [2..4, 4..8, 8..12, 12..13]);
    let places: Vec<usize> = parts.iter().map(|part| COLUMNS.at(part.start)).collect();
    assert_eq!(places, [5, 13, 23, 33]);
    assert_eq!(COLUMNS.extent(&(2..13)), 5..34);
    assert!(COLUMNS.extent(&(0..0)).is_empty());
}
