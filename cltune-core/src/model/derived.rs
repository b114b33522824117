//! The constraints that follow from what OpenCL and a device can do, as formulas.
//!
//! OpenCL 3.0, `clEnqueueNDRangeKernel`: sizes are positive, a work-group's sizes and their product
//! are within the device's limits, and the global size is divisible by the local size.

use super::geometry::MAX_WORK_ITEM_SIZES;
use super::{
    ArgumentKind, BufferRef, ConstraintOrigin, Model, ScalarType, Scratch, Stage, StageArgument,
    Step,
};
use crate::device::DeviceField;
use crate::expr::{Formula, Fragment, Op, rebuild};
use std::collections::BTreeMap;

impl Model {
    /// The constraints besides the user's: those that follow from the sizes, the device's limits
    /// and the formulas that must have a value. The cheap and selective ones come first.
    pub fn derived_constraints(&self) -> Vec<Formula> {
        let rules = self.derived_rules().into_iter();
        rules.map(|(_, formula)| formula).collect()
    }

    /// The same with the rules that they follow from.
    pub(super) fn derived_rules(&self) -> Vec<(ConstraintOrigin, Formula)> {
        let mut rules = Vec::new();
        let mut uses = Uses::default();
        self.step_rules(&self.steps, &Guard::always(), &mut rules, &mut uses);
        for (position, scratch) in self.scratch.iter().enumerate() {
            if let Some(used) = uses.scratch.remove(&position) {
                rules.extend(scratch_rules(scratch).map(|formula| used.clone().implies(formula)));
            }
        }
        let uses_no_stage = uses.runs.is_none() && !self.steps.is_empty();
        if let Some(runs) = uses.runs.filter(|runs| !runs.is_always()) {
            rules.push((ConstraintOrigin::Values, runs.holds("a stage runs")));
        } else if uses_no_stage {
            let never = Guard::never();
            rules.push((ConstraintOrigin::Values, never.holds("a stage runs")));
        }
        rules.extend(self.memory_rules());
        let values = self.value_constraints().into_iter();
        rules.extend(values.map(|formula| (ConstraintOrigin::Values, formula)));
        rules
    }

    /// The rules of steps that are done where `guard` holds.
    fn step_rules(
        &self,
        steps: &[Step],
        guard: &Guard,
        rules: &mut Vec<(ConstraintOrigin, Formula)>,
        uses: &mut Uses,
    ) {
        for step in steps {
            let mut guard = guard.clone();
            if let Some(when) = step.when().filter(|when| self.is_same_in_all_rounds(when)) {
                rules.extend(guard.clone().value_rule("the condition", when));
                guard = guard.and(Term::of(when));
            }
            let mut push = |rule| rules.push(guard.clone().implies(rule));
            match step {
                Step::Launch(stage) => {
                    stage.rules().into_iter().for_each(&mut push);
                    self.count_rules(stage).into_iter().for_each(&mut push);
                    for argument in stage.arguments.iter() {
                        if let StageArgument::Value { scalar, value } = argument
                            && self.is_same_in_all_rounds(value)
                        {
                            value_range(*scalar, value).into_iter().for_each(&mut push);
                        }
                    }
                    uses.runs = Some(match uses.runs.take() {
                        Some(runs) => runs.or(guard.clone()),
                        None => guard.clone(),
                    });
                }
                Step::Repeat { count, steps, .. } => {
                    let mut guard = guard.clone();
                    if self.is_same_in_all_rounds(count) {
                        let count = Term::of(count);
                        push((
                            ConstraintOrigin::Values,
                            count.clone().compare(">=", Op::Ge, number(0)),
                        ));
                        let some = count.compare(">", Op::Gt, number(0));
                        guard = guard.and(Term::of(&some));
                    }
                    self.step_rules(steps, &guard, rules, uses);
                }
                Step::Copy { from: a, to: b, .. } | Step::Swap { buffers: [a, b] } => {
                    let length = |buffer| Some(Term::of(self.buffer(buffer)?.2?));
                    if let (Some(a), Some(b)) = (length(*a), length(*b)) {
                        push((ConstraintOrigin::Values, a.compare("==", Op::Eq, b)));
                    }
                }
                Step::Clear { .. } => {}
            }
            for buffer in step.buffers() {
                if let BufferRef::Scratch(position) = buffer {
                    let used = match uses.scratch.remove(&usize::from(position)) {
                        Some(used) => used.or(guard.clone()),
                        None => guard.clone(),
                    };
                    uses.scratch.insert(usize::from(position), used);
                }
            }
        }
    }
    /// Rule (3) of device-derived pruning; see [`Model::compute_units_constraint`]. Of a group of
    /// launches, single stages may be small, so it says nothing there.
    pub(super) fn compute_units_rule(&self) -> Option<Formula> {
        let stage = self.single_stage()?;
        let global = stage.global.iter().map(Term::of);
        let work_groups = global
            .zip(stage.local.iter().map(Term::of))
            .map(|(global, local)| global.per(local))
            .reduce(Term::times)?;
        Some(work_groups.compare(">=", Op::Ge, limit(DeviceField::ComputeUnits)))
    }

    /// That macros, the conditions of options and the lengths of buffers have a value, where they
    /// might not.
    fn value_constraints(&self) -> Vec<Formula> {
        let defines = self
            .defines
            .iter()
            .map(|define| (&define.name, &define.value));
        let lengths = self
            .arguments
            .iter()
            .filter_map(|argument| match &argument.kind {
                ArgumentKind::Buffer { len: Some(len), .. } => Some((&argument.name, len)),
                _ => None,
            });
        let options = self
            .options
            .iter()
            .filter_map(|option| Some((&option.text, option.condition.as_ref()?)));
        defines
            .chain(options)
            .chain(lengths)
            .filter_map(|(name, formula)| has_value(name, formula))
            .collect()
    }
}

impl Stage {
    /// What its sizes and its local memory have to be. The cheap and selective rules come first.
    fn rules(&self) -> Vec<(ConstraintOrigin, Formula)> {
        let local: Vec<Term> = self.local.iter().map(Term::of).collect();
        let global: Vec<Term> = self.global.iter().map(Term::of).collect();
        let positive = |size: &Term| {
            let formula = size.clone().compare(">=", Op::Ge, number(1));
            (ConstraintOrigin::Values, formula)
        };
        let mut rules = Vec::new();

        rules.extend(local.iter().map(positive));
        rules.extend(local.iter().zip(MAX_WORK_ITEM_SIZES).map(|(size, field)| {
            let formula = size.clone().compare("<=", Op::Le, limit(field));
            (ConstraintOrigin::WorkItemSizes, formula)
        }));
        if let Some(work_items) = local.iter().cloned().reduce(Term::times) {
            let most = limit(DeviceField::MaxWorkGroupSize);
            rules.push((
                ConstraintOrigin::WorkGroupSize,
                work_items.compare("<=", Op::Le, most),
            ));
        }
        rules.extend(self.local_memory_rules());
        rules.extend(global.iter().map(positive));
        for (global, local) in global.into_iter().zip(local) {
            let formula = global.modulo(local).compare("==", Op::Eq, number(0));
            rules.push((ConstraintOrigin::Divisibility, formula));
        }
        for offset in self.offset.iter() {
            let formula = Term::of(offset).compare(">=", Op::Ge, number(0));
            rules.push((ConstraintOrigin::Values, formula));
        }
        rules
    }

    fn local_memory_rules(&self) -> Vec<(ConstraintOrigin, Formula)> {
        let not_negative = |size: Term| {
            (
                ConstraintOrigin::Values,
                size.compare(">=", Op::Ge, number(0)),
            )
        };
        let mut rules = Vec::new();
        let mut bytes: Option<Term> = None;
        if let Some(own) = &self.local_memory {
            rules.push(not_negative(Term::of(own)));
            bytes = Some(Term::of(own));
        }
        for (_, element, len) in self.local_arguments() {
            rules.push(not_negative(Term::of(len)));
            let size = Term::of(len).times(number(element.size() as i64));
            bytes = Some(match bytes {
                Some(bytes) => bytes.plus(size),
                None => size,
            });
        }
        let most = || limit(DeviceField::LocalMemSize);
        let within = |bytes: Term| {
            (
                ConstraintOrigin::LocalMemory,
                bytes.compare("<=", Op::Le, most()),
            )
        };
        rules.extend(bytes.map(within));
        rules
    }
}

/// What the steps use, and where.
#[derive(Default)]
struct Uses {
    /// Where each scratch buffer is used.
    scratch: BTreeMap<usize, Guard>,
    /// Where any stage runs.
    runs: Option<Guard>,
}

/// The condition of steps: conditions and numbers of rounds of the steps around them.
#[derive(Clone)]
pub(super) struct Guard {
    /// `None`: always.
    condition: Option<Term>,
}

impl Guard {
    pub(super) const fn always() -> Self {
        Self { condition: None }
    }

    fn never() -> Self {
        Self {
            condition: Some(number(0)),
        }
    }

    const fn is_always(&self) -> bool {
        self.condition.is_none()
    }

    pub(super) fn and(self, condition: Term) -> Self {
        let condition = match self.condition {
            None => condition,
            Some(outer) => outer.combine_with("&&", Fragment::and, condition),
        };
        Self {
            condition: Some(condition),
        }
    }

    fn or(self, other: Self) -> Self {
        let either = self.condition.zip(other.condition);
        Self {
            condition: either.map(|(a, b)| a.combine_with("||", Fragment::or, b)),
        }
    }

    /// The rule for where the condition holds.
    pub(super) fn implies(
        self,
        (origin, formula): (ConstraintOrigin, Formula),
    ) -> (ConstraintOrigin, Formula) {
        let Some(condition) = self.condition else {
            return (origin, formula);
        };
        let program = Fragment::if_else(
            condition.fragment,
            fragment(&formula),
            Fragment::constant(1),
        );
        let text = format!("{} where {}", formula.text, condition.text).into();
        let program = program.finish();
        (origin, Formula { text, program })
    }

    /// That a formula has a value where the condition holds, if it might have none.
    fn value_rule(self, name: &str, formula: &Formula) -> Option<(ConstraintOrigin, Formula)> {
        let has_value = has_value(name, formula)?;
        Some(self.implies((ConstraintOrigin::Values, has_value)))
    }

    /// The condition itself.
    fn holds(self, what: &str) -> Formula {
        let condition = self.condition.unwrap_or_else(|| number(1));
        Formula {
            text: format!("{what}: {}", condition.text).into(),
            program: condition.fragment.finish(),
        }
    }
}

/// That a scratch buffer has elements, and that the device can allocate them.
fn scratch_rules(scratch: &Scratch) -> impl Iterator<Item = (ConstraintOrigin, Formula)> {
    let len = || Term::of(&scratch.len);
    let bytes = len().times(number(scratch.element.size() as i64));
    [
        len().compare(">=", Op::Ge, number(1)),
        bytes.compare("<=", Op::Le, limit(DeviceField::MaxMemAllocSize)),
    ]
    .into_iter()
    .map(|formula| (ConstraintOrigin::Values, formula))
}

/// That a computed scalar is a number that its type holds.
fn value_range(scalar: ScalarType, value: &Formula) -> Vec<(ConstraintOrigin, Formula)> {
    let (least, most) = scalar.integers();
    let of = || Term::of(value);
    let rules = [
        of().compare(">=", Op::Ge, number(least)),
        of().compare("<=", Op::Le, number(most)),
    ];
    rules
        .map(|formula| (ConstraintOrigin::Values, formula))
        .into()
}

/// That a formula has a value, where it might have none.
fn has_value(name: &str, formula: &Formula) -> Option<Formula> {
    if formula.program.ops.len() <= 1 {
        return None;
    }
    // `formula & 0 == 0` holds exactly when the formula has a value.
    let zero = || Fragment::constant(0);
    let masked = Fragment::binary(Op::BitAnd, fragment(formula), zero());
    let program = Fragment::binary(Op::Eq, masked, zero()).finish();
    let text = format!("{name} = {} has a value", formula.text);
    Some(Formula {
        text: text.into(),
        program,
    })
}

/// An integer formula under construction.
#[derive(Clone)]
pub(super) struct Term {
    pub(super) text: String,
    pub(super) fragment: Fragment,
}

impl Term {
    pub(super) fn of(formula: &Formula) -> Self {
        Self {
            text: formula.text.to_string(),
            fragment: fragment(formula),
        }
    }

    pub(super) fn times(self, other: Self) -> Self {
        self.combine("*", Op::Mul, other)
    }

    pub(super) fn plus(self, other: Self) -> Self {
        self.combine("+", Op::Add, other)
    }

    fn per(self, other: Self) -> Self {
        self.combine("/", Op::Div, other)
    }

    fn modulo(self, other: Self) -> Self {
        self.combine("%", Op::Rem, other)
    }

    fn combine(self, symbol: &str, op: Op, other: Self) -> Self {
        self.combine_with(symbol, |a, b| Fragment::binary(op, a, b), other)
    }

    fn combine_with(
        self,
        symbol: &str,
        join: impl Fn(Fragment, Fragment) -> Fragment,
        other: Self,
    ) -> Self {
        let text = format!(
            "{} {symbol} {}",
            parenthesised(&self.text),
            parenthesised(&other.text)
        );
        Self {
            text,
            fragment: join(self.fragment, other.fragment),
        }
    }

    pub(super) fn compare(self, symbol: &str, op: Op, other: Self) -> Formula {
        // Every operator of an integer formula binds tighter than a comparison; `if` does not.
        let left = if self.text.starts_with("if ") {
            format!("({})", self.text)
        } else {
            self.text
        };
        let program = Fragment::binary(op, self.fragment, other.fragment).finish();
        Formula {
            text: format!("{left} {symbol} {}", other.text).into(),
            program,
        }
    }
}

pub(super) fn number(value: i64) -> Term {
    Term {
        text: value.to_string(),
        fragment: Fragment::constant(value),
    }
}

pub(super) fn limit(field: DeviceField) -> Term {
    let text = format!("device.{}", field.name());
    Term {
        text,
        fragment: Fragment::leaf(Op::Device(field)),
    }
}

/// Text that can stand as an operand of any operator.
fn parenthesised(text: &str) -> String {
    let is_simple = text
        .chars()
        .all(|c| c.is_alphanumeric() || c == '_' || c == '.');
    if is_simple {
        text.to_owned()
    } else {
        format!("({text})")
    }
}

/// A formula's program as a part of another.
fn fragment(formula: &Formula) -> Fragment {
    // A damaged program becomes one that is damaged, too: it fails when it is evaluated.
    rebuild(&formula.program, &Fragment::leaf).unwrap_or_else(|| Fragment::leaf(Op::Add))
}
