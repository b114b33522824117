//! The values of parameters that nobody declared here: what occurs in a file, as a domain.

use cltune_core::Text;
use cltune_core::parameter::{Domain, Fraction};
use std::collections::{HashMap, HashSet};

/// The values of a parameter that occur.
#[derive(Debug)]
pub struct Values {
    /// Numbers, ascending, where all are numbers; otherwise names, in the order of their first
    /// appearance.
    pub domain: Domain,
    /// The codes of names: a file may have millions of them.
    codes: HashMap<Text, i64>,
}

impl Values {
    /// Those of these texts, each as often as it likes.
    pub fn of<'a>(texts: impl Iterator<Item = &'a str> + Clone) -> Self {
        let integers: Option<Vec<i64>> = texts.clone().map(|text| text.parse().ok()).collect();
        if let Some(mut integers) = integers {
            integers.sort_unstable();
            integers.dedup();
            return Self {
                domain: Domain::Integers(integers.into()),
                codes: HashMap::new(),
            };
        }
        if let Some(mut fractions) = texts.clone().map(fraction).collect::<Option<Vec<_>>>() {
            fractions.sort_unstable();
            fractions.dedup();
            return Self {
                domain: Domain::Fractions(fractions.into()),
                codes: HashMap::new(),
            };
        }
        let mut seen = HashSet::new();
        let names: Vec<&str> = texts.filter(|text| seen.insert(*text)).collect();
        let names = names.into_iter().map(|text| Text::from(text.to_owned()));
        let names: Vec<Text> = names.collect();
        Self {
            codes: names.iter().cloned().zip(0..).collect(),
            domain: Domain::Names(names.into()),
        }
    }

    /// The code of a text; `None` where it is none of the values.
    pub fn code(&self, text: &str) -> Option<i64> {
        match &self.domain {
            Domain::Integers(integers) => {
                let integer = text.parse().ok()?;
                integers.binary_search(&integer).ok().map(|_| integer)
            }
            Domain::Fractions(fractions) => {
                let fraction = fraction(text)?;
                fractions
                    .binary_search(&fraction)
                    .ok()
                    .map(|_| fraction.code())
            }
            _ => self.codes.get(text).copied(),
        }
    }

    /// A code's value as the file has it; `None` for a code of none.
    pub fn text(&self, code: i64) -> Option<String> {
        match &self.domain {
            Domain::Integers(integers) => {
                let found = integers.binary_search(&code).ok();
                found.map(|_| code.to_string())
            }
            other => other.value(code).map(|value| value.to_string()),
        }
    }
}

/// A finite number.
fn fraction(text: &str) -> Option<Fraction> {
    let number: f64 = text.parse().ok()?;
    number.is_finite().then(|| Fraction::of(number))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn codes(texts: &[&str]) -> Vec<Option<i64>> {
        let values = Values::of(texts.iter().copied());
        texts.iter().map(|text| values.code(text)).collect()
    }

    #[test]
    fn numbers_keep_their_order_and_everything_else_has_a_position() {
        assert_eq!(codes(&["8", "-2", "8"]), [Some(8), Some(-2), Some(8)]);
        let fractions = [0.5, 0.25, 1.0].map(|number| Some(Fraction::of(number).code()));
        assert_eq!(codes(&["0.5", "0.25", "1"]), fractions);
        assert_eq!(codes(&["false", "true"]), [Some(0), Some(1)]);
        assert_eq!(codes(&["b", "1", "a"]), [Some(0), Some(1), Some(2)]);
        for texts in [["1", "2"], ["1", "a"]] {
            let values = Values::of(texts.into_iter());
            assert_eq!((values.code("3"), values.text(3)), (None, None));
            assert_eq!(
                values.text(1).as_deref(),
                Some(texts[usize::from(texts[1] == "a")])
            );
        }
    }
}
