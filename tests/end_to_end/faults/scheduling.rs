//! Devices that fail while operations larger than they are are computed. The example checks its
//! result, and ends with 1 where it is wrong.

use cltune_tests::faulty::Session;
use cltune_tests::{Output, tools};
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

/// Wherever it fails, the result is right, or there is an error.
#[test]
fn a_failure_anywhere_costs_no_result() {
    for call in [
        "clEnqueueNDRangeKernel",
        "clWaitForEvents",
        "clCreateBuffer",
        "clSetKernelArg",
    ] {
        for count in [1, 7, 19, 33, 52, 77] {
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
