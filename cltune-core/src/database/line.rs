//! The values of a line: `{ name = "map", scalar_size = 4, values = { VW = 4 } }`.

use crate::parameter::{Fraction, Value};

/// A value of a line.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Item {
    /// A number, a text or a boolean.
    Value(Value),
    /// A table.
    Table(Vec<(String, Item)>),
}

/// The rest of a line.
pub(super) struct Line<'a>(&'a str);

/// Tables within tables, at most: no line needs more, and a hostile file has no end of them.
const DEEPEST: usize = 2;

impl<'a> Line<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self(text.trim())
    }

    /// The table that the line is, with a comma after it or without.
    pub(super) fn table(mut self) -> Result<Vec<(String, Item)>, String> {
        let table = self.fields(DEEPEST)?;
        self.take(',');
        self.end()?;
        Ok(table)
    }

    /// The name and the value that the line is.
    pub(super) fn assignment(mut self) -> Result<(String, Item), String> {
        let assigned = self.field(DEEPEST)?;
        self.end()?;
        Ok(assigned)
    }

    /// What follows may be a comment.
    fn end(&mut self) -> Result<(), String> {
        self.skip_blanks();
        if self.0.is_empty() || self.0.starts_with('#') {
            return Ok(());
        }
        Err(format!("`{}` is not expected here", excerpt(self.0)))
    }

    fn skip_blanks(&mut self) {
        self.0 = self.0.trim_start_matches([' ', '\t']);
    }

    fn take(&mut self, wanted: char) -> bool {
        self.skip_blanks();
        let rest = self.0.strip_prefix(wanted);
        self.0 = rest.unwrap_or(self.0);
        rest.is_some()
    }

    fn expect(&mut self, wanted: char) -> Result<(), String> {
        if self.take(wanted) {
            return Ok(());
        }
        let found = if self.0.is_empty() {
            "the end of the line".to_owned()
        } else {
            format!("`{}`", excerpt(self.0))
        };
        Err(format!("`{wanted}` is expected before {found}"))
    }

    fn fields(&mut self, depth: usize) -> Result<Vec<(String, Item)>, String> {
        self.expect('{')?;
        let mut fields: Vec<(String, Item)> = Vec::new();
        if self.take('}') {
            return Ok(fields);
        }
        loop {
            let (name, item) = self.field(depth)?;
            if fields.iter().any(|(known, _)| *known == name) {
                return Err(format!("`{name}` is there twice"));
            }
            fields.push((name, item));
            if !self.take(',') {
                self.expect('}')?;
                return Ok(fields);
            }
        }
    }

    fn field(&mut self, depth: usize) -> Result<(String, Item), String> {
        self.skip_blanks();
        let is_name =
            |character: char| character.is_ascii_alphanumeric() || "_-".contains(character);
        let end = self.0.find(|character| !is_name(character));
        let (name, rest) = self.0.split_at(end.unwrap_or(self.0.len()));
        if name.is_empty() {
            return Err(format!("a name is expected before `{}`", excerpt(self.0)));
        }
        self.0 = rest;
        self.expect('=')?;
        Ok((name.to_owned(), self.item(depth)?))
    }

    fn item(&mut self, depth: usize) -> Result<Item, String> {
        self.skip_blanks();
        if self.0.starts_with('{') {
            let depth = depth.checked_sub(1);
            let depth = depth.ok_or("there are too many tables within tables")?;
            return self.fields(depth).map(Item::Table);
        }
        if let Some(rest) = self.0.strip_prefix('"') {
            self.0 = rest;
            return self
                .text()
                .map(|text| Item::Value(Value::Name(text.into())));
        }
        let is_of_word =
            |character: char| character.is_ascii_alphanumeric() || "+-._".contains(character);
        let end = self.0.find(|character| !is_of_word(character));
        let (word, rest) = self.0.split_at(end.unwrap_or(self.0.len()));
        let fraction = || word.parse().ok().filter(|number: &f64| number.is_finite());
        let value = match word {
            "true" => Value::Bool(true),
            "false" => Value::Bool(false),
            _ => word
                .parse()
                .map(Value::Int)
                .ok()
                .or_else(|| fraction().map(Fraction::of).map(Value::Fraction))
                .ok_or_else(|| format!("`{}` is no value", excerpt(self.0)))?,
        };
        self.0 = rest;
        Ok(Item::Value(value))
    }

    /// A text after its first quotation mark.
    fn text(&mut self) -> Result<String, String> {
        let mut text = String::new();
        let mut rest = self.0.chars();
        loop {
            match rest.next() {
                None => return Err("a text has no end".into()),
                Some('"') => break,
                Some('\\') => {
                    let escaped = escaped(&mut rest);
                    text.push(escaped.ok_or("there is no such escape in a text")?);
                }
                Some(other) => text.push(other),
            }
        }
        self.0 = rest.as_str();
        Ok(text)
    }
}

/// The character that an escape stands for: those that the writer uses.
fn escaped(rest: &mut std::str::Chars<'_>) -> Option<char> {
    Some(match rest.next()? {
        '"' => '"',
        '\\' => '\\',
        'n' => '\n',
        'r' => '\r',
        't' => '\t',
        'u' => {
            let digits: String = rest.by_ref().take(4).collect();
            char::from_u32(u32::from_str_radix(&digits, 16).ok()?)?
        }
        _ => return None,
    })
}

/// What people recognise the place by.
fn excerpt(text: &str) -> String {
    text.chars().take(20).collect()
}
