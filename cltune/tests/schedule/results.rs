//! Operations with several results.

use crate::kernels::{Adding, counted, is_twice, scheduler, sum, vector};
use cltune::schedule::{Axis, Matrix, Operation, RunReport, ScheduleError, Scheduler};
use cltune::{Buffer, Device, Event, Queue, Result, fused, tunable};
use std::sync::Mutex;
use std::sync::atomic::Ordering;
use std::sync::mpsc::channel;
use std::time::Duration;

/// u ← a + b, v ← a − b.
#[fused(tune(n = 1024))]
pub(crate) fn both(
    queue: &Queue,
    n: u64,
    #[arg(len = n)] a: &Buffer<f32>,
    #[arg(len = n)] b: &Buffer<f32>,
    #[arg(out, len = n)] u: &mut Buffer<f32>,
    #[arg(out, len = n)] v: &mut Buffer<f32>,
) -> Result<Event> {
    u = a + b;
    v = a - b;
}

/// (x, y) ← (x + y, x − y).
#[fused(tune(n = 1024))]
pub(crate) fn turn(
    queue: &Queue,
    n: u64,
    #[arg(len = n)] x: &mut Buffer<f32>,
    #[arg(len = n)] y: &mut Buffer<f32>,
) -> Result<Event> {
    (x, y) = (x + y, x - y);
}

/// The sum of each line, and by how much each element is above the mean, times the length.
#[tunable(
    params(WG = [8]), global(n.next_multiple_of(WG)), local(WG), tune(n = 64, m = 8),
    split(n = WG),
)]
pub(crate) fn centred(
    queue: &Queue,
    n: u32,
    m: u32,
    #[arg(len = n * m, split(n))] x: &Buffer<i32>,
    #[arg(out, len = n, split(n))] sums: &mut Buffer<i64>,
    #[arg(out, len = n * m, split(n))] above: &mut Buffer<f32>,
) -> Result<Event> {
    "__kernel void centred(const uint n, const uint m, __global const int* x,
                           __global long* sums, __global float* above) {
        const uint i = get_global_id(0);
        if (i >= n) return;
        int sum = 0;
        for (uint k = 0; k < m; k++) sum += x[i * m + k];
        sums[i] = sum;
        for (uint k = 0; k < m; k++) above[i * m + k] = (float)((int)m * x[i * m + k] - sum);
    }"
}

/// `y` ← y + x and `z` ← 2 x, by work-groups that have to be full.
#[tunable(
    params(WG = [64, 24]), constraints(n % WG == 0), global(n), local(WG), tune(n = 960),
    split(n = WG),
)]
pub(crate) fn add_and_double(
    queue: &Queue,
    #[arg(host_only)] n: u32,
    #[arg(len = n, split(n))] x: &Buffer<i32>,
    #[arg(len = n, split(n))] y: &mut Buffer<i32>,
    #[arg(out, len = 2 * n, split(n))] z: &mut Buffer<i32>,
) -> Result<Event> {
    "__kernel void add_and_double(__global const int* x, __global int* y, __global int* z) {
        const uint i = get_global_id(0);
        y[i] += x[i];
        z[2 * i] = 2 * x[i];
        z[2 * i + 1] = -x[i];
    }"
}

/// u ← a + b, v ← a − b.
fn store_both(
    scheduler: &Scheduler,
    [a, b]: [&Matrix<f32>; 2],
    results: [&mut Matrix<f32>; 2],
) -> std::result::Result<(), ScheduleError> {
    let function = |queue: &Queue, n, [a, b]: [&Buffer<f32>; 2], [u, v]: [&mut Buffer<f32>; 2]| {
        both(queue, n as u64, a, b, u, v).map(drop)
    };
    scheduler.store_all("both", [a, b], function, results)
}

/// (x, y) ← (x + y, x − y).
fn update_both(
    scheduler: &Scheduler,
    matrices: [&mut Matrix<f32>; 2],
) -> std::result::Result<(), ScheduleError> {
    let none: [&Matrix<f32>; 0] = [];
    let function = |queue: &Queue, n, []: [&Buffer<f32>; 0], [x, y]: [&mut Buffer<f32>; 2]| {
        turn(queue, n as u64, x, y).map(drop)
    };
    scheduler.update("turn", none, function, matrices)
}

#[track_caller]
fn says<T>(result: std::result::Result<T, ScheduleError>, parts: &[&str]) {
    let Err(error) = result else {
        panic!("this is no error");
    };
    let text = error.to_string();
    assert!(parts.iter().all(|part| text.contains(part)), "{text}");
}

/// Every element is this multiple of its position.
#[track_caller]
fn is_times(factor: f32, matrix: &Matrix<f32>) {
    let values = matrix.values().expect("it was computed");
    let mut values = values.iter().enumerate();
    let wrong = values.find(|(at, value)| **value != factor * *at as f32);
    assert_eq!(wrong, None, "{factor}");
}

fn moved(report: &RunReport) -> [usize; 2] {
    let sum =
        |of: fn(&cltune::schedule::DeviceReport) -> usize| report.devices.iter().map(of).sum();
    [sum(|device| device.sent), sum(|device| device.fetched)]
}

#[test]
fn what_several_results_read_is_sent_once_for_all_of_them() {
    const LIMIT: usize = 40_000;
    let (rows, columns) = (150, 367);
    let bytes = rows * columns * size_of::<f32>();
    // One device, which nobody helps.
    let scheduler = scheduler(1, LIMIT);
    let (a, b) = (
        counted(&scheduler, rows, columns),
        counted(&scheduler, rows, columns),
    );
    let [mut u, mut v] = [0; 2].map(|_| scheduler.matrix(rows, columns).unwrap());
    store_both(&scheduler, [&a, &b], [&mut u, &mut v]).unwrap();
    let report = scheduler.finish().unwrap();
    is_times(2.0, &u);
    is_times(0.0, &v);
    assert_eq!(moved(&report), [2 * bytes, 2 * bytes], "{report}");
    assert!(report.devices[0].tasks > 1, "{report}");
    assert!(report.devices[0].peak <= LIMIT, "{report}");
    // Two operations are sent them again, but for what happens to be left.
    for result in [&mut u, &mut v] {
        scheduler.store(sum(&a, &b).unwrap(), result).unwrap();
    }
    let apart = scheduler.finish().unwrap();
    let [sent, fetched] = moved(&apart);
    assert!(sent > 3 * bytes && fetched == 2 * bytes, "{apart}");
    // What is changed in place is sent, and is sent back.
    update_both(&scheduler, [&mut u, &mut v]).unwrap();
    let report = scheduler.finish().unwrap();
    is_times(4.0, &u);
    is_times(0.0, &v);
    assert_eq!(moved(&report), [2 * bytes, 2 * bytes], "{report}");
}

#[test]
fn a_limit_that_one_tile_just_fits_is_enough() {
    for count in [1, 3] {
        // An element of each operand and of each result.
        let scheduler = scheduler(count, 4 * size_of::<f32>());
        let (a, b) = (counted(&scheduler, 1, 7), counted(&scheduler, 1, 7));
        let [mut u, mut v] = [0; 2].map(|_| scheduler.matrix(1, 7).unwrap());
        store_both(&scheduler, [&a, &b], [&mut u, &mut v]).unwrap();
        update_both(&scheduler, [&mut u, &mut v]).unwrap();
        let report = scheduler.finish().unwrap();
        is_twice(&u);
        is_twice(&v);
        assert!(
            report.devices.iter().all(|device| device.peak <= 16),
            "{report}"
        );
        let tasks: usize = report.devices.iter().map(|device| device.tasks).sum();
        assert!(tasks >= 7 + 4, "{report}");
    }
    let scheduler = scheduler(1, 15);
    let (a, b) = (counted(&scheduler, 1, 7), counted(&scheduler, 1, 7));
    let [mut u, mut v] = [0; 2].map(|_| scheduler.matrix(1, 7).unwrap());
    store_both(&scheduler, [&a, &b], [&mut u, &mut v]).unwrap();
    says(scheduler.finish(), &["both", "16 bytes", "raise"]);
    for result in [&u, &v] {
        says(result.values().map(drop), &["no values", "16 bytes"]);
    }
}

#[test]
fn results_have_the_lengths_and_types_that_their_shares_say() {
    for (n, m) in [(1009, 7), (3, 500), (1, 1)] {
        let scheduler = scheduler(2, 18_000);
        let x: Vec<i32> = (0..n * m)
            .map(|at| (at * 7919 % 1009) as i32 - 500)
            .collect();
        let mut lines = scheduler.matrix::<i32>(n, m).unwrap();
        lines.values_mut().copy_from_slice(&x);
        let mut sums = scheduler.vector::<i64>(n).unwrap();
        let mut above = scheduler.matrix::<f32>(n, m).unwrap();
        centred::enqueue(
            &scheduler, n as u32, m as u32, &lines, &mut sums, &mut above,
        )
        .unwrap();
        let report = scheduler.finish().unwrap();
        assert!(
            report.devices.iter().all(|of| of.peak <= 18_000),
            "{report}"
        );
        let (sums, above) = (sums.values().unwrap(), above.values().unwrap());
        for (at, x) in x.iter().enumerate() {
            let sum: i32 = (0..m)
                .map(|k| lines.values().unwrap()[at / m * m + k])
                .sum();
            assert_eq!(sums[at / m], i64::from(sum), "{n} {m} {at}");
            assert_eq!(above[at], (m as i32 * x - sum) as f32, "{n} {m} {at}");
        }
    }
}

/// The last tile is computed with positions before it, which are not written.
#[test]
fn of_several_results_one_is_read_once_also_where_work_groups_overlap() {
    for n in [9_600, 10_007] {
        let scheduler = scheduler(3, 16_000);
        let x: Vec<i32> = (0..n as i32).collect();
        let in_x = vector(&scheduler, &x);
        let mut y = vector(&scheduler, &vec![1; n]);
        let mut z = vector(&scheduler, &vec![0; 2 * n]);
        for _ in 0..3 {
            add_and_double::enqueue(&scheduler, n as u32, &in_x, &mut y, &mut z).unwrap();
        }
        scheduler.finish().unwrap();
        let (y, z) = (y.values().unwrap(), z.values().unwrap());
        let is_wrong =
            |i: &usize| (y[*i], z[2 * *i], z[2 * *i + 1]) != (3 * x[*i] + 1, 2 * x[*i], -x[*i]);
        assert_eq!((0..n).find(is_wrong), None, "{n}");
    }
}

/// Also those that are too slow to be given anything beside the others.
#[test]
fn every_device_computes_all_results_alone() {
    let (count, n) = (Device::all().unwrap().len().max(2), 10_007);
    let scheduler = scheduler(count, 40_000);
    let (a, zeros) = (counted(&scheduler, n, 1), scheduler.matrix(n, 1).unwrap());
    let in_x = vector(&scheduler, &(0..n as i32).collect::<Vec<_>>());
    for alone in 0..count {
        for device in 0..count {
            scheduler.set_resting(device, device != alone);
        }
        let [mut sum, mut difference] = [0; 2].map(|_| scheduler.matrix(n, 1).unwrap());
        store_both(&scheduler, [&a, &zeros], [&mut sum, &mut difference]).unwrap();
        update_both(&scheduler, [&mut sum, &mut difference]).unwrap();
        let mut added = vector(&scheduler, &vec![1; n]);
        let mut doubled = vector(&scheduler, &vec![0; 2 * n]);
        add_and_double::enqueue(&scheduler, n as u32, &in_x, &mut added, &mut doubled).unwrap();
        let report = scheduler.finish().unwrap();
        is_times(2.0, &sum);
        is_times(0.0, &difference);
        let (added, doubled) = (added.values().unwrap(), doubled.values().unwrap());
        let is_wrong = |i: &usize| (added[*i], doubled[2 * *i]) != (*i as i32 + 1, 2 * *i as i32);
        assert_eq!((0..n).find(is_wrong), None, "{report}");
        let tasks = report.devices.iter().map(|device| device.tasks > 0);
        assert!(
            tasks.eq((0..count).map(|device| device == alone)),
            "{report}"
        );
    }
}

#[test]
fn later_operations_read_each_result() {
    let scheduler = scheduler(3, 30_000);
    let (rows, columns) = (150, 67);
    let (mut a, mut b) = (
        counted(&scheduler, rows, columns),
        scheduler.matrix(rows, columns).unwrap(),
    );
    scheduler.store(sum(&a, &a).unwrap(), &mut b).unwrap();
    for _ in 0..2 {
        // (1, 2), (3, -1), (2, 4), (6, -2), (4, 8), (12, -4), (8, 16) times the positions.
        let [mut u, mut v] = [0; 2].map(|_| scheduler.matrix(rows, columns).unwrap());
        store_both(&scheduler, [&a, &b], [&mut u, &mut v]).unwrap();
        store_both(&scheduler, [&u, &v], [&mut a, &mut b]).unwrap();
        update_both(&scheduler, [&mut a, &mut b]).unwrap();
    }
    scheduler.finish().unwrap();
    is_times(8.0, &a);
    is_times(16.0, &b);
}

#[test]
fn an_operation_is_given_up_when_none_of_its_results_is_needed() {
    let scheduler = scheduler(1, 1 << 20);
    let bytes = 100 * 100 * size_of::<f32>();
    let a = counted(&scheduler, 100, 100);
    let matrix = || scheduler.matrix::<f32>(100, 100).unwrap();
    let (open, gate) = channel::<()>();
    let gate = Mutex::new(gate);
    // The first launch waits until the program has dropped results.
    let waiting = Adding::new("waiting add", move |_| {
        let _ = gate.lock().unwrap().recv();
        Ok(())
    });
    let [half, none, read] =
        ["half needed", "not needed", "read"].map(|name| Adding::new(name, |_| Ok(())));
    let mut c = matrix();
    waiting.enqueue(&scheduler, &a, &a, &mut c).unwrap();
    let results = || [matrix(), matrix()];
    let ([mut dropped, mut held], [mut unneeded, mut neither], [mut unread, mut between]) =
        (results(), results(), results());
    half.enqueue_both(&scheduler, &a, [&mut dropped, &mut held])
        .unwrap();
    none.enqueue_both(&scheduler, &a, [&mut unneeded, &mut neither])
        .unwrap();
    read.enqueue_both(&scheduler, &a, [&mut unread, &mut between])
        .unwrap();
    let mut last = matrix();
    scheduler.store(&between, &mut last).unwrap();
    drop((dropped, unneeded, neither, unread, between));
    drop(open);
    let report = scheduler.finish().unwrap();
    for matrix in [&c, &held, &last] {
        is_twice(matrix);
    }
    let launched = |of: &Adding| of.launched.load(Ordering::Relaxed);
    assert!(launched(&half) > 0 && launched(&read) > 0);
    assert_eq!(launched(&none), 0);
    // c, held, between and last: what was dropped and nobody reads stays where it is.
    assert_eq!(moved(&report)[1], 4 * bytes, "{report}");
}

#[test]
fn others_compute_all_results_of_a_device_that_refuses() {
    let scheduler = scheduler(3, 60_000);
    let a = counted(&scheduler, 300, 300);
    let count = std::sync::atomic::AtomicUsize::new(0);
    let fickle = Adding::new("fickle add", move |device| {
        let launches = count.fetch_add(1, Ordering::Relaxed);
        if device == 0 && launches > 8 {
            Err("no more".into())
        } else {
            Ok(())
        }
    });
    let [mut u, mut v] = [0; 2].map(|_| scheduler.matrix(300, 300).unwrap());
    fickle
        .enqueue_both(&scheduler, &a, [&mut u, &mut v])
        .unwrap();
    scheduler.finish().unwrap();
    is_twice(&u);
    is_twice(&v);
}

#[test]
fn what_all_refuse_leaves_no_result_with_values() {
    let scheduler = scheduler(2, 100_000);
    let a = counted(&scheduler, 20, 20);
    let refusing = Adding::new("refused add", |_| Err("never".into()));
    let [mut first, mut second, mut reader, mut apart] =
        [0; 4].map(|_| scheduler.matrix(20, 20).unwrap());
    refusing
        .enqueue_both(&scheduler, &a, [&mut first, &mut second])
        .unwrap();
    scheduler.store(&second, &mut reader).unwrap();
    scheduler.store(sum(&a, &a).unwrap(), &mut apart).unwrap();
    says(scheduler.finish(), &["refused add", "never"]);
    is_twice(&apart);
    for matrix in [&first, &second, &reader] {
        says(matrix.values().map(drop), &["no values", "never"]);
    }
}

#[test]
fn what_is_read_after_the_failure_has_no_values_until_the_program_gives_some() {
    let scheduler = scheduler(2, 100_000);
    let a = counted(&scheduler, 20, 20);
    let refusing = Adding::new("refused add", |_| Err("never".into()));
    let [mut first, mut second, mut reader] = [0; 3].map(|_| scheduler.matrix(20, 20).unwrap());
    refusing
        .enqueue_both(&scheduler, &a, [&mut first, &mut second])
        .unwrap();
    says(scheduler.finish(), &["refused add", "never"]);
    scheduler.store(&second, &mut reader).unwrap();
    says(scheduler.finish(), &["no values", "never"]);
    says(reader.values().map(drop), &["no values", "never"]);

    let doubled: Vec<f32> = a
        .values()
        .unwrap()
        .iter()
        .map(|value| value * 2.0)
        .collect();
    second.values_mut().copy_from_slice(&doubled);
    scheduler.store(&second, &mut reader).unwrap();
    let _ = scheduler.finish().unwrap();
    is_twice(&second);
    is_twice(&reader);
}

#[test]
fn all_results_of_an_overdue_task_are_computed_by_another_device() {
    let scheduler = scheduler(2, 60_000);
    let a = counted(&scheduler, 300, 300);
    let launches = std::sync::atomic::AtomicUsize::new(0);
    let lame = Adding::new("lame add", move |device| {
        // Only after it was measured, so that it is given tasks.
        let is_late = launches.fetch_add(1, Ordering::Relaxed) > 16;
        if device == 0 && is_late {
            std::thread::sleep(Duration::from_millis(1500));
        } else {
            std::thread::sleep(Duration::from_millis(3));
        }
        Ok(())
    });
    let [mut u, mut v] = [0; 2].map(|_| scheduler.matrix(300, 300).unwrap());
    lame.enqueue_both(&scheduler, &a, [&mut u, &mut v]).unwrap();
    let report = scheduler.finish().unwrap();
    is_twice(&u);
    is_twice(&v);
    let given_up: usize = report.devices.iter().map(|device| device.given_up).sum();
    assert!(given_up > 0, "{report}");
}

#[test]
fn results_that_do_not_fit_are_errors() {
    let (one, other) = (scheduler(1, 1 << 20), scheduler(1, 1 << 20));
    let (a, b) = (counted(&one, 4, 6), counted(&one, 4, 6));
    let (mut first, mut second) = (
        one.matrix::<f32>(4, 6).unwrap(),
        one.matrix::<f32>(6, 4).unwrap(),
    );
    says(
        store_both(&one, [&a, &b], [&mut first, &mut second]),
        &["both", "result 2", "6 lines of 4", "4 lines of 6"],
    );
    let mut by_columns = one.matrix_by_columns::<f32>(4, 6).unwrap();
    says(
        store_both(&one, [&a, &b], [&mut first, &mut by_columns]),
        &["both", "result 2", "another order"],
    );
    let mut foreign = other.matrix::<f32>(4, 6).unwrap();
    says(
        store_both(&one, [&a, &b], [&mut first, &mut foreign]),
        &["both", "result 2", "another scheduler"],
    );
    let nothing = |_: &Queue, _, _: [&Buffer<f32>; 1], []: [&mut Buffer<f32>; 0]| Ok(());
    says(
        one.store_all("nothing", [&a], nothing, []),
        &["nothing", "no result"],
    );
    let adding = Adding::new("add", |_| Ok(()));
    let (all, lines) = ([Axis::I, Axis::J], [Axis::One, Axis::I]);
    let operation = |second| {
        let operation = Operation::new(adding.clone(), [4, 6, 1], all).output(second);
        operation.input(&a, all).input(&b, all)
    };
    says(
        one.enqueue(operation(all), &mut first),
        &["2 results", "1 matrices"],
    );
    // Each element of a line's result would belong to several tiles.
    let mut line = one.vector::<f32>(4).unwrap();
    says(
        one.enqueue(operation(lines), [&mut first, &mut line]),
        &["result 2", "One x I", "I and J"],
    );
    let lines_of_x = one.matrix::<i32>(8, 6).unwrap();
    let mut sums = one.vector::<i64>(8).unwrap();
    // Lines of 4 are no parts of what a position has, which are 6 elements.
    let mut above = one.matrix::<f32>(12, 4).unwrap();
    says(
        centred::enqueue(&one, 8, 6, &lines_of_x, &mut sums, &mut above),
        &["centred", "`above`", "12 lines of 4", "a divisor of 6"],
    );
    assert_eq!(one.finish().unwrap().work(), 0.0);
}
