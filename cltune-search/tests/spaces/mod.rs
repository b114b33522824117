//! Search spaces for tests of strategies.

use cltune_core::device::DeviceLimits;
use cltune_core::parameter::{Domain, Parameter};
use cltune_formats::formula::{Scope, Type};
use cltune_search::space::{Space, SpaceConstraint, SpaceParameter, SpaceSpec};
use std::sync::Arc;

/// Parameters with these values, under a constraint.
pub(crate) fn space(parameters: &[(&'static str, Vec<i64>)], constraint: &str) -> Arc<Space> {
    let declared: Vec<Parameter> = parameters
        .iter()
        .map(|(name, values)| Parameter {
            name: (*name).into(),
            domain: Domain::Integers(values.clone().into()),
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
            .map(|(name, values)| SpaceParameter {
                name: (*name).into(),
                codes: values.clone(),
            })
            .collect(),
        constraints: vec![SpaceConstraint {
            label: constraint.to_owned().into(),
            program: formula.program.bind(&[], &DeviceLimits::default()),
        }],
    }))
}
