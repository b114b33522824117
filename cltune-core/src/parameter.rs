//! Tunable parameters, their domains and their values.
//!
//! Inside the core every value is an `i64` *code*, so that expressions, spaces and tables have one
//! representation: an integer is its own code, a boolean is 0 or 1, a number with a fraction has a
//! code of the same order ([`Fraction`]), and a named value is its position in the domain's list of
//! names. [`Domain::value`] and [`Domain::code`] translate.

pub use crate::fraction::Fraction;
pub use crate::real_range::{RealRange, RealRangeError, Scale};

use crate::device::{DeviceField, DeviceLimits};
use crate::expr::{Env, Formula};
use crate::{List, Text};
use std::fmt;

/// A value as a user writes it: in the attribute, the lockfile and on the command line.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Value {
    /// An integer, for example `128`.
    Int(i64),
    /// `true` or `false`; `1` or `0` in the kernel.
    Bool(bool),
    /// A number with a fraction, for example `0.5`; a literal of type `double` in the kernel.
    Fraction(Fraction),
    /// One of a list of names, for example `"float4"`; pasted as it is into the kernel.
    Name(Text),
}

impl fmt::Display for Value {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Int(value) => write!(f, "{value}"),
            Self::Bool(value) => write!(f, "{value}"),
            Self::Fraction(value) => write!(f, "{value}"),
            Self::Name(value) => f.write_str(value),
        }
    }
}

/// A tunable parameter: a preprocessor macro of the kernel and the values it may take.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// The name of the macro in the kernel and of the variable in expressions.
    pub name: Text,
    /// The values it may take, in the order the user wrote them.
    pub domain: Domain,
}

/// The values a parameter may take, never empty and without duplicates.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Domain {
    /// Listed integers, `[32, 64, 128]`.
    Integers(List<i64>),
    /// `first..=last` by `step`; `step` is at least 1 and `last` is a member.
    Range {
        /// The first value.
        first: i64,
        /// The last value, included.
        last: i64,
        /// The distance between values, at least 1.
        step: i64,
    },
    /// The powers of two from `first` to `last`, both included, both powers of two.
    PowersOfTwo {
        /// The first value.
        first: i64,
        /// The last value, included.
        last: i64,
    },
    /// Booleans, `[false, true]`.
    Booleans(List<bool>),
    /// Finite numbers with a fraction, `[0.5, 1.0]`.
    Fractions(List<Fraction>),
    /// All numbers of a range, `0.5..=2.0`. What goes through the values one by one goes through
    /// those that a search draws from.
    Reals(RealRange),
    /// Positive integers, some of which depend on the device, `[32, 16 * device.compute_units]`. On
    /// a device the values are those of the formulas, each once; a formula that has no value there,
    /// or none that is positive, is left out.
    PerDevice(List<Formula>),
    /// Names, `["float", "half"]`; each [is an identifier](is_c_identifier) of C.
    Names(List<Text>),
}

/// Whether C takes a name as an identifier: names of parameters and named values become macros of
/// the kernel.
pub fn is_c_identifier(name: &str) -> bool {
    !name.is_empty()
        && !name.starts_with(|c: char| c.is_ascii_digit())
        && name.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

impl Domain {
    /// The most values of a domain that a space is built from; more would only fill the memory.
    pub const MAX_LEN: usize = 1 << 24;

    /// The number of values; of values that depend on the device, the most that a device has, and
    /// of a range of real numbers those that a search draws from.
    pub fn len(&self) -> usize {
        match self {
            Self::Integers(values) => values.len(),
            // Unsigned, since the distance of two i64 may exceed i64.
            Self::Range { first, last, step } => {
                ((last.abs_diff(*first) / step.unsigned_abs()) as usize).saturating_add(1)
            }
            Self::PowersOfTwo { first, last } => {
                (last.trailing_zeros() - first.trailing_zeros()) as usize + 1
            }
            Self::Booleans(values) => values.len(),
            Self::Fractions(values) => values.len(),
            Self::Reals(range) => range.len(),
            Self::PerDevice(formulas) => formulas.len(),
            Self::Names(values) => values.len(),
        }
    }

    /// Whether there is no value. The macro and the record reader refuse such domains.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// The code of the value at `position`, in declaration order; `None` past the end, and for one
    /// that depends on the device.
    pub fn code_at(&self, position: usize) -> Option<i64> {
        if position >= self.len() {
            return None;
        }
        Some(match self {
            Self::Integers(values) => values[position],
            Self::Range { first, step, .. } => {
                first.wrapping_add((position as i64).wrapping_mul(*step))
            }
            Self::PowersOfTwo { first, .. } => first << position,
            Self::Booleans(values) => i64::from(values[position]),
            Self::Fractions(values) => values[position].code(),
            Self::Reals(range) => range.at(position)?.code(),
            Self::PerDevice(formulas) => return value_where(&formulas[position], &|_| None),
            Self::Names(_) => position as i64,
        })
    }

    /// The codes of the values that are the same on all devices, in declaration order.
    pub fn codes(&self) -> impl Iterator<Item = i64> + '_ {
        (0..self.len()).filter_map(|position| self.code_at(position))
    }

    /// The codes of all values on a device, in declaration order. A value that depends on a limit
    /// which is not known is left out.
    pub fn codes_on(&self, limit: &dyn Fn(DeviceField) -> Option<i64>) -> Vec<i64> {
        let Self::PerDevice(formulas) = self else {
            return self.codes().collect();
        };
        let mut codes = Vec::with_capacity(formulas.len());
        for code in formulas
            .iter()
            .filter_map(|formula| value_where(formula, limit))
        {
            if !codes.contains(&code) {
                codes.push(code);
            }
        }
        codes
    }

    /// Whether `code` is the code of a member on a device.
    pub fn contains_on(&self, code: i64, device: &DeviceLimits) -> bool {
        let Self::PerDevice(formulas) = self else {
            return self.contains(code);
        };
        let env = Env {
            params: &[],
            dims: &[],
            device,
        };
        code >= 1
            && formulas
                .iter()
                .any(|formula| formula.eval(&env) == Ok(code))
    }

    /// The limits of the device that decide about values, sorted, each once.
    pub fn limits(&self) -> Vec<DeviceField> {
        let Self::PerDevice(formulas) = self else {
            return Vec::new();
        };
        let limits = formulas.iter().flat_map(|formula| formula.program.limits());
        let mut limits: Vec<DeviceField> = limits.collect();
        limits.sort_unstable();
        limits.dedup();
        limits
    }

    /// Whether `code` is the code of a member on all devices.
    pub fn contains(&self, code: i64) -> bool {
        match self {
            Self::Integers(values) => values.contains(&code),
            Self::Range { first, last, step } => {
                (*first..=*last).contains(&code) && code.abs_diff(*first) % step.unsigned_abs() == 0
            }
            Self::PowersOfTwo { first, last } => {
                (*first..=*last).contains(&code) && code.count_ones() == 1
            }
            Self::Booleans(values) => values.iter().any(|value| i64::from(*value) == code),
            Self::Fractions(values) => values.contains(&Fraction::from_code(code)),
            Self::Reals(range) => range.contains(Fraction::from_code(code)),
            Self::PerDevice(_) => self.codes().any(|known| known == code),
            Self::Names(values) => usize::try_from(code).is_ok_and(|code| code < values.len()),
        }
    }

    /// The value of a member's code; `None` when `code` is not a member. Where values depend on the
    /// device, every positive integer may be one on some device.
    pub fn value(&self, code: i64) -> Option<Value> {
        if !self.may_contain(code) {
            return None;
        }
        Some(match self {
            Self::Integers(_)
            | Self::Range { .. }
            | Self::PowersOfTwo { .. }
            | Self::PerDevice(_) => Value::Int(code),
            Self::Booleans(_) => Value::Bool(code != 0),
            Self::Fractions(_) | Self::Reals(_) => Value::Fraction(Fraction::from_code(code)),
            Self::Names(values) => Value::Name(values[code as usize].clone()),
        })
    }

    /// The value of a code as text, for people. A number that is not a member is shown all the
    /// same; any other code that is none is shown as `?7`.
    pub fn show(&self, code: i64) -> String {
        match (self.value(code), self) {
            (Some(value), _) => value.to_string(),
            (None, _) if self.has_fractions() => Fraction::from_code(code).to_string(),
            (None, Self::Booleans(_) | Self::Names(_)) => format!("?{code}"),
            (None, _) => code.to_string(),
        }
    }

    /// The code of a value; `None` when it is not a member, see [`value`](Self::value), or of
    /// another kind.
    pub fn code(&self, value: &Value) -> Option<i64> {
        let code = match (self, value) {
            (Self::Names(values), Value::Name(name)) => {
                values.iter().position(|member| member == name)? as i64
            }
            (Self::Booleans(_), Value::Bool(value)) => i64::from(*value),
            (Self::Fractions(_) | Self::Reals(_), Value::Fraction(value)) => value.code(),
            // A file that people or other tools wrote may have 1 for 1.0.
            (Self::Fractions(_) | Self::Reals(_), Value::Int(value)) => {
                Fraction::of_integer(*value)?.code()
            }
            (
                Self::Integers(_)
                | Self::Range { .. }
                | Self::PowersOfTwo { .. }
                | Self::PerDevice(_),
                Value::Int(value),
            ) => *value,
            _ => return None,
        };
        self.may_contain(code).then_some(code)
    }

    /// Whether its values are numbers with a fraction.
    pub fn has_fractions(&self) -> bool {
        matches!(self, Self::Fractions(_) | Self::Reals(_))
    }

    /// Whether `code` is the code of a member on some device.
    fn may_contain(&self, code: i64) -> bool {
        match self {
            Self::PerDevice(_) => code >= 1,
            _ => self.contains(code),
        }
    }
}

/// The value of a formula over device limits, where those that it needs are known and it has a
/// positive one.
fn value_where(formula: &Formula, limit: &dyn Fn(DeviceField) -> Option<i64>) -> Option<i64> {
    let value = formula.program.bind_known(&[], limit).constant();
    value.filter(|value| *value >= 1)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_are_those_of_c() {
        for name in ["a", "_", "WG_2", "float4"] {
            assert!(is_c_identifier(name), "{name}");
        }
        for name in ["", "4x", "a b", "a-b", "é", "a::b"] {
            assert!(!is_c_identifier(name), "{name}");
        }
    }
}
