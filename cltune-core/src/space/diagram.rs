//! A decision diagram: one level per parameter, equal sub-spaces stored once.

use super::{SpaceConstraint, SpaceParameter};
use crate::device::DeviceLimits;
use crate::expr::Env;
use std::collections::HashMap;

/// The valid configurations of some parameters that no constraint ties to others.
#[derive(Clone, Debug)]
pub(super) struct Diagram {
    /// The parameters' positions in the space, in level order.
    pub(super) parameters: Vec<usize>,
    nodes: Vec<Node>,
    root: usize,
}

/// The choices of one level after certain choices above.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
struct Node {
    /// In declaration order of the values: code, node of the next level, and the number of
    /// configurations before this choice.
    choices: Vec<(i64, usize, u128)>,
    count: u128,
}

/// The node below the last level: one way to choose nothing.
const END: usize = 0;

struct Builder<'a> {
    all: &'a [SpaceParameter],
    parameters: &'a [usize],
    /// The constraints that can be decided once a level is chosen.
    at_level: Vec<Vec<&'a SpaceConstraint>>,
    /// For each level, the parameters above it that constraints at or below it still read.
    visible: Vec<Vec<usize>>,
    device: DeviceLimits,
    nodes: Vec<Node>,
    /// Equal nodes are one.
    unique: HashMap<Node, usize>,
    /// Equal views of what is above give equal nodes.
    known: Vec<HashMap<Vec<i64>, usize>>,
}

impl Diagram {
    /// Builds the diagram of one group of parameters with all constraints that read any of them.
    pub(super) fn build(
        all: &[SpaceParameter],
        parameters: Vec<usize>,
        constraints: &[&SpaceConstraint],
    ) -> Self {
        let levels = parameters.len();
        let level_of =
            |parameter: u16| parameters.iter().position(|p| *p == usize::from(parameter));
        let mut at_level = vec![Vec::new(); levels];
        let mut visible = vec![Vec::new(); levels];
        for constraint in constraints {
            let read: Vec<usize> = constraint
                .program
                .parameters()
                .into_iter()
                .filter_map(level_of)
                .collect();
            let Some(last) = read.iter().max().copied() else {
                continue;
            };
            at_level[last].push(*constraint);
            for level in 1..=last {
                let above = read
                    .iter()
                    .filter(|other| **other < level)
                    .map(|l| parameters[*l]);
                visible[level].extend(above);
            }
        }
        for list in &mut visible {
            list.sort_unstable();
            list.dedup();
        }
        let end = Node {
            choices: Vec::new(),
            count: 1,
        };
        let mut builder = Builder {
            all,
            parameters: &parameters,
            at_level,
            visible,
            device: DeviceLimits::default(),
            nodes: vec![end],
            unique: HashMap::new(),
            known: vec![HashMap::new(); levels],
        };
        let mut values = vec![0; all.len()];
        let root = builder.node(0, &mut values);
        let nodes = builder.nodes;
        Self {
            parameters,
            nodes,
            root,
        }
    }

    pub(super) fn count(&self) -> u128 {
        self.nodes[self.root].count
    }

    /// Writes the values of the configuration with this index, which is below the count.
    pub(super) fn get(&self, mut index: u128, values: &mut [i64]) {
        let mut at = self.root;
        for parameter in &self.parameters {
            let choices = &self.nodes[at].choices;
            let position = choices.partition_point(|(_, _, before)| *before <= index) - 1;
            let (code, next, before) = choices[position];
            values[*parameter] = code;
            index -= before;
            at = next;
        }
    }

    /// The index of a configuration; `None` when it is not valid.
    pub(super) fn index_of(&self, values: &[i64]) -> Option<u128> {
        let mut at = self.root;
        let mut index = 0;
        for parameter in &self.parameters {
            let wanted = values[*parameter];
            let found = self.nodes[at]
                .choices
                .iter()
                .find(|(code, ..)| *code == wanted)?;
            index += found.2;
            at = found.1;
        }
        Some(index)
    }
}

impl Builder<'_> {
    /// The node of a level below the choices in `values`.
    fn node(&mut self, level: usize, values: &mut Vec<i64>) -> usize {
        if level == self.parameters.len() {
            return END;
        }
        let view: Vec<i64> = self.visible[level].iter().map(|p| values[*p]).collect();
        if let Some(known) = self.known[level].get(&view) {
            return *known;
        }
        let parameter = self.parameters[level];
        let all = self.all;
        let mut choices = Vec::new();
        let mut count: u128 = 0;
        for code in &all[parameter].codes {
            values[parameter] = *code;
            if !self.holds(level, values) {
                continue;
            }
            let next = self.node(level + 1, values);
            let below = self.nodes[next].count;
            if below > 0 {
                choices.push((*code, next, count));
                count = count.saturating_add(below);
            }
        }
        let node = Node { choices, count };
        let index = match self.unique.get(&node) {
            Some(same) => *same,
            None => {
                self.nodes.push(node.clone());
                self.unique.insert(node, self.nodes.len() - 1);
                self.nodes.len() - 1
            }
        };
        self.known[level].insert(view, index);
        index
    }

    fn holds(&self, level: usize, values: &[i64]) -> bool {
        let env = Env {
            params: values,
            dims: &[],
            device: &self.device,
        };
        self.at_level[level]
            .iter()
            .all(|constraint| constraint.program.eval(&env).is_ok_and(|value| value != 0))
    }
}
