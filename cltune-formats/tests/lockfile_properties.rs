//! Properties of every lockfile: the round trip, the laws of merging, and that no text makes the
//! reader panic.

use cltune_core::device::DeviceType;
use cltune_core::measure::Measure;
use cltune_core::parameter::Value;
use cltune_core::select::TunedDevice;
use cltune_formats::lockfile::{LockDevice, LockKernel, Lockfile, Tuned};
use proptest::collection::{btree_map, btree_set, vec};
use proptest::prelude::*;
use std::collections::BTreeSet;

/// Names as they occur, and any text.
fn text() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-zA-Z][a-zA-Z0-9 _.()@-]{0,20}",
        any::<String>(),
        Just("quote \" backslash \\ newline \n tab \t".to_owned()),
    ]
}

fn value() -> impl Strategy<Value = Value> {
    prop_oneof![
        any::<i64>().prop_map(Value::Int),
        any::<bool>().prop_map(Value::Bool),
        text().prop_map(|name| Value::Name(name.into())),
    ]
}

fn time() -> impl Strategy<Value = f64> {
    prop_oneof![
        (0..1_000_000_000_u64).prop_map(|nanoseconds| nanoseconds as f64 / 1000.0),
        (proptest::num::f64::POSITIVE | proptest::num::f64::SUBNORMAL).prop_map(f64::abs),
    ]
}

fn device_type() -> impl Strategy<Value = DeviceType> {
    prop::sample::select(vec![
        DeviceType::Cpu,
        DeviceType::Gpu,
        DeviceType::Accelerator,
        DeviceType::Other,
    ])
}

prop_compose! {
    fn device()(
        platform in text(), name in text(), vendor in text(), driver in text(),
        device_type in device_type(), limits in [0..i64::MAX, 0..i64::MAX, 0..i64::MAX],
    ) -> LockDevice {
        let [compute_units, max_work_group_size, local_mem_size] = limits;
        let device = TunedDevice {
            platform: platform.into(), name: name.into(), vendor: vendor.into(), device_type,
            compute_units, max_work_group_size, local_mem_size,
        };
        LockDevice { id: String::new(), device, driver }
    }
}

/// Entries for some of the devices, with the given names of parameters and dimensions.
fn entries(
    ids: Vec<String>,
    params: usize,
    dimensions: Vec<String>,
) -> impl Strategy<Value = Vec<Tuned>> {
    let keys = (
        prop::sample::select(ids),
        vec(any::<i64>(), dimensions.len()),
    );
    let content = (
        vec(value(), params),
        time(),
        prop::option::of(time()),
        any::<u64>(),
        any::<u128>(),
        (text(), prop::option::of(text()), any::<bool>()),
    );
    btree_map(keys, content, 0..5).prop_map(move |entries| {
        entries
            .into_iter()
            .map(
                |(
                    (device, dims),
                    (
                        values,
                        time_us,
                        default_us,
                        evaluated,
                        valid,
                        (strategy, verification, is_cold),
                    ),
                )| {
                    Tuned {
                        device,
                        problem: dimensions.iter().cloned().zip(dims).collect(),
                        values,
                        time_us,
                        default_us,
                        evaluated,
                        valid,
                        strategy,
                        verification,
                        measure: if is_cold {
                            Measure::COLD
                        } else {
                            Measure::WARM
                        },
                        energy_j: None,
                        default_energy_j: None,
                    }
                },
            )
            .collect()
    })
}

fn kernel(ids: Vec<String>) -> impl Strategy<Value = LockKernel> {
    (text(), btree_set(text(), 0..5), btree_set(text(), 0..3)).prop_flat_map(
        move |(fingerprint, params, dimensions)| {
            let params: Vec<String> = params.into_iter().collect();
            let dimensions: Vec<String> = dimensions.into_iter().rev().collect();
            entries(ids.clone(), params.len(), dimensions).prop_map(move |tuned| LockKernel {
                name: String::new(),
                fingerprint: fingerprint.clone(),
                params: params.clone(),
                tuned,
            })
        },
    )
}

fn lockfile() -> impl Strategy<Value = Lockfile> {
    btree_map(text(), device(), 1..4).prop_flat_map(|devices| {
        let ids: Vec<String> = devices.keys().cloned().collect();
        let named = devices
            .into_iter()
            .enumerate()
            .map(|(position, (id, device))| {
                // A device is in a file once.
                let name = format!("{} {position}", device.device.name).into();
                let known = TunedDevice {
                    name,
                    ..device.device
                };
                LockDevice {
                    id,
                    device: known,
                    driver: device.driver,
                }
            });
        let devices: Vec<LockDevice> = named.collect();
        btree_map(text(), kernel(ids), 0..4).prop_map(move |kernels| {
            let named = kernels
                .into_iter()
                .map(|(name, kernel)| LockKernel { name, ..kernel });
            let mut lockfile = Lockfile {
                devices: devices.clone(),
                kernels: named.collect(),
            };
            lockfile.sort();
            lockfile
        })
    })
}

/// A lockfile as several machines of one project write it: devices and kernels from a small pool,
/// fingerprints that agree, and ids that may clash.
fn project_lockfile() -> impl Strategy<Value = Lockfile> {
    const DEVICES: [(&str, &str); 4] = [
        ("cuda", "H200"),
        ("pocl", "H200"),
        ("pocl", "EPYC"),
        ("rusticl", "H200"),
    ];
    let present = vec(
        (
            prop::sample::select(&DEVICES[..]),
            0..3_i64,
            "5[0-9]{2}[.][0-9]",
        ),
        1..4,
    );
    let devices = present.prop_map(|present| {
        let mut lockfile = Lockfile::default();
        for ((platform, name), compute_units, driver) in present {
            // One file after the other, so that ids are those which merging gives.
            lockfile.merge(&Lockfile {
                devices: vec![LockDevice {
                    id: name.to_lowercase(),
                    device: TunedDevice {
                        platform: platform.into(),
                        name: name.into(),
                        vendor: "vendor".into(),
                        device_type: DeviceType::Gpu,
                        compute_units,
                        max_work_group_size: 1024,
                        local_mem_size: 49152,
                    },
                    driver,
                }],
                kernels: Vec::new(),
            });
        }
        lockfile
    });
    devices.prop_flat_map(|lockfile| {
        let ids: Vec<String> = lockfile
            .devices
            .iter()
            .map(|device| device.id.clone())
            .collect();
        let entry = (0..3_i64, 0..4_i64, 0..5_u32, 1..4_u64, 0..3_u8);
        let entries = btree_map((prop::sample::select(ids), 0..2_usize), entry, 0..6);
        entries.prop_map(move |entries| {
            let mut lockfile = lockfile.clone();
            for ((device, kernel), (n, value, time, evaluated, verification)) in entries {
                let name = ["a", "b"][kernel].to_owned();
                let known = lockfile
                    .kernels
                    .iter()
                    .position(|kernel| kernel.name == name);
                let position = known.unwrap_or_else(|| {
                    lockfile.kernels.push(LockKernel {
                        name,
                        fingerprint: "b3:1".to_owned(),
                        params: vec!["WG".to_owned()],
                        tuned: Vec::new(),
                    });
                    lockfile.kernels.len() - 1
                });
                lockfile.kernels[position].tuned.push(Tuned {
                    device,
                    problem: vec![("n".to_owned(), n)],
                    values: vec![Value::Int(value)],
                    time_us: f64::from(time),
                    default_us: None,
                    evaluated,
                    valid: 9,
                    strategy: "random".to_owned(),
                    verification: (verification > 0).then(|| format!("b3:{verification}")),
                    measure: Measure::WARM,
                    energy_j: None,
                    default_energy_j: None,
                });
            }
            lockfile.sort();
            lockfile
        })
    })
}

fn merged(a: &Lockfile, b: &Lockfile) -> Lockfile {
    let mut united = a.clone();
    united.merge(b);
    united
}

/// The content with devices by identity in place of ids. With three and more devices of one name
/// the numbers in ids depend on the order of merging; what they refer to must not.
fn by_identity(lockfile: &Lockfile) -> (BTreeSet<String>, BTreeSet<String>) {
    let identity = |id: &str| {
        let device = lockfile
            .device(id)
            .expect("entries refer to devices of the file");
        let key = device.device.key();
        format!("{}/{}/{}", key.platform, key.name, key.vendor)
    };
    let devices = lockfile.devices.iter().map(|device| {
        let anonymous = LockDevice {
            id: String::new(),
            ..device.clone()
        };
        format!("{anonymous:?}")
    });
    let entries = lockfile.kernels.iter().flat_map(|kernel| {
        kernel.tuned.iter().map(move |tuned| {
            let anonymous = Tuned {
                device: String::new(),
                ..tuned.clone()
            };
            format!("{} {} {anonymous:?}", kernel.name, identity(&tuned.device))
        })
    });
    (devices.collect(), entries.collect())
}

proptest! {
    #[test]
    fn reading_what_was_written_gives_the_same_data_and_bytes(lockfile in lockfile()) {
        let text = lockfile.to_text();
        let read = Lockfile::parse(&text);
        prop_assert_eq!(read.as_ref(), Ok(&lockfile), "{}", text);
        prop_assert_eq!(read.unwrap().to_text(), text);
    }

    #[test]
    fn merging_a_file_with_itself_or_nothing_changes_nothing(file in project_lockfile()) {
        let mut itself = file.clone();
        prop_assert_eq!(itself.merge(&file), cltune_formats::lockfile::MergeReport::default());
        prop_assert_eq!(&itself, &file);
        prop_assert_eq!(&merged(&file, &Lockfile::default()), &file);
        prop_assert_eq!(&merged(&Lockfile::default(), &file), &file);
    }

    #[test]
    fn the_order_of_two_files_does_not_matter(a in project_lockfile(), b in project_lockfile()) {
        prop_assert_eq!(by_identity(&merged(&a, &b)), by_identity(&merged(&b, &a)));
        prop_assert_eq!(merged(&a, &b).to_text(), merged(&b, &a).to_text());
    }

    #[test]
    fn the_grouping_of_three_files_does_not_matter(
        a in project_lockfile(), b in project_lockfile(), c in project_lockfile(),
    ) {
        let (left, right) = (merged(&merged(&a, &b), &c), merged(&a, &merged(&b, &c)));
        prop_assert_eq!(by_identity(&left), by_identity(&right));
    }

    #[test]
    fn nothing_is_lost_and_the_result_is_a_valid_file(a in project_lockfile(), b in project_lockfile()) {
        let united = merged(&a, &b);
        let text = united.to_text();
        prop_assert_eq!(Lockfile::parse(&text), Ok(united.clone()), "{}", text);
        let keys = |file: &Lockfile| -> BTreeSet<(String, String, String, Vec<i64>)> {
            file.kernels.iter().flat_map(|kernel| kernel.tuned.iter().map(|tuned| {
                let device = file.device(&tuned.device).unwrap();
                let dims = tuned.dims().collect();
                let key = device.device.key();
                (kernel.name.clone(), key.platform.to_owned(), key.name.to_owned(), dims)
            })).collect()
        };
        prop_assert_eq!(keys(&united), &keys(&a) | &keys(&b));
    }

    #[test]
    fn no_mutation_of_a_valid_text_makes_the_reader_panic(
        lockfile in lockfile(),
        edits in vec((any::<prop::sample::Index>(), any::<prop::sample::Index>(), "\\PC{0,3}"), 1..6),
    ) {
        let mut text: Vec<char> = lockfile.to_text().chars().collect();
        for (from, to, insert) in edits {
            let (from, to) = (from.index(text.len() + 1), to.index(text.len() + 1));
            // Short cuts, mostly: a long one leaves nothing to misread.
            let (from, to) = (from.min(to), from.max(to).min(from.min(to) + 12));
            text.splice(from..to, insert.chars());
        }
        let text: String = text.into_iter().collect();
        match Lockfile::parse(&text) {
            Ok(read) => prop_assert_eq!(Lockfile::parse(&read.to_text()), Ok(read)),
            Err(error) => {
                prop_assert!((1..=text.lines().count() + 1).contains(&error.line), "{}", error);
                prop_assert!(!error.to_string().is_empty());
            }
        }
    }

    #[test]
    fn lines_of_a_valid_text_in_any_order_do_not_make_the_reader_panic(
        lockfile in lockfile(), order in vec(any::<prop::sample::Index>(), 0..40),
    ) {
        let text = lockfile.to_text();
        let lines: Vec<&str> = text.lines().collect();
        let shuffled: Vec<&str> = order.iter().map(|index| *index.get(&lines)).collect();
        let _ = Lockfile::parse(&format!("version = 1\n{}\n", shuffled.join("\n")));
    }

    #[test]
    fn no_text_makes_the_reader_panic(text in any::<String>()) {
        let _ = Lockfile::parse(&text);
    }
}
