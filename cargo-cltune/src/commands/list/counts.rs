//! The space of each device and problem: its size, and what each rule does to it.

use cltune_core::declaration::Declaration;
use cltune_core::device::DeviceInfo;
use cltune_core::model::{Model, Rule};
use cltune_core::space::{Effect, Space, SpaceSpec, TooComplex, effects};

/// The steps that building one space may take: some seconds.
const MOST_STEPS: u64 = 1 << 24;

/// The space of one problem on one device.
pub(super) struct Count {
    pub(super) device: String,
    pub(super) dims: Vec<i64>,
    /// Saturating.
    pub(super) cartesian: u128,
    pub(super) valid: Result<u128, TooComplex>,
    /// What each rule does, where that was asked for.
    pub(super) rules: Vec<Explained>,
}

/// What a rule does.
pub(super) struct Explained {
    pub(super) rule: Rule,
    pub(super) effect: Effect,
}

/// Counts for each device and problem.
pub(super) fn counts(
    declaration: &Declaration,
    devices: &[DeviceInfo],
    explain: bool,
) -> Vec<Count> {
    let model = &declaration.model;
    let places = devices
        .iter()
        .flat_map(|device| declaration.problems.iter().map(move |dims| (device, dims)));
    places
        .map(|(device, dims)| {
            let spec = model.space_spec(dims, &device.limits);
            let valid = Space::build_within(spec, MOST_STEPS).map(|space| space.count());
            let lens = model
                .parameters
                .iter()
                .map(|parameter| parameter.domain.len());
            Count {
                device: device.name.clone(),
                dims: dims.clone(),
                cartesian: lens.fold(1, |product, len| product.saturating_mul(len as u128)),
                valid,
                rules: if explain {
                    explained(model, dims, device)
                } else {
                    Vec::new()
                },
            }
        })
        .collect()
}

/// The rules in order, the one that tuning only adds on demand last.
fn explained(model: &Model, dims: &[i64], device: &DeviceInfo) -> Vec<Explained> {
    let (parameters, mut rules) = model.space_rules(dims, &device.limits);
    let optional = model.compute_units_constraint(dims, &device.limits);
    rules.extend(optional.map(|constraint| (Rule::ComputeUnits, constraint)));
    let (rules, constraints): (Vec<_>, Vec<_>) = rules.into_iter().unzip();
    let spec = SpaceSpec {
        parameters,
        constraints,
    };
    rules
        .into_iter()
        .zip(effects(&spec))
        .map(|(rule, effect)| Explained { rule, effect })
        // Sizes are hardly ever not positive.
        .filter(|of| of.rule != Rule::Values || of.effect.removed != Some(0))
        .collect()
}
