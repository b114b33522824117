//! Tokens as text: comments of the generated source, and lengths to be told apart. Names and
//! attributes in tokens.

use proc_macro2::{Delimiter, Group, Ident, TokenStream, TokenTree};

/// Tokens as text, the same whatever the compiler's version is and however they were formatted: the
/// text becomes part of the source, which the fingerprint counts.
pub(super) fn tidy(tokens: TokenStream) -> String {
    let mut text = String::new();
    let mut before = Before::Nothing;
    for token in tokens {
        before = match token {
            TokenTree::Group(group) => {
                let (open, close) = match group.delimiter() {
                    Delimiter::Parenthesis => ("(", ")"),
                    Delimiter::Brace => ("{ ", " }"),
                    Delimiter::Bracket => ("[", "]"),
                    Delimiter::None => ("", ""),
                };
                let is_call = group.delimiter() == Delimiter::Parenthesis
                    && text.ends_with(|c: char| c.is_alphanumeric() || c == '_');
                if !is_call {
                    before.separate(&mut text);
                }
                text.push_str(open);
                text.push_str(&tidy(group.stream()));
                text.push_str(close);
                Before::Value
            }
            TokenTree::Punct(punct) => before.punctuation(punct.as_char(), &mut text),
            other => {
                before.separate(&mut text);
                text.push_str(&other.to_string());
                Before::Value
            }
        };
    }
    text
}

/// The last token of a text.
#[derive(Clone, Copy)]
enum Before {
    Nothing,
    Value,
    /// A character of an operator, which a second one may complete.
    Operator(char),
    /// An operator of two characters, or a comma.
    Complete,
    /// An operator before its only operand.
    Prefix,
}

impl Before {
    fn separate(self, text: &mut String) {
        if !matches!(self, Self::Nothing | Self::Prefix) {
            text.push(' ');
        }
    }

    fn punctuation(self, next: char, text: &mut String) -> Self {
        const PAIRS: [&str; 12] = [
            "==", "!=", "<=", ">=", "&&", "||", "<<", ">>", "+=", "-=", "*=", "/=",
        ];
        if let Self::Operator(first) = self
            && PAIRS.contains(&format!("{first}{next}").as_str())
        {
            text.push(next);
            return Self::Complete;
        }
        if next == '.' {
            // Of a method.
            text.push(next);
            return Self::Prefix;
        }
        if matches!(next, ',' | ';') {
            text.push(next);
            return Self::Complete;
        }
        // `!` after a value begins `!=`.
        let is_prefix = matches!(next, '-' | '!') && !matches!(self, Self::Value);
        self.separate(text);
        text.push(next);
        if is_prefix {
            Self::Prefix
        } else {
            Self::Operator(next)
        }
    }
}

/// The first attribute in tokens, documentation aside.
pub(super) fn attribute(tokens: TokenStream) -> Option<TokenStream> {
    let is_documentation =
        |group: &Group| names(group.stream()).first().is_some_and(|it| it == "doc");
    let mut tokens = tokens.into_iter().peekable();
    while let Some(token) = tokens.next() {
        match (&token, tokens.peek()) {
            (TokenTree::Punct(punct), Some(next @ TokenTree::Group(group)))
                if punct.as_char() == '#' && !is_documentation(group) =>
            {
                return Some([token, next.clone()].into_iter().collect());
            }
            (TokenTree::Group(group), _) => {
                let found = attribute(group.stream());
                if found.is_some() {
                    return found;
                }
            }
            _ => {}
        }
    }
    None
}

/// The names in tokens.
pub(super) fn names(tokens: TokenStream) -> Vec<Ident> {
    let mut found = Vec::new();
    for token in tokens {
        match token {
            TokenTree::Ident(name) => found.push(name),
            TokenTree::Group(group) => found.extend(names(group.stream())),
            _ => {}
        }
    }
    found
}
