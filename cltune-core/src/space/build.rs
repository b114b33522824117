//! Building the graphs of a space.

use super::graph::{Graph, Level};
use super::groups::{Group, groups, named};
use super::residual::{Outcome, Residuals, decide};
use super::{Space, SpaceSpec, conjuncts::conjuncts};
use crate::expr::{Fragment, Program, rebuild};
use std::collections::{HashMap, HashSet};

impl Space {
    /// The valid configurations of a specification. A value that a parameter has twice counts
    /// once.
    pub fn build(spec: &SpaceSpec) -> Self {
        let spec = without_duplicates(spec);
        let graphs = graphs(&spec, &mut Work { left: u64::MAX }).unwrap_or_default();
        Self::new(spec, graphs)
    }
}

/// The steps a build may still take.
struct Work {
    left: u64,
}

impl Work {
    /// `None` when there are not that many left.
    fn take(&mut self, steps: usize) -> Option<()> {
        self.left = self.left.checked_sub(steps as u64)?;
        Some(())
    }
}

/// The number of valid configurations (saturating), unless finding it takes more than `steps`
/// edges and evaluations.
pub(super) fn count_within(spec: &SpaceSpec, steps: u64) -> Option<u128> {
    let graphs = graphs(spec, &mut Work { left: steps })?;
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
        let mut seen = HashSet::with_capacity(parameter.codes.len());
        parameter.codes.retain(|code| seen.insert(*code));
    }
    spec
}

/// The graph of each group; `None` when the work is used up. A constraint that names no parameter
/// and does not hold empties a graph of no parameters.
fn graphs(spec: &SpaceSpec, work: &mut Work) -> Option<Vec<Graph>> {
    let codes: Vec<&[i64]> = spec
        .parameters
        .iter()
        .map(|parameter| &*parameter.codes)
        .collect();
    let mut constraints = Vec::new();
    for constraint in &spec.constraints {
        for part in conjuncts(&constraint.program) {
            // A damaged program has no value; rebuilding it finds out before any value is put in.
            let whole = rebuild(&part, &Fragment::leaf).map(Fragment::finish);
            match whole {
                Some(part) if !named(&part, codes.len()).is_empty() => constraints.push(part),
                Some(part) if decide(&part, &vec![0; codes.len()]) == Outcome::Holds => {}
                _ => return Some(vec![empty(Vec::new())]),
            }
        }
    }
    let sizes: Vec<usize> = codes.iter().map(|codes| codes.len()).collect();
    groups(&sizes, constraints)
        .into_iter()
        .map(|group| graph(group, &codes, work))
        .collect()
}

fn empty(parameters: Vec<usize>) -> Graph {
    Graph {
        parameters,
        levels: Vec::new(),
        count: 0,
    }
}

/// A level while it is built: its edges as position and state of the next level, and where each
/// state's edges start.
struct Draft {
    starts: Vec<usize>,
    edges: Vec<(u32, u32)>,
}

fn graph(group: Group, codes: &[&[i64]], work: &mut Work) -> Option<Graph> {
    let drafts = forwards(&group.parameters, group.constraints, codes, work)?;
    if drafts.is_empty() {
        return Some(empty(group.parameters));
    }
    let (levels, count) = backwards(drafts);
    Some(Graph {
        parameters: group.parameters,
        levels,
        count,
    })
}

/// Level by level, every state that is reached: the set of remainders still to be satisfied.
/// Empty when no configuration is valid, `None` when the work is used up.
fn forwards(
    parameters: &[usize],
    constraints: Vec<Program>,
    codes: &[&[i64]],
    work: &mut Work,
) -> Option<Vec<Draft>> {
    let mut residuals = Residuals::new(parameters, codes);
    let mut starting: Vec<Vec<u32>> = vec![Vec::new(); parameters.len()];
    for program in constraints {
        match residuals.enter(program) {
            Outcome::Open(number) => starting[residuals.level(number)].push(number),
            Outcome::Holds => {}
            Outcome::Fails => return Some(Vec::new()),
        }
    }
    let mut states: Vec<Box<[u32]>> = vec![Box::default()];
    let mut drafts = Vec::with_capacity(parameters.len());
    for (level, &parameter) in parameters.iter().enumerate() {
        let mut next = States::default();
        let mut draft = Draft {
            starts: vec![0],
            edges: Vec::new(),
        };
        for state in &states {
            let (mut deciding, waiting): (Vec<u32>, Vec<u32>) = state
                .iter()
                .copied()
                .partition(|number| residuals.level(*number) == level);
            deciding.extend(&starting[level]);
            for &number in &deciding {
                work.take(residuals.work_out(number))?;
            }
            work.take(codes[parameter].len())?;
            let outcomes: Vec<&[Outcome]> = deciding
                .iter()
                .map(|number| residuals.outcomes(*number))
                .collect();
            for position in 0..codes[parameter].len() {
                next.candidate.clone_from(&waiting);
                if let Some(state) = next.after(&outcomes, position) {
                    draft.edges.push((position as u32, state));
                }
            }
            draft.starts.push(draft.edges.len());
        }
        drafts.push(draft);
        states = next.keys;
        if states.is_empty() {
            return Some(Vec::new());
        }
    }
    Some(drafts)
}

/// The states of a level, each once.
#[derive(Default)]
struct States {
    keys: Vec<Box<[u32]>>,
    numbers: HashMap<Box<[u32]>, u32>,
    /// The state that is being put together, kept to reuse its memory.
    candidate: Vec<u32>,
}

impl States {
    /// The state that the value at `position` leads to, unless a constraint fails.
    fn after(&mut self, outcomes: &[&[Outcome]], position: usize) -> Option<u32> {
        for outcomes in outcomes {
            match outcomes[position] {
                Outcome::Holds => {}
                Outcome::Fails => return None,
                Outcome::Open(number) => self.candidate.push(number),
            }
        }
        self.candidate.sort_unstable();
        self.candidate.dedup();
        if let Some(&state) = self.numbers.get(&*self.candidate) {
            return Some(state);
        }
        let state = self.keys.len() as u32;
        let key: Box<[u32]> = self.candidate.as_slice().into();
        self.keys.push(key.clone());
        self.numbers.insert(key, state);
        Some(state)
    }
}

/// From the last level to the first: drops edges that lead nowhere, joins states with the same
/// edges into one node, and counts. Returns the levels and the root's count.
fn backwards(drafts: Vec<Draft>) -> (Vec<Level>, u128) {
    // After the last level there is one state, with one way to be satisfied.
    let mut nodes = vec![Some(0_u32)];
    let mut counts = vec![1_u128];
    let mut levels = Vec::with_capacity(drafts.len());
    for draft in drafts.into_iter().rev() {
        let mut level = Level {
            starts: vec![0],
            ..Level::default()
        };
        let mut level_counts = Vec::new();
        let mut joined: HashMap<Vec<(u32, u32)>, u32> = HashMap::new();
        let level_nodes = draft
            .starts
            .windows(2)
            .map(|bounds| {
                let edges: Vec<(u32, u32)> = draft.edges[bounds[0]..bounds[1]]
                    .iter()
                    .filter_map(|&(position, state)| Some((position, nodes[state as usize]?)))
                    .collect();
                if edges.is_empty() {
                    return None;
                }
                if let Some(&node) = joined.get(&edges) {
                    return Some(node);
                }
                let mut count = 0_u128;
                for &(position, child) in &edges {
                    level.positions.push(position);
                    level.children.push(child);
                    level.before.push(count);
                    count = count.saturating_add(counts[child as usize]);
                }
                level.starts.push(level.positions.len());
                let node = level_counts.len() as u32;
                level_counts.push(count);
                joined.insert(edges, node);
                Some(node)
            })
            .collect();
        nodes = level_nodes;
        counts = level_counts;
        levels.push(level);
    }
    levels.reverse();
    match counts.first() {
        Some(&count) => (levels, count),
        None => (Vec::new(), 0),
    }
}
