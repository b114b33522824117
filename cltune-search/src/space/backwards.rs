//! The second half of building a graph: from the last level to the first.

use super::graph::{Edge, Graph, Level};
use super::interned::Interned;

/// A level while it is built: its edges, which lead to states of the next level, and where each
/// state's edges start.
#[derive(Default)]
pub(super) struct Draft {
    /// The positions of the level's values in the parameter's domain, ascending.
    pub(super) places: Vec<u32>,
    pub(super) starts: Vec<usize>,
    pub(super) edges: Vec<Edge>,
}

impl Draft {
    /// Adds values to the last state's edges; they follow those that it has.
    pub(super) fn push(&mut self, edge: Edge) {
        let start = self.starts.last().copied().unwrap_or(0);
        match self.edges[start..].last_mut() {
            Some(before) if before.child == edge.child && before.last + 1 == edge.first => {
                before.last = edge.last;
            }
            _ => self.edges.push(edge),
        }
    }
}

/// The graph of the levels of these parameters: drops edges that lead nowhere, joins states with the
/// same edges into one node, and counts.
pub(super) fn graph(parameters: Vec<usize>, drafts: Vec<Draft>) -> Graph {
    // After the last level there is one state, with one way to be satisfied.
    let mut nodes = vec![Some(0_u32)];
    let mut counts = vec![1_u128];
    let mut levels = Vec::with_capacity(drafts.len());
    for draft in drafts.into_iter().rev() {
        let (level, level_nodes) = join(draft, &nodes, &counts);
        nodes = level_nodes;
        counts.clone_from(&level.counts);
        levels.push(level);
    }
    levels.reverse();
    match counts.first() {
        Some(&count) => Graph {
            parameters,
            levels,
            count,
        },
        None => Graph::empty(parameters),
    }
}

/// The level of a draft, and for each state of the draft its node, if it has one. `nodes` are those
/// of the next level's states, `counts` those of its nodes.
fn join(draft: Draft, nodes: &[Option<u32>], counts: &[u128]) -> (Level, Vec<Option<u32>>) {
    let mut joined: Interned<Edge> = Interned::default();
    let mut level = Level {
        places: draft.places,
        starts: vec![0],
        ..Level::default()
    };
    let mut kept = Draft {
        starts: vec![0],
        ..Draft::default()
    };
    let level_nodes = draft.starts.windows(2).map(|bounds| {
        kept.edges.clear();
        for edge in &draft.edges[bounds[0]..bounds[1]] {
            if let Some(child) = nodes[edge.child as usize] {
                kept.push(Edge { child, ..*edge });
            }
        }
        if kept.edges.is_empty() {
            return None;
        }
        let (node, is_new) = joined.enter(&kept.edges);
        if is_new {
            let mut count = 0_u128;
            for edge in &kept.edges {
                level.before.push(count);
                let through = edge.width().saturating_mul(counts[edge.child as usize]);
                count = count.saturating_add(through);
            }
            level.edges.extend_from_slice(&kept.edges);
            level.starts.push(level.edges.len());
            level.counts.push(count);
        }
        Some(node)
    });
    let level_nodes = level_nodes.collect();
    (level, level_nodes)
}
