//! A context with several devices. PoCL makes two of a CPU where its environment says so, which is
//! a fact of the process: the test runs this test binary again.

use super::{N, affine, queue};
use cltune::{Buffer, Context, Device, Queue};
use std::process::Command;

#[test]
fn a_context_of_two_devices_serves_both() {
    let output = Command::new(std::env::current_exe().unwrap())
        .args(["--exact", "two_devices::with_two_devices", "--nocapture"])
        .env("POCL_DEVICES", "pthread basic")
        .env_remove("CLTUNE_DEVICE")
        .output()
        .unwrap();
    let text = String::from_utf8_lossy(&output.stdout);
    assert!(
        output.status.success(),
        "{text}{}",
        String::from_utf8_lossy(&output.stderr)
    );
}

/// The child's part; run as an ordinary test it finds one device of PoCL and does nothing.
#[test]
fn with_two_devices() {
    let mut devices = Device::all().unwrap();
    devices.retain(|device| device.info().platform == "Portable Computing Language");
    let [first, second] = &devices[..] else {
        return;
    };
    let ids = [first.as_raw(), second.as_raw()];
    // SAFETY: there are no properties and no callback.
    let context = opencl3::context::Context::from_devices(&ids, &[], None, std::ptr::null_mut());
    let context = context.unwrap();
    let [one, other] = [first, second].map(|device| {
        let theirs = queue(&context, device, 0);
        // SAFETY: the queue is alive.
        let ours = unsafe { Queue::from_raw(theirs.get()) }.unwrap();
        assert_eq!(ours.device(), device);
        ours
    });
    // Each has its own programs, and both the same buffers.
    assert_ne!(one.context(), other.context());
    assert_eq!(one.context().as_raw(), other.context().as_raw());
    let mut x = Buffer::from_slice(&one, &[1.0; N as usize]).unwrap();
    affine(&one, N, 2.0, 1.0, &mut x).unwrap().wait().unwrap();
    let event = affine(&other, N, 2.0, 1.0, &mut x).unwrap();
    assert_eq!(
        x.read(&one.after(&[&event]).unwrap()).unwrap(),
        [7.0; N as usize]
    );
    // SAFETY: the context is alive.
    let again = unsafe { Context::from_raw(context.get(), second) }.unwrap();
    assert_eq!(again, *other.context());
    println!("done");

    let alone = opencl3::context::Context::from_device(&opencl3::device::Device::new(ids[0]));
    let alone = alone.unwrap();
    // SAFETY: the context is alive.
    let error = unsafe { Context::from_raw(alone.get(), second) }.unwrap_err();
    assert!(
        error.to_string().contains("does not have the device"),
        "{error}"
    );
}
