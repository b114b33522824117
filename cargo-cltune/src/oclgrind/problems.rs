//! Problems that a simulator can run: small, and like the one that was tuned.

use cltune_core::device::DeviceLimits;
use cltune_core::expr::{Env, Op};
use cltune_core::model::{ArgumentKind, Commands, Geometry, Model};
use cltune_formats::declaration::{Computation, Declaration, Fill, Reference};

/// Dimensions up to this are likely to be properties of the computation, such as the width of a
/// filter, and stay as they are.
const SMALL: i64 = 32;

/// The least sizes of dimensions in the problems that are tried in turn.
const LEAST: [i64; 4] = [SMALL, 4 * SMALL, 16 * SMALL, 64 * SMALL];

/// A problem with more work-items takes too long to try.
pub(super) const MOST_WORK_ITEMS: usize = 1 << 18;

/// Why there is no problem.
pub(crate) const FILES: &str =
    "inputs are files, which are for this problem only, and it is too large";

/// Numbers of elements that vectors have, which many kernels write out.
const VECTORS: [i64; 5] = [2, 4, 8, 16, 32];

/// Configurations of a tunable that were tuned for a problem, and are to be run.
#[derive(Clone, Copy)]
pub(crate) struct Tuned<'a> {
    pub(crate) declaration: &'a Declaration,
    /// The first must be valid on a problem; the others where they are on the tuned one.
    pub(crate) configurations: &'a [&'a [i64]],
    pub(crate) dims: &'a [i64],
    /// Of the simulator.
    pub(crate) limits: &'a DeviceLimits,
}

impl Tuned<'_> {
    /// Problems to run the first configuration on, the smallest first: it has two work-groups in
    /// each dimension where it had them, the reference can be launched, and what divides the tuned
    /// sizes and may be a tile (a parameter's value, the part of a work-group, a vector) divides
    /// the small ones, so that nothing is found that is not there for the tuned problem. A larger
    /// one is for where the reference is of no use on a smaller. The tuned problem itself, where
    /// nothing else will do. None where inputs are files, which are made for one problem, and that
    /// is too large.
    pub(crate) fn small_problems(&self) -> Vec<Vec<i64>> {
        // A file has as many elements as the problem needs that it was made for.
        let fills = &self.declaration.fills;
        if fills.iter().any(|fill| matches!(fill, Fill::File(_))) {
            let is_too_large = self.work_items(self.dims) > MOST_WORK_ITEMS;
            return if is_too_large {
                Vec::new()
            } else {
                vec![self.dims.to_vec()]
            };
        }
        let mut problems: Vec<Vec<i64>> = Vec::new();
        for least in LEAST {
            let problem = self.at_least(least);
            let is_too_large = || self.work_items(&problem) > MOST_WORK_ITEMS;
            if problems.contains(&problem) || (!problems.is_empty() && is_too_large()) {
                continue;
            }
            problems.push(problem);
        }
        problems
    }

    /// The smallest problem whose dimensions are not below this, where they were not.
    fn at_least(&self, least: i64) -> Vec<i64> {
        let mut small = self.dims.to_vec();
        for dimension in 0..small.len() {
            // Those that are equal may have to be.
            self.shrink(
                &mut small,
                least,
                |at, of| of[at] == of[dimension],
                dimension,
            );
        }
        for dimension in 0..small.len() {
            self.shrink(&mut small, least, |at, _| at == dimension, dimension);
        }
        small
    }

    /// Gives some of the dimensions the smallest size that all can have.
    fn shrink(
        &self,
        small: &mut Vec<i64>,
        least: i64,
        which: impl Fn(usize, &[i64]) -> bool,
        dimension: usize,
    ) {
        let sizes = candidates(self.dims[dimension]);
        let tiles = self.tiles(dimension);
        let fitting = sizes.filter(|size| {
            *size >= least && *size < small[dimension] && tiles.iter().all(|tile| size % tile == 0)
        });
        let fitting: Vec<i64> = fitting.collect();
        for size in fitting {
            let mut candidate = small.clone();
            for at in (0..small.len()).filter(|at| which(*at, small)) {
                candidate[at] = size;
            }
            if self.suits(&candidate) {
                *small = candidate;
                return;
            }
        }
    }

    /// Divisors of a size of the tuned problem that may be tile sizes.
    fn tiles(&self, dimension: usize) -> Vec<i64> {
        let size = self.dims[dimension];
        let is_divided = |axis: &usize| {
            let names = |op: &Op| matches!(op, Op::Dim(at) if usize::from(*at) == dimension);
            let stages = self.model().stages().into_iter();
            let mut globals = stages.filter_map(|stage| stage.global.get(*axis));
            globals.any(|global| global.program.ops.iter().any(names))
        };
        let mut tiles = VECTORS.to_vec();
        for codes in self.configurations {
            tiles.extend(codes.iter().copied());
            for groups in self.groups(codes, self.dims).unwrap_or_default() {
                let axes = (0..groups.len()).filter(is_divided);
                let groups = axes.filter_map(|axis| i64::try_from(groups[axis]).ok());
                let several = groups.filter(|groups| *groups > 1 && size % groups == 0);
                tiles.extend(several.map(|groups| size / groups));
            }
        }
        tiles.sort_unstable();
        tiles.dedup();
        tiles.retain(|tile| *tile > 1 && size % tile == 0);
        tiles
    }

    fn suits(&self, dims: &[i64]) -> bool {
        let model = &self.declaration.model;
        let is_valid = |codes: &[i64], dims: &[i64]| model.check(codes, dims, self.limits).is_ok();
        let mut all = self.configurations.iter().enumerate();
        all.all(|(at, codes)| is_valid(codes, dims) || (at > 0 && !is_valid(codes, self.dims)))
            && self.has_work_groups(dims)
            && self.has_reference(dims)
    }

    /// Whether the first configuration has two work-groups in each dimension where it had them.
    fn has_work_groups(&self, dims: &[i64]) -> bool {
        let Some(codes) = self.configurations.first() else {
            return false;
        };
        match (self.groups(codes, dims), self.groups(codes, self.dims)) {
            (Some(groups), Some(tuned)) => {
                let mut pairs = groups.iter().flatten().zip(tuned.iter().flatten());
                pairs.all(|(groups, tuned)| groups >= tuned.min(&2))
            }
            (groups, _) => groups.is_some(),
        }
    }

    /// Whether inputs can be prepared and the reference be launched, as far as formulas tell.
    fn has_reference(&self, dims: &[i64]) -> bool {
        let env = Env {
            params: &[],
            dims,
            device: self.limits,
        };
        let accumulates = self.declaration.tolerance.accumulates.as_ref();
        let has_terms = accumulates.is_none_or(|terms| terms.eval(&env).is_ok_and(|of| of > 0));
        let mut arguments = self.model().arguments.iter().enumerate();
        let has_elements = arguments.all(|(position, of)| match &of.kind {
            ArgumentKind::Buffer { len: Some(len), .. } => {
                let len = len
                    .eval(&env)
                    .ok()
                    .and_then(|len| usize::try_from(len).ok());
                let compared = self.declaration.compared(position);
                len.is_some_and(|len| len > 0 && compared.range(len, &env).is_ok())
            }
            _ => true,
        });
        let reference = match &self.declaration.reference {
            Reference::Default => None,
            Reference::Own(reference) => Some(reference),
        };
        let mut computations = self.declaration.prepare.iter().chain(reference);
        has_terms && has_elements && computations.all(|of| self.is_launched(of, dims))
    }

    fn is_launched(&self, computation: &Computation, dims: &[i64]) -> bool {
        // It uses no parameter, whatever the configuration.
        let codes = self.configurations.first().copied().unwrap_or_default();
        let commands = computation.commands(self.model(), codes, dims, self.limits);
        commands.is_ok()
    }

    /// The number of work-items of the first configuration, over all launches; none where that is
    /// not valid.
    pub(super) fn work_items(&self, dims: &[i64]) -> usize {
        let codes = self.configurations.first().copied().unwrap_or_default();
        let commands = self.model().commands(codes, dims, self.limits);
        let geometries = commands.iter().flat_map(Commands::geometries);
        let of_launch =
            |geometry: &Geometry| geometry.global.into_iter().fold(1, usize::saturating_mul);
        geometries.map(of_launch).fold(0, usize::saturating_add)
    }

    /// The number of work-groups in each dimension of each launch; of work-items where the driver
    /// chooses the work-group.
    fn groups(&self, codes: &[i64], dims: &[i64]) -> Option<Vec<[usize; 3]>> {
        let commands = self.model().commands(codes, dims, self.limits).ok()?;
        let groups = commands.geometries().map(|geometry| {
            let local = geometry.local.unwrap_or([1; 3]);
            std::array::from_fn(|dimension| geometry.global[dimension] / local[dimension].max(1))
        });
        Some(groups.collect())
    }

    fn model(&self) -> &Model {
        &self.declaration.model
    }
}

/// Sizes below another that are likely to satisfy the same constraints, from the smallest: powers
/// of two, multiples of them by three, and what divides it.
fn candidates(size: i64) -> impl Iterator<Item = i64> {
    const DIVISORS: i64 = 4096;
    let powers = (0..63).map(|exponent| 1_i64 << exponent);
    let threefold = (0..60).map(|exponent| 3_i64 << exponent);
    let divided = (1..=DIVISORS.min(size)).filter(move |divisor| size % divisor == 0);
    let mut sizes: Vec<i64> = powers
        .chain(threefold)
        .chain(divided.map(move |divisor| size / divisor))
        .filter(|candidate| *candidate < size)
        .collect();
    sizes.sort_unstable();
    sizes.dedup();
    sizes.into_iter()
}

#[cfg(test)]
#[path = "../../tests/unit/oclgrind_problems.rs"]
mod tests;
