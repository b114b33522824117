//! Typed access to the tables of a record's text, with their paths in the errors.

use super::RecordProblem;
use crate::formula::{Scope, Type};
use cltune_core::Text;
use cltune_core::expr::Formula;
use cltune_core::model::{ElementType, StructType};
use toml::de::{DeTable, DeValue};

/// One table.
pub(super) struct Fields<'a> {
    table: &'a DeTable<'a>,
    /// `argument[2]`, or nothing for the document.
    path: String,
    /// The structs that elements may be.
    structs: &'a [&'static StructType],
}

type Result<T> = std::result::Result<T, RecordProblem>;

impl<'a> Fields<'a> {
    pub(super) fn of_document(table: &'a DeTable<'a>, structs: &'a [&'static StructType]) -> Self {
        Self {
            table,
            path: String::new(),
            structs,
        }
    }

    /// The type of an element with this name.
    pub(super) fn element_type(&self, key: &str, name: &str) -> Result<ElementType> {
        let mut structs = self.structs.iter();
        ElementType::from_rust_name(name)
            .or_else(|| Some(ElementType::Struct(structs.find(|ty| ty.name == name)?)))
            .ok_or_else(|| self.damaged(key, format!("{name:?} is not an element's type")))
    }

    /// The error for a key's value.
    pub(super) fn damaged(&self, key: &str, message: impl Into<String>) -> RecordProblem {
        RecordProblem::Damaged {
            at: self.path_of(key),
            message: message.into(),
        }
    }

    fn path_of(&self, key: &str) -> String {
        if self.path.is_empty() {
            key.to_owned()
        } else {
            format!("{}.{key}", self.path)
        }
    }

    fn optional(&self, key: &str) -> Option<&'a DeValue<'a>> {
        self.table.get(key).map(toml::Spanned::get_ref)
    }

    fn required<T>(&self, key: &str, value: Option<T>) -> Result<T> {
        value.ok_or_else(|| self.damaged(key, "it is missing"))
    }

    pub(super) fn optional_text(&self, key: &str) -> Result<Option<&'a str>> {
        let Some(value) = self.optional(key) else {
            return Ok(None);
        };
        value
            .as_str()
            .map(Some)
            .ok_or_else(|| self.damaged(key, "a string is expected"))
    }

    pub(super) fn text(&self, key: &str) -> Result<&'a str> {
        self.required(key, self.optional_text(key)?)
    }

    pub(super) fn owned(&self, key: &str) -> Result<String> {
        self.text(key).map(str::to_owned)
    }

    /// A name that people are shown. No compiler gives it control characters, which a terminal
    /// would obey.
    pub(super) fn printable(&self, key: &str, name: &str) -> Result<Text> {
        if name.contains(char::is_control) {
            return Err(self.damaged(key, format!("{name:?} has control characters")));
        }
        Ok(Text::Owned(name.to_owned()))
    }

    pub(super) fn float(&self, key: &str) -> Result<f64> {
        self.required(key, self.optional_float(key)?)
    }

    pub(super) fn optional_float(&self, key: &str) -> Result<Option<f64>> {
        let Some(value) = self.optional(key) else {
            return Ok(None);
        };
        float(value)
            .map(Some)
            .ok_or_else(|| self.damaged(key, "a number is expected"))
    }

    /// An array, each item read by `item`; `None` when the key is absent.
    fn optional_array<T>(
        &self,
        key: &str,
        expected: &str,
        item: impl Fn(&'a DeValue<'a>) -> Option<T>,
    ) -> Result<Option<Vec<T>>> {
        let Some(value) = self.optional(key) else {
            return Ok(None);
        };
        value
            .as_array()
            .and_then(|items| items.iter().map(|value| item(value.get_ref())).collect())
            .map(Some)
            .ok_or_else(|| self.damaged(key, expected))
    }

    pub(super) fn texts(&self, key: &str) -> Result<Vec<&'a str>> {
        self.required(key, self.optional_texts(key)?)
    }

    pub(super) fn optional_texts(&self, key: &str) -> Result<Option<Vec<&'a str>>> {
        self.optional_array(key, "a list of strings is expected", DeValue::as_str)
    }

    /// A text alone, or a list of texts.
    pub(super) fn text_or_texts(
        &self,
        key: &str,
    ) -> Result<std::result::Result<&'a str, Vec<&'a str>>> {
        match self.optional(key).and_then(DeValue::as_str) {
            Some(text) => Ok(Ok(text)),
            None => self.texts(key).map(Err),
        }
    }

    pub(super) fn integer(&self, key: &str) -> Result<i64> {
        let value = self.required(key, self.optional(key))?;
        int(value).ok_or_else(|| self.damaged(key, "an integer is expected"))
    }

    pub(super) fn optional_ints(&self, key: &str) -> Result<Option<Vec<i64>>> {
        self.optional_array(key, "a list of integers is expected", int)
    }

    pub(super) fn optional_floats(&self, key: &str) -> Result<Option<Vec<f64>>> {
        self.optional_array(key, "a list of numbers is expected", float)
    }

    pub(super) fn optional_booleans(&self, key: &str) -> Result<Option<Vec<bool>>> {
        self.optional_array(key, "a list of booleans is expected", DeValue::as_bool)
    }

    pub(super) fn lists_of_ints(&self, key: &str) -> Result<Vec<Vec<i64>>> {
        let ints = |value: &'a DeValue<'a>| {
            value
                .as_array()
                .and_then(|items| items.iter().map(|item| int(item.get_ref())).collect())
        };
        let lists = self.optional_array(key, "a list of lists of integers is expected", ints)?;
        self.required(key, lists)
    }

    pub(super) fn formulas(
        &self,
        key: &str,
        scope: &Scope<'_>,
        expected: Type,
    ) -> Result<Vec<Formula>> {
        self.texts(key)?
            .into_iter()
            .map(|text| self.parsed(key, text, scope, expected))
            .collect()
    }

    pub(super) fn formula(&self, key: &str, scope: &Scope<'_>) -> Result<Formula> {
        self.required(key, self.optional_formula(key, scope)?)
    }

    pub(super) fn optional_formula(&self, key: &str, scope: &Scope<'_>) -> Result<Option<Formula>> {
        let text = self.optional_text(key)?;
        text.map(|text| self.parsed(key, text, scope, Type::Int))
            .transpose()
    }

    pub(super) fn condition(&self, key: &str, scope: &Scope<'_>) -> Result<Formula> {
        self.required(key, self.optional_condition(key, scope)?)
    }

    pub(super) fn optional_condition(
        &self,
        key: &str,
        scope: &Scope<'_>,
    ) -> Result<Option<Formula>> {
        let text = self.optional_text(key)?;
        text.map(|text| self.parsed(key, text, scope, Type::Bool))
            .transpose()
    }

    pub(super) fn parsed(
        &self,
        key: &str,
        text: &str,
        scope: &Scope<'_>,
        expected: Type,
    ) -> Result<Formula> {
        crate::formula::parse(text, scope, expected)
            .map_err(|error| self.damaged(key, format!("in the formula `{text}`, {error}")))
    }

    /// A table; `None` when the key is absent.
    pub(super) fn optional_table(&self, key: &str) -> Result<Option<Self>> {
        let Some(value) = self.optional(key) else {
            return Ok(None);
        };
        let table = value
            .as_table()
            .ok_or_else(|| self.damaged(key, "a table is expected"))?;
        Ok(Some(Self {
            table,
            path: self.path_of(key),
            structs: self.structs,
        }))
    }

    /// An array of texts, some of which may be tables that say more.
    pub(super) fn texts_or_tables(
        &self,
        key: &str,
    ) -> Result<Vec<std::result::Result<&'a str, Self>>> {
        let expected = "a list of strings and tables is expected";
        let item = |value: &'a DeValue<'a>| match value.as_table() {
            Some(table) => Some(Err(table)),
            None => value.as_str().map(Ok),
        };
        let items = self.required(key, self.optional_array(key, expected, item)?)?;
        let with_path = |(position, item): (usize, std::result::Result<_, _>)| {
            item.map_err(|table| Self {
                table,
                path: format!("{}[{position}]", self.path_of(key)),
                structs: self.structs,
            })
        };
        Ok(items.into_iter().enumerate().map(with_path).collect())
    }

    /// The tables of an array of tables; none when the key is absent.
    pub(super) fn tables(&self, key: &str) -> Result<Vec<Self>> {
        let tables = self.optional_array(key, "a list of tables is expected", DeValue::as_table)?;
        let with_path = |(position, table)| Self {
            table,
            path: format!("{}[{position}]", self.path_of(key)),
            structs: self.structs,
        };
        Ok(tables
            .unwrap_or_default()
            .into_iter()
            .enumerate()
            .map(with_path)
            .collect())
    }
}

fn float(value: &DeValue<'_>) -> Option<f64> {
    value.as_float()?.as_str().parse().ok()
}

fn int(value: &DeValue<'_>) -> Option<i64> {
    let number = value.as_integer()?;
    i64::from_str_radix(number.as_str(), number.radix()).ok()
}
