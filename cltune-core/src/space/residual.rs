//! What is left of constraints once the values of some parameters are put in.
//!
//! Equal remainders have one number, so that comparing what is left to be satisfied is comparing
//! numbers, and each remainder is worked out for each value once, however often it is met.

use crate::device::DeviceLimits;
use crate::expr::{Env, Fragment, Op, Program, rebuild};
use std::collections::HashMap;

/// What is left of a constraint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// Nothing: it holds.
    Holds,
    /// It does not hold, or has no value.
    Fails,
    /// The remainder with this number.
    Open(u32),
}

/// The remainders met while a group's graph is built.
pub(super) struct Residuals<'a> {
    /// For each level its parameter and the codes of that parameter.
    levels: Vec<(u16, &'a [i64])>,
    /// For each declared parameter its level, if it is in the group.
    level_of: Vec<Option<usize>>,
    open: Vec<Open>,
    numbers: HashMap<Program, u32>,
}

struct Open {
    program: Program,
    /// The first level whose parameter it names.
    level: usize,
    /// Whether it names that parameter only.
    last: bool,
    /// What each value of that parameter leaves; empty until asked for.
    outcomes: Vec<Outcome>,
}

impl<'a> Residuals<'a> {
    /// No remainders yet, for a group with the parameters at these positions among all of `codes`.
    pub(super) fn new(parameters: &[usize], codes: &[&'a [i64]]) -> Self {
        let mut level_of = vec![None; codes.len()];
        for (level, &parameter) in parameters.iter().enumerate() {
            level_of[parameter] = Some(level);
        }
        Self {
            levels: parameters
                .iter()
                .map(|&parameter| (parameter as u16, codes[parameter]))
                .collect(),
            level_of,
            open: Vec::new(),
            numbers: HashMap::new(),
        }
    }

    /// The first level whose parameter a remainder names.
    pub(super) fn level(&self, number: u32) -> usize {
        self.open[number as usize].level
    }

    /// What each value of the parameter at its level leaves of a remainder, once worked out.
    pub(super) fn outcomes(&self, number: u32) -> &[Outcome] {
        &self.open[number as usize].outcomes
    }

    /// Works out what each value leaves of a remainder; returns how many had to be worked out.
    pub(super) fn work_out(&mut self, number: u32) -> usize {
        let entry = &self.open[number as usize];
        if !entry.outcomes.is_empty() {
            return 0;
        }
        let (parameter, codes) = self.levels[entry.level];
        let outcomes: Vec<Outcome> = if entry.last {
            let mut values = vec![0; self.level_of.len()];
            codes
                .iter()
                .map(|&code| {
                    values[usize::from(parameter)] = code;
                    decide(&entry.program, &values)
                })
                .collect()
        } else {
            let program = entry.program.clone();
            codes
                .iter()
                .map(|&code| {
                    let leaf = |op| match op {
                        Op::Param(named) if named == parameter => Fragment::constant(code),
                        other => Fragment::leaf(other),
                    };
                    rebuild(&program, &leaf)
                        .map_or(Outcome::Fails, |left| self.enter(left.finish()))
                })
                .collect()
        };
        self.open[number as usize].outcomes = outcomes;
        codes.len()
    }

    /// The number of a remainder, or the outcome when it names none of the group's parameters.
    pub(super) fn enter(&mut self, program: Program) -> Outcome {
        if let Some(&number) = self.numbers.get(&program) {
            return Outcome::Open(number);
        }
        let named = program.parameters();
        let mut levels = named
            .iter()
            .filter_map(|&parameter| *self.level_of.get(usize::from(parameter))?);
        let Some(first) = levels.next() else {
            return decide(&program, &vec![0; self.level_of.len()]);
        };
        let (level, others) = levels.fold((first, 0), |(least, count), level| {
            (least.min(level), count + 1)
        });
        let number = self.open.len() as u32;
        self.numbers.insert(program.clone(), number);
        self.open.push(Open {
            program,
            level,
            last: others == 0,
            outcomes: Vec::new(),
        });
        Outcome::Open(number)
    }
}

/// Whether a program holds for these codes of all declared parameters.
pub(super) fn decide(program: &Program, codes: &[i64]) -> Outcome {
    let env = Env {
        params: codes,
        dims: &[],
        device: &DeviceLimits::default(),
    };
    match program.eval(&env) {
        Ok(value) if value != 0 => Outcome::Holds,
        _ => Outcome::Fails,
    }
}
