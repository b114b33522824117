//! Typed access to the tables of a TOML document, with lines in the errors.

use super::error::{LockfileError, Problem};
use cltune_core::parameter::{Fraction, Value};
use std::ops::Range;
use toml::Spanned;
use toml::de::{DeTable, DeValue};

/// The text of a document, for turning positions into lines.
#[derive(Clone, Copy)]
pub(super) struct Document<'a> {
    text: &'a str,
}

impl<'a> Document<'a> {
    pub(super) const fn new(text: &'a str) -> Self {
        Self { text }
    }

    /// The line of a position, counted from 1.
    pub(super) fn line(self, position: usize) -> usize {
        let end = position.min(self.text.len());
        // Positions come from the parser, at character boundaries.
        self.text
            .get(..end)
            .map_or(1, |before| before.matches('\n').count() + 1)
    }
}

/// One table of a document.
#[derive(Clone, Copy)]
pub(super) struct Fields<'a> {
    document: Document<'a>,
    table: &'a DeTable<'a>,
    /// What a user calls the table in errors.
    what: &'static str,
    span_start: usize,
}

/// A value with its key and position.
#[derive(Clone, Copy)]
pub(super) struct Field<'a> {
    document: Document<'a>,
    key: &'a str,
    value: &'a DeValue<'a>,
    position: usize,
}

impl<'a> Fields<'a> {
    pub(super) fn of_document(document: Document<'a>, table: &'a DeTable<'a>) -> Self {
        Self {
            document,
            table,
            what: "the file",
            span_start: 0,
        }
    }

    /// The line of the table's header.
    pub(super) fn line(&self) -> usize {
        self.document.line(self.span_start)
    }

    /// The value of a key that must be there.
    pub(super) fn required(&self, key: &'static str) -> Result<Field<'a>, LockfileError> {
        self.optional(key).ok_or_else(|| {
            Problem::MissingKey {
                table: self.what,
                key,
            }
            .at(self.line())
        })
    }

    /// The value of a key.
    pub(super) fn optional(&self, key: &'static str) -> Option<Field<'a>> {
        let (key, value) = self.table.get_key_value(key)?;
        Some(Field::new(self.document, key.get_ref(), value))
    }

    /// Refuses keys that are not in `known`.
    pub(super) fn only(&self, known: &[&str]) -> Result<(), LockfileError> {
        let unknown = self
            .table
            .iter()
            .filter(|(key, _)| !known.contains(&key.get_ref().as_ref()))
            .min_by_key(|(key, _)| key.span().start);
        match unknown {
            None => Ok(()),
            Some((key, _)) => {
                let key_text = key.get_ref().to_string();
                let problem = Problem::UnknownKey {
                    table: self.what,
                    key: key_text,
                };
                Err(problem.at(self.document.line(key.span().start)))
            }
        }
    }

    /// The tables of an array of tables; none when the key is absent.
    pub(super) fn tables(
        &self,
        key: &'static str,
        what: &'static str,
    ) -> Result<Vec<Self>, LockfileError> {
        let Some(field) = self.optional(key) else {
            return Ok(Vec::new());
        };
        let expected = "an array of tables";
        let items = field
            .value
            .as_array()
            .ok_or_else(|| field.wrong_type(expected))?;
        items
            .iter()
            .map(|item| {
                let Range { start, .. } = item.span();
                let table = item.get_ref().as_table();
                let table = table.ok_or_else(|| field.wrong_type(expected))?;
                Ok(Self {
                    document: self.document,
                    table,
                    what,
                    span_start: start,
                })
            })
            .collect()
    }
}

impl<'a> Field<'a> {
    fn new(document: Document<'a>, key: &'a str, value: &'a Spanned<DeValue<'a>>) -> Self {
        Self {
            document,
            key,
            value: value.get_ref(),
            position: value.span().start,
        }
    }

    /// The line of the value.
    pub(super) fn line(&self) -> usize {
        self.document.line(self.position)
    }

    /// The error for a value that is not what it must be.
    pub(super) fn wrong_type(&self, expected: &'static str) -> LockfileError {
        let found = match self.value {
            DeValue::Integer(number) => number.to_string(),
            DeValue::Float(number) => number.to_string(),
            DeValue::Boolean(value) => value.to_string(),
            DeValue::String(text) => format!("the text {text:?}"),
            DeValue::Datetime(_) => "a date".to_owned(),
            DeValue::Array(_) => "an array".to_owned(),
            DeValue::Table(_) => "a table".to_owned(),
        };
        Problem::WrongType {
            key: self.key.to_owned(),
            expected,
            found,
        }
        .at(self.line())
    }

    /// A text.
    pub(super) fn string(&self) -> Result<String, LockfileError> {
        let text = self
            .value
            .as_str()
            .ok_or_else(|| self.wrong_type("a string"))?;
        Ok(text.to_owned())
    }

    /// An integer of either sign.
    pub(super) fn int(&self) -> Result<i64, LockfileError> {
        self.value
            .as_integer()
            .and_then(|number| i64::from_str_radix(number.as_str(), number.radix()).ok())
            .ok_or_else(|| self.wrong_type("an integer of 64 bits"))
    }

    /// A count or a size.
    pub(super) fn count<T: TryFrom<u128>>(&self) -> Result<T, LockfileError> {
        self.value
            .as_integer()
            .and_then(|number| u128::from_str_radix(number.as_str(), number.radix()).ok())
            .and_then(|number| T::try_from(number).ok())
            .ok_or_else(|| self.wrong_type("an integer that is not negative and not too large"))
    }

    /// A time in microseconds, or an energy in joules.
    pub(super) fn quantity(&self, key: &'static str) -> Result<f64, LockfileError> {
        let text = match self.value {
            DeValue::Float(number) => number.as_str(),
            DeValue::Integer(number) if number.radix() == 10 => number.as_str(),
            _ => return Err(self.wrong_type("a number")),
        };
        text.parse::<f64>()
            .ok()
            .filter(|number| number.is_finite() && number.is_sign_positive())
            .ok_or_else(|| {
                Problem::BadQuantity {
                    key,
                    found: text.to_owned(),
                }
                .at(self.line())
            })
    }

    /// The items of an array.
    pub(super) fn items(&self) -> Result<impl Iterator<Item = Field<'a>>, LockfileError> {
        let items = self
            .value
            .as_array()
            .ok_or_else(|| self.wrong_type("an array"))?;
        let (document, key) = (self.document, self.key);
        Ok(items
            .iter()
            .map(move |item| Field::new(document, key, item)))
    }

    /// The entries of an inline table in the order of the text.
    pub(super) fn entries(&self) -> Result<Vec<(String, Field<'a>)>, LockfileError> {
        let table = self
            .value
            .as_table()
            .ok_or_else(|| self.wrong_type("a table"))?;
        let mut entries: Vec<_> = table.iter().collect();
        // The parser sorts tables by key; a problem's dimensions keep the declaration's order.
        entries.sort_by_key(|(key, _)| key.span().start);
        Ok(entries
            .into_iter()
            .map(|(key, value)| {
                (
                    key.get_ref().to_string(),
                    Field::new(self.document, key.get_ref(), value),
                )
            })
            .collect())
    }

    /// A value of a parameter.
    pub(super) fn parameter_value(&self) -> Result<Value, LockfileError> {
        match self.value {
            DeValue::Integer(_) => self.int().map(Value::Int),
            DeValue::Boolean(value) => Ok(Value::Bool(*value)),
            DeValue::Float(number) => number
                .as_str()
                .parse()
                .ok()
                .filter(|number: &f64| number.is_finite())
                .map(|number| Value::Fraction(Fraction::of(number)))
                .ok_or_else(|| self.wrong_type("finite numbers")),
            DeValue::String(text) => Ok(Value::Name(text.to_string().into())),
            _ => Err(self.wrong_type("numbers, booleans and strings")),
        }
    }
}
