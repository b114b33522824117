//! Devices that fail while operations larger than they are are computed. The example checks its
//! result, and ends with 1 where it is wrong.

use cltune_tests::faulty::Session;
use cltune_tests::{Output, is_full, tools};
use std::collections::BTreeMap;
use std::process::Command;

/// The paper's expression on two devices, which are one with two contexts, and far less memory than
/// it has operands.
fn computed(faults: &str, arguments: &[&str]) -> Output {
    let session = Session::new(faults);
    let mut command = Command::new(tools::larger_than_memory());
    command
        .args(["--devices", "0,0", "--size", "160", "--limit", "40KB"])
        .args(arguments);
    session.place(&mut command);
    Output::of(&mut command)
}

/// A chain with tunables of two results, of which one changes both in place, a product that is
/// added to what is there, and a result that is dropped, so often. What the program held of the
/// driver's objects when it ended: of each kind how many were made, and how many references are
/// left.
fn chain(faults: &str, rounds: usize) -> (Output, BTreeMap<String, [i64; 2]>) {
    let session = Session::new(faults);
    let mut command = Command::new(tools::larger_than_memory());
    command
        .args([
            "chain",
            "--devices",
            "0,0",
            "--size",
            "160",
            "--limit",
            "40KB",
        ])
        .args(["--rounds", &rounds.to_string()])
        .env("CLTUNE_OBJECTS", session.path("objects"));
    session.place(&mut command);
    let output = Output::of(&mut command);
    let text = std::fs::read_to_string(session.path("objects")).expect("the driver writes it");
    let objects = text.lines().map(|line| {
        let words: Vec<&str> = line.split(' ').collect();
        let count = |word: usize| words[word].parse().expect("a count is a number");
        (words[0].to_owned(), [count(1), count(2)])
    });
    (output, objects.collect())
}

#[track_caller]
fn others_do_it(faults: &str) {
    let computed = computed(faults, &[]).expect_code(0);
    assert!(computed.stdout.contains("lost: "), "{faults}: {computed}");
}

#[test]
fn the_tasks_of_a_device_that_fails_are_done_by_others() {
    let sound = computed("", &[]).expect_code(0);
    assert!(!sound.stdout.contains("lost: "), "{sound}");
    for faults in [
        // While rates are measured, and at work.
        "error=-5@clEnqueueWriteBuffer#2",
        "error=-36@clEnqueueNDRangeKernel#1",
        "error=-36@clEnqueueNDRangeKernel#40",
        "error=-5@clEnqueueReadBuffer#2",
        // Transfers and steps that end badly.
        "error=-14@clWaitForEvents#4",
        "error=-14@clWaitForEvents#60",
        "error=-36@clFinish#3",
    ] {
        others_do_it(faults);
    }
}

/// Wherever it fails, the result is right, or there is an error. At more places by
/// `scripts/test --full`.
#[test]
fn a_failure_anywhere_costs_no_result() {
    let places = if is_full() {
        &[1, 7, 19, 33, 52, 77][..]
    } else {
        &[33]
    };
    for call in [
        "clEnqueueNDRangeKernel",
        "clWaitForEvents",
        "clCreateBuffer",
        "clSetKernelArg",
    ] {
        for count in places {
            for code in [-5, -4] {
                let faults = format!("error={code}@{call}#{count}");
                let _ = computed(&faults, &[]).expect_code(0);
            }
        }
    }
}

#[test]
fn a_device_without_a_context_is_lost_from_the_beginning() {
    others_do_it("error=-6@clCreateContext#2");
}

#[test]
fn when_all_fail_the_error_says_how() {
    let failed = computed("unusable@clEnqueueNDRangeKernel#30", &[]).expect_code(1);
    let _ = failed.expect_stderr(&["no device is left", "CL_OUT_OF_RESOURCES"]);
}

/// C is read and overwritten tile by tile, once by a product and once together with another result.
/// A device that fails at a tile's way back has perhaps written a part of it.
#[test]
fn what_is_partly_overwritten_is_an_error_and_what_is_not_is_done_by_others() {
    const ERROR: &str = "cannot be done again by another device";
    let (mut repeated, mut overwritten) = (0, [0, 0]);
    let is_seen = |repeated, overwritten: [usize; 2]| repeated > 0 && !overwritten.contains(&0);
    // Which transfer is a tile's way back depends on the devices' times: what the first faults did
    // not meet is looked for in between.
    let every = (1..5).flat_map(|first| (first..60).step_by(4));
    let always = if is_full() { 15 } else { 6 };
    for (at, count) in every.enumerate() {
        if at >= always && is_seen(repeated, overwritten) {
            break;
        }
        for call in ["clEnqueueReadBuffer", "clEnqueueReadBufferRect"] {
            let (computed, _) = chain(&format!("error=-36@{call}#{count}"), 1);
            if computed.stderr.contains(ERROR) {
                let said = ["failed while it overwrote", "CL_INVALID_COMMAND_QUEUE"];
                let computed = computed.expect_code(1).expect_stderr(&said);
                let is_of_two = computed.stderr.contains("::turn` cannot");
                overwritten[usize::from(is_of_two)] += 1;
            } else {
                let computed = computed.expect_code(0);
                repeated += usize::from(computed.stdout.contains("lost: "));
            }
        }
    }
    assert!(is_seen(repeated, overwritten), "{repeated} {overwritten:?}");
}

/// Buffers, events, queues, programs and files of schedulers that are gone, of devices that were
/// lost, and of results that were dropped.
#[test]
fn nothing_is_held_when_a_scheduler_is_gone() {
    let every = [
        "",
        "error=-36@clEnqueueReadBuffer#9",
        "error=-14@clWaitForEvents#40",
        "error=-5@clEnqueueWriteBuffer#2",
        "error=-36@clEnqueueNDRangeKernel#9",
        "error=-36@clEnqueueReadBufferRect#1",
        "error=-4@clCreateBuffer#12",
        "error=-11@clBuildProgram#1",
        "error=-6@clCreateContext#2",
    ];
    // The others by `scripts/test --full`.
    let count = if is_full() { every.len() } else { 2 };
    for faults in &every[..count] {
        let mut files = Vec::new();
        for rounds in [1, 4] {
            let (computed, mut objects) = chain(faults, rounds);
            files.push(objects.remove("file"));
            for (kind, [made, left]) in objects {
                assert!(made > 0, "no {kind} was counted: {computed}");
                assert_eq!(left, 0, "{faults}: {kind}, of {made}: {computed}");
            }
        }
        assert_eq!(files[0], files[1], "{faults}");
    }
}
