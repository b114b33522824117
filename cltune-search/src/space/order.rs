//! Groups of parameters that depend on each other, and the order in which the graph of a group
//! takes them.
//!
//! The best order depends on what the constraints leave in common, which only building shows: the
//! orders here are tried one after the other, each with a limited number of steps.

use super::domains::Domains;
use super::estimate::Estimate;
use super::interned::FastMap;
use super::tree::Tree;
use std::collections::BTreeSet;

/// Parameters that constraints connect, and those constraints.
#[derive(Clone, Debug, Default)]
pub(super) struct Group {
    /// Positions of the parameters in the declaration.
    pub(super) parameters: Vec<usize>,
    /// The constraints on them.
    pub(super) constraints: Vec<Tree>,
}

/// The groups, ordered by their first parameter in declaration order. Every parameter is in
/// exactly one.
pub(super) fn groups(domains: &Domains<'_>) -> Vec<Group> {
    let count = domains.parameters.len();
    let named: Vec<Vec<usize>> = domains.constraints.iter().map(Tree::parameters).collect();
    let mut roots: Vec<usize> = (0..count).collect();
    for pair in named.iter().flat_map(|names| names.windows(2)) {
        let (a, b) = (root(&mut roots, pair[0]), root(&mut roots, pair[1]));
        roots[a.max(b)] = a.min(b);
    }
    // Indexed by a group's first parameter; empty for all others.
    let mut groups = vec![Group::default(); count];
    for parameter in 0..count {
        let group = root(&mut roots, parameter);
        groups[group].parameters.push(parameter);
    }
    for (names, tree) in named.iter().zip(&domains.constraints) {
        if let Some(first) = names.first() {
            let group = root(&mut roots, *first);
            groups[group].constraints.push(tree.clone());
        }
    }
    groups.retain(|group| !group.parameters.is_empty());
    groups
}

/// The representative of a parameter's group: the group's first parameter.
fn root(roots: &mut [usize], mut parameter: usize) -> usize {
    while roots[parameter] != parameter {
        roots[parameter] = roots[roots[parameter]];
        parameter = roots[parameter];
    }
    parameter
}

/// The orders that are compared start with different parameters, at most this many.
const MOST_STARTS: usize = 8;
/// So many looks at a parameter of a constraint may an order take to be found: some tenths of a
/// second.
const MOST_COMPARED: u64 = 1 << 26;

/// An order that lets the levels of the graph have few nodes, by estimate: what must be known of
/// the parameters after each (in bits) bounds how many nodes there can be. Good where constraints
/// are sums and products. Each order that is compared is greedy after its first parameter.
///
/// `None` for groups in which finding it takes too long.
pub(super) fn order_by_estimate(group: &Group, domains: &Domains<'_>) -> Option<Vec<usize>> {
    let parameters = &*group.parameters;
    let named: u64 = group
        .constraints
        .iter()
        .map(|tree| 1 + tree.parameters().len() as u64)
        .sum();
    // For every parameter of an order all that are left are compared, by what is known of all
    // constraints.
    let pairs = (parameters.len() as u64).pow(2) * MOST_STARTS as u64;
    if pairs.saturating_mul(named) > MOST_COMPARED {
        return None;
    }
    let codes: Vec<&[i64]> = domains.parameters.iter().map(|p| &*p.codes).collect();
    let mut estimate = Estimate::new(&group.constraints, &codes);
    let mut starts = parameters.to_vec();
    starts.sort_by_key(|parameter| codes[*parameter].len());
    starts.truncate(MOST_STARTS);
    let mut best: Option<(f64, Vec<usize>)> = None;
    for start in starts {
        let most = best.as_ref().map_or(f64::INFINITY, |(cost, _)| *cost);
        if let Some((cost, order)) = greedy(start, parameters, most, &mut estimate) {
            best = Some((cost, order));
        }
    }
    best.map(|(_, order)| order)
}

/// After `start` always the parameter that leaves the least to be known, and of several the one
/// with the fewest values; with the estimated number of edges. `None` when there are `most`.
fn greedy(
    start: usize,
    parameters: &[usize],
    most: f64,
    estimate: &mut Estimate<'_>,
) -> Option<(f64, Vec<usize>)> {
    estimate.forget();
    let mut cost = 0.0;
    let mut left = parameters.to_vec();
    let mut ordered = Vec::with_capacity(left.len());
    let mut next = left.iter().position(|parameter| *parameter == start);
    while let Some(at) = next {
        let parameter = left.remove(at);
        cost += (estimate.known() + estimate.of(parameter)).exp2();
        if cost >= most {
            return None;
        }
        estimate.learn(parameter);
        ordered.push(parameter);
        let costs = left.iter().map(|parameter| {
            let bits = estimate.known_with(*parameter);
            (bits, estimate.of(*parameter), *parameter)
        });
        next = costs
            .enumerate()
            .min_by(|(_, a), (_, b)| {
                (a.0.total_cmp(&b.0))
                    .then(a.1.total_cmp(&b.1))
                    .then(a.2.cmp(&b.2))
            })
            .map(|(at, _)| at);
    }
    Some((cost, ordered))
}

/// Greedily, the parameter after which the fewest constraints are half decided, since these are
/// what tells nodes of a level apart, weighed by how many ways the values (in bits) give to be so;
/// then the one with the fewest values, since values of early parameters multiply the work for
/// later ones.
/// Quick to find, and good where constraints are divisibilities.
pub(super) fn order_by_constraints(group: &Group, domains: &Domains<'_>) -> Vec<usize> {
    let constraints: Vec<Vec<usize>> = group.constraints.iter().map(Tree::parameters).collect();
    let mut candidates = Candidates::new(&group.parameters, &constraints, domains);
    // For each constraint how many of its parameters are not taken yet.
    let mut undecided: Vec<usize> = constraints.iter().map(Vec::len).collect();
    let mut ordered = Vec::with_capacity(group.parameters.len());
    while let Some(parameter) = candidates.take() {
        let naming = candidates.naming.remove(&parameter).unwrap_or_default();
        for constraint in naming {
            let names = &constraints[constraint];
            let before = change(undecided[constraint], names.len());
            undecided[constraint] -= 1;
            let change = change(undecided[constraint], names.len()) - before;
            // Each constraint does so twice at most: after its first parameter, and before its
            // last.
            if change != 0 {
                for name in names {
                    candidates.add(*name, change);
                }
            }
        }
        ordered.push(parameter);
    }
    ordered
}

/// What the next parameter of a constraint changes: one more is half decided, or one less.
fn change(undecided: usize, names: usize) -> i64 {
    i64::from(undecided == names) - i64::from(undecided == 1)
}

/// The parameters that are left, the best first.
struct Candidates<'a> {
    /// By how many more constraints are half decided after each, weighed; then its size.
    ordered: BTreeSet<(i64, usize, usize)>,
    /// The same by parameter, before it is weighed.
    changes: FastMap<usize, i64>,
    /// The constraints that name each.
    naming: FastMap<usize, Vec<usize>>,
    domains: &'a Domains<'a>,
}

impl<'a> Candidates<'a> {
    fn new(parameters: &[usize], constraints: &[Vec<usize>], domains: &'a Domains<'a>) -> Self {
        let mut new = Self {
            ordered: BTreeSet::new(),
            changes: parameters.iter().map(|parameter| (*parameter, 0)).collect(),
            naming: parameters
                .iter()
                .map(|parameter| (*parameter, Vec::new()))
                .collect(),
            domains,
        };
        for (constraint, names) in constraints.iter().enumerate() {
            for parameter in names {
                new.naming.entry(*parameter).or_default().push(constraint);
                *new.changes.entry(*parameter).or_default() += change(names.len(), names.len());
            }
        }
        new.ordered = parameters
            .iter()
            .map(|parameter| new.key(*parameter))
            .collect();
        new
    }

    fn size(&self, parameter: usize) -> usize {
        self.domains.parameters[parameter].codes.len()
    }

    fn key(&self, parameter: usize) -> (i64, usize, usize) {
        let (change, size) = (self.changes[&parameter], self.size(parameter));
        let bits = i64::from(usize::BITS - size.leading_zeros());
        let change = if change > 0 { change * bits } else { change };
        (change, size, parameter)
    }

    /// Takes the best.
    fn take(&mut self) -> Option<usize> {
        let (.., parameter) = self.ordered.pop_first()?;
        Some(parameter)
    }

    /// Changes what a parameter changes, where it is left.
    fn add(&mut self, parameter: usize, change: i64) {
        if self.ordered.remove(&self.key(parameter)) {
            *self.changes.entry(parameter).or_default() += change;
            self.ordered.insert(self.key(parameter));
        }
    }
}
