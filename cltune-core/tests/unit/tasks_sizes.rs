//! Blocks of products, sums and vectors on devices that are made up.

use super::*;
use crate::tasks::{Axis, Cost, Grain, LinkRates, Operand, Output, Reach};
use proptest::prelude::*;

const GB: usize = 1 << 30;

/// About an H200 over PCIe with so much memory.
fn gpu(memory: usize) -> DeviceFacts {
    DeviceFacts {
        memory,
        largest: memory,
        rates: LinkRates {
            up: 55e9,
            down: 55e9,
            memory: 3.6e12,
            launch: 2e-5,
            line: 0.0,
        },
        speed: Some(51e12),
    }
}

fn operand(axes: [Axis; 2], leaves: usize) -> Operand {
    Operand {
        axes,
        reach: [Reach::ONE; 2],
        origin: [0; 2],
        element: 4,
        leaves,
        is_computed: leaves > 1,
        is_padded: true,
    }
}

const fn written(operand: Operand) -> Output {
    Output {
        operand,
        is_read: false,
    }
}

/// C = A B, where A and B are each computed from so many matrices.
fn product(sizes: [usize; 3], leaves: usize) -> Shape {
    Shape {
        sizes,
        grains: [Grain::ONE; 2],
        outputs: vec![written(operand([Axis::I, Axis::J], 1))],
        inputs: vec![
            operand([Axis::I, Axis::K], leaves),
            operand([Axis::K, Axis::J], leaves),
        ],
        work: 2.0,
        workspace: 1.0,
    }
}

#[test]
fn what_is_fast_on_one_device_is_not_divided() {
    let devices = [gpu(4 * GB), gpu(4 * GB)];
    let plan = choose(&product([512; 3], 1), &devices, f64::INFINITY).unwrap();
    assert_eq!(plan.cut, Cut([512; 3]));
}

#[test]
fn what_is_large_is_divided_evenly_and_transfers_hide() {
    // At 16384 the first row of tiles, for which all of B is sent, is a large part of all.
    for (size, leaves, least) in [(16384, 2, 0.83), (32768, 1, 0.92), (32768, 2, 0.86)] {
        let shape = product([size; 3], leaves);
        let one = choose(&shape, &[gpu(2 * GB)], f64::INFINITY).unwrap();
        let two = choose(&shape, &[gpu(2 * GB); 2], f64::INFINITY).unwrap();
        let ideal = shape.total_work() / 51e12;
        assert!(one.seconds < ideal / least, "{size}: {one:?}, {ideal}");
        assert!(
            two.seconds < one.seconds / 2.0 / 0.9,
            "{size}: {one:?} {two:?}"
        );
        assert!(Need::of(&shape, two.cut).overlapped <= 2 * GB);
    }
}

/// Memory for a second result is wanted where a device has a second tile, whose panels are sent
/// beside launches then.
#[test]
fn a_device_with_one_tile_needs_no_room_for_a_second_result() {
    let (shape, cut) = (product([8192; 3], 1), Cut([4096, 8192, 512]));
    let device = gpu(Need::of(&shape, cut).overlapped - 1);
    let tile = |tiles: f64| Cost::of(&shape, cut, &device, 51e12, tiles).tile;
    assert!(tile(1.0) < 0.9 * tile(2.0), "{} {}", tile(1.0), tile(2.0));
}

#[test]
fn a_host_that_moves_little_limits_all() {
    let shape = product([16384; 3], 2);
    let free = choose(&shape, &[gpu(GB); 8], f64::INFINITY).unwrap();
    let bound = choose(&shape, &[gpu(GB); 8], 50e9).unwrap();
    assert!(bound.seconds > free.seconds * 1.5, "{free:?} {bound:?}");
}

#[test]
fn a_device_that_is_too_small_takes_no_part() {
    let plan = choose(&product([4096; 3], 1), &[gpu(GB), gpu(3000)], f64::INFINITY);
    let plan = plan.unwrap();
    assert!(plan.costs[0].is_some() && plan.costs[1].is_none());
    let error = choose(&product([4096; 3], 1), &[gpu(8)], f64::INFINITY).unwrap_err();
    assert!(error.to_string().contains("need 20 bytes"), "{error}");
}

#[test]
fn the_sizes_that_are_tried_end_with_all_and_with_one() {
    for size in [1, 2, 7, 64, 129, 1009, 32768] {
        let sizes = parts(size, Grain::ONE);
        assert_eq!((sizes[0], sizes[sizes.len() - 1]), (size, 1));
        assert!(sizes.is_sorted_by(|a, b| a > b), "{sizes:?}");
    }
}

/// y <- a stencil of x, with a mask that all tiles need.
fn stencil(size: usize, grain: Grain, halo: usize, mask: usize) -> Shape {
    let along = |axis, reach| Operand {
        axes: [Axis::One, axis],
        reach: [Reach::ONE, reach],
        is_padded: false,
        ..operand([Axis::One; 2], 1)
    };
    Shape {
        sizes: [size, 1, 1],
        grains: [grain, Grain::ONE],
        outputs: vec![written(along(Axis::I, Reach { step: 2, halo: 0 }))],
        inputs: vec![
            along(Axis::I, Reach { step: 3, halo }),
            along(Axis::One, Reach::all(mask)),
        ],
        work: 1.0,
        workspace: 0.0,
    }
}

#[test]
fn the_last_tile_is_whole_grains_with_positions_of_another_one() {
    let grain = Grain {
        size: 48,
        is_exact: true,
    };
    let shape = stencil(1000, grain, 5, 7);
    // 20 work-groups and 40 positions.
    let blocks: Vec<usize> = [1, 48, 49, 990, 1000]
        .map(|of| grain.block(of, 1000))
        .into();
    assert_eq!(blocks, [48, 48, 96, 960, 960]);
    assert_eq!(grain.block(7, 40), 40);
    let tiles = shape.tiles(Cut([96, 1, 1]));
    let last = tiles[tiles.len() - 1];
    assert_eq!((last.first[0], last.size[0]), (960, 40));
    let computed = shape.computed(&last);
    assert_eq!((computed.first[0], computed.size[0]), (952, 48));
    let input = shape.whole_rect(&shape.inputs[0], &last);
    assert_eq!((input.at, input.length), (3 * 952, 3 * 48 + 5));
    let result = shape.result_rect(&shape.outputs[0].operand, &last);
    assert_eq!((result.at, result.length), (2 * 960, 2 * 40));
    let mask = shape.whole_rect(&shape.inputs[1], &last);
    assert_eq!((mask.at, mask.length), (0, 7));
    // What takes any size is computed as it is.
    let any = Grain {
        is_exact: false,
        ..grain
    };
    let shape = stencil(1000, any, 5, 7);
    assert_eq!(shape.computed(&last), last);
    assert_eq!(any.block(1000, 1000), 1000);
}

/// All tiles need it, and a device has it from the first one on.
#[test]
fn what_no_tile_has_for_itself_is_sent_once() {
    let sent = |mask: usize| {
        let shape = stencil(1 << 20, Grain::ONE, 0, mask);
        let cost = Cost::of(&shape, Cut([1 << 14, 1, 1]), &gpu(GB), 1e9, 64.0);
        64.0 * cost.traffic
    };
    let of_mask = sent(1_000_000) - sent(1);
    assert!((of_mask - 4e6).abs() < 1e3, "{of_mask}");
}

/// So many results, of one, two and three elements for each position. The first one is read as
/// well.
fn several(size: usize, results: usize) -> Shape {
    let shape = stencil(size, Grain::ONE, 0, 1);
    let result = |step: usize| {
        let mut output = shape.outputs[0];
        output.operand.reach[1].step = step;
        Output {
            is_read: step == 1,
            ..output
        }
    };
    Shape {
        outputs: (1..=results).map(result).collect(),
        ..shape
    }
}

#[test]
fn blocks_of_all_results_fit_and_count_as_traffic() {
    let cut = Cut([100, 1, 1]);
    let [one, three] = [1, 3].map(|results| Need::of(&several(1000, results), cut));
    // 100 positions: one, two and three elements for each, and three of what is read.
    assert_eq!(three.least - one.least, 4 * 100 * (2 + 3));
    assert_eq!((one.largest, three.largest), (1200, 1200));
    let traffic = |results| Cost::of(&several(1000, results), cut, &gpu(GB), 1e9, 10.0).traffic;
    // The later ones are written only, the first one is sent as well.
    assert!((traffic(3) - traffic(1) - 2000.0).abs() < 1e-6);
    let alone = Shape {
        outputs: vec![written(several(1000, 1).outputs[0].operand)],
        ..several(1000, 1)
    };
    let written = Cost::of(&alone, cut, &gpu(GB), 1e9, 10.0).traffic;
    assert!((traffic(1) - written - 400.0).abs() < 1e-6);
}

proptest! {
    /// The same where tiles are whole work-groups and operands have halos.
    #[test]
    fn blocks_of_work_groups_fit_and_cover_everything(
        size in 1_usize..5000,
        grain in 1_usize..200,
        is_exact: bool,
        halo in 0_usize..100,
        results in 1_usize..4,
        memory in 1000_usize..1_000_000,
    ) {
        let grain = Grain { size: grain, is_exact };
        let shape = Shape {
            outputs: several(size, results).outputs,
            ..stencil(size, grain, halo, 10)
        };
        let Ok(plan) = choose(&shape, &[gpu(memory)], f64::INFINITY) else {
            let smallest = Cut([grain.block(1, size), 1, 1]);
            prop_assert!(Need::of(&shape, smallest).least > memory);
            return Ok(());
        };
        let tiles = shape.tiles(plan.cut);
        let mut end = 0;
        for tile in &tiles {
            prop_assert_eq!(tile.first[0], end);
            end += tile.size[0];
            let computed = shape.computed(tile);
            let is_whole = computed.size[0].is_multiple_of(grain.size);
            prop_assert!(is_whole || !is_exact || size < grain.size || tiles.len() == 1);
            prop_assert!(tiles.len() > 1 || !is_exact || size < grain.size || size.is_multiple_of(grain.size));
            let of_blocks = |operand: &Operand| {
                shape.whole_rect(operand, tile).elements() * 4 <= operand.block_bytes(plan.cut.0)
            };
            let outputs = shape.outputs.iter().map(|of| &of.operand);
            prop_assert!(shape.inputs.iter().chain(outputs).all(of_blocks));
        }
        prop_assert_eq!(end, size);
    }

    /// Tiles cover the result once, panels all that is summed over, and blocks fit a device.
    #[test]
    fn blocks_fit_and_cover_everything(
        sizes in [1_usize..3000, 1_usize..3000, 1_usize..3000],
        memory in 1000_usize..100_000_000,
        leaves in 1_usize..3,
    ) {
        let shape = product(sizes, leaves);
        let Ok(plan) = choose(&shape, &[gpu(memory)], 150e9) else {
            prop_assert!(Need::of(&shape, Cut([1; 3])).least > memory);
            return Ok(());
        };
        prop_assert!(Need::of(&shape, plan.cut).least <= memory);
        prop_assert!(plan.seconds.is_finite() && plan.seconds > 0.0);
        let tiles = shape.tiles(plan.cut);
        let area: usize = tiles.iter().map(|tile| tile.size[0] * tile.size[1]).sum();
        prop_assert_eq!(area, sizes[0] * sizes[1]);
        let [_, _, panels] = shape.counts(plan.cut);
        let depth: usize = (0..panels).map(|panel| shape.panel(plan.cut, panel)[1]).sum();
        prop_assert_eq!(depth, sizes[2]);
        for tile in &tiles {
            prop_assert!(tile.size[0] > 0 && tile.size[1] > 0);
        }
    }
}

/// A matrix of 16384 columns of 4 bytes has lines as far apart as [`LinkRates::FAR`].
#[test]
fn lines_of_the_first_panel_cost_time_where_they_are_far_apart() {
    let excess = |size: usize, depth: usize| {
        let begin = |line: f64| {
            let mut device = gpu(4 * GB);
            device.rates.line = line;
            let (shape, cut) = (product([size; 3], 2), Cut([8192, 4096, depth]));
            Cost::of(&shape, cut, &device, 51e12, 4.0).begin
        };
        begin(1e-7) - begin(0.0)
    };
    // The first panel has a line of the left operand for each row of the tile, and one of the right
    // operand for each position of the panel, of two matrices each.
    let expected = |depth: usize| 2.0 * (8192 + depth) as f64 * 1e-7;
    for depth in [1024, 2048] {
        assert!((excess(16384, depth) / expected(depth) - 1.0).abs() < 1e-6);
        let near = excess(8192, depth);
        assert!(near.abs() < 1e-12, "their lines are 32 KiB apart: {near}");
    }
}
