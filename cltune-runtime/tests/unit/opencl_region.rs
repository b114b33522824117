//! Tests of `opencl/region`.

use super::*;

#[test]
fn regions_never_share_a_byte() {
    let mut bytes = [0_u8; 24];
    let good: [Range<usize>; 3] = [0..2, 3..5, 5..8];
    let regions = Region::columns(&mut bytes, 3, 8, &good).unwrap();
    assert_eq!(regions.len(), 3);
    for bad in [[0..3, 2..5], [3..5, 0..2], [0..2, 5..9]] {
        assert!(Region::columns(&mut bytes, 3, 8, &bad).is_none(), "{bad:?}");
    }
    assert!(Region::rows(&mut bytes, 4, 8).is_none());
    assert!(Region::rows(&mut bytes, usize::MAX, 8).is_none());
    assert!(Region::rows(&mut bytes, 3, 8).is_some());
}

#[test]
fn places_take_their_bytes_from_a_buffer_with_other_gaps() {
    let mut bytes = [0_u8; 24];
    let [_, region]: [Region; 2] = Region::columns(&mut bytes, 3, 8, &[0..2, 3..7])
        .unwrap()
        .try_into()
        .unwrap();
    // A buffer of rows of 6 bytes, of which the middle ones count.
    let buffer: Vec<u8> = (1..=18).collect();
    let source = Runs {
        first: 1,
        width: 4,
        rows: 3,
        pitch: 6,
    };
    for mut place in region.cut(&[0..5, 5..12]).unwrap() {
        let extent = source.extent(&place.packed);
        place.write(&buffer[extent], source);
    }
    let row = |at: usize| bytes[at * 8..][..8].to_vec();
    assert_eq!(row(0), [0, 0, 0, 2, 3, 4, 5, 0]);
    assert_eq!(row(1), [0, 0, 0, 8, 9, 10, 11, 0]);
    assert_eq!(row(2), [0, 0, 0, 14, 15, 16, 17, 0]);
}

#[test]
fn places_never_share_a_byte() {
    let mut bytes = [0_u8; 24];
    let mut places = |ranges: [Range<usize>; 2]| {
        let region = Region::rows(&mut bytes, 3, 8).unwrap();
        region.cut(&ranges).map(|places| places.len())
    };
    assert_eq!(places([0..3, 3..24]), Some(2));
    for bad in [[0..4, 3..5], [3..5, 0..2], [0..3, 3..25]] {
        assert_eq!(places(bad.clone()), None, "{bad:?}");
    }
}

#[test]
fn runs_are_divided_among_regions() {
    let mut bytes = [0_u8; 24];
    let mut divided = |ranges: [Range<usize>; 2]| {
        let [_, region]: [Region; 2] = Region::columns(&mut bytes, 3, 8, &[0..2, 2..5])?
            .try_into()
            .ok()?;
        let regions = region.runs_of_runs(&ranges)?;
        Some(regions.iter().map(Region::runs).collect::<Vec<_>>())
    };
    let runs = divided([0..3, 3..9]).unwrap();
    assert_eq!((runs[0].first, runs[0].rows), (2, 1));
    assert_eq!((runs[1].first, runs[1].rows, runs[1].pitch), (10, 2, 8));
    for bad in [[0..3, 4..9], [0..6, 3..9], [0..3, 3..12]] {
        assert_eq!(divided(bad.clone()), None, "{bad:?}");
    }
}

#[test]
fn a_run_is_divided_into_columns() {
    let mut bytes = [0_u8; 24];
    let [_, run]: [Region; 2] = Region::columns(&mut bytes, 1, 24, &[0..3, 3..15])
        .unwrap()
        .try_into()
        .unwrap();
    let columns = run.columns_of_run(3, 4, &[0..1, 1..4]).unwrap();
    let runs: Vec<Runs> = columns.iter().map(Region::runs).collect();
    let firsts: Vec<usize> = runs.iter().map(|runs| runs.first).collect();
    assert_eq!((firsts, runs[1].width), (vec![3, 4], 3));
    assert_eq!(runs[1].extent(&(0..9)), 4..15);
    for (rows, ranges) in [(4, [0..1, 1..4]), (3, [0..2, 1..4])] {
        let run = Region::rows(&mut bytes[3..15], 1, 12).unwrap();
        assert!(run.columns_of_run(rows, 4, &ranges).is_none());
    }
}
