//! A bound on what the parser is given, so that deeply nested input is an error and not an
//! overflow of the stack of the compiler's process.
//!
//! Bracket depth, runs of prefix operators, chained assignments and closures each make a
//! recursive-descent parser recurse once per token; a bound on the tokens between commas limits the
//! depth of the tree that a chain of binary operators makes.

use super::scope::ParseError;
use proc_macro2::{Spacing, TokenStream, TokenTree};

/// The most brackets within brackets.
const MAX_DEPTH: usize = 32;
/// The longest run of operators without an operand, or of words without an operator.
const MAX_RUN: usize = 48;
/// The most `=` and `|` that are no part of a longer operator: assignments and closures.
const MAX_BARS: usize = 48;
/// The most tokens between commas.
const MAX_TOKENS: usize = 1024;

/// Refuses tokens that nest so deeply, or are so many between commas, that parsing them as an
/// expression could exhaust the stack.
///
/// # Errors
/// At the token that is too deep or one too many.
pub fn check_nesting(tokens: TokenStream) -> Result<(), ParseError> {
    let mut open = vec![tokens.into_iter()];
    let mut expression = Expression::default();
    while let Some(innermost) = open.last_mut() {
        let Some(token) = innermost.next() else {
            open.pop();
            continue;
        };
        let span = token.span();
        let mut violation = expression.count(&token);
        if let TokenTree::Group(group) = token {
            open.push(group.stream().into_iter());
            if open.len() > MAX_DEPTH {
                violation = Some(("nested too deeply", MAX_DEPTH, "levels of brackets"));
            }
        }
        if let Some((complaint, limit, unit)) = violation {
            let message = format!("this expression is {complaint}: at most {limit} {unit}");
            return Err(ParseError::new(span, message));
        }
    }
    Ok(())
}

/// What was seen since the last comma.
#[derive(Default)]
struct Expression {
    tokens: usize,
    operators: usize,
    words: usize,
    bars: usize,
    joint: bool,
}

impl Expression {
    fn count(&mut self, token: &TokenTree) -> Option<(&'static str, usize, &'static str)> {
        self.tokens += 1;
        match token {
            TokenTree::Punct(punct) if punct.as_char() == ',' => *self = Self::default(),
            TokenTree::Punct(punct) => {
                let alone = punct.spacing() == Spacing::Alone && !self.joint;
                self.bars += usize::from(matches!(punct.as_char(), '=' | '|') && alone);
                self.operators += 1;
                self.words = 0;
            }
            TokenTree::Ident(_) => {
                self.words += 1;
                self.operators = 0;
            }
            TokenTree::Group(_) | TokenTree::Literal(_) => {
                self.words = 0;
                self.operators = 0;
            }
        }
        self.joint = matches!(token, TokenTree::Punct(punct) if punct.spacing() == Spacing::Joint);
        if self.tokens > MAX_TOKENS {
            Some(("too long", MAX_TOKENS, "tokens"))
        } else if self.operators > MAX_RUN || self.words > MAX_RUN {
            Some(("nested too deeply", MAX_RUN, "operators in a row"))
        } else if self.bars > MAX_BARS {
            Some(("nested too deeply", MAX_BARS, "`=` and `|`"))
        } else {
            None
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn message(text: &str) -> Option<String> {
        check_nesting(text.parse().expect("tokens"))
            .err()
            .map(|error| error.message)
    }

    #[test]
    fn ordinary_input_passes() {
        let list = (0..100_000)
            .map(|i| i.to_string())
            .collect::<Vec<_>>()
            .join(", ");
        assert_eq!(message(&format!("params(A = [{list}])")), None);
        assert_eq!(message(&vec!["A == 1"; 128].join(" || ")), None);
        assert_eq!(message("max(1, max(2, max(3, ((4 + 5)))))"), None);
    }

    #[test]
    fn what_would_recurse_too_deeply_is_refused() {
        let brackets = format!("{}1{}", "(".repeat(100), ")".repeat(100));
        assert!(message(&brackets).is_some_and(|m| m.contains("levels of brackets")));
        assert!(message(&"-".repeat(100)).is_some_and(|m| m.contains("in a row")));
        assert!(message(&"return ".repeat(100)).is_some_and(|m| m.contains("in a row")));
        assert!(message(&"a = ".repeat(100)).is_some_and(|m| m.contains("`=` and `|`")));
        assert!(message(&"|a| ".repeat(100)).is_some_and(|m| m.contains("`=` and `|`")));
        assert!(message(&vec!["1"; 1000].join(" + ")).is_some_and(|m| m.contains("tokens")));
    }
}
