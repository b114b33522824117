//! Building the graphs of a space.

use super::bounds::Bounds;
use super::graph::{Graph, Level};
use super::groups::{Group, groups, named};
use super::hash::FastMap;
use super::terms::{Outcome, Terms, domain};
use super::tree::Tree;
use super::{Space, SpaceConstraint, SpaceSpec, conjuncts::conjuncts};
use crate::device::DeviceLimits;
use crate::expr::{Env, Fragment, Program, rebuild};
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
        if parameter.codes.is_sorted_by(|a, b| a < b) {
            continue;
        }
        let mut seen = HashSet::with_capacity(parameter.codes.len());
        parameter.codes.retain(|code| seen.insert(*code));
    }
    spec
}

/// The graph of each group; `None` when the work is used up. A constraint that names no parameter
/// and does not hold empties a graph of no parameters.
fn graphs(spec: &SpaceSpec, work: &mut Work) -> Option<Vec<Graph>> {
    let mut domains: Vec<Values> = spec
        .parameters
        .iter()
        .map(|p| Values::all(&p.codes))
        .collect();
    let mut codes = vec![0; domains.len()];
    let mut constraints = Vec::new();
    for constraint in &spec.constraints {
        for part in conjuncts(&constraint.program) {
            // A damaged program has no value; rebuilding it finds out before any value is put in.
            let Some(part) = rebuild(&part, &Fragment::leaf).map(Fragment::finish) else {
                return Some(vec![empty(Vec::new())]);
            };
            match *named(&part, codes.len()) {
                [] if holds(&part, &codes) => {}
                [] => return Some(vec![empty(Vec::new())]),
                // What concerns one parameter makes its domain smaller for everything that follows.
                [parameter] => {
                    work.take(domains[parameter].codes.len())?;
                    domains[parameter].retain(|code| {
                        codes[parameter] = code;
                        holds(&part, &codes)
                    });
                }
                _ => constraints.push(part),
            }
        }
    }
    let sizes: Vec<usize> = domains.iter().map(|values| values.codes.len()).collect();
    let bounds: Vec<Bounds> = domains.iter().map(|values| domain(&values.codes)).collect();
    groups(&sizes, constraints)
        .into_iter()
        .map(|group| graph(group, &domains, &bounds, work))
        .collect()
}

/// The values of a parameter that satisfy the constraints on it alone.
struct Values {
    codes: Vec<i64>,
    /// Where each stands in the declaration.
    positions: Vec<u32>,
}

impl Values {
    fn all(codes: &[i64]) -> Self {
        Self {
            codes: codes.to_vec(),
            positions: (0..codes.len() as u32).collect(),
        }
    }

    fn retain(&mut self, mut keep: impl FnMut(i64) -> bool) {
        let kept: Vec<bool> = self.codes.iter().map(|code| keep(*code)).collect();
        let mut next = kept.iter();
        self.codes.retain(|_| next.next() == Some(&true));
        let mut next = kept.iter();
        self.positions.retain(|_| next.next() == Some(&true));
    }
}

/// Whether a program holds for these codes of all declared parameters.
fn holds(program: &Program, codes: &[i64]) -> bool {
    let env = Env {
        params: codes,
        dims: &[],
        device: &DeviceLimits::default(),
    };
    program.eval(&env).is_ok_and(|value| value != 0)
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
#[derive(Default)]
pub(super) struct Draft {
    pub(super) starts: Vec<usize>,
    pub(super) edges: Vec<(u32, u32)>,
}

fn graph(group: Group, domains: &[Values], bounds: &[Bounds], work: &mut Work) -> Option<Graph> {
    let drafts = forwards(&group, domains, bounds, work)?;
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
    group: &Group,
    domains: &[Values],
    bounds: &[Bounds],
    work: &mut Work,
) -> Option<Vec<Draft>> {
    let mut level_of = vec![None; domains.len()];
    let mut codes = Vec::with_capacity(group.parameters.len());
    for (level, &parameter) in group.parameters.iter().enumerate() {
        level_of[parameter] = Some(level);
        codes.push(&*domains[parameter].codes);
    }
    if codes.iter().any(|codes| codes.is_empty()) {
        return Some(Vec::new());
    }
    let mut terms = Terms::new(codes);
    let mut first = Vec::new();
    for program in &group.constraints {
        for tree in Tree::conjuncts(program, bounds) {
            match terms.enter(&tree, &level_of) {
                Outcome::Open(number) => first.push(number),
                Outcome::Holds => {}
                Outcome::Fails => return Some(Vec::new()),
            }
        }
    }
    first.sort_unstable();
    first.dedup();
    let mut states: Vec<Box<[u32]>> = vec![first.into()];
    let mut drafts = Vec::with_capacity(group.parameters.len());
    for (level, &parameter) in group.parameters.iter().enumerate() {
        let positions = &domains[parameter].positions;
        let mut next = States::default();
        let mut known = Known {
            size: positions.len(),
            ..Known::default()
        };
        let mut draft = Draft {
            starts: vec![0],
            edges: Vec::new(),
        };
        for state in &states {
            let (mut deciding, waiting): (Vec<u32>, Vec<u32>) = state
                .iter()
                .copied()
                .partition(|number| terms.first(*number) == level);
            // What is decided now spares working out what others leave.
            deciding.sort_by_key(|number| !terms.is_single(*number));
            let rows: Vec<(u32, Option<usize>)> = deciding
                .iter()
                // A term on this parameter alone is worked out as fast as it is looked up.
                .map(|number| {
                    (
                        *number,
                        (!terms.is_single(*number)).then(|| known.row(*number)),
                    )
                })
                .collect();
            let candidates = deciding.iter().find_map(|number| terms.candidates(*number));
            let tried = candidates.unwrap_or_else(|| (0..positions.len()).collect());
            work.take(tried.len())?;
            for at in tried {
                let position = positions[at];
                next.candidate.clone_from(&waiting);
                let left = rows.iter().try_for_each(|&(number, row)| {
                    let outcome = match row {
                        None => terms.after(number, at),
                        Some(row) => *known.outcomes[row + at].get_or_insert_with(|| {
                            work.left = work.left.saturating_sub(1);
                            terms.after(number, at)
                        }),
                    };
                    match outcome {
                        Outcome::Holds => {}
                        Outcome::Fails => return None,
                        Outcome::Open(number) => next.candidate.push(number),
                    }
                    Some(())
                });
                if left.is_some()
                    && let Some(state) = next.enter(&mut terms)
                {
                    draft.edges.push((position, state));
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

/// What each value of a level leaves of each term, worked out once.
#[derive(Default)]
struct Known {
    /// The number of values.
    size: usize,
    rows: FastMap<u32, usize>,
    outcomes: Vec<Option<Outcome>>,
}

impl Known {
    /// Where the outcomes of a term start.
    fn row(&mut self, number: u32) -> usize {
        let end = self.outcomes.len();
        let row = *self.rows.entry(number).or_insert(end);
        if row == end {
            self.outcomes.resize(end + self.size, None);
        }
        row
    }
}

/// The states of a level, each once.
#[derive(Default)]
struct States {
    keys: Vec<Box<[u32]>>,
    numbers: FastMap<Box<[u32]>, u32>,
    /// The terms of the state that is being put together, kept to reuse its memory.
    candidate: Vec<u32>,
}

impl States {
    /// The state of the candidate, unless two of its terms exclude each other.
    fn enter(&mut self, terms: &mut Terms<'_>) -> Option<u32> {
        self.candidate.sort_unstable();
        self.candidate.dedup();
        self.unite(terms)?;
        if let Some(&state) = self.numbers.get(&*self.candidate) {
            return Some(state);
        }
        let state = self.keys.len() as u32;
        let key: Box<[u32]> = self.candidate.as_slice().into();
        self.keys.push(key.clone());
        self.numbers.insert(key, state);
        Some(state)
    }

    /// Makes one term of those that concern one parameter each; `None` when nothing is left.
    fn unite(&mut self, terms: &mut Terms<'_>) -> Option<()> {
        let mut changed = false;
        let mut a = 0;
        while a < self.candidate.len() {
            let mut b = a + 1;
            while b < self.candidate.len() && terms.is_single(self.candidate[a]) {
                match terms.both(self.candidate[a], self.candidate[b]) {
                    None => b += 1,
                    Some(Outcome::Open(number)) => {
                        self.candidate[a] = number;
                        self.candidate.remove(b);
                        changed = true;
                    }
                    // Neither allows everything, so both together do not.
                    Some(Outcome::Holds | Outcome::Fails) => return None,
                }
            }
            a += 1;
        }
        if changed {
            self.candidate.sort_unstable();
        }
        Some(())
    }
}

/// From the last level to the first: drops edges that lead nowhere, joins states with the same
/// edges into one node, and counts. Returns the levels and the root's count.
pub(super) fn backwards(drafts: Vec<Draft>) -> (Vec<Level>, u128) {
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
        let mut joined: FastMap<Vec<(u32, u32)>, u32> = FastMap::default();
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
