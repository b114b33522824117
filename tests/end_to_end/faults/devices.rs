//! Devices that are lost, lie about their limits, leak, or do nothing right.

use cltune_tests::faulty::{BEST, MANY_BEST, Session, fate};
use cltune_tests::{Output, is_left_to_full};
use serde_json::Value;

#[test]
fn a_device_that_is_unusable_after_a_failure() {
    // Until the process ends nothing works any more: NVIDIA's after an access to an invalid
    // address.
    let session = Session::new("unusable@clWaitForEvents:A=2");
    let tuned = session.tune(&[]).expect_code(0);
    for value in [0, 1, 3, 4, 5] {
        assert_eq!(fate(&tuned, &[value]), "ok", "{tuned}");
    }
    let failed = fate(&tuned, &[2]);
    assert!(
        failed.starts_with("launch-failed: ") && failed.contains("CL_OUT_OF_RESOURCES"),
        "{failed}"
    );
    assert_eq!(session.chosen(), BEST);
}

#[test]
fn limits_that_are_lower_than_the_truth() {
    let session =
        Session::new("answer=64@CL_DEVICE_LOCAL_MEM_SIZE; answer=16@CL_DEVICE_MAX_WORK_GROUP_SIZE");
    let tuned = session.tune(&["--kernel", "greedy"]).expect_code(0);
    // More than the device says to have is not tried.
    assert_eq!(tuned.messages("space")[0]["valid"], 2, "{tuned}");
    assert_eq!(fate(&tuned, &[16, 4]), "ok", "{tuned}");
    let refused = fate(&tuned, &[16_777_216, 4]);
    assert!(
        refused.contains("67108864 bytes of local memory, the device has 64"),
        "{refused}"
    );

    let session = Session::new("answer=0@CL_DEVICE_MAX_WORK_GROUP_SIZE");
    let tuned = session.tune(&["--kernel", "greedy"]).expect_code(1);
    let _ = tuned.expect_stderr(&["no configuration is valid", "max_work_group_size"]);
}

#[test]
fn limits_that_are_higher_than_the_truth() {
    let session = Session::new(
        "answer=1099511627776@CL_DEVICE_LOCAL_MEM_SIZE; \
         answer=1048576@CL_DEVICE_MAX_WORK_GROUP_SIZE; answer=1048576@CL_KERNEL_WORK_GROUP_SIZE",
    );
    let tuned = session.tune(&["--kernel", "greedy"]).expect_code(0);
    assert_eq!(tuned.messages("space")[0]["valid"], 4, "{tuned}");
    assert_eq!(fate(&tuned, &[16, 4]), "ok", "{tuned}");
    let failed = fate(&tuned, &[16, 128]);
    assert!(failed.starts_with("launch-failed: "), "{failed}");
    // Where the device says to have so much local memory, PoCL ends the process.
    for values in [[16_777_216, 4], [16_777_216, 128]] {
        let failed = fate(&tuned, &values);
        assert_ne!(failed, "ok", "{tuned}");
    }
    assert_eq!(session.chosen(), 16);
}

#[test]
fn a_device_that_is_lost() {
    // From then on no process can use it.
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mark = folder.path().join("lost");
    let session = Session::new(&format!("lost={}@clWaitForEvents:A=2", mark.display()));
    let stopped = session.tune(&[]).expect_code(1);
    let stopped = stopped.expect_stderr(&["what it found is kept", "CL_DEVICE_NOT_AVAILABLE"]);
    // Two were measured, once each: which was faster depends on what else the machine does.
    assert_eq!(stopped.messages("configuration").len(), 2, "{stopped}");
    assert_eq!(
        stopped.messages("finished")[0]["values"][0],
        session.chosen(),
        "{stopped}"
    );
    // Once it works again, the rest follows.
    std::fs::remove_file(&mark).expect("the device was lost");
    let session = session.without_faults();
    let resumed = session.tune(&["--resume"]).expect_code(0);
    assert!(resumed.messages("configuration").len() <= 4, "{resumed}");
    assert_eq!(session.chosen(), BEST);
}

#[test]
fn a_device_on_which_only_the_default_works() {
    if is_left_to_full() {
        return;
    }
    let crash = |value: i64| format!("abort@clEnqueueReadBuffer:A={value}");
    let session = Session::new(&[1, 2, 3, 4, 5].map(crash).join(";"));
    let tuned = session.tune(&[]).expect_code(0);
    // So many failures in a row are a reason to look again, and the device is not to blame.
    for value in 1..=5 {
        let fate = fate(&tuned, &[value]);
        assert!(fate.starts_with("crashed: "), "{fate}");
    }
    assert_eq!(session.chosen(), 0, "{tuned}");
}

#[test]
fn a_device_that_crashes_every_worker() {
    // The reference comes first, with two draws of inputs.
    let session = Session::new("abort@clEnqueueNDRangeKernel#4");
    let stopped = session.tune(&[]).expect_code(1);
    let stopped = stopped.expect_stderr(&["in a row", "SIGABRT", "given up"]);
    assert_eq!(stopped.messages("configuration").len(), 5, "{stopped}");
    assert!(!session.path("cltune.lock").exists());
}

#[test]
fn a_device_that_never_works() {
    let session = Session::new("error=-5@clEnqueueNDRangeKernel");
    let failed = session.tune(&[]).expect_code(1);
    let failed = failed.expect_stderr(&["the reference", "CL_OUT_OF_RESOURCES"]);
    assert!(failed.messages("configuration").is_empty(), "{failed}");
}

#[test]
fn a_driver_that_crashes_before_anything_is_measured() {
    let listing = Session::new("segv@clGetDeviceIDs").tune(&[]).expect_code(2);
    let _ = listing.expect_stderr(&["listing the OpenCL devices", "SIGSEGV", "OCL_ICD_VENDORS"]);
    let ready = Session::new("abort@clCreateContext")
        .tune(&[])
        .expect_code(1);
    let _ = ready.expect_stderr(&["cltune_e2e_faults::run", "making ready", "SIGABRT"]);
}

#[test]
fn a_driver_that_leaks() {
    if is_left_to_full() {
        return;
    }
    // Of 5 GB of address space, one configuration takes 3 at most, in 51 launches; all take more.
    let session = Session::new("leak=60000000@clEnqueueNDRangeKernel");
    let tuned = Output::of(&mut session.command_in("ulimit -v 5000000", &[])).expect_code(0);
    // Whichever configuration it was during which memory ran out, that was not its fault.
    for value in 0..=5 {
        assert_eq!(fate(&tuned, &[value]), "ok", "{tuned}");
    }
    assert_eq!(session.chosen(), BEST);
}

#[test]
fn a_device_that_is_lost_while_others_build() {
    if is_left_to_full() {
        return;
    }
    let folder = tempfile::tempdir().expect("a temporary folder");
    let mark = folder.path().join("lost");
    let session = Session::new(&format!("lost={}@clWaitForEvents:A=1", mark.display()));
    let stopped = session.tune(&["--kernel", "many"]).expect_code(1);
    let stopped = stopped.expect_stderr(&["what it found is kept", "CL_DEVICE_NOT_AVAILABLE"]);
    // What was being built is not to blame.
    for message in stopped.messages("configuration") {
        assert_eq!(message["status"], "ok", "{stopped}");
    }
    std::fs::remove_file(&mark).expect("the device was lost");
    let session = session.without_faults();
    let _ = session
        .tune(&["--kernel", "many", "--resume"])
        .expect_code(0);
    assert_eq!(session.results().len(), 32);
    assert_eq!(session.chosen(), MANY_BEST);
}

#[test]
fn a_driver_that_crashes_after_a_while() {
    if is_left_to_full() {
        return;
    }
    // At the ninth build of every process, whatever it is that is built.
    let session = Session::new("abort@clBuildProgram#9");
    let tuned = session.tune(&["--kernel", "many"]).expect_code(0);
    let results = session.results();
    assert_eq!(results.len(), 32, "{tuned}");
    assert!(results.values().all(|status| status == "ok"), "{tuned}");
    assert_eq!(session.chosen(), MANY_BEST);
}

#[test]
fn a_worker_that_was_kept_for_the_next_search_and_crashes_there() {
    if is_left_to_full() {
        return;
    }
    // No process makes a second context, and each crashes at its 17th build: some of them in the
    // second search, while it is made ready or later.
    let session = Session::new("error=-6@clCreateContext#2; abort@clBuildProgram#17");
    let problems = ["--problem", "n=256", "--problem", "n=128"];
    let arguments = [&["--kernel", "many", "--jobs", "1"][..], &problems].concat();
    let tuned = session.tune(&arguments).expect_code(0);
    let finished = tuned.messages("finished");
    assert_eq!(finished.len(), 2, "{tuned}");
    for search in finished {
        assert_eq!(
            (&search["evaluated"], &search["failed"]),
            (&32.into(), &0.into()),
            "{tuned}"
        );
    }
}

#[test]
fn a_driver_that_crashes_on_binaries() {
    if is_left_to_full() {
        return;
    }
    // Where building takes long, what compile workers built is handed over as binaries.
    let session = Session::new("sleep=0.1@clBuildProgram; segv@clCreateProgramWithBinary");
    let tuned = session.tune(&["--kernel", "many"]).expect_code(0);
    let results = session.results();
    assert_eq!(results.len(), 32, "{tuned}");
    assert!(results.values().all(|status| status == "ok"), "{tuned}");
    assert_eq!(session.chosen(), MANY_BEST);
}

#[test]
fn a_device_that_is_given_up_beside_others() {
    if is_left_to_full() {
        return;
    }
    // PoCL's two kinds of devices, which say that they are GPUs: those are tuned side by side. Up
    // to the tenth launch they make ready: the reference on two draws, and sums of what lies around
    // the buffer.
    let session = Session::new("answer=4@CL_DEVICE_TYPE; abort@clEnqueueNDRangeKernel/basic#11");
    let mut command = session.command(&[]);
    let tuned = Output::of(command.env("POCL_DEVICES", "basic pthread"));
    if tuned.messages("device").len() < 2 {
        eprintln!("SKIPPED: this driver has one device, and PoCL would have two");
        return;
    }
    let tuned = tuned.expect_code(1);
    let tuned = tuned.expect_stderr(&["in a row", "given up"]);
    let devices = |reason: &str| -> Vec<String> {
        let messages = tuned.messages(reason).into_iter();
        let name = |message: Value| message["device"].as_str().unwrap_or_default().to_owned();
        messages.map(name).collect()
    };
    let measured = devices("configuration");
    let of = |kind: &str| {
        measured
            .iter()
            .filter(|name| name.starts_with(kind))
            .count()
    };
    assert_eq!((of("basic"), of("pthread")), (5, 6), "{tuned}");
    let finished = devices("finished");
    assert!(
        finished.len() == 1 && finished[0].starts_with("pthread"),
        "{tuned}"
    );
    assert_eq!(session.chosen(), BEST);
    // Both had begun before either had measured anything.
    let reasons = tuned.stdout.lines().map(|line| {
        let message: Value = serde_json::from_str(line).expect("a line is JSON");
        message["reason"].as_str().unwrap_or_default().to_owned()
    });
    let before = reasons.take_while(|reason| reason != "configuration");
    let spaces = before.filter(|reason| reason == "space").count();
    assert_eq!(spaces, 2, "one after another: {tuned}");
}
