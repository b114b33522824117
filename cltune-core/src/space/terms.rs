//! What is left of constraints once the values of some parameters are put in.
//!
//! A term is an expression in a normal form, stored once: two remainders with the same normal form
//! have the same number, so that comparing what is left to be satisfied is comparing numbers. Each
//! term carries the bounds of its value over the domains of the parameters it names, and becomes a
//! constant as soon as these leave one value: a constraint that cannot fail any more, or cannot
//! hold any more, is decided before its last parameter is known.

use super::bounds::{Bounds, Failure, Truth};
use super::hash::FastMap;
use super::tree::{Tree, and_bounds, chain_bounds, if_bounds, or_bounds};
use crate::expr::{Op, arithmetic};

/// Domains up to this size are sets of bits.
const MASK_BITS: usize = 64;

/// What is left of a constraint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// Nothing: it holds.
    Holds,
    /// It does not hold, or has no value.
    Fails,
    /// The term with this number.
    Open(u32),
}

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
enum Key {
    Const(i64),
    Fails,
    /// The parameter of a level.
    Param(u32),
    Unary(Op, u32),
    Binary(Op, u32, u32),
    /// Sorted operands of a commutative and associative operator.
    Chain(Op, Box<[u32]>),
    And(u32, u32),
    Or(u32, u32),
    If(u32, u32, u32),
    /// True for the values of a level's parameter whose bits are set.
    Mask(u32, u64),
}

struct Term {
    key: Key,
    bounds: Bounds,
    /// The first and the last level it names; (`u32::MAX`, 0) for none.
    first: u32,
    last: u32,
}

/// The terms of a group's constraints.
pub(super) struct Terms<'a> {
    /// For each level the codes of its parameter.
    codes: Vec<&'a [i64]>,
    /// For each level whether its codes ascend.
    ascending: Vec<bool>,
    known: Vec<Term>,
    numbers: FastMap<Key, u32>,
    /// What a term of one level with a small domain comes down to.
    masks: FastMap<u32, Outcome>,
}

impl<'a> Terms<'a> {
    /// For parameters with these codes, in the order of the levels; none is empty.
    pub(super) fn new(codes: Vec<&'a [i64]>) -> Self {
        Self {
            ascending: codes.iter().map(|codes| codes.is_sorted()).collect(),
            codes,
            known: Vec::new(),
            numbers: FastMap::default(),
            masks: FastMap::default(),
        }
    }

    /// The first level whose parameter a term names.
    pub(super) fn first(&self, number: u32) -> usize {
        self.known[number as usize].first as usize
    }

    /// Whether a term names one parameter.
    pub(super) fn is_single(&self, number: u32) -> bool {
        let term = &self.known[number as usize];
        term.first == term.last
    }

    /// What is left of a constraint before any value is put in.
    pub(super) fn enter(&mut self, tree: &Tree, level_of: &[Option<usize>]) -> Outcome {
        let number = self.plant(tree, level_of);
        self.outcome(number)
    }

    /// What is left of a term that is not decided after the value at `position` of its first level's
    /// parameter is put in.
    pub(super) fn after(&mut self, number: u32, position: usize) -> Outcome {
        let term = &self.known[number as usize];
        if let Key::Mask(_, mask) = term.key {
            return decided(mask >> position & 1 == 1);
        }
        let level = term.first;
        let code = self.codes[level as usize][position];
        if term.last == level {
            return decided(self.value(number, code).is_some_and(|value| value != 0));
        }
        let left = self.put(number, level, code);
        self.outcome(left)
    }

    /// Positions that hold every value for which a term on one parameter can hold, where they are
    /// found without trying each: the divisors of a number, its multiples, or the number itself.
    pub(super) fn candidates(&self, number: u32) -> Option<Vec<usize>> {
        let term = &self.known[number as usize];
        let codes = *self.codes.get(term.first as usize)?;
        if term.first != term.last
            || codes.len() <= MASK_BITS
            || !self.ascending[term.first as usize]
        {
            return None;
        }
        let key = |number: u32| &self.known[number as usize].key;
        let Key::Binary(Op::Eq, a, limit) = *key(number) else {
            return None;
        };
        let limit = self.constant_of(limit)?;
        let (least, most) = (*codes.first()?, *codes.last()?);
        let mut values = match *key(a) {
            Key::Param(_) => vec![limit],
            Key::Binary(Op::Rem, n, d) if limit == 0 && least > 0 => match (key(n), key(d)) {
                (&Key::Const(n), Key::Param(_)) if n > 0 => divisors(n, codes.len())?,
                (Key::Param(_), &Key::Const(d)) if d > 1 && most / d < codes.len() as i64 => {
                    (1..=most / d).map(|factor| factor * d).collect()
                }
                _ => return None,
            },
            _ => return None,
        };
        values.sort_unstable();
        Some(
            values
                .iter()
                .filter_map(|value| codes.binary_search(value).ok())
                .collect(),
        )
    }

    /// Two constraints on one level as one, where they are sets of bits.
    pub(super) fn both(&mut self, a: u32, b: u32) -> Option<Outcome> {
        let (Key::Mask(level, a), Key::Mask(other, b)) =
            (&self.known[a as usize].key, &self.known[b as usize].key)
        else {
            return None;
        };
        let (level, mask) = (*level, a & b);
        (level == *other).then(|| self.mask(level, mask))
    }

    fn outcome(&mut self, number: u32) -> Outcome {
        let term = &self.known[number as usize];
        match (term.bounds.failure, term.bounds.truth()) {
            (Failure::Always, _) | (_, Truth::False) => return Outcome::Fails,
            (Failure::Never, Truth::True) => return Outcome::Holds,
            _ => {}
        }
        let level = term.first;
        let is_small = |codes: &&[i64]| codes.len() <= MASK_BITS;
        let Some(codes) = self.codes.get(level as usize).copied().filter(is_small) else {
            return Outcome::Open(number);
        };
        if term.last != level || matches!(term.key, Key::Mask(..)) {
            return Outcome::Open(number);
        }
        if let Some(&known) = self.masks.get(&number) {
            return known;
        }
        let mask = codes.iter().enumerate().fold(0, |mask, (position, &code)| {
            let holds = self.value(number, code).is_some_and(|value| value != 0);
            mask | u64::from(holds) << position
        });
        let outcome = self.mask(level, mask);
        self.masks.insert(number, outcome);
        outcome
    }

    fn mask(&mut self, level: u32, mask: u64) -> Outcome {
        let all = u64::MAX >> (MASK_BITS - self.codes[level as usize].len());
        match mask {
            0 => Outcome::Fails,
            _ if mask == all => Outcome::Holds,
            _ => Outcome::Open(self.intern(Key::Mask(level, mask))),
        }
    }

    /// The value of a term that names one parameter, for that parameter's code.
    fn value(&self, number: u32, code: i64) -> Option<i64> {
        match &self.known[number as usize].key {
            Key::Const(value) => Some(*value),
            Key::Fails => None,
            Key::Param(_) => Some(code),
            Key::Unary(op, a) => arithmetic::unary(*op, self.value(*a, code)?)?.ok(),
            Key::Binary(op, a, b) => {
                arithmetic::binary(*op, self.value(*a, code)?, self.value(*b, code)?)?.ok()
            }
            Key::Chain(op, operands) => {
                let mut operands = operands.iter();
                let first = self.value(*operands.next()?, code)?;
                operands.try_fold(first, |value, operand| {
                    arithmetic::binary(*op, value, self.value(*operand, code)?)?.ok()
                })
            }
            Key::And(a, b) => match self.value(*a, code)? {
                0 => Some(0),
                _ => self.value(*b, code),
            },
            Key::Or(a, b) => match self.value(*a, code)? {
                0 => self.value(*b, code),
                value => Some(value),
            },
            Key::If(condition, then, otherwise) => match self.value(*condition, code)? {
                0 => self.value(*otherwise, code),
                _ => self.value(*then, code),
            },
            Key::Mask(level, mask) => {
                let codes = self.codes[*level as usize];
                let position = codes.iter().position(|known| *known == code)?;
                Some((mask >> position & 1) as i64)
            }
        }
    }

    fn plant(&mut self, tree: &Tree, level_of: &[Option<usize>]) -> u32 {
        match tree {
            Tree::Const(value) => self.constant(*value),
            Tree::Fails => self.intern(Key::Fails),
            Tree::Param(parameter) => match level_of[*parameter] {
                Some(level) => self.intern(Key::Param(level as u32)),
                None => self.intern(Key::Fails),
            },
            Tree::Unary(op, a) => {
                let a = self.plant(a, level_of);
                self.unary(*op, a)
            }
            Tree::Binary(op, a, b) => {
                let (a, b) = (self.plant(a, level_of), self.plant(b, level_of));
                self.binary(*op, a, b)
            }
            Tree::Chain(op, operands) => {
                let operands = operands.iter().map(|operand| self.plant(operand, level_of));
                let operands = operands.collect();
                self.chain(*op, operands)
            }
            Tree::And(a, b) => {
                let (a, b) = (self.plant(a, level_of), self.plant(b, level_of));
                self.intern(Key::And(a, b))
            }
            Tree::Or(a, b) => {
                let (a, b) = (self.plant(a, level_of), self.plant(b, level_of));
                self.intern(Key::Or(a, b))
            }
            Tree::If(branches) => {
                let [a, b, c] = &**branches;
                let (a, b) = (self.plant(a, level_of), self.plant(b, level_of));
                let c = self.plant(c, level_of);
                self.intern(Key::If(a, b, c))
            }
        }
    }

    /// The term with a level's parameter replaced by a code.
    fn put(&mut self, number: u32, level: u32, code: i64) -> u32 {
        let term = &self.known[number as usize];
        if term.first > level {
            return number;
        }
        // Numbers only; a chain's operands are copied, since new terms may move the old ones.
        match &term.key {
            Key::Const(_) | Key::Fails | Key::Mask(..) => number,
            Key::Param(_) => self.constant(code),
            &Key::Unary(op, a) => {
                let a = self.put(a, level, code);
                self.unary(op, a)
            }
            &Key::Binary(op, a, b) => {
                let (a, b) = (self.put(a, level, code), self.put(b, level, code));
                self.binary(op, a, b)
            }
            Key::Chain(op, operands) => {
                let (op, mut operands) = (*op, operands.to_vec());
                for operand in &mut operands {
                    *operand = self.put(*operand, level, code);
                }
                self.chain(op, operands)
            }
            &Key::And(a, b) => {
                let a = self.put(a, level, code);
                if self.constant_of(a) == Some(0) {
                    return a;
                }
                let b = self.put(b, level, code);
                self.intern(Key::And(a, b))
            }
            &Key::Or(a, b) => {
                let a = self.put(a, level, code);
                if self.constant_of(a).is_some_and(|value| value != 0) {
                    return a;
                }
                let b = self.put(b, level, code);
                self.intern(Key::Or(a, b))
            }
            &Key::If(a, b, c) => {
                let a = self.put(a, level, code);
                match self.constant_of(a) {
                    Some(0) => self.put(c, level, code),
                    Some(_) => self.put(b, level, code),
                    None => {
                        let b = self.put(b, level, code);
                        let c = self.put(c, level, code);
                        self.intern(Key::If(a, b, c))
                    }
                }
            }
        }
    }

    fn constant(&mut self, value: i64) -> u32 {
        self.intern(Key::Const(value))
    }

    fn constant_of(&self, number: u32) -> Option<i64> {
        match self.known[number as usize].key {
            Key::Const(value) => Some(value),
            _ => None,
        }
    }

    fn unary(&mut self, op: Op, a: u32) -> u32 {
        self.intern(Key::Unary(op, a))
    }

    fn binary(&mut self, op: Op, a: u32, b: u32) -> u32 {
        // A comparison has its constant on the right.
        let (op, a, b) = match (mirrored(op), self.constant_of(a)) {
            (Some(op), Some(_)) => (op, b, a),
            _ => (op, a, b),
        };
        let Some(limit) = self.constant_of(b) else {
            return self.intern(Key::Binary(op, a, b));
        };
        let (op, a, limit) = self.comparison(op, a, limit);
        let b = self.constant(limit);
        self.intern(Key::Binary(op, a, b))
    }

    /// A comparison with a constant, with the constant terms and factors of the other side brought
    /// to this one: `4 * x + 3 < 15` is `x <= 2`.
    fn comparison(&mut self, mut op: Op, mut a: u32, mut limit: i64) -> (Op, u32, i64) {
        // Without strict comparisons, where the limit has a neighbour.
        let strict = match op {
            Op::Lt => limit.checked_sub(1).map(|limit| (Op::Le, limit)),
            Op::Gt => limit.checked_add(1).map(|limit| (Op::Ge, limit)),
            _ => None,
        };
        (op, limit) = strict.unwrap_or((op, limit));
        if !matches!(op, Op::Le | Op::Ge | Op::Eq | Op::Ne) {
            return (op, a, limit);
        }
        while let Key::Chain(chain @ (Op::Add | Op::Mul), operands) = &self.known[a as usize].key {
            let (chain, mut operands) = (*chain, operands.to_vec());
            let Some(at) = operands.iter().position(|o| self.constant_of(*o).is_some()) else {
                break;
            };
            let constant = self.constant_of(operands.remove(at)).unwrap_or_default();
            let moved = match (chain, op) {
                (Op::Add, _) => limit.checked_sub(constant),
                (_, Op::Le) if constant > 0 => Some(limit.div_euclid(constant)),
                // Rounded up.
                (_, Op::Ge) if constant > 0 => {
                    limit.checked_neg().map(|limit| -limit.div_euclid(constant))
                }
                (_, Op::Eq | Op::Ne) if constant > 0 && limit % constant == 0 => {
                    Some(limit / constant)
                }
                _ => None,
            };
            let Some(moved) = moved else {
                break;
            };
            limit = moved;
            a = self.chain(chain, operands);
        }
        (op, a, limit)
    }

    /// A chain, with its constants as one.
    fn chain(&mut self, op: Op, mut operands: Vec<u32>) -> u32 {
        let mut constant: Option<i64> = None;
        let mut overflow = false;
        operands.retain(|&operand| match (self.constant_of(operand), constant) {
            (None, _) => true,
            (Some(value), None) => {
                constant = Some(value);
                false
            }
            (Some(value), Some(before)) => {
                match arithmetic::binary(op, before, value) {
                    Some(Ok(value)) => constant = Some(value),
                    _ => overflow = true,
                }
                false
            }
        });
        if overflow {
            return self.intern(Key::Fails);
        }
        let neutral = match op {
            Op::Add => Some(0),
            Op::Mul => Some(1),
            _ => None,
        };
        if let Some(value) = constant.filter(|value| operands.is_empty() || Some(*value) != neutral)
        {
            operands.push(self.constant(value));
        }
        if let [one] = *operands {
            return one;
        }
        operands.sort_unstable();
        self.intern(Key::Chain(op, operands.into()))
    }

    /// The number of a term; what its bounds decide is a constant.
    fn intern(&mut self, key: Key) -> u32 {
        if let Some(&number) = self.numbers.get(&key) {
            return number;
        }
        let bounds = self.bounds(&key);
        let simpler = match (&key, bounds.failure) {
            (Key::Const(_) | Key::Fails, _) => None,
            (_, Failure::Always) => Some(self.intern(Key::Fails)),
            (_, Failure::Never) if bounds.low == bounds.high => Some(self.constant(bounds.low)),
            (&(Key::And(a, b) | Key::Or(a, b)), _) => self.operand_that_decides(&key, a, b),
            (&Key::If(condition, then, otherwise), _) => {
                let condition = self.known[condition as usize].bounds;
                match (condition.failure, condition.truth()) {
                    (Failure::Never, Truth::True) => Some(then),
                    (Failure::Never, Truth::False) => Some(otherwise),
                    _ => None,
                }
            }
            _ => None,
        };
        let number = simpler.unwrap_or_else(|| {
            let (first, last) = self.levels(&key);
            self.known.push(Term {
                key: key.clone(),
                bounds,
                first,
                last,
            });
            self.known.len() as u32 - 1
        });
        self.numbers.insert(key, number);
        number
    }

    /// `b` of `a && b` or `a || b` where `a` has one truth value and that leaves it to `b`.
    fn operand_that_decides(&self, key: &Key, a: u32, b: u32) -> Option<u32> {
        let bounds = self.known[a as usize].bounds;
        let leaves = match key {
            Key::And(..) => Truth::True,
            _ => Truth::False,
        };
        (bounds.failure == Failure::Never && bounds.truth() == leaves).then_some(b)
    }

    fn bounds(&self, key: &Key) -> Bounds {
        let of = |number: &u32| self.known[*number as usize].bounds;
        match key {
            Key::Const(value) => Bounds::exactly(*value),
            Key::Fails => Bounds::FAILS,
            Key::Param(level) => domain(self.codes[*level as usize]),
            Key::Unary(op, a) => Bounds::unary(*op, of(a)),
            Key::Binary(op, a, b) => Bounds::binary(*op, of(a), of(b)),
            Key::Chain(op, operands) => chain_bounds(*op, operands.iter().map(of)),
            Key::And(a, b) => and_bounds(of(a), || of(b)),
            Key::Or(a, b) => or_bounds(of(a), || of(b)),
            Key::If(a, b, c) => if_bounds(of(a), || of(b), || of(c)),
            Key::Mask(..) => Bounds::between(0, 1),
        }
    }

    fn levels(&self, key: &Key) -> (u32, u32) {
        let over = |operands: &[u32]| {
            operands
                .iter()
                .fold((u32::MAX, 0), |(first, last), operand| {
                    let term = &self.known[*operand as usize];
                    (first.min(term.first), last.max(term.last))
                })
        };
        match key {
            Key::Const(_) | Key::Fails => (u32::MAX, 0),
            Key::Param(level) | Key::Mask(level, _) => (*level, *level),
            Key::Unary(_, a) => over(&[*a]),
            Key::Binary(_, a, b) | Key::And(a, b) | Key::Or(a, b) => over(&[*a, *b]),
            Key::Chain(_, operands) => over(operands),
            Key::If(a, b, c) => over(&[*a, *b, *c]),
        }
    }
}

fn decided(holds: bool) -> Outcome {
    if holds {
        Outcome::Holds
    } else {
        Outcome::Fails
    }
}

/// The comparison that says the same with its sides exchanged.
fn mirrored(op: Op) -> Option<Op> {
    Some(match op {
        Op::Eq | Op::Ne => op,
        Op::Lt => Op::Gt,
        Op::Le => Op::Ge,
        Op::Gt => Op::Lt,
        Op::Ge => Op::Le,
        _ => return None,
    })
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

/// The bounds of a domain that is not empty.
pub(super) fn domain(codes: &[i64]) -> Bounds {
    let low = codes.iter().copied().min().unwrap_or(0);
    Bounds::between(low, codes.iter().copied().max().unwrap_or(low))
}
