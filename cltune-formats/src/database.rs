//! A database as text: sorted, one line for each device and entry, so that two people's additions
//! are easy to unite.

use crate::lockfile::Ids;
use crate::toml_text::{push_float, push_key, push_string};
use cltune_core::database::{Database, Entry, VERSION};
use cltune_core::parameter::Value;
use cltune_core::select::TunedDevice;
use std::fmt::Write as _;

/// The text of a database's file. Devices without entries are left out.
pub fn to_text(database: &Database) -> String {
    let is_used = |position: &usize| database.entries.iter().any(|of| of.device == *position);
    let mut order: Vec<usize> = (0..database.devices.len()).filter(is_used).collect();
    order.sort_by(|a, b| database.devices[*a].key().cmp(&database.devices[*b].key()));
    let mut ids = Ids::default();
    let mut out =
        format!("# Template defaults: docs/database.md\nversion = {VERSION}\n\ndevices = [\n");
    let mut names = vec![String::new(); database.devices.len()];
    for &position in &order {
        let device = &database.devices[position];
        names[position] = ids.free(&device.name, &device.platform);
        push_device(&mut out, &names[position], device);
    }
    out.push_str("]\n\nentries = [\n");
    for position in order {
        let of_device = |entry: &&Entry| entry.device == position;
        let mut entries: Vec<&Entry> = database.entries.iter().filter(of_device).collect();
        entries.sort_by(|a, b| a.key().cmp(&b.key()));
        for entry in entries {
            push_entry(&mut out, &names[position], entry);
        }
    }
    out.push_str("]\n");
    out
}

fn push_device(out: &mut String, id: &str, device: &TunedDevice) {
    out.push_str("    { ");
    for (key, text) in [
        ("id", id),
        ("platform", &device.platform),
        ("name", &device.name),
        ("vendor", &device.vendor),
        ("type", device.device_type.as_str()),
    ] {
        push_text(out, key, text);
    }
    // Writing to a String cannot fail.
    let _ = writeln!(
        out,
        "compute_units = {}, max_work_group_size = {}, local_mem_size = {} }},",
        device.compute_units, device.max_work_group_size, device.local_mem_size
    );
}

fn push_entry(out: &mut String, id: &str, entry: &Entry) {
    out.push_str("    { ");
    push_text(out, "device", id);
    push_text(out, "template", &entry.template);
    let _ = write!(
        out,
        "scalar_size = {}, vectors = {}, elements = {}, values = {{",
        entry.scalar_size, entry.vectors, entry.elements
    );
    for (position, (name, value)) in entry.values.iter().enumerate() {
        out.push_str(if position == 0 { " " } else { ", " });
        push_key(out, name);
        out.push_str(" = ");
        match value {
            Value::Name(name) => push_string(out, name),
            Value::Fraction(number) => push_float(out, number.get()),
            other => {
                let _ = write!(out, "{other}");
            }
        }
    }
    out.push_str(" }, time_us = ");
    push_float(out, entry.time_us);
    out.push_str(", kernel = ");
    push_string(out, &entry.kernel);
    out.push_str(" },\n");
}

fn push_text(out: &mut String, key: &str, text: &str) {
    out.push_str(key);
    out.push_str(" = ");
    push_string(out, text);
    out.push_str(", ");
}
