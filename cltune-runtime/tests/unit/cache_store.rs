//! Tests of `cache/store`.

use super::*;
use cltune_core::device::{DeviceLimits, DeviceType};
use cltune_core::model::{Stage, Step};
use cltune_core::parameter::{Domain, Parameter};
use std::path::Path;

pub(in super::super) fn model() -> Model {
    Model {
        name: "app::kernel".into(),
        fingerprint: "b3:1".into(),
        source: "".into(),
        options: vec![].into(),
        parameters: vec![Parameter {
            name: "WG".into(),
            domain: Domain::Integers(vec![32, 64].into()),
        }]
        .into(),
        dimensions: vec!["n".into()].into(),
        constraints: vec![].into(),
        defines: vec![].into(),
        arguments: vec![].into(),
        scratch: vec![].into(),
        steps: vec![Step::Launch(Stage::new("kernel".into()))].into(),
        default: None,
        template: None,
    }
}

pub(in super::super) fn device(driver: &str) -> DeviceInfo {
    DeviceInfo {
        platform: "P".into(),
        name: "D".into(),
        vendor: "V".into(),
        device_type: DeviceType::Gpu,
        driver: driver.into(),
        version: "OpenCL 3.0".into(),
        limits: DeviceLimits::default(),
    }
}

fn at(path: &Path) -> Store {
    Store::new(Some(Folder::at(path).unwrap()))
}

#[test]
fn what_one_program_notes_another_knows_until_the_driver_changes() {
    let folder = tempfile::tempdir().unwrap();
    let (model, info) = (model(), device("1"));
    // Both have looked before either writes, and neither loses what the other wrote.
    let stores = [at(folder.path()), at(folder.path())];
    for store in &stores {
        assert_eq!(store.results(&model, &info).refusal(&[8], &[32]), None);
    }
    stores[0].add_refusal(&model, &info, &[8], &[32], "does not build\nlog");
    stores[1].add_refusal(&model, &info, &[8], &[64], "does not fit");
    let known = at(folder.path()).results(&model, &info);
    assert_eq!(known.refusal(&[8], &[32]), Some("does not build"));
    assert_eq!(known.refusal(&[8], &[64]), Some("does not fit"));
    assert_eq!(known.refusal(&[16], &[64]), None);
    let updated = at(folder.path()).results(&model, &device("2"));
    assert_eq!(updated.refusal(&[8], &[32]), None);
}

#[test]
fn notes_of_another_kernel_under_the_same_name_are_none() {
    let folder = tempfile::tempdir().unwrap();
    let (model, info) = (model(), device("1"));
    at(folder.path()).add_refusal(&model, &info, &[8], &[32], "no");
    let other = Model {
        fingerprint: "b3:2".into(),
        ..model.clone()
    };
    let notes = Folder::at(folder.path()).unwrap().notes();
    std::fs::rename(
        notes.join(key(&model, &info)),
        notes.join(key(&other, &info)),
    )
    .unwrap();
    assert_eq!(at(folder.path()).results(&other, &info).refused, []);
}

/// In a process in which no file may grow, which is what a full disk looks like.
#[test]
#[cfg(unix)]
fn a_full_disk_leaves_the_memory() {
    let child = "cache::store::tests::child_on_a_full_disk";
    let folder = tempfile::tempdir().unwrap();
    let output = std::process::Command::new("sh")
        .args([
            "-c",
            "trap '' XFSZ; ulimit -f 0; exec \"$0\" --exact \"$1\" --nocapture",
        ])
        .arg(std::env::current_exe().unwrap())
        .args([child])
        .env("FULL_DISK", folder.path())
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(said.contains("nothing was kept on disk"), "{said}");
    let notes = Folder::at(folder.path()).unwrap().notes();
    assert_eq!(std::fs::read_dir(notes).unwrap().count(), 0);
}

#[test]
fn child_on_a_full_disk() {
    let Some(folder) = std::env::var_os("FULL_DISK") else {
        return;
    };
    let (model, info) = (model(), device("1"));
    let store = at(Path::new(&folder));
    store.add_refusal(&model, &info, &[8], &[32], "no");
    assert_eq!(
        store.results(&model, &info).refusal(&[8], &[32]),
        Some("no")
    );
    let other = at(Path::new(&folder)).results(&model, &info);
    assert_eq!(other.refusal(&[8], &[32]), None);
    println!("nothing was kept on disk");
}
