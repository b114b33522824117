//! What a value of a parameter does to a formula, worked out once for all formulas that differ in
//! numbers only.

use super::bounds::{Bounds, Failure};
use super::formula::{Atom, Decision, Formula};
use super::freeze::Loads;
use super::hash::FastMap;
use super::interval::{Action, Interval};
use super::peel::Peeling;
use super::tree::Tree;
use super::values::values;
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
        let mut peeling = Peeling {
            level,
            levels,
            atom: atom.clone(),
            actions: Vec::new(),
        };
        while peeling.peel() {}
        let Peeling {
            mut atom, actions, ..
        } = peeling;
        let mut loads = Loads::new(level, levels, INTERVAL_WORDS);
        atom.tree = loads.freeze(&atom.tree);
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
