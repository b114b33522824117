//! The neutral JSON format of a search space's definition.

use cltune_core::parameter::{Domain, is_c_identifier};
use cltune_search::c_syntax::condition;
use cltune_search::space::{SpaceConstraint, SpaceParameter, SpaceSpec};
use serde::{Deserialize, Deserializer};
use serde_json::value::RawValue;
use std::collections::HashSet;

/// So many parameters can conditions name.
const MOST_PARAMETERS: usize = 1 << 16;
/// So many values may all parameters have together, which take half a gigabyte.
const MOST_VALUES: usize = 1 << 26;

/// A definition that was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Definition {
    /// The space's name.
    pub(super) name: String,
    /// The parameters and constraints of the space.
    pub(super) spec: SpaceSpec,
    /// How many configurations the author counted with and without constraints.
    pub(super) stated: Stated,
}

/// Counts that a definition states.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Stated {
    pub(super) cartesian: Option<u128>,
    pub(super) valid: Option<u128>,
}

/// A mistake in a definition, and its place.
#[derive(Debug, thiserror::Error)]
pub(super) enum DefinitionError {
    /// There is nothing in it.
    #[error("it is empty, and no definition; `cargo cltune help space` says what one has")]
    Empty,
    /// Not JSON, or a key that is missing or of another type; says the line and column.
    #[error("{0}; `cargo cltune help space` says what a definition has")]
    Json(#[from] serde_json::Error),
    /// More than conditions can name.
    #[error("there are {0} parameters, and at most {MOST_PARAMETERS} are read")]
    TooManyParameters(usize),
    /// A parameter's values.
    #[error("parameter `{name}`: {what}")]
    Parameter { name: String, what: String },
    /// A restriction's text.
    #[error(
        "restriction {number}, column {column}: {message}\n  {text}\n  {:>column$}",
        "^"
    )]
    Restriction {
        number: usize,
        column: usize,
        message: String,
        text: String,
    },
    /// Restrictions in Python syntax only.
    #[error("there are `restrictions` but no `restrictions_c`; only those in C syntax are read")]
    OnlyPython,
}

#[derive(Deserialize)]
#[serde(expecting = "an object with `name`, `parameters` and `restrictions_c`")]
struct File {
    name: String,
    parameters: Vec<FileParameter>,
    restrictions: Option<Vec<String>>,
    restrictions_c: Option<Vec<String>>,
    #[serde(default, deserialize_with = "saturating")]
    cartesian_size: Option<u128>,
    #[serde(default, deserialize_with = "saturating")]
    valid_count: Option<u128>,
}

/// A whole number; one beyond 128 bits is the largest of these, as the counts of spaces are.
fn saturating<'de, D: Deserializer<'de>>(deserializer: D) -> Result<Option<u128>, D::Error> {
    let Some(number) = Option::<&RawValue>::deserialize(deserializer)? else {
        return Ok(None);
    };
    let text = number.get();
    if text.is_empty() || !text.bytes().all(|byte| byte.is_ascii_digit()) {
        let found = format!("expected a whole number, found {text}");
        return Err(serde::de::Error::custom(found));
    }
    Ok(Some(text.parse().unwrap_or(u128::MAX)))
}

#[derive(Deserialize)]
struct FileParameter {
    name: String,
    values: Option<Vec<i64>>,
    range: Option<[i64; 3]>,
}

/// Reads a definition.
pub(super) fn read(text: &str) -> Result<Definition, DefinitionError> {
    if text.trim().is_empty() {
        return Err(DefinitionError::Empty);
    }
    let file: File = serde_json::from_str(text)?;
    if file.parameters.len() > MOST_PARAMETERS {
        return Err(DefinitionError::TooManyParameters(file.parameters.len()));
    }
    let (mut names, mut values_in_all) = (HashSet::new(), 0);
    let mut parameters = Vec::with_capacity(file.parameters.len());
    for parameter in &file.parameters {
        let wrong = |what: String| DefinitionError::Parameter {
            name: parameter.name.clone(),
            what,
        };
        if !names.insert(&*parameter.name) {
            return Err(wrong("this name occurs twice".into()));
        }
        if !is_c_identifier(&parameter.name) {
            return Err(wrong("a name has letters, digits and `_` only".into()));
        }
        let codes = values(parameter).map_err(wrong)?;
        values_in_all += codes.len();
        if values_in_all > MOST_VALUES {
            return Err(wrong(format!(
                "with it, there are more than {MOST_VALUES} values of parameters"
            )));
        }
        parameters.push(SpaceParameter::listed(parameter.name.clone(), codes));
    }
    let texts = match (file.restrictions_c, file.restrictions) {
        (Some(texts), _) => texts,
        (None, Some(python)) if !python.is_empty() => return Err(DefinitionError::OnlyPython),
        (None, _) => Vec::new(),
    };
    let names = file.parameters.iter().map(|p| &*p.name).collect();
    let constraints =
        texts
            .into_iter()
            .enumerate()
            .map(|(index, text)| match condition(&text, &names) {
                Ok(program) => Ok(SpaceConstraint {
                    label: text.into(),
                    program,
                }),
                Err(error) => Err(DefinitionError::Restriction {
                    number: index + 1,
                    column: error.column,
                    message: error.message,
                    text,
                }),
            });
    Ok(Definition {
        name: file.name,
        spec: SpaceSpec {
            constraints: constraints.collect::<Result<_, _>>()?,
            parameters,
        },
        stated: Stated {
            cartesian: file.cartesian_size,
            valid: file.valid_count,
        },
    })
}

fn values(parameter: &FileParameter) -> Result<Vec<i64>, String> {
    let values = match (&parameter.values, parameter.range) {
        (Some(values), None) => values,
        // Without a set of what occurred: a range has no value twice and may have millions.
        (None, Some([first, last, step])) => return range(first, last, step),
        (None, None) => return Err("it has neither `values` nor a `range`".into()),
        (Some(_), Some(_)) => return Err("it has both `values` and a `range`".into()),
    };
    let mut seen = HashSet::with_capacity(values.len());
    match values.iter().find(|value| !seen.insert(**value)) {
        Some(twice) => Err(format!("the value {twice} occurs twice")),
        None => Ok(values.clone()),
    }
}

/// `first`, `first + step`, … up to `last`.
fn range(first: i64, last: i64, step: i64) -> Result<Vec<i64>, String> {
    if step == 0 {
        return Err("the step of a range must not be 0".into());
    }
    let (first, last, step) = (i128::from(first), i128::from(last), i128::from(step));
    if (last - first).signum() == -step.signum() {
        return Ok(Vec::new());
    }
    let steps = (last - first) / step;
    if steps >= Domain::MAX_LEN as i128 {
        let (values, most) = (steps + 1, Domain::MAX_LEN);
        return Err(format!("the range has {values} values, more than {most}"));
    }
    Ok((0..=steps)
        .map(|index| (first + index * step) as i64)
        .collect())
}

#[cfg(test)]
#[path = "../../../tests/unit/space_definition.rs"]
mod tests;
