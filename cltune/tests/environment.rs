//! Programs on machines without OpenCL, with `CLTUNE_DEVICE` and with `CLTUNE_POLICY`: their
//! messages. These are facts of the process, so each case runs this test binary again with another
//! environment.

use cltune::Device;
use std::path::Path;
use std::process::Command;

/// What `Device::select` says in a process with these variables.
fn select_with(variables: &[(&str, &Path)]) -> String {
    let mut command = Command::new(std::env::current_exe().unwrap());
    command
        .args(["--exact", "says_what_it_selects", "--nocapture"])
        .env_remove("CLTUNE_DEVICE")
        .env_remove("OPENCL_DYLIB_PATH")
        .envs(variables.iter().copied());
    let output = command.output().unwrap();
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    assert!(output.status.success(), "{text}");
    text
}

/// The child's part; run as an ordinary test it is one more call.
#[test]
fn says_what_it_selects() {
    match Device::select() {
        Ok(device) => println!("selected {device}"),
        Err(error) => println!("error {error}"),
    }
    if let Err(error) = cltune::policy() {
        println!("policy error {error}");
    }
}

#[test]
#[cfg(not(feature = "offline"))]
fn a_policy_that_the_program_was_built_without_is_an_error() {
    let policy = "offline:tuned.lock";
    let said = select_with(&[("CLTUNE_POLICY", Path::new(policy))]);
    let error = format!("policy error CLTUNE_POLICY: `{policy}` needs cltune's feature `offline`");
    assert!(said.contains(&error), "{said}");
}

fn devices() -> Vec<Device> {
    Device::all().expect("these tests need an OpenCL device; scripts/setup installs one")
}

#[test]
#[cfg(target_os = "linux")]
fn without_a_library_the_error_says_what_to_install() {
    let folder = tempfile::tempdir().unwrap();
    // The loader finds this file first and stops at it.
    std::fs::write(folder.path().join("libOpenCL.so.1"), "not a library").unwrap();
    let said = select_with(&[("LD_LIBRARY_PATH", folder.path())]);
    assert!(said.contains("error listing OpenCL devices"), "{said}");
    assert!(said.contains("ocl-icd-libopencl1"), "{said}");
    assert!(said.contains("OPENCL_DYLIB_PATH"), "{said}");
}

#[test]
#[cfg(target_os = "linux")]
fn without_a_driver_the_error_says_where_drivers_are_found() {
    let folder = tempfile::tempdir().unwrap();
    let said = select_with(&[
        ("OCL_ICD_VENDORS", folder.path()),
        ("OPENCL_VENDOR_PATH", folder.path()),
        ("OCL_ICD_FILENAMES", Path::new("")),
    ]);
    assert!(said.contains("CL_PLATFORM_NOT_FOUND_KHR"), "{said}");
    assert!(said.contains("pocl-opencl-icd"), "{said}");
}

#[test]
fn the_device_filter_takes_an_index_or_parts_of_names() {
    let all = devices();
    for device in &all {
        let said = select_with(&[("CLTUNE_DEVICE", Path::new(&device.index().to_string()))]);
        assert!(said.contains(&format!("selected {device}")), "{said}");
    }
    let info = all[0].info();
    let first = |text: &str| text.split(' ').next().unwrap_or_default().to_uppercase();
    let by_both = format!("{}:{}", first(&info.platform), first(&info.name));
    for filter in [first(&info.name), first(&info.platform), by_both] {
        let said = select_with(&[("CLTUNE_DEVICE", Path::new(&filter))]);
        assert!(said.contains("selected "), "{filter}: {said}");
    }
}

#[test]
fn a_filter_that_matches_nothing_lists_what_exists() {
    let all = devices();
    for filter in ["no such device", "4711", "nobody:nothing"] {
        let said = select_with(&[("CLTUNE_DEVICE", Path::new(filter))]);
        assert!(
            said.contains(&format!("no device matches `{filter}`")),
            "{said}"
        );
        assert!(said.contains(&all[0].to_string()), "{said}");
    }
}

#[test]
fn an_empty_filter_is_none() {
    devices();
    let said = select_with(&[("CLTUNE_DEVICE", Path::new(" "))]);
    assert!(said.contains("selected "), "{said}");
}

#[test]
fn devices_are_listed_in_a_stable_order_with_their_limits() {
    let all = devices();
    assert_eq!(all, devices());
    for (index, device) in all.iter().enumerate() {
        let info = device.info();
        assert_eq!(device.index(), index);
        assert!(!info.name.is_empty() && !info.platform.is_empty());
        assert!(info.limits.compute_units > 0 && info.limits.global_mem_size > 0);
        assert!(info.limits.max_work_group_size > 0 && info.limits.max_work_item_size_x > 0);
        assert!(device.matches(&index.to_string()) && device.matches(&info.name));
        assert!(device.matches(&format!("{}: {}", info.platform, info.name)));
        assert!(!device.matches(&(index + 1).to_string()));
    }
}
