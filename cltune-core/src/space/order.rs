//! In which order a group's graph takes its parameters.

/// Greedily, the parameter after which the fewest constraints are half decided, since these are
/// what tells nodes of a level apart, weighed by how many ways the values (in bits) give to be so;
/// then the one with the fewest values, since values of early parameters multiply the work for
/// later ones.
pub(super) fn order(
    mut left: Vec<usize>,
    constraints: &[Vec<usize>],
    sizes: &[usize],
) -> Vec<usize> {
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
