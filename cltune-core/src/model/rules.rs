//! The origins of the constraints on a space, by which their effects are reported.

use super::{Model, SpaceConstraint, SpaceParameter, SpaceSpec};
use crate::device::{DeviceField, DeviceLimits};
use crate::expr::Formula;
use crate::parameter::Domain;
use std::fmt;

/// Where a constraint comes from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum ConstraintOrigin {
    /// A local size has a limit in each dimension (`CL_DEVICE_MAX_WORK_ITEM_SIZES`).
    WorkItemSizes,
    /// The user declared it.
    User,
    /// A work-group has a limited number of work-items (`CL_DEVICE_MAX_WORK_GROUP_SIZE`).
    WorkGroupSize,
    /// The global size is divisible by the local size in each dimension.
    Divisibility,
    /// A work-group's local memory is limited (`CL_DEVICE_LOCAL_MEM_SIZE`).
    LocalMemory,
    /// Constant memory and images are limited (`CL_DEVICE_MAX_CONSTANT_BUFFER_SIZE`,
    /// `CL_DEVICE_IMAGE2D_MAX_WIDTH`, …).
    MemorySpaces,
    /// Sizes are positive, and all formulas have values.
    Values,
    /// There are at least as many work-groups as compute units (`CL_DEVICE_MAX_COMPUTE_UNITS`):
    /// not needed to run, see [`Model::compute_units_constraint`].
    ComputeUnits,
}

impl fmt::Display for ConstraintOrigin {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        // `pad` heeds the width of a column.
        f.pad(match self {
            Self::WorkItemSizes => "work-item sizes",
            Self::User => "declared",
            Self::WorkGroupSize => "work-group size",
            Self::Divisibility => "divisibility",
            Self::LocalMemory => "local memory",
            Self::MemorySpaces => "memory spaces",
            Self::Values => "sizes and values",
            Self::ComputeUnits => "compute units",
        })
    }
}

impl Model {
    /// What a space for this problem on this device is built from: the parameters, and all
    /// constraints with dimensions and limits replaced by their values. Constraints that hold
    /// whatever the parameters are left out; one that never holds is kept, so that the space can
    /// say which it is.
    pub fn space_spec(&self, dims: &[i64], device: &DeviceLimits) -> SpaceSpec {
        let constraints = self.constraints.iter().cloned();
        SpaceSpec {
            parameters: self.space_parameters(&|field| Some(device.get(field))),
            constraints: constraints
                .chain(self.derived_constraints())
                .map(|formula| bound(formula, dims, device))
                .filter(is_needed)
                .collect(),
        }
    }

    /// The same constraints, each with where it comes from: first the limits of single dimensions,
    /// then the user's, then what the device and OpenCL make of both; last
    /// [`compute_units_constraint`](Self::compute_units_constraint), which is only added on demand.
    ///
    /// `limit` tells the limits that are known of the device. A constraint that needs another one
    /// keeps it in its program, which then has no value: see
    /// [`Program::limits`](crate::expr::Program::limits).
    pub fn space_rules(
        &self,
        dims: &[i64],
        limit: &dyn Fn(DeviceField) -> Option<i64>,
    ) -> (
        Vec<SpaceParameter>,
        Vec<(ConstraintOrigin, SpaceConstraint)>,
    ) {
        let user = self.constraints.iter().cloned();
        let compute_units = self.compute_units_rule();
        let mut rules: Vec<_> = user
            .map(|formula| (ConstraintOrigin::User, formula))
            .chain(self.derived_rules())
            .map(|(rule, formula)| (rule, bound_known(formula, dims, limit)))
            .filter(|(rule, constraint)| *rule == ConstraintOrigin::User || is_needed(constraint))
            .chain(compute_units.map(|formula| {
                let constraint = bound_known(formula, dims, limit);
                (ConstraintOrigin::ComputeUnits, constraint)
            }))
            .collect();
        // Stable: within a rule the order of declaration.
        rules.sort_by_key(|(rule, _)| *rule);
        (self.space_parameters(limit), rules)
    }

    /// The constraint that every compute unit gets a work-group, which the tuner may add: fewer
    /// leave compute units without work. `None` where the driver chooses the work-group.
    ///
    /// A configuration that breaks it runs all the same, and may be the best: for small problems,
    /// or where some compute units are enough for all of the memory's bandwidth. So it is no part
    /// of [`Model::check`].
    ///
    /// From: device-derived design-space pruning, section 2.1, rule (3). Its formula adds the
    /// work-groups of the dimensions; its text speaks of their total, which is the product.
    pub fn compute_units_constraint(
        &self,
        dims: &[i64],
        device: &DeviceLimits,
    ) -> Option<SpaceConstraint> {
        Some(bound(self.compute_units_rule()?, dims, device))
    }

    fn space_parameters(&self, limit: &dyn Fn(DeviceField) -> Option<i64>) -> Vec<SpaceParameter> {
        let parameters = self.parameters.iter();
        parameters
            .map(|parameter| SpaceParameter {
                name: parameter.name.clone(),
                codes: parameter.domain.codes_on(limit),
                continuous: matches!(parameter.domain, Domain::Reals(_)),
            })
            .collect()
    }
}

fn bound(formula: Formula, dims: &[i64], device: &DeviceLimits) -> SpaceConstraint {
    bound_known(formula, dims, &|field| Some(device.get(field)))
}

fn bound_known(
    formula: Formula,
    dims: &[i64],
    limit: &dyn Fn(DeviceField) -> Option<i64>,
) -> SpaceConstraint {
    SpaceConstraint {
        label: formula.text,
        program: formula.program.bind_known(dims, limit),
    }
}

/// Whether a constraint does not hold whatever the parameters.
fn is_needed(constraint: &SpaceConstraint) -> bool {
    constraint.program.constant().is_none_or(|value| value == 0)
}
