//! The choices that a device would get if fewer results were known.

use cltune_core::device::DeviceInfo;
use cltune_core::model::Model;
use cltune_core::select::{Candidate, Rule, Table, TunedDevice, TunedResult, candidates, select};

/// A configuration that a device gets, or could get.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Choice {
    /// The rule that gives it; `None` for another device's values that no rule gives.
    pub(super) rule: Option<Rule>,
    /// Where it comes from, for people.
    pub(super) origin: String,
    /// The device that it was tuned on.
    pub(super) tuned_on: Option<String>,
    pub(super) codes: Vec<i64>,
}

/// The choice of each part of the rule for a device and a problem: those that are selected from
/// ever smaller tables, then those from the results of each other device. `database` is that
/// without this tunable's own entries. A part of the rule, or a device, that has a choice already
/// is not repeated.
pub(super) fn choices(
    model: &Model,
    info: &DeviceInfo,
    dims: &[i64],
    table: &Table,
    database: &Table,
) -> Vec<Choice> {
    let is_here = |device: &TunedDevice| device.key().is(info.key());
    let without_problem = keep(table, |device, result| {
        !(is_here(device) && *result.problem == *dims)
    });
    let without_device = keep(table, |device, _| !is_here(device));
    let mut without_default = model.clone();
    without_default.default = None;
    let mut choices: Vec<Choice> = Vec::new();
    let database_without_device = keep(database, |device, _| !is_here(device));
    for (model, table, database) in [
        (model, table, database),
        (model, &without_problem, database),
        (model, &without_device, database),
        (model, &Table::EMPTY, database),
        (model, &Table::EMPTY, &database_without_device),
        (model, &Table::EMPTY, &Table::EMPTY),
        (&without_default, &Table::EMPTY, &Table::EMPTY),
    ] {
        let candidates = candidates(model, info, dims, table, &Table::EMPTY);
        let choice = candidates.with_database(database).selected();
        let choice = choice.map(Choice::of_rule);
        choices
            .extend(choice.filter(|choice| choices.iter().all(|known| known.rule != choice.rule)));
    }
    let others = table.devices.iter().filter(|device| !is_here(device));
    for device in others {
        let is_known = |known: &Choice| known.tuned_on.as_deref() == Some(&*device.name);
        if !choices.iter().any(is_known) {
            choices.extend(of_device(model, info, dims, table, device));
        }
    }
    choices
}

/// The choice for a device if the table held this other device only, and it were the same.
fn of_device(
    model: &Model,
    info: &DeviceInfo,
    dims: &[i64],
    table: &Table,
    device: &TunedDevice,
) -> Option<Choice> {
    let only = keep(table, |known, _| known == device);
    let same = DeviceInfo {
        platform: device.platform.to_string(),
        name: device.name.to_string(),
        vendor: device.vendor.to_string(),
        ..info.clone()
    };
    let candidate = select(model, &same, dims, &only, &Table::EMPTY)?;
    let choice = Choice::of_rule(candidate.clone());
    candidate.known.map(|_| Choice {
        rule: None,
        origin: format!("tuned on {}, not selected", device.name),
        ..choice
    })
}

impl Choice {
    fn of_rule(candidate: Candidate<'_>) -> Self {
        let tuned_on = candidate.known.map(|(device, _)| device.name.to_string());
        Self {
            rule: Some(candidate.rule),
            origin: candidate.origin(),
            tuned_on,
            codes: candidate.codes.into_owned(),
        }
    }
}

/// The results for which this holds.
fn keep(table: &Table, holds: impl Fn(&TunedDevice, &TunedResult) -> bool) -> Table {
    let results = table.results.iter().filter(|result| {
        let device = table.devices.get(usize::from(result.device));
        device.is_some_and(|device| holds(device, result))
    });
    Table {
        devices: table.devices.clone(),
        results: results.cloned().collect(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;
    use cltune_core::device::DeviceType;

    fn table(devices: &[(&DeviceInfo, &[(i64, i64)])]) -> Table {
        let known = devices.iter().map(|(info, _)| TunedDevice::of(info));
        let results = devices.iter().enumerate().flat_map(|(device, (_, rows))| {
            rows.iter().map(move |(n, wg)| TunedResult {
                device: device as u16,
                problem: vec![*n].into(),
                values: vec![*wg].into(),
                time_us: 1.0,
            })
        });
        Table {
            devices: known.collect(),
            results: results.collect(),
        }
    }

    fn device(name: &str, device_type: DeviceType) -> DeviceInfo {
        DeviceInfo {
            device_type,
            ..samples::device(name)
        }
    }

    #[test]
    fn each_rule_gives_what_is_left_of_the_table() {
        let mut model = samples::declaration("app::saxpy", "b3:1", &[8]).model;
        model.default = Some(vec![256].into());
        let here = device("here", DeviceType::Cpu);
        let near = device("near", DeviceType::Cpu);
        let far = device("far", DeviceType::Gpu);
        let table = table(&[
            (&far, &[(8, 32)]),
            (&here, &[(8, 64), (32, 128)]),
            (&near, &[(8, 128)]),
        ]);
        let found = choices(&model, &here, &[8], &table, &Table::EMPTY);
        let found: Vec<(Option<Rule>, Option<&str>, i64)> = found
            .iter()
            .map(|choice| (choice.rule, choice.tuned_on.as_deref(), choice.codes[0]))
            .collect();
        let similar = Rule::SimilarDevice { same_vendor: true };
        assert_eq!(
            found,
            [
                (Some(Rule::ExactDevice { exact: true }), Some("here"), 64),
                (Some(Rule::ExactDevice { exact: false }), Some("here"), 128),
                (Some(similar), Some("near"), 128),
                (Some(Rule::Default), None, 256),
                (Some(Rule::FirstValid), None, 32),
                (None, Some("far"), 32),
            ]
        );
    }

    #[test]
    fn nothing_comes_twice_where_nothing_is_known() {
        let model = samples::declaration("app::saxpy", "b3:1", &[8]).model;
        let here = device("here", DeviceType::Cpu);
        let found = choices(&model, &here, &[8], &Table::EMPTY, &Table::EMPTY);
        assert_eq!(found.len(), 1);
        assert_eq!(found[0].rule, Some(Rule::FirstValid));
    }
}
