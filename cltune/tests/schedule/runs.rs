//! The work of each device, operations that are given up, reports.

use crate::kernels::{Adding, counted, devices, increase, is_twice, scheduler, sum};
use cltune::schedule::{Scheduler, SchedulerOptions};
use serde_json::Value;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex};

#[test]
fn what_is_larger_than_every_limit_is_computed_within_them() {
    for (rows, columns) in [(1, 100_003), (997, 101), (100_003, 1), (1, 1)] {
        let scheduler = scheduler(2, 40_000);
        let a = counted(&scheduler, rows, columns);
        let mut c = scheduler.matrix(rows, columns).unwrap();
        scheduler.store(sum(&a, &a).unwrap(), &mut c).unwrap();
        let report = scheduler.finish().unwrap();
        is_twice(&c);
        assert!(
            report.devices.iter().all(|device| device.peak <= 40_000),
            "{report}"
        );
        let work = (rows * columns) as f64;
        assert!((report.work() - work).abs() < 1e-6 * work, "{report}");
    }
}

#[test]
fn a_chain_is_computed_in_order_and_in_place() {
    let scheduler = scheduler(3, 30_000);
    let a = counted(&scheduler, 150, 67);
    let mut c = scheduler.matrix::<f32>(150, 67).unwrap();
    scheduler.store(&a, &mut c).unwrap();
    for _ in 0..3 {
        let mut d = scheduler.matrix::<f32>(150, 67).unwrap();
        scheduler.store(sum(&c, &a).unwrap(), &mut d).unwrap();
        let more = scheduler.update(
            "increase",
            [&d],
            |queue, n, [d], [c]| increase(queue, n as u64, d, c).map(drop),
            [&mut c],
        );
        more.unwrap();
    }
    scheduler.finish().unwrap();
    // c <- 2 c + a, three times.
    let values = c.values().unwrap();
    assert!(
        values
            .iter()
            .enumerate()
            .all(|(at, value)| *value == 15.0 * at as f32)
    );
}

#[test]
fn parts_and_transposes_of_matrices_are_operands() {
    let scheduler = scheduler(2, 20_000);
    let a = counted(&scheduler, 90, 70);
    let mut c = scheduler.matrix::<f32>(40, 30).unwrap();
    let part = |from: usize| a.expression().part(from..from + 40, 20..50).unwrap();
    scheduler
        .store(sum(part(0), part(50)).unwrap(), &mut c)
        .unwrap();
    let mut by_columns = scheduler.matrix_by_columns::<f32>(70, 90).unwrap();
    scheduler.store(a.transposed(), &mut by_columns).unwrap();
    scheduler.finish().unwrap();
    let values = c.values().unwrap();
    for (row, column) in [(0, 0), (39, 29), (17, 3)] {
        let at = |row: usize| (row * 70 + 20 + column) as f32;
        assert_eq!(values[row * 30 + column], at(row) + at(row + 50));
    }
    // The same elements in the same order.
    assert_eq!(*by_columns.values().unwrap(), *a.values().unwrap());
}

#[test]
fn a_result_that_nobody_needs_is_not_computed() {
    let scheduler = scheduler(1, 1 << 20);
    let a = counted(&scheduler, 100, 100);
    let (open, gate) = channel::<()>();
    let gate = Mutex::new(gate);
    // The first launch waits until the program has dropped the second result.
    let first = Adding::new("waiting add", move |_| {
        let _ = gate.lock().unwrap().recv();
        Ok(())
    });
    let second = Adding::new("unneeded add", |_| Ok(()));
    let third = Adding::new("third add", |_| Ok(()));
    let mut c = scheduler.matrix(100, 100).unwrap();
    first.enqueue(&scheduler, &a, &a, &mut c).unwrap();
    let mut dropped = scheduler.matrix(100, 100).unwrap();
    second.enqueue(&scheduler, &a, &a, &mut dropped).unwrap();
    // What is dropped, but read by what is needed, is computed.
    let mut between = scheduler.matrix(100, 100).unwrap();
    third.enqueue(&scheduler, &a, &a, &mut between).unwrap();
    let mut read = scheduler.matrix(100, 100).unwrap();
    scheduler.store(&between, &mut read).unwrap();
    drop((dropped, between));
    drop(open);
    scheduler.finish().unwrap();
    is_twice(&c);
    is_twice(&read);
    assert_eq!(second.launched.load(Ordering::Relaxed), 0);
    assert!(third.launched.load(Ordering::Relaxed) > 0);
}

#[test]
fn a_scheduler_that_is_dropped_gives_up_what_it_has_not_done() {
    let scheduler = scheduler(2, 1 << 20);
    let a = counted(&scheduler, 100, 100);
    let mut c = scheduler.matrix(100, 100).unwrap();
    for _ in 0..50 {
        scheduler.store(sum(&a, &a).unwrap(), &mut c).unwrap();
    }
    drop(scheduler);
    let told = c.values().map(drop);
    if let Err(error) = told {
        assert!(
            error.to_string().contains("call `finish` before"),
            "{error}"
        );
    }
}

#[test]
fn independent_operations_are_computed_by_different_devices() {
    let scheduler = scheduler(2, 1 << 24);
    let a = counted(&scheduler, 64, 64);
    // A launch lasts until both devices are in one, or one of them has given up waiting.
    let meeting = Arc::new((Mutex::new(0), std::sync::Condvar::new()));
    let meet = Arc::new(AtomicBool::new(false));
    let (both, is_met) = (Arc::clone(&meeting), Arc::clone(&meet));
    let meets = Adding::new("meeting add", move |_| {
        if !is_met.load(Ordering::Relaxed) {
            return Ok(());
        }
        let (count, changed) = &*both;
        let mut count = count.lock().unwrap();
        *count += 1;
        changed.notify_all();
        let timeout = std::time::Duration::from_secs(20);
        let waited = changed.wait_timeout_while(count, timeout, |count| *count < 2);
        assert!(!waited.unwrap().1.timed_out(), "nobody else computes");
        Ok(())
    });
    let [mut c, mut d] = [0; 2].map(|_| scheduler.matrix(64, 64).unwrap());
    // Each device has probed the kernel before it meets the other one.
    for alone in [0, 1] {
        scheduler.set_resting(alone, false);
        scheduler.set_resting(1 - alone, true);
        meets.enqueue(&scheduler, &a, &a, &mut c).unwrap();
        scheduler.finish().unwrap();
    }
    scheduler.set_resting(0, false);
    meet.store(true, Ordering::Relaxed);
    meets.enqueue(&scheduler, &a, &a, &mut c).unwrap();
    meets.enqueue(&scheduler, &a, &a, &mut d).unwrap();
    let report = scheduler.finish().unwrap();
    is_twice(&c);
    is_twice(&d);
    // A launch that waits is overdue, and may be done by the other one as well.
    let has_had_some = |tasks: usize, given_up: usize| tasks + given_up > 0;
    let mut devices = report.devices.iter();
    assert!(
        devices.all(|device| has_had_some(device.tasks, device.given_up)),
        "{report}"
    );
}

#[test]
fn a_device_that_rests_has_no_tasks() {
    let scheduler = scheduler(2, 20_000);
    let a = counted(&scheduler, 200, 200);
    let mut c = scheduler.matrix(200, 200).unwrap();
    for resting in [0, 1] {
        scheduler.set_resting(resting, true);
        scheduler.set_resting(1 - resting, false);
        scheduler.store(sum(&a, &a).unwrap(), &mut c).unwrap();
        let report = scheduler.finish().unwrap();
        assert_eq!(report.devices[resting].tasks, 0, "{report}");
        is_twice(&c);
    }
}

#[test]
fn a_timeline_has_every_transfer_and_launch() {
    let options = SchedulerOptions::new().device_memory(&[100_000]).traced();
    let scheduler = Scheduler::with(&devices(2), &options).unwrap();
    let a = counted(&scheduler, 300, 300);
    let mut c = scheduler.matrix(300, 300).unwrap();
    scheduler.store(sum(&a, &a).unwrap(), &mut c).unwrap();
    let report = scheduler.finish().unwrap();
    let events: Vec<Value> = serde_json::from_str(&report.timeline()).unwrap();
    let kernels = |category: &str| {
        let of = events.iter().filter(|event| event["cat"] == category);
        of.map(|event| event["dur"].as_f64().unwrap())
            .collect::<Vec<_>>()
    };
    let tasks: usize = report.devices.iter().map(|device| device.tasks).sum();
    assert!(tasks > 1, "{report}");
    assert_eq!(kernels("to the host").len(), tasks);
    assert!(kernels("kernels").len() >= tasks);
    assert!(!kernels("to the device").is_empty());
    assert!(
        events
            .iter()
            .all(|event| event["dur"].as_f64().is_none_or(|of| of >= 0.0))
    );
    assert!(report.to_string().contains("tasks"), "{report}");
    assert!(report.devices.iter().all(|device| device.busy.is_some()));
}

#[test]
fn progress_reaches_all() {
    let scheduler = scheduler(1, 1 << 20);
    assert_eq!(scheduler.progress().part(), 1.0);
    let a = counted(&scheduler, 100, 100);
    let mut c = scheduler.matrix(100, 100).unwrap();
    scheduler.store(sum(&a, &a).unwrap(), &mut c).unwrap();
    drop(c.values().unwrap());
    assert_eq!(scheduler.progress().part(), 1.0);
    assert_eq!(scheduler.progress().all, 10_000.0);
    // The parts of seven tiles are no numbers of f64.
    scheduler.finish().unwrap();
    let scheduler = self::scheduler(1, 40_000);
    let a = counted(&scheduler, 7, 1001);
    let mut c = scheduler.matrix(7, 1001).unwrap();
    for _ in 0..5 {
        scheduler.store(sum(&a, &a).unwrap(), &mut c).unwrap();
    }
    drop(c.values().unwrap());
    assert_eq!(scheduler.progress().part(), 1.0);
    scheduler.finish().unwrap();
    assert_eq!(scheduler.progress().all, 0.0);
}
