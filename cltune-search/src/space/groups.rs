//! Which parameters depend on each other.

use super::domains::Domains;
use super::tree::Tree;

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
