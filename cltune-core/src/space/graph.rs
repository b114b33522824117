//! The valid configurations of a group of parameters, as a graph with one level per parameter.

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
    /// Node `n` has the edges `starts[n]..starts[n + 1]`.
    pub(super) starts: Vec<usize>,
    /// For each edge the position of its value in the parameter's domain; ascending in a node.
    pub(super) positions: Vec<u32>,
    /// For each edge the node of the next level it leads to.
    pub(super) children: Vec<u32>,
    /// For each edge the number of configurations through earlier edges of its node; saturates.
    pub(super) before: Vec<u128>,
}

impl Graph {
    /// Writes the positions of the configuration at `index`, which is less than the count, to
    /// where `positions` has the group's parameters.
    pub(super) fn get(&self, mut index: u128, positions: &mut [u32]) {
        let mut node = 0;
        for (level, &parameter) in self.levels.iter().zip(&self.parameters) {
            let start = level.starts[node];
            let before = &level.before[start..level.starts[node + 1]];
            // The first edge has no configurations before it, so the point is at least 1.
            let edge = start + before.partition_point(|before| *before <= index) - 1;
            index -= level.before[edge];
            positions[parameter] = level.positions[edge];
            node = level.children[edge] as usize;
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
        for (level, &parameter) in self.levels.iter().zip(&self.parameters) {
            let start = level.starts[node];
            let edges = &level.positions[start..level.starts[node + 1]];
            let edge = start + edges.binary_search(&positions[parameter]).ok()?;
            index = index.saturating_add(level.before[edge]);
            node = level.children[edge] as usize;
        }
        Some(index)
    }
}
