//! Splitting, for random sizes, work-groups and factors: every element is computed, and none is
//! written by two devices.

use cltune_core::split::{
    Layout, Member, Part, Share, Span, chunks, divide, factors, theoretical_best,
};
use proptest::collection::vec;
use proptest::prelude::*;

/// Members of which at least one takes part.
fn members() -> impl Strategy<Value = Vec<Member>> {
    let factor = prop_oneof![1 => Just(0.0), 4 => 1e-4..1.0_f64];
    let member =
        (factor, 1..200_i64, any::<bool>()).prop_map(|(factor, granule, takes_whole)| Member {
            factor,
            granule,
            takes_whole,
        });
    vec(member, 1..6).prop_filter("somebody works", |members| {
        members.iter().any(|member| member.factor > 0.0)
    })
}

/// A problem and a part of it.
fn spans() -> impl Strategy<Value = (Span, i64)> {
    (1..100_000_i64).prop_flat_map(|total| {
        let whole = Span {
            start: 0,
            len: total,
        };
        let part = (0..total).prop_flat_map(move |start| {
            (1..=total - start).prop_map(move |len| Span { start, len })
        });
        (prop_oneof![Just(whole), part], Just(total))
    })
}

/// The shares of one division after the other, until nothing is left of the span.
fn divisions(span: Span, total: i64, members: &[Member]) -> Vec<Vec<Share>> {
    let mut divisions = Vec::new();
    let mut left = span;
    while left.len > 0 {
        let shares = divide(left, total, members);
        let end = shares.last().expect("each gets further").owned.end();
        left = Span {
            start: end,
            len: left.end() - end,
        };
        divisions.push(shares);
    }
    divisions
}

fn sum(factors: &[f64]) -> f64 {
    factors.iter().sum()
}

/// A buffer whose rows have `stride` elements for each position and a halo, and one of results of
/// the same form without a halo.
#[derive(Clone, Copy, Debug)]
struct Shape {
    stride: i64,
    halo: i64,
}

/// A kernel: each result is the sum of its element and the `halo` next ones in its row.
fn compute(input: &[u64], shape: Shape, positions: i64) -> Vec<u64> {
    let width = (positions * shape.stride) as usize;
    let halo = shape.halo as usize;
    let rows = input.chunks(width + halo);
    let row = |row: &[u64]| -> Vec<u64> {
        row.windows(halo + 1)
            .map(|window| window.iter().sum())
            .collect()
    };
    rows.flat_map(row).collect()
}

/// What a device gets of a buffer.
fn cut(input: &[u64], layout: Layout, share: Share) -> Vec<u64> {
    let part = layout.part(share.computed);
    let run = |row: usize| &input[part.first + row * part.pitch..][..part.width];
    (0..part.rows).flat_map(run).copied().collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 1000, ..ProptestConfig::default() })]

    #[test]
    fn shares_own_everything_once((span, total) in spans(), members in members()) {
        let divisions = divisions(span, total, &members);
        let mut next = span.start;
        for share in divisions.iter().flatten() {
            prop_assert_eq!(share.owned.start, next);
            prop_assert!(share.owned.len > 0);
            next = share.owned.end();
            prop_assert!(members[share.member].factor > 0.0);
        }
        prop_assert_eq!(next, span.end());
    }

    #[test]
    fn a_part_of_a_part_has_its_elements(
        (first, width, rows, gap) in (0..9_usize, 1..7_usize, 1..7_usize, 0..5_usize),
        inner in (0..20_usize, 1..12_usize, 1..4_usize, 0..5_usize),
    ) {
        let outer = Part { first, width, rows, pitch: width + gap };
        let (first, width, rows, gap) = inner;
        let inner = Part { first, width, rows, pitch: width + gap };
        let places = |part: Part| -> Vec<usize> {
            let run = |row| (0..part.width).map(move |i| part.first + row * part.pitch + i);
            (0..part.rows).flat_map(run).collect()
        };
        let of_outer = places(outer);
        if let Some(part) = outer.inner(inner) {
            let expected: Vec<usize> = places(inner).into_iter().map(|at| of_outer[at]).collect();
            prop_assert_eq!(places(part), expected);
        } else {
            let fits = inner.end() <= outer.len();
            let is_rows = inner.rows == 1 && inner.first.is_multiple_of(outer.width);
            let is_rows = is_rows && inner.width.is_multiple_of(outer.width);
            prop_assert!(!fits || (outer.rows > 1 && !is_rows));
        }
    }

    #[test]
    fn pieces_of_shares_own_what_shares_own(
        (span, total) in spans(),
        members in members(),
        most in 0..12_i64,
    ) {
        for share in divide(span, total, &members) {
            let granule = members[share.member].granule;
            let chunks = chunks(share, granule, most);
            prop_assert!(chunks.len() as i64 <= most.max(1));
            let mut next = share.owned.start;
            for (index, chunk) in chunks.iter().enumerate() {
                prop_assert_eq!((chunk.member, chunk.owned.start), (share.member, next));
                prop_assert!(chunk.owned.len > 0);
                prop_assert!(chunk.computed.covers(chunk.owned));
                prop_assert!(share.computed.covers(chunk.computed));
                prop_assert!(chunk.computed.len % granule == 0 || chunks.len() == 1);
                let is_last = index + 1 == chunks.len();
                prop_assert!(is_last || chunk.computed.len == chunks[0].computed.len);
                next = chunk.owned.end();
            }
            prop_assert_eq!(next, share.owned.end());
        }
    }

    #[test]
    fn every_device_works_in_whole_work_groups_of_its_own((span, total) in spans(),
                                                          members in members()) {
        let shares = divide(span, total, &members);
        let whole = Span { start: 0, len: total };
        for share in &shares {
            prop_assert!(share.computed.covers(share.owned) && whole.covers(share.computed));
            let Member { granule, takes_whole, .. } = members[share.member];
            let is_whole = share.computed == whole && (takes_whole || total < granule);
            prop_assert!(share.computed.len % granule == 0 || is_whole);
            // Less than a work-group is computed twice.
            prop_assert!(share.computed.len - share.owned.len < granule);
        }
        let overlapping = shares.iter().filter(|share| share.computed != share.owned);
        prop_assert!(overlapping.count() <= 1);
    }

    #[test]
    fn shares_are_as_large_as_their_factors_to_a_work_group((span, total) in spans(),
                                                            members in members()) {
        let shares = divide(span, total, &members);
        let of_all: f64 = members.iter().map(|member| member.factor).sum();
        let residue: i64 = members.iter().map(|member| member.granule).sum();
        for share in &shares {
            let Member { factor, granule, .. } = members[share.member];
            let ideal = span.len as f64 * factor / of_all;
            let len = share.owned.len as f64;
            prop_assert!(len > ideal - granule as f64 - 1.0, "{len} of {ideal}");
            prop_assert!(len < ideal + residue as f64 + 1.0, "{len} of {ideal}");
        }
    }

    #[test]
    fn equally_fast_devices_do_nothing_twice_where_work_groups_divide(
        exponents in vec(0..8_u32, 1..5),
        groups in 1..500_i64,
    ) {
        let members: Vec<Member> = exponents
            .iter()
            .map(|exponent| Member { factor: 1.0, granule: 1 << exponent, takes_whole: false })
            .collect();
        let total = groups << exponents.iter().min().unwrap();
        for share in divide(Span { start: 0, len: total }, total, &members) {
            prop_assert_eq!(share.computed, share.owned);
        }
    }

    #[test]
    fn factors_sum_up_to_one_and_all_need_the_same_time(times in vec(1e-6..1e6_f64, 1..8)) {
        let factors = factors(&times);
        prop_assert!((sum(&factors) - 1.0).abs() < 1e-9);
        let best = theoretical_best(&factors, &times);
        for (factor, time) in factors.iter().zip(&times) {
            prop_assert!((factor * time / best - 1.0).abs() < 1e-9);
        }
        // Together they are not slower than the fastest alone.
        let fastest = times.iter().copied().fold(f64::INFINITY, f64::min);
        prop_assert!(best <= fastest * (1.0 + 1e-9));
    }

    #[test]
    fn parts_put_together_are_the_result_of_the_whole(
        total in 1..300_i64,
        rows in 1..4_i64,
        stride in 1..4_i64,
        halo in 0..9_i64,
        members in members(),
    ) {
        let shape = Shape { stride, halo };
        let input: Vec<u64> = (0..rows * (total * stride + halo))
            .map(|i| (i * i % 257) as u64)
            .collect();
        let layout = |halo| Layout::new(rows * (total * stride + halo), rows, halo, total).unwrap();
        let (of_input, of_output) = (layout(halo), layout(0));
        let mut output: Vec<Option<u64>> = vec![None; (rows * total * stride) as usize];
        let divisions = divisions(Span { start: 0, len: total }, total, &members);
        for share in divisions.into_iter().flatten() {
            let part = cut(&input, of_input, share);
            let computed = compute(&part, shape, share.computed.len);
            let skipped = ((share.owned.start - share.computed.start) * stride) as usize;
            let own = of_output.own_part(share.owned);
            let pitch = (share.computed.len * stride) as usize;
            for row in 0..own.rows {
                let results = &computed[row * pitch + skipped..][..own.width];
                let places = &mut output[own.first + row * own.pitch..][..own.width];
                for (place, result) in places.iter_mut().zip(results) {
                    prop_assert!(place.replace(*result).is_none(), "written twice");
                }
            }
        }
        let output: Option<Vec<u64>> = output.into_iter().collect();
        prop_assert_eq!(output, Some(compute(&input, shape, total)));
    }
}
