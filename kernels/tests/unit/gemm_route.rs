//! Unit tests of `gemm::route`.

use super::super::real::Kernels;
use super::*;
use cltune::{bf16, f16};

fn measured(side: i64, micros: f64) -> MeasuredTime {
    MeasuredTime {
        micros,
        ..MeasuredTime::of([side; 3])
    }
}

fn route(speeds: &Speeds, size: Size, copies: Copies, arithmetic: Arithmetic) -> Route {
    let open = (None, Products::Three);
    speeds.choice(open, size, copies, arithmetic).route
}

fn cube(side: i32) -> Size {
    Size {
        m: side,
        n: side,
        k: side,
    }
}

/// Of a device with one compute unit of which nothing was measured.
fn nothing() -> Speeds {
    Speeds {
        direct: Vec::new(),
        pipelined: Vec::new(),
        panels: Vec::new(),
        batched: Vec::new(),
        batched_tensor: None,
        tensor: Vec::new(),
        warpgroup: Vec::new(),
        tensor_tf32: Vec::new(),
        warpgroup_tf32: Vec::new(),
        pipelined_parts: Vec::new(),
        tensor_parts: Vec::new(),
        to_lines: Vec::new(),
        to_panels: Vec::new(),
        is_cpu: false,
        compute_units: 1,
        on_tensor_cores: None,
        precise_from: 16,
    }
}

/// Copying a square operand.
fn copy(side: i64, micros: f64) -> MeasuredTime {
    MeasuredTime {
        micros,
        ..MeasuredTime::of([side, side, 1])
    }
}

const NO_COPIES: Copies = Copies {
    a_by_columns: false,
    pipelined: [false; 2],
    tensor: [false; 2],
    warpgroup: [false; 2],
    tensor_parts: [false; 2],
    unaligned: [false; 2],
    of_k: [true, false],
};

#[test]
fn the_least_time_with_copies_decides() {
    let speeds = Speeds {
        direct: vec![measured(100, 10.0)],
        pipelined: vec![measured(1000, 1000.0)],
        tensor: vec![measured(1000, 500.0)],
        warpgroup: vec![measured(1000, 450.0)],
        to_lines: vec![MeasuredTime {
            micros: 100.0,
            ..MeasuredTime::of([1000, 1000, 1])
        }],
        on_tensor_cores: Some(Route::Warpgroup),
        ..nothing()
    };
    let automatic = |side, copies| route(&speeds, cube(side), copies, Arithmetic::Automatic);
    assert_eq!(automatic(1000, NO_COPIES), Route::Warpgroup);
    let b_is_by_rows = Copies {
        warpgroup: [false, true],
        ..NO_COPIES
    };
    assert_eq!(automatic(1000, b_is_by_rows), Route::Tensor);
    let plain = route(&speeds, cube(1000), NO_COPIES, Arithmetic::Plain);
    assert_eq!(plain, Route::Pipelined);
    // At 20, far from all that was measured: direct takes 0.14 us, tensor 0.017 and copying
    // both operands 0.33.
    let copies = Copies {
        pipelined: [true; 2],
        tensor: [true; 2],
        warpgroup: [true; 2],
        tensor_parts: [true; 2],
        ..NO_COPIES
    };
    assert_eq!(automatic(20, copies), Route::Direct);
    assert_eq!(automatic(20, NO_COPIES), Route::Warpgroup);
    // Too short sums for tensor cores.
    assert_eq!(automatic(15, NO_COPIES), Route::Pipelined);
}

#[test]
fn an_operand_is_turned_where_the_kernel_gains_more_than_the_copy_takes() {
    let times = |side, of_k, micros| MeasuredTime {
        of_k: Some(of_k),
        ..measured(side, micros)
    };
    let (rows, columns) = ([true, false], [true, true]);
    let mut speeds = Speeds {
        tensor: vec![
            times(500, rows, 20.0),
            times(500, columns, 25.0),
            times(4000, rows, 2400.0),
            times(4000, columns, 2900.0),
        ],
        to_lines: vec![copy(500, 6.0), copy(4000, 70.0)],
        ..nothing()
    };
    let by_columns = Copies {
        of_k: columns,
        ..NO_COPIES
    };
    let lines = |speeds: &Speeds, side, copies| {
        let (tensor, size) = ((Some(Route::Tensor), Products::Three), cube(side));
        let choice = speeds.choice(tensor, size, copies, Arithmetic::Automatic);
        choice.of_k
    };
    let of_k = |speeds: &Speeds, side| lines(speeds, side, by_columns);
    assert_eq!(of_k(&speeds, 4000), rows);
    assert_eq!(of_k(&speeds, 500), columns);
    let way = speeds.fastest(cube(4000), by_columns, Arithmetic::Automatic);
    let micros = way.unwrap().micros;
    assert!((micros - 2470.0).abs() < 1e-9, "{micros}");
    // Operands that are copied anyway are so to whichever lines are faster.
    let copied = Copies {
        tensor: [false, true],
        ..by_columns
    };
    assert_eq!(lines(&speeds, 500, copied), rows);
    // Far from what was measured that is no reason any more.
    assert_eq!(lines(&speeds, 100, copied), columns);
    // Nor is it where nobody knows what a copy takes.
    let copies = std::mem::take(&mut speeds.to_lines);
    assert_eq!(of_k(&speeds, 4000), columns);
    speeds.to_lines = copies;
    // Where a layout was not measured, operands stay as they lie.
    speeds.tensor.retain(|time| time.of_k == Some(rows));
    assert_eq!(of_k(&speeds, 4000), columns);
}

#[test]
fn lines_that_begin_anywhere_are_copied_where_the_kernel_gains_more_than_that_takes() {
    let times = |side, is_aligned, micros| MeasuredTime {
        is_aligned: Some(is_aligned),
        ..measured(side, micros)
    };
    let mut speeds = Speeds {
        tensor: vec![
            times(500, true, 20.0),
            times(500, false, 30.0),
            times(4000, true, 2600.0),
            times(4000, false, 2900.0),
        ],
        to_lines: vec![copy(500, 6.0), copy(4000, 70.0)],
        ..nothing()
    };
    let anywhere = Copies {
        unaligned: [false, true],
        ..NO_COPIES
    };
    let fastest = |speeds: &Speeds, side, copies| {
        let way = speeds.fastest(cube(side), copies, Arithmetic::Automatic);
        let way = way.unwrap();
        (way.choice.aligns, way.micros)
    };
    assert_eq!(fastest(&speeds, 500, NO_COPIES), (false, 20.0));
    // A copy waits for a launch besides.
    assert_eq!(fastest(&speeds, 500, anywhere), (false, 30.0));
    assert_eq!(fastest(&speeds, 4000, anywhere), (true, 2670.0 + WAITING));
    // Where none were measured, those of others let expect the time.
    speeds.tensor.truncate(1);
    assert_eq!(fastest(&speeds, 500, anywhere), (false, 20.0));
}

#[test]
fn direct_copies_columns_of_a_on_cpus_for_each_column_of_tiles() {
    let in_tiles = |micros| MeasuredTime {
        tile: Some([64; 2]),
        ..measured(1024, micros)
    };
    let mut speeds = Speeds {
        direct: vec![in_tiles(10_000.0)],
        panels: vec![in_tiles(10_500.0)],
        to_panels: vec![copy(1024, 100.0)],
        is_cpu: true,
        compute_units: 2,
        ..nothing()
    };
    let by_columns = Copies {
        a_by_columns: true,
        ..NO_COPIES
    };
    let plain = |speeds: &Speeds, copies| route(speeds, cube(1024), copies, Arithmetic::Plain);
    assert_eq!(plain(&speeds, NO_COPIES), Route::Direct);
    // 16 copies of A, where panels need one of A and one of B.
    assert_eq!(plain(&speeds, by_columns), Route::Panels);
    speeds.is_cpu = false;
    assert_eq!(plain(&speeds, by_columns), Route::Direct);
}

/// Where B lies row after row.
#[test]
fn tf32_goes_by_times_of_its_own_kernel_and_copies_b_only_where_that_pays() {
    let times = |of_k, micros| MeasuredTime {
        of_k: Some(of_k),
        ..measured(1000, micros)
    };
    let (rows, columns) = ([true, false], [true, true]);
    let mut speeds = Speeds {
        warpgroup: vec![measured(1000, 450.0)],
        warpgroup_tf32: vec![times(rows, 120.0), times(columns, 100.0)],
        to_lines: vec![MeasuredTime {
            micros: 30.0,
            ..MeasuredTime::of([1000, 1000, 1])
        }],
        ..nothing()
    };
    let lines = |speeds: &Speeds, copies| {
        let tf32 = (Some(Route::Warpgroup), Products::One);
        let choice = speeds.choice(tf32, cube(1000), copies, Arithmetic::Automatic);
        choice.of_k
    };
    assert_eq!(lines(&speeds, NO_COPIES), rows);
    // Lines that do not begin at multiples of 16 bytes are copied anyway.
    let copied = Copies {
        warpgroup: [false, true],
        ..NO_COPIES
    };
    assert_eq!(lines(&speeds, copied), columns);
    speeds.warpgroup_tf32[0].micros = 140.0;
    assert_eq!(lines(&speeds, NO_COPIES), columns);
}

/// 132 compute units and 64 tiles at 512 x 512.
#[test]
fn sums_are_in_parts_where_there_are_few_tiles() {
    let size = |m, n, k| Size { m, n, k };
    let speeds = Speeds {
        tensor: vec![MeasuredTime {
            tile: Some([64; 2]),
            ..measured(1024, 50.0)
        }],
        tensor_parts: vec![MeasuredTime {
            tile: Some([64; 2]),
            parts: 4,
            micros: 60.0,
            ..MeasuredTime::of([512, 512, 4096])
        }],
        compute_units: 132,
        ..nothing()
    };
    let automatic = |size| route(&speeds, size, NO_COPIES, Arithmetic::Automatic);
    assert_eq!(automatic(size(512, 512, 4096)), Route::TensorParts);
    assert_eq!(automatic(size(300, 300, 5000)), Route::TensorParts);
    assert_eq!(automatic(size(2048, 2048, 2048)), Route::Tensor);
    let in_parts = |route, size| {
        let given = (Some(route), Products::Three);
        let choice = speeds.choice(given, size, NO_COPIES, Arithmetic::Automatic);
        choice.values.parts
    };
    let parts = |size| in_parts(Route::TensorParts, size);
    assert_eq!(parts(size(512, 512, 4096)), 4);
    // Two rounds, as tuned, of 25 tiles in 10 parts; of too short sums in fewer, and of many
    // tiles in no less than two.
    assert_eq!(parts(size(300, 300, 5000)), 10);
    assert_eq!(parts(size(300, 300, 600)), 4);
    assert_eq!(parts(size(4096, 4096, 4096)), 2);
    let pipelined = in_parts(Route::PipelinedParts, size(300, 300, 5000));
    assert_eq!(pipelined, 0);
    let plain = route(&speeds, size(512, 512, 4096), NO_COPIES, Arithmetic::Plain);
    assert_eq!(plain, Route::Pipelined);
}

/// Turing, two of Ampere, Ada, Hopper, and two of Blackwell, which do not have Hopper's
/// instructions. Single products of 16 bits have a kernel for those alone.
#[test]
fn tensor_cores_are_used_by_compute_capability_and_type() {
    let (warp, warpgroup) = (Some(Route::Tensor), Some(Route::Warpgroup));
    let expected = [
        // Another vendor's device.
        (0, [None; 4], [false; 2]),
        (75, [None; 4], [false; 2]),
        (80, [warp, warp, None, None], [true, false]),
        (86, [warp, warp, None, None], [true, false]),
        (89, [warp, warp, None, None], [true, false]),
        (90, [warpgroup, warp, warpgroup, warpgroup], [true; 2]),
        (100, [warp, warp, None, None], [true, false]),
        (120, [warp, warp, None, None], [true, false]),
    ];
    for (capability, routes, orders) in expected {
        let of_types = [
            on_tensor_cores::<f32>(capability),
            on_tensor_cores::<f64>(capability),
            on_tensor_cores::<f16>(capability),
            on_tensor_cores::<bf16>(capability),
        ];
        assert_eq!(of_types, routes, "{capability}");
        let taken = [Orders::Warp, Orders::Warpgroup].map(|it| it.are_taken_by(capability));
        assert_eq!(taken, orders, "{capability}");
        // Sums in parts.
        let is_in_parts = |orders: Option<Orders>| orders.unwrap().are_taken_by(capability);
        assert_eq!(is_in_parts(f32::ORDERS_OF_PARTS), capability == 90);
        assert_eq!(is_in_parts(f64::ORDERS_OF_PARTS), capability >= 80);
    }
    assert_eq!(f16::ORDERS_OF_PARTS.or(bf16::ORDERS_OF_PARTS), None);
}

#[test]
fn unknown_devices_go_by_type_and_size() {
    let mut speeds = Speeds {
        is_cpu: true,
        ..nothing()
    };
    let automatic =
        |speeds: &Speeds, side| route(speeds, cube(side), NO_COPIES, Arithmetic::Automatic);
    assert_eq!(automatic(&speeds, 50), Route::Direct);
    assert_eq!(automatic(&speeds, 500), Route::Panels);
    speeds.is_cpu = false;
    assert_eq!(automatic(&speeds, 500), Route::Pipelined);
    speeds.on_tensor_cores = Some(Route::Tensor);
    assert_eq!(automatic(&speeds, 500), Route::Tensor);
    let plain = route(&speeds, cube(500), NO_COPIES, Arithmetic::Plain);
    assert_eq!(plain, Route::Pipelined);
}

#[test]
fn batches_are_one_launch_where_a_product_takes_less_time_in_one() {
    let like = |count| BatchLike { count, width: 1 };
    let batch = |side, count, micros| MeasuredBatch {
        like: like(count),
        each: measured(side, micros),
    };
    let mut speeds = Speeds {
        direct: vec![measured(64, 7.0), measured(256, 16.0)],
        pipelined: vec![measured(1000, 60.0)],
        batched: vec![batch(16, 1000, 0.01), batch(128, 50, 0.2)],
        precise_from: 0,
        ..nothing()
    };
    let is_faster = |speeds: &Speeds, side| {
        let kind = BatchKind::Ordinary;
        speeds.is_faster_in_a_batch(cube(side), kind, NO_COPIES, Arithmetic::Automatic)
    };
    // Pipelined would take 0.0015 us at 16, if launches could be as short as that.
    assert!(is_faster(&speeds, 16) && is_faster(&speeds, 256));
    // 0.2 us for 128 are 95 for 1000, more with doubt.
    assert!(!is_faster(&speeds, 1000));
    assert_eq!(
        speeds.batches_like(cube(20), BatchKind::Ordinary),
        Some(like(1000))
    );
    assert_eq!(
        speeds.batches_like(cube(100), BatchKind::Ordinary),
        Some(like(50))
    );
    // By the size where nothing is known.
    speeds.batched = Vec::new();
    assert!(is_faster(&speeds, 128) && !is_faster(&speeds, 129));
    assert_eq!(speeds.batches_like(cube(20), BatchKind::Ordinary), None);
}

#[test]
fn batches_are_on_tensor_cores_where_that_is_faster_and_they_can_read_the_matrices() {
    let batch = |side, micros| MeasuredBatch {
        like: BatchLike {
            count: 100,
            width: 1,
        },
        each: measured(side, micros),
    };
    let mut speeds = Speeds {
        batched: vec![batch(16, 0.001), batch(128, 0.2)],
        batched_tensor: Some(vec![batch(16, 0.002), batch(128, 0.05)]),
        precise_from: 0,
        ..nothing()
    };
    let kind = |speeds: &Speeds, side| speeds.batch_kind(cube(side), Arithmetic::Automatic);
    assert_eq!(kind(&speeds, 16), BatchKind::Ordinary);
    assert_eq!(kind(&speeds, 128), BatchKind::Tensor);
    let empty = Size { k: 0, ..cube(128) };
    let of_empty = speeds.batch_kind(empty, Arithmetic::Automatic);
    assert_eq!(of_empty, BatchKind::Ordinary);
    let plain = speeds.batch_kind(cube(128), Arithmetic::Plain);
    assert_eq!(plain, BatchKind::Ordinary);
    // Half as many operations as at 64, and more than half of the memory.
    speeds.batched_tensor = Some(vec![batch(51, 0.005)]);
    speeds.batched = vec![batch(64, 0.008)];
    assert_eq!(kind(&speeds, 51), BatchKind::Tensor);
    // Smaller than what was measured: not faster.
    speeds.batched = vec![batch(16, 0.001), batch(128, 0.2)];
    speeds.batched_tensor = Some(vec![batch(64, 0.004)]);
    assert_eq!(kind(&speeds, 63), BatchKind::Tensor);
    assert_eq!(kind(&speeds, 24), BatchKind::Ordinary);
    // A product of 66 has four tiles of 64 x 64, and one of 96 x 96.
    let in_tiles = |side, micros, tile| {
        let batch = batch(side, micros);
        MeasuredBatch {
            each: MeasuredTime {
                tile: Some([tile; 2]),
                ..batch.each
            },
            ..batch
        }
    };
    speeds.batched = vec![in_tiles(64, 0.028, 64)];
    speeds.batched_tensor = Some(vec![in_tiles(66, 0.032, 96)]);
    assert_eq!(kind(&speeds, 66), BatchKind::Tensor);
    assert_eq!(kind(&speeds, 64), BatchKind::Ordinary);
    // By the size where nothing is known.
    speeds.batched_tensor = Some(Vec::new());
    assert_eq!(kind(&speeds, 31), BatchKind::Ordinary);
    assert_eq!(kind(&speeds, 32), BatchKind::Tensor);
    speeds.batched_tensor = None;
    assert_eq!(kind(&speeds, 128), BatchKind::Ordinary);
}

#[test]
fn several_values_of_a_kernel_are_worth_timing_and_the_most_promising_ways_come_first() {
    let by_tiles = |side, tile, micros| MeasuredTime {
        row: usize::try_from(side).unwrap(),
        tile: Some(tile),
        ..measured(side, micros)
    };
    let speeds = Speeds {
        direct: vec![measured(1024, 1000.0)],
        pipelined: vec![
            by_tiles(512, [64; 2], 80.0),
            by_tiles(1024, [128; 2], 200.0),
            by_tiles(2048, [128; 2], 1500.0),
            by_tiles(4096, [128; 2], 40_000.0),
        ],
        compute_units: 100,
        ..nothing()
    };
    let most = |most| {
        let choices = speeds.worth_timing(cube(1000), NO_COPIES, Arithmetic::Automatic, most);
        let ways = choices.into_iter().map(|it| (it.route, it.values.row));
        ways.collect::<Vec<_>>()
    };
    let pipelined = |row| (Route::Pipelined, Some(row));
    let all = [
        pipelined(1024),
        pipelined(2048),
        pipelined(512),
        (Route::Direct, Some(0)),
    ];
    assert_eq!(most(6), all);
    assert_eq!(most(2), all[..2]);
}

#[test]
fn where_nothing_was_measured_the_routes_of_the_kind_of_device_are_worth_timing() {
    let routes = |speeds: &Speeds, arithmetic| {
        let choices = speeds.worth_timing(cube(1000), NO_COPIES, arithmetic, 6);
        choices.iter().map(|it| it.route).collect::<Vec<_>>()
    };
    let cpu = Speeds {
        is_cpu: true,
        ..nothing()
    };
    let gpu = Speeds {
        on_tensor_cores: Some(Route::Tensor),
        ..nothing()
    };
    let (direct, tiled) = (Route::Direct, Route::Pipelined);
    assert_eq!(routes(&cpu, Arithmetic::Automatic), [direct, Route::Panels]);
    assert_eq!(
        routes(&gpu, Arithmetic::Automatic),
        [direct, tiled, Route::Tensor]
    );
    assert_eq!(routes(&gpu, Arithmetic::Plain), [direct, tiled]);
}
