//! Configurations near to a point: those that differ in a few parameters, and the nearest valid
//! one.

use super::graph::{Edge, Graph, Level};
use super::{Space, SpaceParameter};

/// Which values of the one parameter that changes are tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Neighbourhood {
    /// The values right before and right after the current one, in declaration order.
    Adjacent,
    /// Every other value; of a continuous parameter a few at distances from a half to a thousandth
    /// of the range, on both sides.
    AnyValue,
}

/// The distances of the neighbours that differ in a continuous parameter: the range over two to
/// these powers.
///
/// Each costs two evaluations around every local optimum. With all of them down to the range over
/// 65,536, `local` is farther from a smooth optimum after 60 evaluations by a factor of 8. Without
/// the last, every walk would stay on a grid of 64 values.
const STEPS: [u32; 7] = [1, 2, 3, 4, 5, 6, 10];

impl Neighbourhood {
    /// The positions that are tried of a parameter with so many values, ascending.
    fn positions(self, current: u32, size: u32, continuous: bool) -> Vec<u32> {
        match self {
            Self::Adjacent => {
                let around = current.saturating_sub(1)..size.min(current.saturating_add(2));
                around.filter(|position| *position != current).collect()
            }
            Self::AnyValue if continuous => {
                let distances = || STEPS.map(|exponent| (size >> exponent).max(1)).into_iter();
                let below = distances().filter_map(|distance| current.checked_sub(distance));
                let above = distances().filter_map(|distance| current.checked_add(distance));
                let above = above.filter(|position| *position < size);
                let mut positions: Vec<u32> = below.chain(above).collect();
                positions.sort_unstable();
                positions.dedup();
                positions
            }
            Self::AnyValue => (0..size).filter(|position| *position != current).collect(),
        }
    }
}

/// A search for configurations within a number of differences.
struct Within<'a> {
    space: &'a Space,
    /// Where the configuration has its values.
    from: Vec<u32>,
    positions: Vec<u32>,
    found: Vec<Vec<i64>>,
    most: usize,
}

impl Within<'_> {
    /// Goes on from a node of a level of a graph, with this many differences left.
    fn visit(&mut self, graph: usize, level: usize, node: usize, left: u32) {
        let space = self.space;
        let Some(current) = space.graphs().get(graph) else {
            if self.positions != self.from && self.found.len() < self.most {
                self.found.push(space.codes(&self.positions));
            }
            return;
        };
        let Some(edges) = current.levels.get(level) else {
            return self.visit(graph + 1, 0, 0, left);
        };
        let parameter = current.parameters[level];
        let kept = self.from[parameter];
        for edge in edges.edges_of(node) {
            for &position in &edges.places[edge.first as usize..=edge.last as usize] {
                if self.found.len() >= self.most {
                    return;
                }
                if let Some(left) = left.checked_sub(u32::from(position != kept)) {
                    self.positions[parameter] = position;
                    self.visit(graph, level + 1, edge.child as usize, left);
                }
            }
        }
        self.positions[parameter] = kept;
    }
}

impl Space {
    /// The valid configurations that differ from `codes` in one parameter, ordered by that
    /// parameter and its value, both in declaration order.
    ///
    /// `codes` itself need not be valid, but without a code from each parameter's domain it has no
    /// neighbours. A code of a continuous parameter that is not listed counts as the nearest that
    /// is.
    pub fn neighbours(&self, codes: &[i64], neighbourhood: Neighbourhood) -> Vec<Vec<i64>> {
        let Some(mut positions) = self.places(codes) else {
            return Vec::new();
        };
        let mut graph_of = vec![None; positions.len()];
        let mut invalid = Vec::new();
        for (number, graph) in self.graphs().iter().enumerate() {
            for &parameter in &graph.parameters {
                graph_of[parameter] = Some((number, graph));
            }
            if graph.index_of(&positions).is_none() {
                invalid.push(number);
            }
        }
        let mut found = Vec::new();
        for (parameter, group) in graph_of.into_iter().enumerate() {
            // One change repairs one group at most.
            let Some((number, graph)) = group else {
                continue;
            };
            if invalid.iter().any(|invalid| *invalid != number) {
                continue;
            }
            let current = positions[parameter];
            let SpaceParameter {
                codes, continuous, ..
            } = &self.parameters()[parameter];
            for position in neighbourhood.positions(current, codes.len() as u32, *continuous) {
                positions[parameter] = position;
                if graph.index_of(&positions).is_some() {
                    found.push(self.codes(&positions));
                }
            }
            positions[parameter] = current;
        }
        found
    }

    /// The valid configurations that differ from `codes` in 1 to `differences` parameters (their
    /// Hamming distance), at most `most` of them, in the order of their indices.
    ///
    /// `codes` itself need not be valid, but without a code from each parameter's domain it has no
    /// neighbours. Of a continuous parameter every listed value is tried. The time grows with the
    /// domains to the power of `differences`.
    pub fn neighbours_within(&self, codes: &[i64], differences: u32, most: usize) -> Vec<Vec<i64>> {
        let Some(from) = self.places(codes).filter(|_| !self.is_empty()) else {
            return Vec::new();
        };
        let mut search = Within {
            space: self,
            positions: from.clone(),
            from,
            found: Vec::new(),
            most,
        };
        search.visit(0, 0, 0, differences);
        search.found
    }
}

impl Space {
    /// The valid configuration with the least distance to `codes`: the sum over the parameters of
    /// how many places apart the values stand in the declaration. Of several the one with the least
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
