//! A driver that crashes, hangs, refuses or corrupts in one of its calls: that costs the
//! configurations that make it do so, and nothing else.

use cltune_tests::faulty::{BEST, Session, fate};
use cltune_tests::is_left_to_full;

/// Tunes with faults of some configurations. Each has to fail as it should, with this in its
/// reason; the others have to succeed, and the best of them to be chosen.
#[track_caller]
fn costs_only(faults: &str, failures: &[(i64, &str, &str)]) {
    costs_only_within(&[], faults, failures);
}

/// The same with these arguments.
#[track_caller]
fn costs_only_within(arguments: &[&str], faults: &str, failures: &[(i64, &str, &str)]) {
    let session = Session::new(faults);
    let tuned = session.tune(arguments).expect_code(0).expect_stderr(&[]);
    for value in 0..=5 {
        let fate = fate(&tuned, &[value]);
        match failures.iter().find(|(failing, ..)| *failing == value) {
            None => assert_eq!(fate, "ok", "A = {value}: {tuned}"),
            Some((_, status, reason)) => assert!(
                fate.starts_with(&format!("{status}: ")) && fate.contains(reason),
                "A = {value} is not {status} for {reason}: {fate}\n{tuned}"
            ),
        }
    }
    assert_eq!(session.chosen(), BEST, "{tuned}");
    let finished = &tuned.messages("finished")[0];
    let counts = (&finished["evaluated"], &finished["failed"]);
    assert_eq!(counts, (&6.into(), &failures.len().into()), "{finished}");
}

#[test]
fn a_crash_in_the_compiler() {
    costs_only(
        "segv@clBuildProgram:A=1; abort@clBuildProgram:A=2; exit=0@clBuildProgram:A=3",
        &[
            (1, "crashed", "SIGSEGV"),
            (2, "crashed", "SIGABRT"),
            (3, "crashed", "exit status: 0"),
        ],
    );
}

#[test]
fn a_crash_in_a_launch() {
    costs_only(
        "segv@clEnqueueNDRangeKernel:A=1; abort@clWaitForEvents:A=2; segv@clFinish:A=3",
        &[
            (1, "crashed", "SIGSEGV"),
            (2, "crashed", "SIGABRT"),
            (3, "crashed", "SIGSEGV"),
        ],
    );
}

#[test]
fn an_error_of_the_driver() {
    if is_left_to_full() {
        return;
    }
    costs_only(
        "error=-6@clBuildProgram:A=1; error=-46@clCreateKernel:A=2; \
         error=-5@clEnqueueNDRangeKernel:A=3; error=-36@clEnqueueReadBuffer:A=5",
        &[
            (1, "build-failed", "CL_OUT_OF_HOST_MEMORY"),
            (2, "launch-failed", "CL_INVALID_KERNEL_NAME"),
            (3, "launch-failed", "CL_OUT_OF_RESOURCES"),
            (5, "launch-failed", "CL_INVALID_COMMAND_QUEUE"),
        ],
    );
}

#[test]
fn an_endless_build_and_an_endless_launch() {
    // Long enough for what is not endless, on a machine that runs other tests beside this one.
    costs_only_within(
        &["--time-limit", "10"],
        "hang@clBuildProgram:A=1; hang@clWaitForEvents:A=2",
        &[
            (1, "timed-out", "no answer within "),
            (2, "timed-out", "no answer within "),
        ],
    );
}

#[test]
fn a_wrong_result() {
    costs_only(
        "corrupt@clEnqueueReadBuffer:A=3",
        &[(3, "wrong-result", "y[128] is 257, the reference has 256")],
    );
}

#[test]
fn garbage_on_standard_output() {
    if is_left_to_full() {
        return;
    }
    // Lines that are none of the protocol's are passed over, also where they look like it: each
    // worker has a secret that neither drivers nor kernels know.
    costs_only(
        "print=garbage \u{1}@clEnqueueNDRangeKernel; print=half a line@clFinish; \
         print=\n@cltune {}\n@clBuildProgram:A=1;\
         print=\n@cltune  {\"Failed\":\"no\"}\n@clBuildProgram:A=2",
        &[],
    );
}

#[test]
fn a_crash_among_the_finalists() {
    if is_left_to_full() {
        return;
    }
    // What was measured is built again to be timed in turns with the default.
    costs_only("abort@clBuildProgram:A=4#2", &[]);
}
