//! The constraints that follow from what OpenCL and a device can do, as formulas.
//!
//! OpenCL 3.0, `clEnqueueNDRangeKernel`: sizes are positive, a work-group's sizes and their product
//! are within the device's limits, and the global size is divisible by the local size.

use super::geometry::MAX_WORK_ITEM_SIZES;
use super::{ArgumentKind, ConstraintOrigin, Model};
use crate::device::DeviceField;
use crate::expr::{Formula, Fragment, Op, rebuild};

impl Model {
    /// The constraints besides the user's: those that follow from the sizes, the device's limits
    /// and the formulas that must have a value. The cheap and selective ones come first.
    pub fn derived_constraints(&self) -> Vec<Formula> {
        let rules = self.derived_rules().into_iter();
        rules.map(|(_, formula)| formula).collect()
    }

    /// The same with the rules that they follow from.
    pub(super) fn derived_rules(&self) -> Vec<(ConstraintOrigin, Formula)> {
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
        let values = self.value_constraints().into_iter();
        rules.extend(values.map(|formula| (ConstraintOrigin::Values, formula)));
        rules
    }

    /// Rule (3) of device-derived pruning; see [`Model::compute_units_constraint`].
    pub(super) fn compute_units_rule(&self) -> Option<Formula> {
        let global = self.global.iter().map(Term::of);
        let work_groups = global
            .zip(self.local.iter().map(Term::of))
            .map(|(global, local)| global.per(local))
            .reduce(Term::times)?;
        Some(work_groups.compare(">=", Op::Ge, limit(DeviceField::ComputeUnits)))
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
        for argument in self.arguments.iter() {
            let ArgumentKind::Local { element, len } = &argument.kind else {
                continue;
            };
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
        let fallible = |(_, formula): &(_, &Formula)| formula.program.ops.len() > 1;
        defines
            .chain(options)
            .chain(lengths)
            .filter(fallible)
            .map(|(name, formula)| {
                // `formula & 0 == 0` holds exactly when the formula has a value.
                let zero = || Fragment::constant(0);
                let masked = Fragment::binary(Op::BitAnd, fragment(formula), zero());
                let program = Fragment::binary(Op::Eq, masked, zero()).finish();
                let text = format!("{name} = {} has a value", formula.text);
                Formula {
                    text: text.into(),
                    program,
                }
            })
            .collect()
    }
}

/// An integer formula under construction.
#[derive(Clone)]
struct Term {
    text: String,
    fragment: Fragment,
}

impl Term {
    fn of(formula: &Formula) -> Self {
        Self {
            text: formula.text.to_string(),
            fragment: fragment(formula),
        }
    }

    fn times(self, other: Self) -> Self {
        self.combine("*", Op::Mul, other)
    }

    fn plus(self, other: Self) -> Self {
        self.combine("+", Op::Add, other)
    }

    fn per(self, other: Self) -> Self {
        self.combine("/", Op::Div, other)
    }

    fn modulo(self, other: Self) -> Self {
        self.combine("%", Op::Rem, other)
    }

    fn combine(self, symbol: &str, op: Op, other: Self) -> Self {
        let text = format!(
            "{} {symbol} {}",
            parenthesised(&self.text),
            parenthesised(&other.text)
        );
        Self {
            text,
            fragment: Fragment::binary(op, self.fragment, other.fragment),
        }
    }

    fn compare(self, symbol: &str, op: Op, other: Self) -> Formula {
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

fn number(value: i64) -> Term {
    Term {
        text: value.to_string(),
        fragment: Fragment::constant(value),
    }
}

fn limit(field: DeviceField) -> Term {
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
