//! The valid configuration nearest to a point.

use super::Space;
use super::graph::{Edge, Graph, Level};

impl Space {
    /// The valid configuration with the least distance to `codes`: the sum over the parameters of how
    /// many places apart the values stand in the declaration. Of several the one with the least
    /// index; `None` when no configuration is valid or `codes` has not one code per parameter.
    ///
    /// A code outside its parameter's domain counts as the one nearest to it. Takes time in
    /// proportion to the edges of the graphs.
    pub fn nearest(&self, codes: &[i64]) -> Option<Vec<i64>> {
        if self.is_empty() || codes.len() != self.parameters().len() {
            return None;
        }
        let mut positions = codes
            .iter()
            .enumerate()
            .map(|(parameter, code)| self.nearest_position(parameter, *code))
            .collect::<Option<Vec<u32>>>()?;
        for graph in self.graphs() {
            nearest(graph, &mut positions);
        }
        Some(self.codes(&positions))
    }
}

/// Moves the positions of a graph's parameters to its nearest configuration: from the last level to
/// the first, the least distance from each node on and the edge that starts it.
fn nearest(graph: &Graph, positions: &mut [u32]) {
    let mut distances = vec![0_u64];
    let mut choices: Vec<Vec<(usize, u32)>> = Vec::with_capacity(graph.levels.len());
    for (level, &parameter) in graph.levels.iter().zip(&graph.parameters).rev() {
        let best = |bounds: &[usize]| {
            (bounds[0]..bounds[1])
                .map(|number| {
                    let edge = level.edges[number];
                    let (place, apart) = closest(level, edge, positions[parameter]);
                    (apart + distances[edge.child as usize], number, place)
                })
                .min()
                .map_or((u64::MAX, (0, 0)), |(least, edge, place)| {
                    (least, (edge, place))
                })
        };
        let (least, edges) = level.starts.windows(2).map(best).unzip();
        distances = least;
        choices.push(edges);
    }
    let mut node = 0;
    for ((level, parameter), chosen) in graph
        .levels
        .iter()
        .zip(&graph.parameters)
        .zip(choices.iter().rev())
    {
        let (edge, place) = chosen[node];
        positions[*parameter] = level.places[place as usize];
        node = level.edges[edge].child as usize;
    }
}

/// The place of the value of an edge that is closest to a position, the first of two, and how many
/// positions they are apart.
fn closest(level: &Level, edge: Edge, position: u32) -> (u32, u64) {
    let places = &level.places[edge.first as usize..=edge.last as usize];
    let after = places.partition_point(|place| *place < position);
    let around = [after.checked_sub(1), Some(after)];
    around
        .into_iter()
        .filter_map(|at| {
            let at = at?;
            let apart = places.get(at)?.abs_diff(position);
            Some((edge.first + at as u32, u64::from(apart)))
        })
        .min_by_key(|(_, apart)| *apart)
        .unwrap_or((edge.first, 0))
}
