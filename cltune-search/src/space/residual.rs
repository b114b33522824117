//! Residual constraints: what is left of constraints once the values of some parameters are put in.
//!
//! A residual constraint is a formula over the parameters to come and the numbers that the earlier
//! ones left in it, stored once: two that say the same mostly have the same number, so that
//! comparing what is left to be satisfied is comparing numbers. A constraint that cannot fail any
//! more, or cannot hold any more, is decided before its last parameter is known.

use super::formula::{Atom, Decision, Formula, Interval};
use super::interned::{FastMap, Interned};
use super::step::{INTERVAL_WORDS, Levels, Step, Target};
use super::tree::Tree;
use cltune_core::expr::Op;
use std::cell::OnceCell;
use std::collections::HashMap;
use std::ops::Range;
use std::rc::Rc;

/// Domains up to this size are sets of bits.
pub(super) const MASK_BITS: usize = 64;

/// A formula of so many parts is large: finding the values of each takes as long as so many steps.
const LARGE: usize = 128;
const LARGE_COST: usize = 4096;

/// What is left of a constraint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Residual {
    /// Nothing: it holds.
    Holds,
    /// It does not hold, or has no value.
    Fails,
    /// The residual with this number.
    Open(u32),
}

/// The values of a residual's first parameter with which it can hold, as far as they are known
/// without trying them.
pub(super) enum Allowed {
    /// Perhaps all.
    Unknown,
    /// Exactly those whose bits are set, and nothing is left to be satisfied.
    Mask(u64),
    /// Exactly those at these positions, and nothing is left to be satisfied.
    Range(Range<usize>),
    /// At most those at these positions, which ascend.
    Candidates(Vec<usize>),
}

/// What all residuals that differ in numbers only have in common.
struct Shape {
    kind: Kind,
    /// The first and the last level that it names.
    first: usize,
    last: usize,
    /// What the parameter of the first level does to it.
    step: OnceCell<Step>,
}

enum Kind {
    /// A formula, and where each of its atoms has its words.
    Formula(Formula, Vec<Range<usize>>),
    /// True for the values of the level whose bits are set in the only word.
    Mask,
}

/// The residuals of a group's constraints.
pub(super) struct Residuals<'a> {
    levels: Levels<'a>,
    /// The first ones are the masks of the levels.
    shapes: Vec<Rc<Shape>>,
    numbers: HashMap<Formula, u32>,
    /// Each residual's shape and words.
    known: Interned<i64>,
    /// What a residual of one level with a small domain comes down to.
    settled: FastMap<u32, Residual>,
    scratch: Scratch,
    /// What large formulas have taken, in steps of a build.
    cost: usize,
}

/// Memory that is used again.
#[derive(Default)]
struct Scratch {
    /// The words of a residual.
    words: Vec<i64>,
    /// The words of its atoms after a step, and where each atom's are.
    left: Vec<i64>,
    places: Vec<Range<usize>>,
    decisions: Vec<Decision>,
    /// A residual that is put together.
    list: Vec<i64>,
}

impl<'a> Residuals<'a> {
    /// For parameters with these codes, in the order of the levels; none is empty.
    pub(super) fn new(codes: Vec<&'a [i64]>) -> Self {
        let mask = |level| {
            Rc::new(Shape {
                kind: Kind::Mask,
                first: level,
                last: level,
                step: OnceCell::new(),
            })
        };
        Self {
            shapes: (0..codes.len()).map(mask).collect(),
            levels: Levels::new(codes),
            numbers: HashMap::new(),
            known: Interned::default(),
            settled: FastMap::default(),
            scratch: Scratch::default(),
            cost: 0,
        }
    }

    /// What large formulas have taken since this was asked last, in steps of a build.
    pub(super) fn take_cost(&mut self) -> usize {
        std::mem::take(&mut self.cost)
    }

    /// The number of a residual's shape.
    pub(super) fn shape_of(&self, number: u32) -> u32 {
        self.known.get(number)[0] as u32
    }

    /// The first level that a residual names.
    pub(super) fn first(&self, number: u32) -> usize {
        self.shape(number).first
    }

    /// Whether a residual names one level.
    pub(super) fn is_single(&self, number: u32) -> bool {
        let shape = self.shape(number);
        shape.first == shape.last
    }

    fn shape(&self, number: u32) -> &Rc<Shape> {
        &self.shapes[self.known.get(number)[0] as usize]
    }

    /// What is left of a constraint before any value is put in; its parameters are levels.
    pub(super) fn enter(&mut self, tree: Tree) -> Residual {
        let mut intervals = Vec::new();
        let formula = Formula::new(tree, false, &mut intervals);
        let words = (0..intervals.len()).map(|atom| atom * INTERVAL_WORDS);
        let words: Vec<Range<usize>> = words.map(|at| at..at + INTERVAL_WORDS).collect();
        let step = Step::new(&formula, &words, None, &self.levels);
        let ends = intervals
            .iter()
            .flat_map(|interval| [interval.first, interval.last]);
        self.scratch.words.clear();
        self.scratch.words.extend(ends);
        self.take(&formula, &step, 0)
    }

    /// What is left of a residual after the value at `position` of its first level is put in.
    pub(super) fn after(&mut self, number: u32, position: usize) -> Residual {
        let shape = Rc::clone(self.shape(number));
        let words = &self.known.get(number)[1..];
        let Kind::Formula(formula, places) = &shape.kind else {
            return decided(words[0] >> position & 1 == 1);
        };
        let code = self.levels.codes[shape.first][position];
        if shape.first == shape.last {
            return decided(holds(formula, places, words, code));
        }
        self.scratch.words.clear();
        self.scratch.words.extend_from_slice(words);
        let step = shape
            .step
            .get_or_init(|| Step::new(formula, places, Some(shape.first), &self.levels));
        self.take(formula, step, code)
    }

    /// What is left of a formula with the scratch's words after a step.
    fn take(&mut self, formula: &Formula, step: &Step, code: i64) -> Residual {
        let Scratch {
            words,
            left,
            places,
            decisions,
            ..
        } = &mut self.scratch;
        left.clear();
        places.clear();
        decisions.clear();
        for part in &step.parts {
            let start = left.len();
            decisions.push(part.apply(words, code, &self.levels, left));
            places.push(start..left.len());
        }
        let target = match (formula, &**decisions) {
            (Formula::Atom(_), [Decision::True]) => return Residual::Holds,
            (Formula::Atom(_), [Decision::False | Decision::Fails]) => return Residual::Fails,
            (_, decisions) if decisions.iter().all(|decision| *decision == Decision::Open) => {
                step.open.get().cloned()
            }
            (_, decisions) => step.targets.borrow().get(decisions).cloned(),
        };
        let target = target.unwrap_or_else(|| {
            let decisions: Box<[Decision]> = self.scratch.decisions.as_slice().into();
            let target = self.target(formula, step, &decisions);
            if decisions.iter().all(|decision| *decision == Decision::Open) {
                let _ = step.open.set(target.clone());
            } else {
                let mut targets = step.targets.borrow_mut();
                targets.insert(decisions, target.clone());
            }
            target
        });
        let (shape, atoms) = match target {
            Target::Holds => return Residual::Holds,
            Target::Fails => return Residual::Fails,
            Target::Shape(shape, atoms) => (shape, atoms),
        };
        let Scratch {
            left, places, list, ..
        } = &mut self.scratch;
        list.clear();
        list.push(i64::from(shape));
        for atom in &*atoms {
            list.extend_from_slice(&left[places[*atom].clone()]);
        }
        let (number, is_new) = self.known.enter(list);
        self.settle(number, is_new)
    }

    /// What is left of a formula when this is decided of its atoms.
    fn target(&mut self, formula: &Formula, step: &Step, decisions: &[Decision]) -> Target {
        let next = step.parts.iter().zip(decisions).map(|(part, decision)| {
            match (decision, part.atom()) {
                (Decision::Open, Some(atom)) => Ok(atom.clone()),
                (decision, _) => Err(*decision),
            }
        });
        let (formula, atoms) = formula.simplified(&mut next.enumerate());
        match formula {
            Formula::Known(Decision::True) => Target::Holds,
            formula if !formula.is_possible() => Target::Fails,
            formula => {
                let widths = atoms.iter().map(|at| self.scratch.places[*at].len());
                let mut end = 0;
                let places = widths.map(|width| {
                    end += width;
                    end - width..end
                });
                let places = places.collect();
                Target::Shape(self.number(formula, places), atoms.into())
            }
        }
    }

    /// The shape of a formula whose atoms have their words at these places.
    fn number(&mut self, formula: Formula, places: Vec<Range<usize>>) -> u32 {
        if let Some(&number) = self.numbers.get(&formula) {
            return number;
        }
        let number = self.shapes.len() as u32;
        let parts: usize = formula.atoms().iter().map(|atom| atom.tree.size()).sum();
        self.cost += parts / LARGE * LARGE_COST;
        let named = |atom: &Atom| atom.tree.parameters();
        let levels: Vec<usize> = formula.atoms().into_iter().flat_map(named).collect();
        self.numbers.insert(formula.clone(), number);
        self.shapes.push(Rc::new(Shape {
            first: levels.iter().copied().min().unwrap_or(0),
            last: levels.iter().copied().max().unwrap_or(0),
            kind: Kind::Formula(formula, places),
            step: OnceCell::new(),
        }));
        number
    }

    /// Makes a set of bits of a residual on one level with a small domain.
    fn settle(&mut self, number: u32, is_new: bool) -> Residual {
        let shape = &*self.shapes[self.known.get(number)[0] as usize];
        let codes = self.levels.codes[shape.first];
        if shape.first != shape.last || codes.len() > MASK_BITS {
            return Residual::Open(number);
        }
        let Kind::Formula(formula, places) = &shape.kind else {
            return Residual::Open(number);
        };
        if let Some(&known) = self.settled.get(&number).filter(|_| !is_new) {
            return known;
        }
        let words = &self.known.get(number)[1..];
        let mask = codes.iter().enumerate().fold(0, |mask, (position, &code)| {
            mask | u64::from(holds(formula, places, words, code)) << position
        });
        let outcome = self.mask(shape.first, mask);
        self.settled.insert(number, outcome);
        outcome
    }

    fn mask(&mut self, level: usize, mask: u64) -> Residual {
        let all = u64::MAX >> (MASK_BITS - self.levels.codes[level].len());
        match mask {
            0 => Residual::Fails,
            _ if mask == all => Residual::Holds,
            _ => Residual::Open(self.known.enter(&[level as i64, mask as i64]).0),
        }
    }

    /// Two residuals as one, where both are sets of bits of a level or intervals of an expression.
    pub(super) fn both(&mut self, a: u32, b: u32) -> Option<Residual> {
        let (&[shape, ref a @ ..], &[other, ref b @ ..]) = (self.known.get(a), self.known.get(b))
        else {
            return None;
        };
        if shape != other {
            return None;
        }
        let level = match &self.shapes[shape as usize].kind {
            Kind::Mask => shape as usize,
            Kind::Formula(Formula::Atom(atom), _)
                if !atom.outside && !atom.may_fail && a.len() == INTERVAL_WORDS =>
            {
                let both = Interval::new(a[0], a[1]).and(Interval::new(b[0], b[1]));
                if both.is_empty() {
                    return Some(Residual::Fails);
                }
                let list = [shape, both.first, both.last];
                return Some(Residual::Open(self.known.enter(&list).0));
            }
            Kind::Formula(..) => return None,
        };
        let mask = a[0] as u64 & b[0] as u64;
        Some(self.mask(level, mask))
    }

    /// What is known of the values of a residual's first level without trying them.
    pub(super) fn allowed(&self, number: u32) -> Allowed {
        let shape = self.shape(number);
        let words = &self.known.get(number)[1..];
        let formula = match &shape.kind {
            Kind::Mask => return Allowed::Mask(words[0] as u64),
            Kind::Formula(formula, _) => formula,
        };
        let codes = self.levels.codes[shape.first];
        match formula {
            Formula::Atom(atom) if !atom.outside && self.levels.ascending[shape.first] => {
                let interval = Interval::new(words[0], words[1]);
                match &atom.tree {
                    Tree::Param(_) => {
                        let first = codes.partition_point(|code| *code < interval.first);
                        let end = codes.partition_point(|code| *code <= interval.last);
                        Allowed::Range(first..end.max(first))
                    }
                    Tree::Binary(Op::Rem, a, b)
                        if shape.first == shape.last
                            && interval.first <= 0
                            && interval.last == 0 =>
                    {
                        multiples(a, b, words, codes).map_or(Allowed::Unknown, Allowed::Candidates)
                    }
                    _ => Allowed::Unknown,
                }
            }
            _ => Allowed::Unknown,
        }
    }
}

/// Whether a formula holds for these words and a code of the one level that it names.
fn holds(formula: &Formula, places: &[Range<usize>], words: &[i64], code: i64) -> bool {
    let mut next = 0;
    let mut decide = |atom: &Atom| {
        next += 1;
        atom.decide(&words[places[next - 1].clone()], code)
    };
    formula.decide(&mut decide) == Decision::True
}

/// The positions of the codes for which `a % b`, one of which is a number, can be 0 or less; none
/// is less than 0 where all are positive.
fn multiples(a: &Tree, b: &Tree, words: &[i64], codes: &[i64]) -> Option<Vec<usize>> {
    let (least, most) = (*codes.first()?, *codes.last()?);
    let mut values = match (a, b) {
        _ if least <= 0 => return None,
        (known, Tree::Param(_)) if known.names_only(None) => {
            divisors(known.value(words, 0).filter(|n| *n > 0)?, codes.len())?
        }
        (Tree::Param(_), known) if known.names_only(None) => {
            let by = known.value(words, 0).filter(|d| *d > 1)?;
            if most / by >= codes.len() as i64 {
                return None;
            }
            (1..=most / by).map(|factor| factor * by).collect()
        }
        _ => return None,
    };
    values.sort_unstable();
    let positions = values
        .iter()
        .filter_map(|value| codes.binary_search(value).ok());
    Some(positions.collect())
}

/// The divisors of a positive number in no order, unless finding them takes more than `most` steps.
fn divisors(number: i64, most: usize) -> Option<Vec<i64>> {
    if number.isqrt() > most as i64 {
        return None;
    }
    let mut found = Vec::new();
    for divisor in (1..=number.isqrt()).filter(|divisor| number % divisor == 0) {
        found.push(divisor);
        if divisor * divisor != number {
            found.push(number / divisor);
        }
    }
    Some(found)
}

fn decided(holds: bool) -> Residual {
    if holds {
        Residual::Holds
    } else {
        Residual::Fails
    }
}
