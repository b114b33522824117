//! The values that are left of each parameter when the constraints on few parameters are taken into
//! account, and the constraints that are left then.

use super::SpaceSpec;
use super::bounds::Bounds;
use super::interned::FastMap;
use super::layers::layers;
use super::residual::{MASK_BITS, Residual, Residuals};
use super::tree::{Tree, TreeBuilder};
use super::work::Work;
use std::borrow::Cow;
use std::collections::{HashMap, HashSet};

/// The combinations of a constraint's other parameters up to which the values of its largest one
/// are tried.
const MOST_COMBINATIONS: usize = 1 << 12;
/// The steps that this may take for a constraint.
const MOST_STEPS: u64 = 1 << 15;
/// How many codes are looked at, and how many constraints, in the time of a step.
const CODES_A_STEP: usize = 1 << 10;
const TREES_A_STEP: usize = 1 << 4;

/// Parameters, and constraints that name two or more of them.
pub(super) struct Domains<'a> {
    pub(super) parameters: Vec<Values<'a>>,
    pub(super) constraints: Vec<Tree>,
}

/// The values of a parameter that are left; a domain is not copied until it loses one.
#[derive(Clone)]
pub(super) struct Values<'a> {
    pub(super) codes: Cow<'a, [i64]>,
    /// Where each stands in the declaration; as they are counted while none is lost.
    positions: Option<Vec<u32>>,
}

impl<'a> Values<'a> {
    const fn all(codes: &'a [i64]) -> Self {
        Self {
            codes: Cow::Borrowed(codes),
            positions: None,
        }
    }

    /// Where each stands in the declaration.
    pub(super) fn positions(&self) -> Vec<u32> {
        let all = || (0..self.codes.len() as u32).collect();
        self.positions.clone().unwrap_or_else(all)
    }

    /// Whether one was dropped.
    fn retain(&mut self, keep: impl Fn(usize, i64) -> bool) -> bool {
        let kept: Vec<usize> = (0..self.codes.len())
            .filter(|at| keep(*at, self.codes[*at]))
            .collect();
        if kept.len() == self.codes.len() {
            return false;
        }
        let position = |at: &usize| match &self.positions {
            None => *at as u32,
            Some(positions) => positions[*at],
        };
        self.positions = Some(kept.iter().map(position).collect());
        self.codes = kept.iter().map(|at| self.codes[*at]).collect();
        true
    }
}

/// The domains of a specification; `Ok(None)` when no configuration is valid, `Err` when the work
/// is used up.
pub(super) fn domains<'a>(
    spec: &'a SpaceSpec,
    work: &mut Work,
) -> Result<Option<Domains<'a>>, OutOfWork> {
    let parameters = spec
        .parameters
        .iter()
        .map(|p| Values::all(&p.codes))
        .collect();
    let mut domains = Domains {
        parameters,
        constraints: Vec::new(),
    };
    let bounds = domains.bounds();
    let builder = TreeBuilder { domains: &bounds };
    domains.constraints = spec
        .constraints
        .iter()
        .map(|constraint| builder.tree(&constraint.program))
        .collect();
    let mut tried = HashMap::new();
    loop {
        if !domains.simplify(work)? {
            return Ok(None);
        }
        if !domains.narrow(&mut tried, work)? {
            return Ok(Some(domains));
        }
    }
}

/// Whether a tree is true for a code of the one parameter that it names.
fn holds(tree: &Tree, code: i64) -> bool {
    tree.value(&[], code).is_some_and(|value| value != 0)
}

/// There was less work left than needed.
pub(super) struct OutOfWork;

impl Domains<'_> {
    /// The bounds of each parameter's values.
    pub(super) fn bounds(&self) -> Vec<Bounds> {
        let bounds = |values: &Values<'_>| Bounds::of(&values.codes);
        self.parameters.iter().map(bounds).collect()
    }

    /// Puts in what is known and uses up the constraints on one parameter, until nothing changes.
    /// Whether a configuration may be valid.
    fn simplify(&mut self, work: &mut Work) -> Result<bool, OutOfWork> {
        loop {
            if self.parameters.iter().any(|values| values.codes.is_empty()) {
                return Ok(false);
            }
            let codes = self.parameters.iter().map(|values| values.codes.len());
            work.take(codes.sum::<usize>() / CODES_A_STEP)
                .ok_or(OutOfWork)?;
            let bounds = self.bounds();
            let builder = TreeBuilder { domains: &bounds };
            let mut parts = Vec::new();
            for tree in std::mem::take(&mut self.constraints) {
                builder.again(&tree).split(&mut parts);
            }
            work.take(parts.len() / TREES_A_STEP).ok_or(OutOfWork)?;
            let mut changed = false;
            let mut seen = HashSet::new();
            for tree in parts {
                match (&tree, &*tree.parameters()) {
                    (Tree::Const(0) | Tree::Fails, _) => return Ok(false),
                    (Tree::Const(_), _) => {}
                    (_, []) if holds(&tree, 0) => {}
                    (_, []) => return Ok(false),
                    (_, &[parameter]) => {
                        let values = &mut self.parameters[parameter];
                        work.take(values.codes.len()).ok_or(OutOfWork)?;
                        changed |= values.retain(|_, code| holds(&tree, code));
                    }
                    _ if seen.insert(tree.clone()) => self.constraints.push(tree),
                    _ => {}
                }
            }
            if !changed {
                return Ok(true);
            }
        }
    }

    /// Drops values of large domains for which a constraint alone cannot hold. Whether one was
    /// dropped.
    ///
    /// `tried` has the sizes of the domains with which a constraint was tried already.
    fn narrow(
        &mut self,
        tried: &mut HashMap<Tree, Vec<usize>>,
        work: &mut Work,
    ) -> Result<bool, OutOfWork> {
        let mut changed = false;
        for tree in &self.constraints {
            let mut named = tree.parameters();
            let size = |parameter: &usize| self.parameters[*parameter].codes.len();
            named.sort_by_key(size);
            let Some((last, others)) = named.split_last() else {
                continue;
            };
            let combinations = others.iter().map(size).fold(1, usize::saturating_mul);
            let sizes: Vec<usize> = named.iter().map(size).collect();
            if size(last) <= MASK_BITS
                || combinations > MOST_COMBINATIONS
                || tried.get(tree) == Some(&sizes)
            {
                continue;
            }
            let mut share = work.share(MOST_STEPS);
            let supported = self.supported(tree, &named, &mut share);
            work.give_back(&share);
            if supported.is_none() && work.is_used_up() {
                return Err(OutOfWork);
            }
            tried.insert(tree.clone(), sizes);
            if let Some(supported) = supported {
                changed |= self.parameters[*last].retain(|at, _| supported[at]);
            }
        }
        Ok(changed)
    }

    /// For each value of the last parameter named whether the tree can be true; `None` when that
    /// takes too long to find.
    fn supported(&self, tree: &Tree, named: &[usize], work: &mut Work) -> Option<Vec<bool>> {
        let levels: FastMap<usize, usize> = named.iter().copied().zip(0..).collect();
        let domain = |parameter: &usize| &self.parameters[*parameter];
        let mut residuals = Residuals::new(named.iter().map(|p| &*domain(p).codes).collect());
        let places = named
            .iter()
            .map(|p| (0..domain(p).codes.len() as u32).collect());
        let size = domain(named.last()?).codes.len();
        let first = match residuals.enter(tree.renumbered(&levels)) {
            Residual::Holds => return None,
            Residual::Fails => return Some(vec![false; size]),
            Residual::Open(number) => number,
        };
        let drafts = layers(residuals, &[first], places.collect(), work)?;
        let mut supported = vec![false; size];
        if let Some(last) = drafts.get(named.len() - 1) {
            for edge in &last.edges {
                supported[edge.first as usize..=edge.last as usize].fill(true);
            }
        }
        Some(supported)
    }
}
