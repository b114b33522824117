//! In which order a group's graph takes its parameters.
//!
//! The best order depends on what the constraints leave in common, which only building shows: the
//! orders here are tried one after the other, each with a limited number of steps.

use super::domains::Domains;
use super::groups::Group;
use super::information::Information;
use super::tree::Tree;

/// The orders that are compared start with different parameters, at most this many.
const MOST_STARTS: usize = 8;

/// An order that lets the levels of the graph have few nodes, by estimate: what must be known of the
/// parameters after each (in bits) bounds how many nodes there can be. Good where constraints are
/// sums and products. Each order that is compared is greedy after its first parameter.
pub(super) fn order_by_information(group: &Group, domains: &Domains<'_>) -> Vec<usize> {
    let parameters = &*group.parameters;
    let codes: Vec<&[i64]> = domains.parameters.iter().map(|p| &*p.codes).collect();
    let mut information = Information::new(&group.constraints, &codes);
    let mut starts = parameters.to_vec();
    starts.sort_by_key(|parameter| codes[*parameter].len());
    starts.truncate(MOST_STARTS);
    let mut best: Option<(f64, Vec<usize>)> = None;
    for start in starts {
        let most = best.as_ref().map_or(f64::INFINITY, |(cost, _)| *cost);
        if let Some((cost, order)) = greedy(start, parameters, most, &mut information) {
            best = Some((cost, order));
        }
    }
    best.map_or_else(|| parameters.to_vec(), |(_, order)| order)
}

/// After `start` always the parameter that leaves the least to be known, and of several the one
/// with the fewest values; with the estimated number of edges. `None` when there are `most`.
fn greedy(
    start: usize,
    parameters: &[usize],
    most: f64,
    information: &mut Information<'_>,
) -> Option<(f64, Vec<usize>)> {
    information.forget();
    let mut cost = 0.0;
    let mut left = parameters.to_vec();
    let mut ordered = Vec::with_capacity(left.len());
    let mut next = left.iter().position(|parameter| *parameter == start);
    while let Some(at) = next {
        let parameter = left.remove(at);
        cost += (information.known() + information.of(parameter)).exp2();
        if cost >= most {
            return None;
        }
        information.learn(parameter);
        ordered.push(parameter);
        let costs = left.iter().map(|parameter| {
            let bits = information.known_with(*parameter);
            (bits, information.of(*parameter), *parameter)
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
    let mut left = group.parameters.clone();
    let constraints: Vec<Vec<usize>> = group.constraints.iter().map(Tree::parameters).collect();
    let sizes: Vec<usize> = domains.parameters.iter().map(|p| p.codes.len()).collect();
    let mut naming: Vec<Vec<usize>> = vec![Vec::new(); sizes.len()];
    for (constraint, names) in constraints.iter().enumerate() {
        for &parameter in names {
            naming[parameter].push(constraint);
        }
    }
    let mut undecided: Vec<usize> = constraints.iter().map(Vec::len).collect();
    let mut ordered = Vec::with_capacity(left.len());
    loop {
        let next = left.iter().enumerate().min_by_key(|(_, parameter)| {
            let change: i64 = naming[**parameter]
                .iter()
                .map(|&constraint| {
                    let opens = undecided[constraint] == constraints[constraint].len();
                    let closes = undecided[constraint] == 1;
                    i64::from(opens) - i64::from(closes)
                })
                .sum();
            let bits = i64::from(usize::BITS - sizes[**parameter].leading_zeros());
            let change = if change > 0 { change * bits } else { change };
            (change, sizes[**parameter], **parameter)
        });
        let Some((at, _)) = next else {
            return ordered;
        };
        let parameter = left.remove(at);
        for &constraint in &naming[parameter] {
            undecided[constraint] -= 1;
        }
        ordered.push(parameter);
    }
}
