//! The lines of a source file and the preprocessor directives among them.
//!
//! C's translation phases (C99 5.1.1.2) as far as they decide what is a directive: lines that end
//! in a backslash are joined, comments are white space, and quotes are respected.

/// What a line means to the flattening of a source.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Directive {
    /// `#include "path"`.
    Include(String),
    /// `#include NAME`: the path is a macro's.
    MacroInclude(String),
    /// `#pragma once`.
    PragmaOnce,
    /// `#if`, `#ifdef`, `#ifndef`.
    If,
    /// `#endif`.
    EndIf,
    /// Any other directive, and text.
    None,
}

/// A line, with those that a backslash joins to it.
#[derive(Clone, Debug)]
pub(super) struct Line<'a> {
    /// The number of its first physical line, from 1.
    pub(super) number: usize,
    /// Its physical lines, without line ends.
    pub(super) text: Vec<&'a str>,
    pub(super) directive: Directive,
    /// Whether it starts inside a block comment.
    pub(super) starts_in_comment: bool,
    /// Whether it ends inside a block comment.
    pub(super) ends_in_comment: bool,
}

/// The logical lines of a text. Line ends may be `\n` or `\r\n`; a byte order mark is skipped.
pub(super) fn lines(text: &str) -> impl Iterator<Item = Line<'_>> {
    let mut physical = text.strip_prefix('\u{feff}').unwrap_or(text).lines();
    let mut number = 1;
    let mut in_comment = false;
    std::iter::from_fn(move || {
        let first = number;
        let mut text = vec![physical.next()?];
        while text[text.len() - 1].ends_with('\\') {
            match physical.next() {
                Some(next) => text.push(next),
                None => break,
            }
        }
        number += text.len();
        let starts_in_comment = in_comment;
        let joined: String = text
            .iter()
            .map(|line| line.strip_suffix('\\').unwrap_or(line))
            .collect();
        let code = without_comments(&joined, &mut in_comment);
        Some(Line {
            number: first,
            text,
            directive: directive(&code),
            starts_in_comment,
            ends_in_comment: in_comment,
        })
    })
}

/// The line with each comment replaced by a space.
fn without_comments(line: &str, in_comment: &mut bool) -> String {
    let mut code = String::with_capacity(line.len());
    let mut quote = None;
    let mut rest = line.chars().peekable();
    while let Some(c) = rest.next() {
        let next = rest.peek().copied();
        if *in_comment {
            if (c, next) == ('*', Some('/')) {
                rest.next();
                *in_comment = false;
            }
        } else if let Some(open) = quote {
            code.push(c);
            if c == '\\' {
                code.extend(rest.next());
            } else if c == open {
                quote = None;
            }
        } else if (c, next) == ('/', Some('/')) {
            break;
        } else if (c, next) == ('/', Some('*')) {
            rest.next();
            *in_comment = true;
            code.push(' ');
        } else {
            if c == '"' || c == '\'' {
                quote = Some(c);
            }
            code.push(c);
        }
    }
    code
}

fn directive(code: &str) -> Directive {
    let Some(rest) = code.trim_start().strip_prefix('#') else {
        return Directive::None;
    };
    let rest = rest.trim();
    let word_end = rest
        .find(|c: char| !c.is_ascii_alphanumeric() && c != '_')
        .unwrap_or(rest.len());
    let (word, argument) = rest.split_at(word_end);
    let argument = argument.trim();
    match word {
        "include" => include(argument),
        "pragma" if argument == "once" => Directive::PragmaOnce,
        "if" | "ifdef" | "ifndef" => Directive::If,
        "endif" => Directive::EndIf,
        _ => Directive::None,
    }
}

/// What an `#include` means by its argument. What is no argument is left for the compiler to
/// complain of.
fn include(argument: &str) -> Directive {
    let quoted = argument.strip_prefix('"');
    match quoted.and_then(|path| path.split_once('"')) {
        Some((path, _)) => Directive::Include(path.to_owned()),
        None if argument.starts_with(|c: char| c.is_alphabetic() || c == '_') => {
            Directive::MacroInclude(argument.to_owned())
        }
        None => Directive::None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn directives(text: &str) -> Vec<(usize, Directive)> {
        lines(text)
            .filter(|line| line.directive != Directive::None)
            .map(|line| (line.number, line.directive))
            .collect()
    }

    #[test]
    fn directives_are_found_where_the_preprocessor_finds_them() {
        let include = |path: &str| Directive::Include(path.into());
        let text = "\u{feff}#include \"a.h\"\r\n\
                    \x20 # include/* */\"b//c.h\" // and why\n\
                    /* c */ #include \"d.h\"\n\
                    #inc\\\nlude \"e.h\"\n\
                    #pragma once\n\
                    #ifdef X\n#if 1\n#endif\n";
        let expected = [
            (1, include("a.h")),
            (2, include("b//c.h")),
            (3, include("d.h")),
            (4, include("e.h")),
            (6, Directive::PragmaOnce),
            (7, Directive::If),
            (8, Directive::If),
            (9, Directive::EndIf),
        ];
        assert_eq!(directives(text), expected);
        let named = |name: &str| Directive::MacroInclude(name.into());
        let text = "#include HDR\n# include/**/_HDR // and why\n#include F(x, \"y.h\")\n#include\n#include 3";
        let expected = [
            (1, named("HDR")),
            (2, named("_HDR")),
            (3, named("F(x, \"y.h\")")),
        ];
        assert_eq!(directives(text), expected);
    }

    #[test]
    fn what_only_looks_like_a_directive_is_none() {
        let text = "/*\n#include \"a.h\"\n*/\n\
                    // \\\n#include \"b.h\"\n\
                    x #include \"c.h\"\n\
                    #include <d.h>\n\
                    #define F \"/*\"\n\
                    #include_next \"e.h\"\n\
                    #pragma unroll\n\
                    '\"' /* \n#include \"f.h\"\n*/";
        assert_eq!(directives(text), []);
        assert_eq!(
            directives("#define F '\"' /*\"*/\n#pragma once"),
            [(2, Directive::PragmaOnce)]
        );
    }
}
