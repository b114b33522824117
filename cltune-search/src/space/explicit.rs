//! A space that is given by its configurations instead of by constraints.

use super::graph::{Draft, Edge, Graph, from_drafts};
use super::{Space, SpaceParameter, SpaceSpec};

impl Space {
    /// The space of exactly these configurations, for example of a recorded one. A configuration
    /// that is listed twice counts once.
    ///
    /// `None` when one has too few or too many codes, or one that is not in its parameter's domain.
    pub fn from_configurations(
        parameters: Vec<SpaceParameter>,
        configurations: &[Vec<i64>],
    ) -> Option<Self> {
        let spec = SpaceSpec {
            parameters,
            constraints: Vec::new(),
        };
        let unconstrained = Self::new(spec.clone(), Vec::new());
        let mut rows = configurations
            .iter()
            .map(|codes| unconstrained.positions(codes))
            .collect::<Option<Vec<Vec<u32>>>>()?;
        rows.sort_unstable();
        rows.dedup();
        Some(Self::new(
            spec.clone(),
            vec![graph(&rows, &spec.parameters)],
        ))
    }
}

/// The graph of sorted rows: first a node for each beginning, then equal ends are joined.
fn graph(rows: &[Vec<u32>], parameters: &[SpaceParameter]) -> Graph {
    let order = (0..parameters.len()).collect();
    if rows.is_empty() {
        return Graph::empty(order);
    }
    // For each row the node of the current level that it goes through.
    let mut nodes = vec![0_u32; rows.len()];
    let mut drafts = Vec::with_capacity(parameters.len());
    for (level, parameter) in parameters.iter().enumerate() {
        let mut draft = Draft {
            places: (0..parameter.codes.len() as u32).collect(),
            ..Draft::default()
        };
        let mut next = vec![0_u32; rows.len()];
        for (at, row) in rows.iter().enumerate() {
            let new_node = at == 0 || nodes[at] != nodes[at - 1];
            let new_edge = new_node || row[level] != rows[at - 1][level];
            if new_node {
                draft.starts.push(draft.edges.len());
            }
            if new_edge {
                draft.edges.push(Edge {
                    first: row[level],
                    last: row[level],
                    child: draft.edges.len() as u32,
                });
            }
            next[at] = draft.edges.len() as u32 - 1;
        }
        draft.starts.push(draft.edges.len());
        // After the last level all rows have arrived at the same end.
        if level + 1 == parameters.len() {
            draft.edges.iter_mut().for_each(|edge| edge.child = 0);
        }
        nodes = next;
        drafts.push(draft);
    }
    from_drafts(order, drafts)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parameters() -> Vec<SpaceParameter> {
        let parameter =
            |name: &str, codes: &[i64]| SpaceParameter::listed(name.to_owned(), codes.to_vec());
        vec![parameter("A", &[8, 4, 2]), parameter("B", &[0, 1])]
    }

    #[test]
    fn it_holds_what_it_was_given() {
        let rows = vec![vec![2, 1], vec![8, 0], vec![8, 1], vec![2, 1]];
        let space = Space::from_configurations(parameters(), &rows).unwrap();
        assert_eq!(space.count(), 3);
        assert_eq!(space.iter().collect::<Vec<_>>(), [[8, 0], [8, 1], [2, 1]]);
        assert!(space.contains(&[2, 1]) && !space.contains(&[4, 1]) && !space.contains(&[2, 0]));
        assert_eq!(space.index_of(&[2, 1]), Some(2));
    }

    #[test]
    fn nothing_and_strangers() {
        let empty = Space::from_configurations(parameters(), &[]).unwrap();
        assert!(empty.is_empty() && empty.get(0).is_none());
        let none = Space::from_configurations(Vec::new(), &[Vec::new()]).unwrap();
        assert_eq!(none.count(), 1);
        assert!(Space::from_configurations(parameters(), &[vec![3, 0]]).is_none());
        assert!(Space::from_configurations(parameters(), &[vec![8]]).is_none());
    }
}
