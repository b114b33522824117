//! Data to text: one content, one text.

use super::{LockDevice, LockKernel, Lockfile, Tuned, VERSION};
use crate::toml_text::{push_array, push_float, push_key, push_string};
use cltune_core::measure::{Caches, Objective};
use cltune_core::parameter::Value;
use std::fmt::Write as _;

impl Lockfile {
    /// The text of the file, which [`Lockfile::parse`] reads back to the same data.
    pub fn to_text(&self) -> String {
        let mut sorted = self.clone();
        sorted.sort();
        let mut out = format!("version = {VERSION}\n");
        for device in &sorted.devices {
            push_device(&mut out, device);
        }
        for kernel in &sorted.kernels {
            push_kernel(&mut out, kernel);
        }
        out
    }
}

fn push_device(out: &mut String, device: &LockDevice) {
    out.push_str("\n[[device]]\n");
    push_text_line(out, "id", &device.id);
    let known = &device.device;
    push_text_line(out, "platform", &known.platform);
    push_text_line(out, "name", &known.name);
    push_text_line(out, "vendor", &known.vendor);
    push_text_line(out, "type", known.device_type.as_str());
    push_text_line(out, "driver", &device.driver);
    push_line(out, "compute_units", known.compute_units);
    push_line(out, "max_work_group_size", known.max_work_group_size);
    push_line(out, "local_mem_size", known.local_mem_size);
}

fn push_kernel(out: &mut String, kernel: &LockKernel) {
    out.push_str("\n[[kernel]]\n");
    push_text_line(out, "name", &kernel.name);
    push_text_line(out, "fingerprint", &kernel.fingerprint);
    out.push_str("params = ");
    push_array(out, &kernel.params, |out, name| push_string(out, name));
    out.push('\n');
    for tuned in &kernel.tuned {
        push_tuned(out, tuned);
    }
}

fn push_tuned(out: &mut String, tuned: &Tuned) {
    out.push_str("\n[[kernel.tuned]]\n");
    push_text_line(out, "device", &tuned.device);
    push_line(out, "problem", problem_text(&tuned.problem));
    out.push_str("values = ");
    push_array(out, &tuned.values, push_value);
    out.push('\n');
    push_quantity(out, "time_us", tuned.time_us);
    if let Some(default_us) = tuned.default_us {
        push_quantity(out, "default_us", default_us);
    }
    push_line(out, "evaluated", tuned.evaluated);
    push_line(out, "valid", tuned.valid);
    push_text_line(out, "strategy", &tuned.strategy);
    if let Some(verification) = &tuned.verification {
        push_text_line(out, "verification", verification);
    }
    if tuned.measure.caches != Caches::Warm {
        push_text_line(out, "measure", tuned.measure.caches.word());
    }
    if tuned.measure.objective != Objective::Time {
        push_text_line(out, "objective", tuned.measure.objective.word());
    }
    for (key, energy_j) in [
        ("energy_j", tuned.energy_j),
        ("default_energy_j", tuned.default_energy_j),
    ] {
        if let Some(energy_j) = energy_j {
            push_quantity(out, key, energy_j);
        }
    }
}

/// `{ n = 1048576, m = 5 }`, or `{}`.
pub(super) fn problem_text(problem: &[(String, i64)]) -> String {
    if problem.is_empty() {
        return "{}".to_owned();
    }
    let mut out = String::from("{ ");
    for (position, (name, value)) in problem.iter().enumerate() {
        if position > 0 {
            out.push_str(", ");
        }
        push_key(&mut out, name);
        // Writing to a String cannot fail.
        let _ = write!(out, " = {value}");
    }
    out.push_str(" }");
    out
}

fn push_value(out: &mut String, value: &Value) {
    match value {
        Value::Name(name) => push_string(out, name),
        Value::Fraction(value) => push_float(out, value.get()),
        // The texts of integers and booleans are TOML.
        Value::Int(_) | Value::Bool(_) => {
            let _ = write!(out, "{value}");
        }
    }
}

fn push_line(out: &mut String, key: &str, value: impl std::fmt::Display) {
    let _ = writeln!(out, "{key} = {value}");
}

fn push_text_line(out: &mut String, key: &str, text: &str) {
    let _ = write!(out, "{key} = ");
    push_string(out, text);
    out.push('\n');
}

fn push_quantity(out: &mut String, key: &str, value: f64) {
    let _ = write!(out, "{key} = ");
    push_float(out, value);
    out.push('\n');
}
