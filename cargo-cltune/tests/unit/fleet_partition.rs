//! Unit tests of `fleet::partition`.

use super::*;
use crate::fleet::units;
use crate::plan::Job;
use crate::samples;
use crate::worker::DeviceRecord;
use std::collections::{BTreeMap, BTreeSet};

/// The jobs of kernels on devices, for three problems each.
fn jobs(kernels: &[&'static str], devices: &[&str]) -> Vec<Job> {
    let mut jobs = Vec::new();
    for kernel in kernels {
        for (index, device) in devices.iter().enumerate() {
            for n in [8, 16, 32] {
                jobs.push(Job {
                    folder: "app".into(),
                    declaration: samples::declaration(kernel, "b3:1", &[8]),
                    device: DeviceRecord::new(index, &samples::device(device)),
                    twins: Vec::new(),
                    dims: vec![n],
                });
            }
        }
    }
    jobs
}

const KERNELS: [&str; 5] = ["app::a", "app::b", "app::c", "app::d", "app::e"];

/// Which part has each unit.
fn parts(method: &str, count: u32, units: &[Unit]) -> BTreeMap<String, u32> {
    let mut parts = BTreeMap::new();
    for part in 1..=count {
        let partition: Partition = format!("{method}:{part}/{count}").parse().unwrap();
        for (unit, own) in units.iter().zip(partition.own(units)) {
            if own {
                assert_eq!(parts.insert(unit.to_string(), part), None, "{unit}");
            }
        }
    }
    parts
}

#[test]
fn each_unit_is_in_one_part_with_the_others_of_its_kernel_and_device() {
    let units = units(&jobs(&KERNELS, &["X", "Y"]));
    assert_eq!(units.len(), 30);
    for method in ["slice", "hash"] {
        for count in [1, 2, 3, 7, 40] {
            let parts = parts(method, count, &units);
            assert_eq!(parts.len(), units.len(), "{method} {count}");
            for group in groups(&units) {
                let of_group: BTreeSet<u32> =
                    group.iter().map(|unit| parts[&unit.to_string()]).collect();
                assert_eq!(of_group.len(), 1, "{method} {count}: {group:?}");
            }
        }
    }
}

#[test]
fn slices_differ_by_one_group_at_most() {
    let units = units(&jobs(&KERNELS, &["X", "Y"]));
    let parts = parts("slice", 4, &units);
    let count = |part: u32| parts.values().filter(|of| **of == part).count() / 3;
    assert_eq!([1, 2, 3, 4].map(count), [3, 3, 2, 2]);
}

#[test]
fn the_order_of_kernels_and_devices_does_not_matter() {
    let other: Vec<&'static str> = KERNELS.iter().rev().copied().collect();
    let a = units(&jobs(&KERNELS, &["X", "Y"]));
    let b = units(&jobs(&other, &["Y", "X"]));
    assert_eq!(a, b);
}

#[test]
fn a_hash_keeps_kernels_in_their_parts_when_others_come() {
    let few = parts("hash", 3, &units(&jobs(&KERNELS[1..4], &["X"])));
    let all = parts("hash", 3, &units(&jobs(&KERNELS, &["X", "Y"])));
    assert!(few.iter().all(|(unit, part)| all[unit] == *part));
    // And a slice does not.
    let few = parts("slice", 3, &units(&jobs(&KERNELS[1..4], &["X"])));
    let all = parts("slice", 3, &units(&jobs(&KERNELS, &["X", "Y"])));
    assert!(few.iter().any(|(unit, part)| all[unit] != *part));
}

#[test]
fn what_is_no_part_says_what_is() {
    let parse = |text: &str| text.parse::<Partition>().map_err(|error| error.to_string());
    for text in ["slice:1/1", "slice:4/4", "hash:2/64"] {
        assert_eq!(parse(text).unwrap().to_string(), text);
    }
    for (text, reason) in [
        ("slice:0/3", "counted from 1: the first of 3 is `slice:1/3`"),
        ("slice:4/3", "no part 4 of 3: the last is `slice:3/3`"),
        ("hash:4/3", "no part 4 of 3: the last is `hash:3/3`"),
        ("slice:1/0", "at least 1 part"),
        ("slice:1", "`slice:K/N` or `hash:K/N`"),
        ("count:1/2", "`slice:K/N` or `hash:K/N`"),
        ("1/2", "`slice:K/N` or `hash:K/N`"),
        ("slice:-1/2", "`slice:K/N` or `hash:K/N`"),
        ("slice:1/2/3", "`slice:K/N` or `hash:K/N`"),
        ("", "`slice:K/N` or `hash:K/N`"),
    ] {
        let error = parse(text).unwrap_err();
        assert!(error.contains(reason), "{text}: {error}");
    }
}
