//! Building the graphs of a space.

use super::backwards::graph;
use super::domains::{Domains, OutOfWork, domains};
use super::forwards::forwards;
use super::graph::Graph;
use super::groups::{Group, groups};
use super::remainders::{Outcome, Remainders};
use super::work::Work;
use super::{Space, SpaceConstraint, SpaceSpec};
use std::collections::HashSet;

impl Space {
    /// The valid configurations that satisfy further constraints too, such as another device's
    /// limits.
    ///
    /// Builds anew: putting the constraints in from the start makes the graphs smaller than cutting
    /// them afterwards would.
    #[must_use]
    pub fn restrict(&self, constraints: impl IntoIterator<Item = SpaceConstraint>) -> Self {
        let mut spec = self.spec().clone();
        spec.constraints.extend(constraints);
        Self::build(&spec)
    }

    /// The valid configurations of a specification. A value that a parameter has twice counts
    /// once.
    pub fn build(spec: &SpaceSpec) -> Self {
        let spec = without_duplicates(spec);
        let graphs = graphs(&spec, &mut Work::new(u64::MAX)).unwrap_or_default();
        Self::new(spec, graphs)
    }
}

/// The number of valid configurations (saturating), unless finding it takes more than `steps`
/// edges and evaluations.
pub(super) fn count_within(spec: &SpaceSpec, steps: u64) -> Option<u128> {
    let graphs = graphs(spec, &mut Work::new(steps))?;
    Some(product(&graphs))
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

fn without_duplicates(spec: &SpaceSpec) -> SpaceSpec {
    let mut spec = spec.clone();
    for parameter in &mut spec.parameters {
        if parameter.codes.is_sorted_by(|a, b| a < b) {
            continue;
        }
        let mut seen = HashSet::with_capacity(parameter.codes.len());
        parameter.codes.retain(|code| seen.insert(*code));
    }
    spec
}

/// The graph of each group; `None` when the work is used up.
fn graphs(spec: &SpaceSpec, work: &mut Work) -> Option<Vec<Graph>> {
    let domains = match domains(spec, work) {
        Ok(Some(domains)) => domains,
        Ok(None) => return Some(vec![Graph::empty((0..spec.parameters.len()).collect())]),
        Err(OutOfWork) => return None,
    };
    groups(&domains)
        .into_iter()
        .map(|group| group_graph(group, &domains, work))
        .collect()
}

fn group_graph(group: Group, domains: &Domains, work: &mut Work) -> Option<Graph> {
    let mut levels = vec![None; domains.parameters.len()];
    for (level, parameter) in group.parameters.iter().enumerate() {
        levels[*parameter] = Some(level);
    }
    let values = || group.parameters.iter().map(|p| &domains.parameters[*p]);
    let mut remainders = Remainders::new(values().map(|values| &*values.codes).collect());
    let mut first = Vec::new();
    for tree in &group.constraints {
        match remainders.enter(tree.renumbered(&levels)) {
            Outcome::Open(number) => first.push(number),
            Outcome::Holds => {}
            Outcome::Fails => return Some(Graph::empty(group.parameters)),
        }
    }
    let places = values().map(|values| values.positions.clone()).collect();
    let drafts = forwards(remainders, &first, places, work)?;
    Some(if drafts.is_empty() {
        Graph::empty(group.parameters)
    } else {
        graph(group.parameters, drafts)
    })
}
