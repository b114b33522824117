//! Devices that are lost, lie about their limits, leak, or do nothing right.

use cltune_tests::faulty::{BEST, Session, fate};

#[test]
fn a_device_that_is_unusable_after_a_failure() {
    // Until the process ends nothing works any more: NVIDIA's after an access to an invalid address.
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
