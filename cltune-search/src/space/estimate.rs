//! Estimates of the size of a graph: how many cases of some parameters differ in the residual
//! constraints that they leave.

use super::interned::FastMap;
use super::step::{Levels, values};
use super::tree::Tree;
use cltune_core::expr::Op;
use std::collections::HashMap;
use std::rc::Rc;

/// What an open constraint counts beyond what must be kept for it, so that parameters that share
/// constraints with known ones go first.
const OPEN_BITS: f64 = 0.5;
/// Constraints on more parameters are not looked into.
const MOST_NAMED: usize = 16;

/// Estimates in bits: the logarithm of the number of cases.
pub(super) struct Estimate<'a> {
    constraints: &'a [Tree],
    /// For each constraint the parameters that it names.
    named: Vec<Vec<usize>>,
    /// For each parameter the constraints that name it.
    naming: Vec<Vec<usize>>,
    levels: Levels<'a>,
    /// For each parameter the bits of its value.
    bits: Vec<f64>,
    is_known: Vec<bool>,
    facts: Vec<Fact>,
    numbers: HashMap<Tree, u32>,
    /// For each constraint the facts that must be kept.
    kept: Vec<Rc<[u32]>>,
    /// The same for each set of known parameters of a constraint, as bits in the order of `named`.
    found: FastMap<(u64, u64), Rc<[u32]>>,
    /// What was counted already, by the number of the count.
    counted: Counted,
}

/// Something about known parameters that must be kept.
struct Fact {
    /// The parameters that determine it.
    of: Vec<usize>,
    bits: f64,
}

#[derive(Default)]
struct Counted {
    count: u32,
    facts: Vec<u32>,
    parameters: Vec<u32>,
}

impl<'a> Estimate<'a> {
    /// For parameters with these codes, none of which is known.
    pub(super) fn new(constraints: &'a [Tree], codes: &[&'a [i64]]) -> Self {
        let named: Vec<Vec<usize>> = constraints.iter().map(Tree::parameters).collect();
        let mut naming = vec![Vec::new(); codes.len()];
        for (constraint, names) in named.iter().enumerate() {
            for parameter in names {
                naming[*parameter].push(constraint);
            }
        }
        Self {
            kept: vec![Rc::default(); constraints.len()],
            is_known: vec![false; codes.len()],
            bits: codes
                .iter()
                .map(|codes| (codes.len() as f64).log2())
                .collect(),
            levels: Levels::new(codes.to_vec()),
            facts: Vec::new(),
            numbers: HashMap::new(),
            found: FastMap::default(),
            counted: Counted {
                parameters: vec![0; codes.len()],
                ..Counted::default()
            },
            constraints,
            named,
            naming,
        }
    }

    /// From now on no parameter is known.
    pub(super) fn forget(&mut self) {
        self.is_known.fill(false);
        self.kept.fill(Rc::default());
    }

    /// The bits of a parameter's value.
    pub(super) fn of(&self, parameter: usize) -> f64 {
        self.bits[parameter]
    }

    /// From now on this parameter is known too.
    pub(super) fn learn(&mut self, parameter: usize) {
        self.is_known[parameter] = true;
        for at in 0..self.naming[parameter].len() {
            let constraint = self.naming[parameter][at];
            self.kept[constraint] = self.keep(constraint);
        }
    }

    /// What must be kept of the known parameters.
    ///
    /// A parameter whose value must be kept as it is determines all facts about it.
    pub(super) fn known(&mut self) -> f64 {
        let Counted {
            count,
            facts,
            parameters,
        } = &mut self.counted;
        *count += 1;
        facts.resize(self.facts.len(), 0);
        let mut total = 0.0;
        let kept = || self.kept.iter().flat_map(|facts| facts.iter().copied());
        for number in kept() {
            if let [parameter] = *self.facts[number as usize].of
                && self.facts[number as usize].bits >= self.bits[parameter]
                && parameters[parameter] != *count
            {
                parameters[parameter] = *count;
                total += self.bits[parameter];
            }
        }
        for number in kept() {
            let fact = &self.facts[number as usize];
            if facts[number as usize] == *count {
                continue;
            }
            facts[number as usize] = *count;
            let others = fact.of.iter().filter(|p| parameters[**p] != *count);
            total += others.map(|p| self.bits[*p]).sum::<f64>().min(fact.bits);
        }
        total
    }

    /// How many constraints are open, that is half known, less those that are decided.
    fn open(&self) -> i32 {
        let of = |names: &Vec<usize>| {
            let known = names.iter().filter(|p| self.is_known[**p]).count();
            i32::from(known > 0) - 2 * i32::from(known == names.len())
        };
        self.named.iter().map(of).sum()
    }

    /// What would have to be kept if this parameter were known too.
    pub(super) fn known_with(&mut self, parameter: usize) -> f64 {
        let naming = std::mem::take(&mut self.naming[parameter]);
        self.is_known[parameter] = true;
        let mut before = Vec::with_capacity(naming.len());
        for &constraint in &naming {
            let kept = self.keep(constraint);
            before.push(std::mem::replace(&mut self.kept[constraint], kept));
        }
        let result = self.known() + OPEN_BITS * f64::from(self.open());
        self.is_known[parameter] = false;
        for (constraint, before) in naming.iter().zip(before) {
            self.kept[*constraint] = before;
        }
        self.naming[parameter] = naming;
        result
    }

    /// The facts about known parameters that must be kept for a constraint.
    fn keep(&mut self, constraint: usize) -> Rc<[u32]> {
        let names = &self.named[constraint];
        let constraints = self.constraints;
        let tree = &constraints[constraint];
        if names.len() > MOST_NAMED {
            let known: Vec<usize> = names
                .iter()
                .copied()
                .filter(|p| self.is_known[*p])
                .collect();
            if known.is_empty() || known.len() == names.len() {
                return Rc::default();
            }
            // As much as tells apart the numbers that the parameters could be counted by.
            let bits = known
                .iter()
                .map(|p| self.bits[*p].exp2())
                .sum::<f64>()
                .log2();
            self.facts.push(Fact { of: known, bits });
            return [self.facts.len() as u32 - 1].into();
        }
        let known = |at: usize| u64::from(self.is_known[names[at]]) << at;
        let set = (0..names.len()).map(known).sum();
        let key = (constraint as u64, set);
        if let Some(found) = self.found.get(&key) {
            return Rc::clone(found);
        }
        let mut facts = Vec::new();
        self.of_condition(tree, &mut facts);
        let facts: Rc<[u32]> = facts.into();
        self.found.insert(key, Rc::clone(&facts));
        facts
    }

    /// The fact that is the value of a tree, with at most so many bits.
    fn fact(&mut self, tree: Tree, most: f64) -> Option<u32> {
        if let Some(&number) = self.numbers.get(&tree) {
            return Some(number);
        }
        let of = tree.parameters();
        if of.is_empty() {
            return None;
        }
        let number = self.facts.len() as u32;
        let bits = self.bits_of(&tree).min(most);
        self.facts.push(Fact { of, bits });
        self.numbers.insert(tree, number);
        Some(number)
    }

    /// Whether all parameters of a tree are known.
    fn knows(&self, tree: &Tree) -> bool {
        match tree {
            Tree::Param(parameter) => self.is_known[*parameter],
            other => other
                .operands()
                .into_iter()
                .all(|operand| self.knows(operand)),
        }
    }

    /// What must be kept to tell whether a tree is true.
    fn of_condition(&mut self, tree: &Tree, facts: &mut Vec<u32>) {
        match tree {
            Tree::And(..) | Tree::Or(..) | Tree::If(_) | Tree::Unary(Op::Not, _) => {
                for operand in tree.operands() {
                    if self.knows(operand) {
                        facts.extend(self.fact(operand.clone(), 1.0));
                    } else {
                        self.of_condition(operand, facts);
                    }
                }
            }
            Tree::Binary(Op::Eq | Op::Ne | Op::Lt | Op::Le | Op::Gt | Op::Ge, a, b) => {
                match (self.knows(a), self.knows(b)) {
                    (true, true) => {}
                    (true, false) => self.of_interval(b, a, facts),
                    (false, true) => self.of_interval(a, b, facts),
                    (false, false) => {
                        self.of_parts(a, facts);
                        self.of_parts(b, facts);
                    }
                }
            }
            other if self.knows(other) => {}
            other => self.of_parts(other, facts),
        }
    }

    /// What must be kept to tell whether a tree's value lies in an interval with known ends.
    fn of_interval(&mut self, tree: &Tree, ends: &Tree, facts: &mut Vec<u32>) {
        let mut parts = vec![ends.clone()];
        let mut rest = tree.clone();
        loop {
            let (known, open) = match &rest {
                Tree::Chain(op, operands) => {
                    let (known, open): (Vec<Tree>, Vec<Tree>) = operands
                        .iter()
                        .cloned()
                        .partition(|operand| self.knows(operand));
                    if known.is_empty() {
                        break;
                    }
                    (Tree::chain(*op, known), Tree::chain(*op, open))
                }
                Tree::Binary(Op::Div, a, b) if self.knows(b) => ((**b).clone(), (**a).clone()),
                _ => break,
            };
            parts.push(known);
            rest = open;
        }
        parts.retain(|part| !part.names_only(None));
        let before = facts.len();
        self.of_parts(&rest, facts);
        if parts.is_empty() {
            return;
        }
        // Ends between which no value of the rest lies are equal.
        let most = if facts.len() > before {
            f64::INFINITY
        } else {
            (self.bits_of(&rest).exp2() + 1.0).log2()
        };
        for part in parts {
            facts.extend(self.fact(part, most));
        }
    }

    /// The values of the largest known parts of a tree.
    fn of_parts(&mut self, tree: &Tree, facts: &mut Vec<u32>) {
        if self.knows(tree) {
            facts.extend(self.fact(tree.clone(), f64::INFINITY));
            return;
        }
        let Tree::Chain(op, operands) = tree else {
            for operand in tree.operands() {
                self.of_parts(operand, facts);
            }
            return;
        };
        let (known, open): (Vec<&Tree>, Vec<&Tree>) =
            operands.iter().partition(|operand| self.knows(operand));
        if !known.is_empty() {
            let known = Tree::chain(*op, known.into_iter().cloned().collect());
            facts.extend(self.fact(known, f64::INFINITY));
        }
        for operand in open {
            self.of_parts(operand, facts);
        }
    }

    /// The number of values that an expression has, at most.
    fn bits_of(&self, tree: &Tree) -> f64 {
        if let Tree::Param(parameter) = tree {
            return self.bits[*parameter];
        }
        if let Some(values) = values(tree, &self.levels) {
            return (values.len().max(1) as f64).log2();
        }
        let bounds = tree.bounds(&self.levels.bounds, &[]);
        let width = (bounds.high as f64 - bounds.low as f64 + 1.0).log2();
        let parameters = tree.parameters();
        let parameters: f64 = parameters.iter().map(|p| self.bits[*p]).sum();
        width.min(parameters)
    }
}
