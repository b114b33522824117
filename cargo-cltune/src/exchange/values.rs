//! The values of parameters that nobody declared here: what occurs in a file, as a domain.

use cltune_core::Text;
use cltune_core::parameter::{Domain, Value};

/// The values that occur: integers where all are integers; otherwise names, in the order of their
/// first appearance, or in their own order where all are numbers.
pub(crate) fn domain<'a>(texts: impl Iterator<Item = &'a str> + Clone) -> Domain {
    let integers: Option<Vec<i64>> = texts.clone().map(|text| text.parse().ok()).collect();
    if let Some(mut integers) = integers {
        integers.sort_unstable();
        integers.dedup();
        return Domain::Integers(integers.into());
    }
    let mut names: Vec<&str> = Vec::new();
    for text in texts {
        if !names.contains(&text) {
            names.push(text);
        }
    }
    let number = |text: &str| text.parse::<f64>().unwrap_or(f64::NAN);
    if names.iter().all(|text| !number(text).is_nan()) {
        names.sort_by(|a, b| number(a).total_cmp(&number(b)));
    }
    let names = names.into_iter().map(|text| Text::from(text.to_owned()));
    Domain::Names(names.collect::<Vec<_>>().into())
}

/// The code of a text; `None` where it is no value of the domain.
pub(crate) fn code(domain: &Domain, text: &str) -> Option<i64> {
    let value = match domain {
        Domain::Names(_) => Value::Name(text.to_owned().into()),
        _ => Value::Int(text.parse().ok()?),
    };
    domain.code(&value)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn codes(texts: &[&str]) -> Vec<Option<i64>> {
        let domain = domain(texts.iter().copied());
        texts.iter().map(|text| code(&domain, text)).collect()
    }

    #[test]
    fn integers_are_their_own_codes_and_everything_else_has_a_position() {
        assert_eq!(codes(&["8", "-2", "8"]), [Some(8), Some(-2), Some(8)]);
        assert_eq!(codes(&["0.5", "0.25", "1"]), [Some(1), Some(0), Some(2)]);
        assert_eq!(codes(&["false", "true"]), [Some(0), Some(1)]);
        assert_eq!(codes(&["b", "1", "a"]), [Some(0), Some(1), Some(2)]);
        assert_eq!(code(&domain(["1", "2"].into_iter()), "3"), None);
        assert_eq!(code(&domain(["1", "a"].into_iter()), "3"), None);
    }
}
