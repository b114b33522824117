//! Search spaces for tests of strategies.

use cltune_core::device::DeviceLimits;
use cltune_core::parameter::{Domain, Parameter};
use cltune_formats::formula::{Scope, Type};
use cltune_search::space::{Space, SpaceConstraint, SpaceParameter, SpaceSpec};
use std::sync::Arc;

/// Parameters with these values, under a constraint.
pub(crate) fn space(parameters: &[(&'static str, Vec<i64>)], constraint: &str) -> Arc<Space> {
    let integers = |values: &Vec<i64>| Domain::Integers(values.clone().into());
    let declared = parameters
        .iter()
        .map(|(name, values)| (*name, integers(values)));
    space_of(&declared.collect::<Vec<_>>(), constraint)
}

/// Parameters with these domains, under a constraint.
pub(crate) fn space_of(parameters: &[(&'static str, Domain)], constraint: &str) -> Arc<Space> {
    let declared: Vec<Parameter> = parameters
        .iter()
        .map(|(name, domain)| Parameter {
            name: (*name).into(),
            domain: domain.clone(),
        })
        .collect();
    let scope = Scope {
        parameters: &declared,
        dimensions: &[],
    };
    let formula = cltune_formats::formula::parse(constraint, &scope, Type::Bool).unwrap();
    Arc::new(Space::build(&SpaceSpec {
        parameters: parameters
            .iter()
            .map(|(name, domain)| SpaceParameter {
                name: (*name).into(),
                codes: domain.codes().collect(),
                continuous: matches!(domain, Domain::Reals(_)),
            })
            .collect(),
        constraints: vec![SpaceConstraint {
            label: constraint.to_owned().into(),
            program: formula.program.bind(&[], &DeviceLimits::default()),
        }],
    }))
}
