//! Errors for what does not fit.

use crate::kernels::{counted, devices, scheduler, sum};
use cltune::schedule::{ScheduleError, Scheduler, SchedulerOptions};
use cltune::{Device, Queue};

#[track_caller]
fn says<T>(result: Result<T, ScheduleError>, parts: &[&str]) {
    let Err(error) = result else {
        panic!("this is no error");
    };
    let text = error.to_string();
    assert!(parts.iter().all(|part| text.contains(part)), "{text}");
}

#[test]
fn a_scheduler_without_devices() {
    let none: &[Device] = &[];
    says(
        Scheduler::new(none),
        &["at least one device", "Device::all"],
    );
}

#[test]
fn limits_of_zero_and_of_another_number() {
    let with = |options: SchedulerOptions| Scheduler::with(&devices(2), &options);
    let options = SchedulerOptions::new;
    says(
        with(options().device_memory(&[1 << 20, 0])),
        &["is 0 bytes", "set more"],
    );
    says(with(options().host_memory(0)), &["the host", "0 bytes"]);
    says(
        with(options().device_memory(&[1, 2, 3])),
        &["3 memory limits", "2 devices"],
    );
}

#[test]
fn a_block_that_is_larger_than_every_device() {
    let scheduler = scheduler(2, 8);
    let a = counted(&scheduler, 4, 4);
    let mut c = counted(&scheduler, 4, 4);
    scheduler.store(sum(&a, &a).unwrap(), &mut c).unwrap();
    says(scheduler.finish().map(drop), &["add", "12 bytes", "raise"]);
    says(c.values().map(drop), &["no values", "12 bytes"]);
    // The error was told.
    scheduler.finish().unwrap();
}

#[test]
fn the_hosts_limit_and_what_the_system_does_not_have() {
    let options = SchedulerOptions::new().host_memory(1000);
    let scheduler = Scheduler::with(&devices(1), &options).unwrap();
    let matrix = scheduler.matrix::<f32>(10, 20).unwrap();
    says(
        scheduler.matrix::<f32>(10, 10).map(drop),
        &["400 bytes more", "limit of 1000", "800 are used"],
    );
    drop(matrix);
    drop(scheduler.matrix::<f32>(10, 25).unwrap());
    let scheduler = Scheduler::new(&devices(1)).unwrap();
    says(
        scheduler.matrix::<f32>(1 << 23, 1 << 23).map(drop),
        &["no 281474976710656 bytes"],
    );
    says(
        scheduler.matrix::<f32>(usize::MAX, 2).map(drop),
        &["does not fit into the address space"],
    );
}

#[test]
fn matrices_without_elements_and_shapes_that_do_not_fit() {
    let scheduler = scheduler(1, 1 << 20);
    says(
        scheduler.matrix::<f32>(0, 3).map(drop),
        &["0 x 3", "no elements"],
    );
    says(scheduler.vector::<f32>(0).map(drop), &["0 x 1"]);
    let (a, b) = (counted(&scheduler, 4, 6), counted(&scheduler, 6, 4));
    says(
        sum(&a, &b).map(drop),
        &["add", "operand 2", "6 x 4", "4 x 6"],
    );
    says(
        sum(&a, b.transposed()).map(drop),
        &["operand 2", "another order"],
    );
    let mut c = scheduler.matrix::<f32>(5, 6).unwrap();
    says(
        scheduler.store(&a, &mut c),
        &["4 lines of 6", "5 lines of 6"],
    );
    let mut by_columns = scheduler.matrix_by_columns::<f32>(4, 6).unwrap();
    says(scheduler.store(&a, &mut by_columns), &["another order"]);
    says(
        a.expression().part(0..2, 3..7).map(drop),
        &["4 x 6", "at least 2 x 7"],
    );
    says(
        a.expression().part(2..2, 3..4).map(drop),
        &["0 x 1", "no elements"],
    );
}

#[test]
fn operands_of_another_scheduler() {
    let (one, other) = (scheduler(1, 1 << 20), scheduler(1, 1 << 20));
    let (a, b) = (counted(&one, 4, 4), counted(&other, 4, 4));
    let mut c = counted(&one, 4, 4);
    says(
        one.store(sum(&a, &b).unwrap(), &mut c),
        &["operand 2", "another scheduler"],
    );
    says(
        other.store(&b, &mut c),
        &["the result", "another scheduler"],
    );
    // A queue of the program's own has nothing to do with it.
    drop(Queue::for_device(&devices(1)[0]).unwrap());
    one.store(sum(&a, &a).unwrap(), &mut c).unwrap();
    one.finish().unwrap();
}

#[test]
fn a_matrix_whose_scheduler_is_gone() {
    let scheduler = scheduler(1, 1 << 20);
    let a = counted(&scheduler, 4, 4);
    drop(scheduler);
    assert_eq!(a.values().unwrap()[15], 15.0);
}
