//! Configurations that differ in one parameter.

use super::Space;

/// Which values of the one parameter that changes are tried.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Neighbourhood {
    /// The values right before and right after the current one, in declaration order.
    Adjacent,
    /// Every other value.
    AnyValue,
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
    /// neighbours.
    pub fn neighbours(&self, codes: &[i64], neighbourhood: Neighbourhood) -> Vec<Vec<i64>> {
        let Some(mut positions) = self.positions(codes) else {
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
            let size = self.parameters()[parameter].codes.len() as u32;
            let tried = match neighbourhood {
                Neighbourhood::Adjacent => {
                    current.saturating_sub(1)..size.min(current.saturating_add(2))
                }
                Neighbourhood::AnyValue => 0..size,
            };
            for position in tried.filter(|position| *position != current) {
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
    /// neighbours. The time grows with the domains to the power of `differences`.
    pub fn neighbours_within(&self, codes: &[i64], differences: u32, most: usize) -> Vec<Vec<i64>> {
        let Some(from) = self.positions(codes).filter(|_| !self.is_empty()) else {
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
