//! The valid configurations of a group of parameters, as a graph with one level per parameter, and
//! the second half of building it: from the last level to the first.

use super::interned::Interned;

/// A group's configurations. An index orders them by the position of the first level's value,
/// then of the second's, and so on.
#[derive(Clone, Debug)]
pub(super) struct Graph {
    /// For each level its parameter's position in the declaration.
    pub(super) parameters: Vec<usize>,
    /// The levels; the first has one node, the root. Empty when no configuration is valid.
    pub(super) levels: Vec<Level>,
    /// The number of configurations; saturates.
    pub(super) count: u128,
}

/// The nodes of a level and the edges that leave them. Every edge leads to a configuration.
#[derive(Clone, Debug, Default)]
pub(super) struct Level {
    /// The positions of the level's values in the parameter's domain, ascending.
    pub(super) places: Vec<u32>,
    /// Node `n` has the edges `starts[n]..starts[n + 1]`.
    pub(super) starts: Vec<usize>,
    /// The edges of a node ascend and do not overlap.
    pub(super) edges: Vec<Edge>,
    /// For each edge the number of configurations through earlier edges of its node; saturates.
    pub(super) before: Vec<u128>,
    /// For each node the number of configurations from it on; saturates.
    pub(super) counts: Vec<u128>,
}

/// Values that follow each other and lead to the same node.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(super) struct Edge {
    /// The first and the last value, as positions in the level's places.
    pub(super) first: u32,
    pub(super) last: u32,
    /// The node of the next level.
    pub(super) child: u32,
}

impl Edge {
    /// How many values there are.
    pub(super) fn width(self) -> u128 {
        u128::from(self.last - self.first) + 1
    }
}

impl Level {
    /// The edges of a node.
    pub(super) fn edges_of(&self, node: usize) -> &[Edge] {
        &self.edges[self.starts[node]..self.starts[node + 1]]
    }

    /// The edge of a node that has the value at a position of the parameter's domain, and which of
    /// its values that is.
    fn find(&self, node: usize, position: u32) -> Option<(usize, u32)> {
        let place = self.places.binary_search(&position).ok()? as u32;
        let edges = self.edges_of(node);
        let at = edges.partition_point(|edge| edge.last < place);
        let edge = edges.get(at).filter(|edge| edge.first <= place)?;
        Some((self.starts[node] + at, place - edge.first))
    }
}

impl Graph {
    /// The graph without configurations.
    pub(super) const fn empty(parameters: Vec<usize>) -> Self {
        Self {
            parameters,
            levels: Vec::new(),
            count: 0,
        }
    }

    /// The number of configurations from a node of a level on; there is one after the last level.
    pub(super) fn count_from(&self, level: usize, node: u32) -> u128 {
        self.levels
            .get(level)
            .map_or(1, |level| level.counts[node as usize])
    }

    /// Writes the positions of the configuration at `index`, which is less than the count, to
    /// where `positions` has the group's parameters.
    pub(super) fn get(&self, mut index: u128, positions: &mut [u32]) {
        let mut node = 0;
        for (at, (level, &parameter)) in self.levels.iter().zip(&self.parameters).enumerate() {
            let start = level.starts[node];
            let before = &level.before[start..level.starts[node + 1]];
            // The first edge has no configurations before it, so the point is at least 1.
            let number = start + before.partition_point(|before| *before <= index) - 1;
            let edge = level.edges[number];
            index -= level.before[number];
            let each = self.count_from(at + 1, edge.child);
            // Where counts saturate an index may seem to lie beyond the last value.
            let value = (index / each).min(edge.width() - 1);
            index -= value * each;
            positions[parameter] = level.places[edge.first as usize + value as usize];
            node = edge.child as usize;
        }
    }

    /// The index of the configuration with these positions of all parameters, if it is valid;
    /// saturates.
    pub(super) fn index_of(&self, positions: &[u32]) -> Option<u128> {
        if self.count == 0 {
            return None;
        }
        let mut index = 0_u128;
        let mut node = 0;
        for (at, (level, &parameter)) in self.levels.iter().zip(&self.parameters).enumerate() {
            let (number, value) = level.find(node, positions[parameter])?;
            let child = level.edges[number].child;
            let skipped = u128::from(value).saturating_mul(self.count_from(at + 1, child));
            index = index
                .saturating_add(level.before[number])
                .saturating_add(skipped);
            node = child as usize;
        }
        Some(index)
    }
}

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

/// The graph of the levels of these parameters: drops edges that lead nowhere, joins states with
/// the same edges into one node, and counts.
pub(super) fn from_drafts(parameters: Vec<usize>, drafts: Vec<Draft>) -> Graph {
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

/// The number of combinations of the groups' configurations; saturates.
pub(super) fn product(graphs: &[Graph]) -> u128 {
    // A saturated product must not hide a group without configurations.
    if graphs.iter().any(|graph| graph.count == 0) {
        return 0;
    }
    graphs
        .iter()
        .fold(1, |count: u128, graph| count.saturating_mul(graph.count))
}
