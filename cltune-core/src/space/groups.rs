//! Which parameters depend on each other, and in which order a group's graph takes them.

use crate::expr::Program;

/// Parameters that constraints connect, in the order of the graph's levels, and those constraints.
#[derive(Clone, Debug, Default)]
pub(super) struct Group {
    /// Positions of the parameters in the declaration.
    pub(super) parameters: Vec<usize>,
    /// The constraints on them.
    pub(super) constraints: Vec<Program>,
}

/// The groups, ordered by their first parameter in declaration order. Every parameter is in
/// exactly one; every constraint must name at least one parameter.
pub(super) fn groups(sizes: &[usize], constraints: Vec<Program>) -> Vec<Group> {
    let constraints: Vec<(Vec<usize>, Program)> = constraints
        .into_iter()
        .map(|program| (named(&program, sizes.len()), program))
        .collect();
    let mut roots: Vec<usize> = (0..sizes.len()).collect();
    for (names, _) in &constraints {
        for pair in names.windows(2) {
            let (a, b) = (root(&mut roots, pair[0]), root(&mut roots, pair[1]));
            roots[a.max(b)] = a.min(b);
        }
    }
    // Indexed by a group's first parameter; empty for all others.
    let mut groups = vec![Group::default(); sizes.len()];
    let mut names_of_constraints = vec![Vec::new(); sizes.len()];
    for parameter in 0..sizes.len() {
        groups[root(&mut roots, parameter)]
            .parameters
            .push(parameter);
    }
    for (names, program) in constraints {
        if let Some(first) = names.first() {
            let group = root(&mut roots, *first);
            names_of_constraints[group].push(names);
            groups[group].constraints.push(program);
        }
    }
    groups
        .into_iter()
        .zip(names_of_constraints)
        .filter(|(group, _)| !group.parameters.is_empty())
        .map(|(group, names)| Group {
            parameters: order(group.parameters, &names, sizes),
            ..group
        })
        .collect()
}

/// The declared parameters a program names; what it names beyond those has no value.
pub(super) fn named(program: &Program, parameters: usize) -> Vec<usize> {
    program
        .parameters()
        .into_iter()
        .map(usize::from)
        .filter(|parameter| *parameter < parameters)
        .collect()
}

/// The representative of a parameter's group: the group's first parameter.
fn root(roots: &mut [usize], mut parameter: usize) -> usize {
    while roots[parameter] != parameter {
        roots[parameter] = roots[roots[parameter]];
        parameter = roots[parameter];
    }
    parameter
}

/// Greedily, the parameter after which the fewest constraints are half decided, since these are
/// what tells nodes of a level apart, weighed by how many ways the values (in bits) give to be so;
/// then the one with the fewest values, since values of early parameters multiply the work for
/// later ones.
fn order(mut left: Vec<usize>, constraints: &[Vec<usize>], sizes: &[usize]) -> Vec<usize> {
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::expr::Op;

    fn program(parameters: &[u16]) -> Program {
        Program {
            ops: parameters.iter().map(|index| Op::Param(*index)).collect(),
        }
    }

    #[test]
    fn constraints_connect_parameters() {
        let groups = groups(&[2; 5], vec![program(&[3, 1]), program(&[4, 3])]);
        let mut members: Vec<Vec<usize>> = groups.iter().map(|g| g.parameters.clone()).collect();
        for group in &mut members {
            group.sort_unstable();
        }
        assert_eq!(members, [vec![0], vec![1, 3, 4], vec![2]]);
        assert_eq!(groups[1].constraints.len(), 2);
    }

    #[test]
    fn parameters_with_many_values_come_late() {
        let groups = groups(&[1000, 2, 3], vec![program(&[0, 1, 2])]);
        assert_eq!(groups[0].parameters, [1, 2, 0]);
    }
}
