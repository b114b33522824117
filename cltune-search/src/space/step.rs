//! The effect of a parameter's value on a formula, worked out once for all formulas that differ in
//! numbers only.
//!
//! Known parts of an expression are moved to its interval where they can be (`Isolation`), and
//! elsewhere replaced by words that keep their values (`Loads`).

use super::bounds::{Bounds, Failure};
use super::formula::{Action, Atom, Decision, Formula, Interval};
use super::interned::FastMap;
use super::tree::Tree;
use cltune_core::expr::{Op, arithmetic};
use std::cell::{OnceCell, RefCell};
use std::ops::Range;
use std::rc::Rc;

/// The words that every atom has: its interval's ends.
pub(super) const INTERVAL_WORDS: usize = 2;

/// The parameters of a group in the order of its levels.
pub(super) struct Levels<'a> {
    /// The codes of each, none of which has none.
    pub(super) codes: Vec<&'a [i64]>,
    /// Whether they ascend.
    pub(super) ascending: Vec<bool>,
    pub(super) bounds: Vec<Bounds>,
}

/// What becomes of each atom of a formula.
pub(super) struct Step {
    pub(super) parts: Vec<Part>,
    /// The formula that is left where nothing is decided, the usual case; found when first met.
    pub(super) open: OnceCell<Target>,
    /// The formulas that are left, by what is decided of the atoms; found when first met.
    pub(super) targets: RefCell<FastMap<Box<[Decision]>, Target>>,
}

/// What is left of a formula.
#[derive(Clone)]
pub(super) enum Target {
    Holds,
    Fails,
    /// The shape with this number and the positions of the atoms that it has.
    Shape(u32, Rc<[usize]>),
}

pub(super) enum Part {
    /// It does not name the parameter.
    Keep {
        words: Range<usize>,
        atom: Atom,
    },
    /// It names no other.
    Decide {
        words: Range<usize>,
        atom: Atom,
    },
    Put(Put),
}

/// An atom of which something is left.
pub(super) struct Put {
    words: Range<usize>,
    /// How what is known now acts on what is left.
    actions: Vec<(Action, Tree)>,
    /// What is known now and stands within what is left, and whether it may fail.
    loads: Vec<(Tree, bool)>,
    pub(super) atom: Atom,
    /// The bounds of what is left, where it has no words within.
    bounds: Option<Bounds>,
    /// The values of what is left, ascending, where they are known.
    values: Option<Rc<[i64]>>,
    /// Whether the formula is this atom alone, so that having no value is being false.
    alone: bool,
}

impl<'a> Levels<'a> {
    /// The codes must not be empty.
    pub(super) fn new(codes: Vec<&'a [i64]>) -> Self {
        Self {
            ascending: codes.iter().map(|codes| codes.is_sorted()).collect(),
            bounds: codes.iter().map(|codes| Bounds::of(codes)).collect(),
            codes,
        }
    }
}

impl Step {
    /// What becomes of a formula, whose atoms have their words at these places, when the parameter
    /// of `level` is known; with no level, what constants alone do.
    pub(super) fn new(
        formula: &Formula,
        places: &[Range<usize>],
        level: Option<usize>,
        levels: &Levels<'_>,
    ) -> Self {
        let alone = matches!(formula, Formula::Atom(_));
        let parts = formula
            .atoms_with(places)
            .map(|(atom, place)| Part::new(atom, place.clone(), level, alone, levels));
        Self {
            parts: parts.collect(),
            open: OnceCell::new(),
            targets: RefCell::default(),
        }
    }
}

impl Part {
    /// The atom that is left unless it is decided.
    pub(super) fn atom(&self) -> Option<&Atom> {
        match self {
            Self::Keep { atom, .. } | Self::Put(Put { atom, .. }) => Some(atom),
            Self::Decide { .. } => None,
        }
    }

    /// Adds the words of what is left to `out`, unless it is decided.
    pub(super) fn apply(
        &self,
        words: &[i64],
        code: i64,
        levels: &Levels<'_>,
        out: &mut Vec<i64>,
    ) -> Decision {
        match self {
            Self::Keep { words: place, .. } => {
                out.extend_from_slice(&words[place.clone()]);
                Decision::Open
            }
            Self::Decide { words: place, atom } => atom.decide(&words[place.clone()], code),
            Self::Put(put) => put.apply(words, code, levels, out),
        }
    }

    /// What becomes of an atom, which has these words of its formula's, when the parameter of
    /// `level` is known; with no level, what constants alone do.
    fn new(
        atom: &Atom,
        words: Range<usize>,
        level: Option<usize>,
        alone: bool,
        levels: &Levels<'_>,
    ) -> Self {
        if level.is_some_and(|level| !atom.tree.parameters().contains(&level)) {
            let atom = atom.clone();
            return Self::Keep { words, atom };
        }
        if atom.tree.names_only(level) {
            let atom = atom.clone();
            return Self::Decide { words, atom };
        }
        let mut isolation = Isolation {
            level,
            levels,
            atom: atom.clone(),
            actions: Vec::new(),
        };
        while isolation.isolate() {}
        let Isolation {
            mut atom, actions, ..
        } = isolation;
        let mut loads = Loads::new(level, levels, INTERVAL_WORDS);
        atom.tree = loads.with_loads(&atom.tree);
        let bounds = atom.tree.bounds(&levels.bounds, &[]);
        atom.may_fail = bounds.failure != Failure::Never;
        let fixed = loads.trees.is_empty();
        Self::Put(Put {
            words,
            actions,
            bounds: fixed.then_some(bounds),
            values: fixed.then(|| values(&atom.tree, levels)).flatten(),
            loads: loads
                .trees
                .into_iter()
                .map(|load| (load.tree, load.may_fail))
                .collect(),
            atom,
            alone,
        })
    }
}

impl Put {
    fn apply(&self, words: &[i64], code: i64, levels: &Levels<'_>, out: &mut Vec<i64>) -> Decision {
        let words = &words[self.words.clone()];
        let mut interval = Interval::new(words[0], words[1]);
        for (action, known) in &self.actions {
            let Some(known) = known.value(words, code) else {
                return Decision::Fails;
            };
            interval = interval.before(*action, known);
        }
        let start = out.len();
        out.extend([0; INTERVAL_WORDS]);
        for (load, may_fail) in &self.loads {
            let value = load.value(words, code);
            out.push(value.unwrap_or(0));
            if *may_fail {
                out.push(i64::from(value.is_none()));
            }
        }
        let bounds = self
            .bounds
            .unwrap_or_else(|| self.atom.tree.bounds(&levels.bounds, &out[start..]));
        let decision = self.decide(&mut interval, bounds);
        if decision == Decision::Open {
            out[start] = interval.first;
            out[start + 1] = interval.last;
        } else {
            out.truncate(start);
        }
        decision
    }

    /// Whether it is decided; otherwise makes of all intervals that say the same one.
    fn decide(&self, interval: &mut Interval, bounds: Bounds) -> Decision {
        let outside = self.atom.outside;
        if bounds.failure == Failure::Always {
            return Decision::Fails;
        }
        let has_value = bounds.failure == Failure::Never;
        let mut never =
            interval.is_empty() || interval.first > bounds.high || interval.last < bounds.low;
        let always = interval.first <= bounds.low && interval.last >= bounds.high;
        if !never && !always {
            self.trim(interval, bounds);
            never = interval.is_empty();
        }
        if (never || always) && has_value {
            return Decision::of(always != outside);
        }
        if self.alone && (never && !outside || always && outside) {
            return Decision::False;
        }
        if never {
            *interval = Interval::NONE;
        } else if always {
            *interval = Interval::ALL;
        }
        Decision::Open
    }

    /// Moves the ends to values that occur, or beyond all.
    fn trim(&self, interval: &mut Interval, bounds: Bounds) {
        if let Some(values) = &self.values {
            let from = values.partition_point(|value| *value < interval.first);
            let to = values.partition_point(|value| *value <= interval.last);
            if from >= to {
                *interval = Interval::NONE;
                return;
            }
            *interval = Interval::new(values[from], values[to - 1]);
        }
        if interval.first <= bounds.low {
            interval.first = i64::MIN;
        }
        if interval.last >= bounds.high {
            interval.last = i64::MAX;
        }
    }
}

/// Parts of a tree whose values are kept as words.
pub(super) struct Loads<'a> {
    level: Option<usize>,
    levels: &'a Levels<'a>,
    pub(super) trees: Vec<Load>,
    /// The next free word.
    next: usize,
}

pub(super) struct Load {
    pub(super) tree: Tree,
    pub(super) may_fail: bool,
    word: Tree,
}

impl<'a> Loads<'a> {
    /// For what is known once the parameter of `level` is; words before `next` are taken.
    pub(super) const fn new(level: Option<usize>, levels: &'a Levels<'a>, next: usize) -> Self {
        Self {
            level,
            levels,
            trees: Vec::new(),
            next,
        }
    }

    /// The tree with its largest known parts as words.
    pub(super) fn with_loads(&mut self, tree: &Tree) -> Tree {
        if tree.names_only(self.level) {
            return self.load(tree);
        }
        let Tree::Chain(op, operands) = tree else {
            return tree.map(|operand| self.with_loads(operand));
        };
        let (known, open): (Vec<Tree>, Vec<Tree>) = operands
            .iter()
            .cloned()
            .partition(|operand| operand.names_only(self.level));
        let mut operands: Vec<Tree> = open
            .iter()
            .map(|operand| self.with_loads(operand))
            .collect();
        if !known.is_empty() {
            operands.push(self.load(&Tree::chain(*op, known)));
        }
        Tree::Chain(*op, operands)
    }

    fn load(&mut self, tree: &Tree) -> Tree {
        if matches!(tree, Tree::Const(_) | Tree::Fails) {
            return tree.clone();
        }
        if let Some(load) = self.trees.iter().find(|load| load.tree == *tree) {
            return load.word.clone();
        }
        let bounds = tree.bounds(&self.levels.bounds, &[]);
        let may_fail = bounds.failure != Failure::Never;
        if !may_fail && bounds.low == bounds.high {
            return Tree::Const(bounds.low);
        }
        let word = Tree::Word(self.next, bounds);
        self.next += 1 + usize::from(may_fail);
        self.trees.push(Load {
            tree: tree.clone(),
            may_fail,
            word: word.clone(),
        });
        word
    }
}

/// Takes off an atom's tree what is known.
pub(super) struct Isolation<'a> {
    pub(super) level: Option<usize>,
    pub(super) levels: &'a Levels<'a>,
    pub(super) atom: Atom,
    pub(super) actions: Vec<(Action, Tree)>,
}

impl Isolation<'_> {
    /// Takes off one layer, if that can be.
    pub(super) fn isolate(&mut self) -> bool {
        let known = |tree: &Tree| tree.names_only(self.level);
        let bounds = |tree: &Tree| tree.bounds(&self.levels.bounds, &[]);
        let taken = match &self.atom.tree {
            Tree::Binary(op, a, b) if self.atom.comparison && (known(a) || known(b)) => {
                // Equal and different are the same interval, inside and outside.
                self.atom.outside ^= *op == Op::Ne;
                let (op, a, b) = if known(b) {
                    (*op, a, b)
                } else {
                    (mirrored(*op), b, a)
                };
                Some((Action::Compare(op), (**b).clone(), (**a).clone()))
            }
            Tree::Binary(Op::Div, a, b) if known(b) && bounds(b).low > 0 => {
                Some((Action::Divide, (**b).clone(), (**a).clone()))
            }
            Tree::Unary(Op::Neg, a) if bounds(a).low > i64::MIN => {
                Some((Action::Multiply, Tree::Const(-1), (**a).clone()))
            }
            Tree::Chain(op @ (Op::Add | Op::Mul | Op::Min | Op::Max), operands) => {
                let (known, open): (Vec<Tree>, Vec<Tree>) =
                    operands.iter().cloned().partition(known);
                if known.is_empty() {
                    return false;
                }
                let (known, open) = (Tree::chain(*op, known), Tree::chain(*op, open));
                let factor = bounds(&known);
                let action = match op {
                    Op::Add => Action::Add,
                    // The result may be known although the rest has no value.
                    _ if bounds(&open).failure != Failure::Never
                        && !(*op == Op::Mul && (factor.low > 0 || factor.high < 0)) =>
                    {
                        return false;
                    }
                    Op::Mul => Action::Multiply,
                    Op::Min => Action::Min,
                    _ => Action::Max,
                };
                Some((action, known, open))
            }
            _ => None,
        };
        let Some((action, known, open)) = taken else {
            return false;
        };
        self.actions.push((action, known));
        self.atom.tree = open;
        self.atom.comparison = false;
        true
    }
}

/// The comparison that says the same with its sides exchanged.
fn mirrored(op: Op) -> Op {
    match op {
        Op::Lt => Op::Gt,
        Op::Le => Op::Ge,
        Op::Gt => Op::Lt,
        Op::Ge => Op::Le,
        other => other,
    }
}

/// The most pairs of operands' values that are combined.
const MOST_PAIRS: usize = 1 << 12;

/// The values of a tree without words, ascending; `None` where they would take long to find.
pub(super) fn values(tree: &Tree, levels: &Levels<'_>) -> Option<Rc<[i64]>> {
    let named = tree
        .operands()
        .iter()
        .map(|o| o.parameters().len())
        .sum::<usize>();
    if named > tree.parameters().len() {
        // Operands that share a parameter do not take their values independently.
        return None;
    }
    let mut found = match tree {
        Tree::Const(value) => vec![*value],
        Tree::Param(level) => levels.codes[*level].to_vec(),
        Tree::Unary(op, a) => values(a, levels)?
            .iter()
            .filter_map(|a| arithmetic::unary(*op, *a)?.ok())
            .collect(),
        Tree::Binary(op, a, b) => pairs(*op, &values(a, levels)?, &values(b, levels)?)?,
        Tree::Chain(op, operands) => {
            let (first, rest) = operands.split_first()?;
            rest.iter()
                .try_fold(values(first, levels)?, |found, operand| {
                    let mut found = pairs(*op, &found, &values(operand, levels)?)?;
                    found.sort_unstable();
                    found.dedup();
                    Some(found.into())
                })?
                .to_vec()
        }
        Tree::Fails | Tree::Word(..) | Tree::And(..) | Tree::Or(..) | Tree::If(_) => return None,
    };
    if !found.is_sorted_by(|a, b| a < b) {
        found.sort_unstable();
        found.dedup();
    }
    Some(found.into())
}

fn pairs(op: Op, a: &[i64], b: &[i64]) -> Option<Vec<i64>> {
    if a.len().saturating_mul(b.len()) > MOST_PAIRS {
        return None;
    }
    let of = |a: &i64, b: &i64| arithmetic::binary(op, *a, *b)?.ok();
    let found = a
        .iter()
        .flat_map(|a| b.iter().filter_map(move |b| of(a, b)));
    Some(found.collect())
}
