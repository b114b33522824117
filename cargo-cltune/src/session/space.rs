//! The space of a search: what is declared, what the device allows, and what the command line asks for.

use super::fill::filled;
use super::plan::Job;
use super::search::{SearchError, SearchOptions};
use cltune_core::expr::{Formula, Scope, Type};
use cltune_search::space::{Space, SpaceConstraint};
use std::sync::Arc;

/// The steps that building a space may take: less than a minute, and less than a gigabyte.
pub(super) const MOST_STEPS: u64 = 1 << 26;

/// The space to search, which is not empty.
pub(super) fn space(job: &Job, options: &SearchOptions) -> Result<Arc<Space>, SearchError> {
    let model = &job.declaration.model;
    let mut spec = model.space_spec(&job.dims, &job.device.info().limits);
    for text in &options.constraints {
        spec.constraints.push(constraint(job, text)?);
    }
    let mut space = Space::build_within(spec.clone(), MOST_STEPS)?;
    if options.fill_device {
        space = filled(job, spec, space);
    }
    options
        .messages
        .space(job, space.cartesian(), space.count());
    if space.count() == 0 {
        return Err(SearchError::Empty {
            explanation: space.explain().to_string().trim_end().to_owned(),
        });
    }
    Ok(Arc::new(space))
}

/// A constraint of the command line for this kernel, device and problem.
fn constraint(job: &Job, text: &str) -> Result<SpaceConstraint, SearchError> {
    let model = &job.declaration.model;
    let scope = Scope {
        parameters: &model.parameters,
        dimensions: &model.dimensions,
    };
    let formula =
        Formula::parse(text, &scope, Type::Bool).map_err(|reason| SearchError::Constraint {
            constraint: text.to_owned(),
            reason,
        })?;
    let limits = &job.device.info().limits;
    Ok(SpaceConstraint {
        program: formula.program.bind(&job.dims, limits),
        label: formula.text,
    })
}
