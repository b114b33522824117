//! The space of each device and problem: its size, and the effect of each rule.

use super::limits::Described;
use cltune_core::Text;
use cltune_core::device::DeviceField;
use cltune_core::model::{ConstraintOrigin, Model};
use cltune_formats::declaration::Declaration;
use cltune_search::space::{
    Effect, Space, SpaceConstraint, SpaceParameter, SpaceSpec, TooComplex, effects,
};

/// The steps that building one space may take: some seconds.
const MOST_STEPS: u64 = 1 << 24;

/// The space of one problem on one device.
pub(super) struct Count {
    pub(super) device: String,
    pub(super) dims: Vec<i64>,
    /// Saturating.
    pub(super) cartesian: u128,
    /// The configurations that satisfy all rules but those that need what is not known.
    pub(super) valid: Result<u128, TooComplex>,
    /// The limits that rules need and that are not known, each once.
    pub(super) not_known: Vec<DeviceField>,
    /// The limits that values of parameters need and that are not known, each once: such values are
    /// left out.
    pub(super) values_not_known: Vec<DeviceField>,
    /// The effect of each rule, where that was asked for.
    pub(super) rules: Vec<Explained>,
}

/// The effect of a rule.
pub(super) struct Explained {
    pub(super) rule: ConstraintOrigin,
    pub(super) constraint: Text,
    /// How many configurations it removes, and how many are left after it; or the limits without
    /// which that is not known.
    pub(super) effect: Result<Effect, Vec<DeviceField>>,
}

/// Counts for each device and problem.
pub(super) fn counts(
    declaration: &Declaration,
    devices: &[Described],
    explain: bool,
) -> Vec<Count> {
    let model = &declaration.model;
    let places = devices
        .iter()
        .flat_map(|device| declaration.problems.iter().map(move |dims| (device, dims)));
    places
        .map(|(device, dims)| count(model, device, dims, explain))
        .collect()
}

fn count(model: &Model, device: &Described, dims: &[i64], explain: bool) -> Count {
    let (parameters, rules) = model.space_rules(dims, &|field| device.limit(field));
    let is_decided = |constraint: &SpaceConstraint| constraint.program.limits().is_empty();
    let always = || {
        rules
            .iter()
            .filter(|(rule, _)| *rule != ConstraintOrigin::ComputeUnits)
    };
    let decided = always().map(|(_, constraint)| constraint);
    let spec = SpaceSpec {
        parameters: parameters.clone(),
        constraints: decided.filter(|of| is_decided(of)).cloned().collect(),
    };
    let mut not_known: Vec<DeviceField> = always()
        .flat_map(|(_, constraint)| constraint.program.limits())
        .collect();
    not_known.sort_unstable();
    not_known.dedup();
    let lens = parameters.iter();
    let lens: Vec<u128> = lens
        .map(|parameter| parameter.codes.len() as u128)
        .collect();
    let mut values_not_known: Vec<DeviceField> = model
        .parameters
        .iter()
        .flat_map(|parameter| parameter.domain.limits())
        .filter(|field| device.limit(*field).is_none())
        .collect();
    values_not_known.sort_unstable();
    values_not_known.dedup();
    Count {
        device: device.name.clone(),
        dims: dims.to_vec(),
        cartesian: lens.into_iter().fold(1, u128::saturating_mul),
        valid: Space::build_within(spec, MOST_STEPS).map(|space| space.count()),
        not_known,
        values_not_known,
        rules: if explain {
            explained(parameters, rules)
        } else {
            Vec::new()
        },
    }
}

/// The rules in order, the one that tuning only adds on demand last.
fn explained(
    parameters: Vec<SpaceParameter>,
    rules: Vec<(ConstraintOrigin, SpaceConstraint)>,
) -> Vec<Explained> {
    let decided = rules
        .iter()
        .filter(|(_, constraint)| constraint.program.limits().is_empty());
    let spec = SpaceSpec {
        parameters,
        constraints: decided.map(|(_, constraint)| constraint.clone()).collect(),
    };
    let mut effects = effects(&spec).into_iter();
    rules
        .into_iter()
        .filter_map(|(rule, constraint)| {
            let effect = match constraint.program.limits() {
                none if none.is_empty() => Ok(effects.next()?),
                limits => Err(limits),
            };
            Some(Explained {
                rule,
                constraint: constraint.label,
                effect,
            })
        })
        // Sizes are hardly ever not positive.
        .filter(|of| {
            of.rule != ConstraintOrigin::Values
                || of.effect.as_ref().map(|of| of.removed) != Ok(Some(0))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::list::limits::parse;
    use crate::samples;

    use cltune_formats::formula::{Scope, Type};

    /// The count for a device, where the tunable has this constraint besides its four values of
    /// `WG`.
    fn with(constraint: &str, device: &str) -> Count {
        let mut declaration = samples::declaration("app::k", "b3:1", &[64]);
        let scope = Scope {
            parameters: &declaration.model.parameters,
            dimensions: &declaration.model.dimensions,
        };
        let formula = |text| cltune_formats::formula::parse(text, &scope, Type::Int).unwrap();
        let constraint = cltune_formats::formula::parse(constraint, &scope, Type::Bool).unwrap();
        let (global, local) = (formula("1024"), formula("WG"));
        declaration.model.constraints = vec![constraint].into();
        declaration.model.single_stage_mut().unwrap().global = vec![global].into();
        declaration.model.single_stage_mut().unwrap().local = vec![local].into();
        let device = parse(device).unwrap();
        counts(&declaration, &[device], true).remove(0)
    }

    #[test]
    fn a_limit_that_is_not_given_rules_nothing_out_whichever_it_is() {
        for field in DeviceField::ALL {
            let name = field.name();
            for condition in [
                format!("WG <= device.{name}"),
                format!("device.{name} == 0"),
                format!("device.{name} == 1"),
                format!("WG % device.{name} == 0"),
            ] {
                let count = with(&condition, "phone:");
                assert_eq!(count.valid.as_ref().ok(), Some(&4), "{condition}");
                assert!(count.not_known.contains(field), "{condition}");
                let mut open = count.rules.iter().filter(|of| of.effect.is_err());
                assert!(
                    open.any(|of| of.rule == ConstraintOrigin::User),
                    "{condition}"
                );
            }
            // Given, it counts.
            let one_value = with(
                &format!("WG <= device.{name} / 8"),
                &format!("phone:{name}=256"),
            );
            assert_eq!(one_value.valid.ok(), Some(1), "{name}");
            assert!(!one_value.not_known.contains(field), "{name}");
            let none = with(&format!("device.{name} != 0"), &format!("phone:{name}=0"));
            assert_eq!(none.valid.ok(), Some(0), "{name}");
        }
    }

    #[test]
    fn what_is_known_is_enough_where_it_decides() {
        let condition = "device.is_gpu == 0 || device.fp16 == 1";
        let cpu = with(condition, "CPU:is_gpu=0");
        assert!(!cpu.not_known.contains(&DeviceField::Fp16));
        let gpu = with(condition, "GPU:is_gpu=1");
        assert!(gpu.not_known.contains(&DeviceField::Fp16));
    }

    #[test]
    fn rules_about_sizes_hold_without_any_limit() {
        let count = with("WG != 32", "phone:");
        assert_eq!((count.cartesian, count.valid.ok()), (4, Some(3)));
        let expected = [DeviceField::MaxWorkGroupSize, DeviceField::MaxWorkItemSizeX];
        assert_eq!(count.not_known, expected);
        let units = count.rules.last().map(|of| (of.rule, of.effect.clone()));
        let unknown = vec![DeviceField::ComputeUnits];
        assert_eq!(units, Some((ConstraintOrigin::ComputeUnits, Err(unknown))));
    }
}
