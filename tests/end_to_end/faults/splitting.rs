//! Devices that fail while several compute one problem together.

use cltune_tests::faulty::Session;
use cltune_tests::{Output, tools};
use std::process::Command;

/// A convolution on three devices, which are one with three contexts; it checks its result.
fn computed(faults: &str, arguments: &[&str]) -> Output {
    computed_in("pageable", faults, arguments)
}

/// The same with what is computed in this memory.
fn computed_in(memory: &str, faults: &str, arguments: &[&str]) -> Output {
    let session = Session::new(faults);
    let mut command = Command::new(tools::several_devices());
    command
        .args(["--once", "--devices", "0,0,0", "--memory", memory])
        .args(arguments);
    session.place(&mut command);
    Output::of(&mut command)
}

/// The result is right, and a device has dropped out.
fn others_do_it_again(faults: &str, computed: Output) {
    let computed = computed.expect_code(0);
    let is_said = computed.stdout.contains("dropped out");
    assert!(is_said, "{faults}: {computed}");
}

#[test]
fn a_share_that_fails_is_done_again_by_others() {
    let sound = computed("", &[]).expect_code(0);
    assert!(!sound.stdout.contains("dropped out"), "{sound}");
    for faults in [
        // In the first round.
        "error=-2@clEnqueueNDRangeKernel#1",
        "error=-2@clEnqueueNDRangeKernel#3",
        // With its results half read, and its arguments half written.
        "error=-36@clEnqueueReadBuffer#2",
        "error=-5@clEnqueueWriteBuffer#6",
        // Two of three.
        "error=-2@clEnqueueNDRangeKernel#2; error=-5@clEnqueueReadBuffer#4",
    ] {
        others_do_it_again(faults, computed(faults, &[]));
    }
    // Later: how many rounds there are depends on the number of compute units.
    for faults in [
        "error=-2@clEnqueueNDRangeKernel#6",
        "error=-2@clEnqueueNDRangeKernel#8",
    ] {
        let _ = computed(faults, &[]).expect_code(0);
    }
    let columns = ["multiplication", "--along", "columns", "-n", "128"];
    let computed = computed("error=-2@clEnqueueNDRangeKernel#2", &columns).expect_code(0);
    assert!(computed.stdout.contains("dropped out"), "{computed}");
}

/// Through pinned memory, by several threads for each device.
#[test]
fn a_share_that_fails_on_its_way_through_pinned_memory_is_done_again_by_others() {
    let pinned = ["--transfers", "pinned"];
    let sound = computed("", &pinned).expect_code(0);
    assert!(!sound.stdout.contains("dropped out"), "{sound}");
    for faults in [
        "error=-5@clEnqueueWriteBuffer#2",
        "error=-2@clEnqueueNDRangeKernel#2",
        "error=-36@clEnqueueReadBuffer#3",
        // A transfer that ends badly.
        "error=-14@clWaitForEvents#1",
        "error=-14@clWaitForEvents#8",
        "error=-36@clFinish#2",
        // Two of three.
        "error=-5@clEnqueueWriteBuffer#1; error=-14@clWaitForEvents#9",
    ] {
        others_do_it_again(faults, computed(faults, &pinned));
    }
    // Where there is no pinned memory, transfers are as they are without it. A device makes 3
    // buffers and 16 chunks, so the 50th of three devices is a chunk, whichever begins first.
    let computed = computed("error=-4@clCreateBuffer#50", &pinned).expect_code(0);
    assert!(!computed.stdout.contains("dropped out"), "{computed}");
}

/// From and to pinned memory of the program's own, beside launches.
#[test]
fn a_share_that_fails_with_pinned_memory_is_done_again_by_others() {
    let pinned = ["--transfers", "pinned"];
    let computed = |faults: &str| computed_in("pinned", faults, &pinned);
    let sound = computed("").expect_code(0);
    assert!(!sound.stdout.contains("dropped out"), "{sound}");
    for faults in [
        "error=-5@clEnqueueWriteBuffer#2",
        "error=-2@clEnqueueNDRangeKernel#2",
        "error=-36@clEnqueueReadBuffer#2",
        // A transfer that ends badly, or of which nobody knows whether it has ended.
        "error=-14@clWaitForEvents#1",
        "error=-14@clWaitForEvents#5",
        "error=-14@clWaitForEvents#2; error=-5@clGetEventInfo",
        // Two of three.
        "error=-5@clEnqueueWriteBuffer#1; error=-36@clEnqueueReadBuffer#2",
    ] {
        others_do_it_again(faults, computed(faults));
    }
    // Where there is none, the program says so.
    let failed = computed("error=-4@clCreateBuffer#1").expect_code(1);
    let _ = failed.expect_stderr(&["pinned memory", "CL_"]);
}

/// What a device keeps of earlier shares, it gives up where memory is short, and has its share
/// again.
#[test]
fn a_share_for_which_kept_inputs_leave_no_memory_is_done_again_where_it_was() {
    // The first round has six writes: a part and the mask for each of three devices, of which the
    // parts are kept.
    for faults in [
        "error=-4@clEnqueueWriteBuffer#8",
        "error=-5@clEnqueueWriteBuffer#7; error=-4@clEnqueueWriteBuffer#9",
        // Three buffers are the program's own, nine the first round's.
        "error=-4@clCreateBuffer#13; error=-4@clCreateBuffer#14",
    ] {
        let computed = computed_in("pinned", faults, &[]).expect_code(0);
        assert!(
            !computed.stdout.contains("dropped out"),
            "{faults}: {computed}"
        );
    }
    // There is nothing to give up yet.
    let faults = "error=-4@clEnqueueWriteBuffer#3";
    others_do_it_again(faults, computed_in("pinned", faults, &[]));
}

#[test]
fn a_configuration_that_does_not_build_on_a_device_is_followed_by_another() {
    let computed = computed("error=-11@clBuildProgram#2", &[]).expect_code(0);
    assert!(!computed.stdout.contains("dropped out"), "{computed}");
    // Of the three devices two have the configuration of the whole problem.
    let with_it = |line: &&str| line.ends_with("WG = 64, WPT = 1");
    let shares: Vec<&str> = computed
        .stdout
        .lines()
        .filter(|line| line.contains(" %  "))
        .collect();
    let others = shares.iter().filter(|line| !with_it(line)).count();
    assert!(others > 0 && others < shares.len(), "{computed}");
}

#[test]
fn a_device_without_a_context_is_lost_from_the_beginning() {
    let computed = computed("error=-6@clCreateContext#2", &[]).expect_code(0);
    assert!(computed.stdout.contains("lost: 0: "), "{computed}");
}

#[test]
fn when_all_fail_the_error_says_how() {
    for faults in [
        "unusable@clEnqueueNDRangeKernel#2",
        "error=-4@clCreateBuffer",
    ] {
        let failed = computed(faults, &[]).expect_code(1);
        let _ = failed.expect_stderr(&["no device of the set is left", "CL_"]);
    }
}
