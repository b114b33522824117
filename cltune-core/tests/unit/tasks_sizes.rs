//! Blocks of products, sums and vectors on devices that are made up.

use super::*;
use crate::tasks::{Axis, Grain, LinkRates, Operand, Reach};
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

/// C = A B, where A and B are each computed from so many matrices.
fn product(sizes: [usize; 3], leaves: usize) -> Shape {
    Shape {
        sizes,
        grains: [Grain::ONE; 2],
        output: operand([Axis::I, Axis::J], 1),
        reads_output: false,
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
    for (size, leaves) in [(16384, 2), (32768, 1), (32768, 2)] {
        let shape = product([size; 3], leaves);
        let one = choose(&shape, &[gpu(2 * GB)], f64::INFINITY).unwrap();
        let two = choose(&shape, &[gpu(2 * GB); 2], f64::INFINITY).unwrap();
        let ideal = shape.total_work() / 51e12;
        assert!(one.seconds < ideal / 0.85, "{size}: {one:?}, {ideal}");
        assert!(
            two.seconds < one.seconds / 2.0 / 0.9,
            "{size}: {one:?} {two:?}"
        );
        assert!(Need::of(&shape, two.cut).overlapped <= 2 * GB);
    }
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

proptest! {
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
