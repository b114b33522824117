//! The space of a search: what is declared, what the device allows, and what the command line asks
//! for.

use super::result::SearchError;
use crate::plan::Job;
use cltune_formats::formula::{Scope, Type};
use cltune_search::space::{Space, SpaceConstraint, SpaceSpec};
use std::sync::Arc;

/// The steps that building a space may take: less than a minute, and less than a gigabyte.
const MOST_STEPS: u64 = 1 << 26;

/// The space to search. With `fill_device`, every compute unit gets a work-group.
pub(super) fn space(
    job: &Job,
    constraints: &[String],
    fill_device: bool,
) -> Result<Arc<Space>, SearchError> {
    let model = &job.declaration.model;
    let mut spec = model.space_spec(&job.dims, &job.device.info().limits);
    for text in constraints {
        spec.constraints.push(constraint(job, text)?);
    }
    let mut space = Space::build_within(spec.clone(), MOST_STEPS)?;
    if fill_device {
        space = filled(job, spec, space);
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
    let formula = cltune_formats::formula::parse(text, &scope, Type::Bool).map_err(|reason| {
        SearchError::Constraint {
            constraint: text.to_owned(),
            reason,
        }
    })?;
    let limits = &job.device.info().limits;
    Ok(SpaceConstraint {
        program: formula.program.bind(&job.dims, limits),
        label: formula.text,
    })
}

/// The configurations of `spec` with at least as many work-groups as the device has compute units.
/// Where that leaves none (the problem is too small, the driver chooses the work-group) or cannot
/// be told, all of them: this constraint is about speed and not about what can run.
fn filled(job: &Job, mut spec: SpaceSpec, space: Space) -> Space {
    let limits = job.device.info().limits;
    let model = &job.declaration.model;
    let Some(constraint) = model.compute_units_constraint(&job.dims, &limits) else {
        return space;
    };
    spec.constraints.push(constraint);
    match Space::build_within(spec, MOST_STEPS) {
        Ok(filled) if filled.count() > 0 => filled,
        _ => space,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::samples;
    use crate::worker::DeviceRecord;

    use cltune_formats::formula::{Scope, Type};

    /// The number of configurations of `WG` in 32, 64, 128 and 256 for `n` on 8 compute units.
    fn left(n: i64, is_sized: bool) -> u128 {
        let mut declaration = samples::declaration("app::k", "b3:1", &[n]);
        if is_sized {
            let scope = Scope {
                parameters: &declaration.model.parameters,
                dimensions: &declaration.model.dimensions,
            };
            let local = cltune_formats::formula::parse("WG", &scope, Type::Int).unwrap();
            declaration.model.single_stage_mut().unwrap().local = vec![local].into();
        }
        let mut device = samples::device("device");
        device.limits.compute_units = 8;
        device.limits.max_work_group_size = 256;
        device.limits.max_work_item_size_x = 256;
        let spec = declaration.model.space_spec(&[n], &device.limits);
        let job = Job {
            folder: "app".into(),
            declaration,
            device: DeviceRecord::new(0, &device),
            twins: Vec::new(),
            dims: vec![n],
        };
        let space = Space::build(&spec);
        filled(&job, spec, space).count()
    }

    #[test]
    fn too_few_work_groups_are_left_out() {
        assert_eq!(left(2048, true), 4);
        assert_eq!(left(1024, true), 3);
        assert_eq!(left(256, true), 1);
    }

    #[test]
    fn the_constraint_is_dropped_where_it_leaves_nothing_or_means_nothing() {
        assert_eq!(left(128, true), 3, "256 does not divide 128");
        assert_eq!(left(64, false), 4);
    }
}
