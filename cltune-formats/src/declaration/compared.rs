//! The elements of a result that are compared with the reference's.

use cltune_core::expr::{Env, Formula};
use std::fmt;
use std::ops::Range;

/// Which elements of a buffer that a call writes are compared with the reference's.
#[derive(Clone, Debug, Default, PartialEq)]
pub enum Compared {
    /// All.
    #[default]
    All,
    /// None.
    None,
    /// Those from `begin` to before `end`, over problem dimensions and device limits.
    Range {
        /// The index of the first.
        begin: Formula,
        /// The index after the last.
        end: Formula,
    },
}

/// A range of elements that no result of this problem has, or that is empty.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("the compared range `{text}` {reason}")]
pub struct UnusableRange {
    /// Its formulas.
    pub text: String,
    /// What is wrong with its values.
    pub reason: String,
}

impl Compared {
    /// The compared elements of a buffer of so many.
    ///
    /// # Errors
    /// [`UnusableRange`].
    pub fn range(&self, len: usize, env: &Env<'_>) -> Result<Range<usize>, UnusableRange> {
        let (begin, end) = match self {
            Self::All => return Ok(0..len),
            Self::None => return Ok(0..0),
            Self::Range { begin, end } => (begin, end),
        };
        let unusable = |reason: String| UnusableRange {
            text: self.to_string(),
            reason,
        };
        let value = |formula: &Formula| {
            let value = formula.eval(env);
            value.map_err(|reason| unusable(format!("has no value: {reason}")))
        };
        let (first, after) = (value(begin)?, value(end)?);
        let indices = usize::try_from(first).ok().zip(usize::try_from(after).ok());
        match indices {
            Some((first, after)) if first < after && after <= len => Ok(first..after),
            Some((first, after)) if first >= after => Err(unusable(format!(
                "is {first}..{after} for this problem, which is empty"
            ))),
            _ => Err(unusable(format!(
                "is {first}..{after} for this problem, and there are {len} elements"
            ))),
        }
    }
}

impl fmt::Display for Compared {
    /// As in the attribute: `0..n`.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::All => f.write_str(".."),
            Self::None => f.write_str("none"),
            Self::Range { begin, end } => write!(f, "{}..{}", begin.text, end.text),
        }
    }
}
