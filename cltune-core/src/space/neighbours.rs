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
}
