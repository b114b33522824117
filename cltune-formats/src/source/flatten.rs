//! Replacing includes by what they include.

use super::lines::{Directive, Line, lines};
use super::{IncludedFrom, SourceError, SourceProblem};
use std::collections::{HashMap, HashSet};
use std::fmt::Write as _;

/// As deep as clang follows includes by default.
const MAX_DEPTH: usize = 200;
/// So many bytes may a source have with all that it includes: far above any kernel, and reached by
/// files that include each other repeatedly.
pub const MAX_BYTES: usize = 16 << 20;

/// A source with its includes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Flattened {
    /// The text, with `\n` as line ends.
    pub text: String,
    /// Every file that was read, in the order of the first reading; the root file first.
    pub files: Vec<String>,
}

/// Reads a source file and replaces each `#include "…"` by the included file's text.
///
/// An included path counts from the folder of the file that includes it. Paths are written with
/// `/`, whatever the platform. `#pragma once` becomes an include guard, which also works where the
/// first include stands behind a condition that is false. `#include <…>` stays for the driver.
/// `read` gives a file's text or the reason why it cannot be read, a fragment for
/// [`SourceProblem::Unreadable`].
///
/// # Errors
/// A file that cannot be read, includes in circles, and those whose path is a macro's.
pub fn flatten(
    path: &str,
    read: &mut dyn FnMut(&str) -> Result<String, String>,
) -> Result<Flattened, SourceError> {
    let path = normalised("", path);
    let mut flattening = Flattening::new(read);
    flattening.load(&path)?;
    flattening.run(&path)
}

/// Replaces includes in a text that is not in a file of its own.
///
/// `label` stands for the file's path: build logs show it, and included paths count from its
/// folder. It is not among [`Flattened::files`].
///
/// # Errors
/// As [`flatten`].
pub fn flatten_text(
    label: &str,
    text: &str,
    read: &mut dyn FnMut(&str) -> Result<String, String>,
) -> Result<Flattened, SourceError> {
    let mut flattening = Flattening::new(read);
    flattening
        .loaded
        .insert(label.to_owned(), Loaded::new(text.to_owned()));
    flattening.run(label)
}

struct Flattening<'a> {
    read: &'a mut dyn FnMut(&str) -> Result<String, String>,
    loaded: HashMap<String, Loaded>,
    files: Vec<String>,
    /// The includes that lead to the current file, outermost first.
    chain: Vec<IncludedFrom>,
    /// Files with `#pragma once` that are in the text whatever the macros.
    always_included: HashSet<String>,
    text: String,
}

#[derive(Clone)]
struct Loaded {
    text: String,
    once: bool,
}

impl Loaded {
    fn new(text: String) -> Self {
        let once = lines(&text).any(|line| line.directive == Directive::PragmaOnce);
        Self { text, once }
    }
}

impl<'a> Flattening<'a> {
    fn new(read: &'a mut dyn FnMut(&str) -> Result<String, String>) -> Self {
        Self {
            read,
            loaded: HashMap::new(),
            files: Vec::new(),
            chain: Vec::new(),
            always_included: HashSet::new(),
            text: String::new(),
        }
    }

    fn run(mut self, root: &str) -> Result<Flattened, SourceError> {
        self.file(root, false)?;
        Ok(Flattened {
            text: self.text,
            files: self.files,
        })
    }

    fn error(&self, path: &str, problem: SourceProblem) -> SourceError {
        let included_from = self.chain.iter().rev().cloned().collect();
        SourceError {
            path: path.to_owned(),
            problem,
            included_from,
        }
    }

    fn load(&mut self, path: &str) -> Result<Loaded, SourceError> {
        if let Some(loaded) = self.loaded.get(path) {
            return Ok(loaded.clone());
        }
        let text = (self.read)(path)
            .map_err(|reason| self.error(path, SourceProblem::Unreadable(reason)))?;
        let loaded = Loaded::new(text);
        self.loaded.insert(path.to_owned(), loaded.clone());
        self.files.push(path.to_owned());
        Ok(loaded)
    }

    /// Appends a file that was loaded. `conditional` says whether it stands behind an `#if`.
    fn file(&mut self, path: &str, conditional: bool) -> Result<(), SourceError> {
        let text = self.load(path)?.text;
        self.line_directive(path, 1);
        let mut conditions = 0_usize;
        for line in lines(&text) {
            match &line.directive {
                Directive::Include(target) => {
                    let target = normalised(folder(path), target);
                    self.include(path, &line, &target, conditional || conditions > 0)?;
                    continue;
                }
                Directive::MacroInclude(name) => {
                    let (line, name) = (line.number, name.clone());
                    return Err(self.error(path, SourceProblem::MacroInclude { line, name }));
                }
                // It becomes a guard around the file; an empty line keeps the numbers.
                Directive::PragmaOnce => {
                    self.replace_by_empty_lines(&line);
                    continue;
                }
                Directive::If => conditions += 1,
                Directive::EndIf => conditions = conditions.saturating_sub(1),
                Directive::None => {}
            }
            for physical in &line.text {
                self.text.push_str(physical);
                self.text.push('\n');
            }
        }
        if self.text.len() > MAX_BYTES {
            return Err(self.error(path, SourceProblem::TooLarge(MAX_BYTES)));
        }
        Ok(())
    }

    fn include(
        &mut self,
        path: &str,
        line: &Line<'_>,
        target: &str,
        conditional: bool,
    ) -> Result<(), SourceError> {
        self.chain.push(IncludedFrom {
            path: path.to_owned(),
            line: line.number,
        });
        if self.chain.len() > MAX_DEPTH {
            return Err(self.error(target, SourceProblem::TooDeep(MAX_DEPTH)));
        }
        // Also here, since the files that are open may be large, each of them.
        if self.text.len() > MAX_BYTES {
            return Err(self.error(target, SourceProblem::TooLarge(MAX_BYTES)));
        }
        let once = self.load(target)?.once;
        let is_open = self.chain.iter().any(|open| open.path == target);
        if is_open && !once {
            return Err(self.error(target, SourceProblem::Cycle));
        }
        if is_open || self.always_included.contains(target) {
            self.replace_by_empty_lines(line);
            self.chain.pop();
            return Ok(());
        }
        if line.starts_in_comment {
            self.text.push_str("*/\n");
        }
        if once {
            if !conditional {
                self.always_included.insert(target.to_owned());
            }
            let position = self.files.iter().position(|file| file == target);
            let guard = format!("CLTUNE_ONCE_{}", position.unwrap_or(self.files.len()));
            let _ = write!(self.text, "#ifndef {guard}\n#define {guard}\n");
        }
        self.file(target, conditional)?;
        if once {
            self.text.push_str("#endif\n");
        }
        self.chain.pop();
        self.line_directive(path, line.number + line.text.len());
        if line.ends_in_comment {
            self.text.push_str("/*");
        }
        Ok(())
    }

    /// A line's place without the line: its comments may reach beyond it on both sides.
    fn replace_by_empty_lines(&mut self, line: &Line<'_>) {
        if line.starts_in_comment {
            self.text.push_str("*/");
        }
        self.text.extend(line.text.iter().map(|_| '\n'));
        if line.ends_in_comment {
            self.text.push_str("/*");
        }
    }

    /// Makes the compiler take the next line for the given line of the file.
    fn line_directive(&mut self, path: &str, number: usize) {
        let path = path.replace('\\', "\\\\").replace('"', "\\\"");
        let _ = writeln!(self.text, "#line {number} \"{path}\"");
    }
}

fn folder(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

/// `path` as seen from `folder`, without `.` and, where possible, without `..`.
fn normalised(folder: &str, path: &str) -> String {
    let absolute = path.starts_with('/') || path.get(1..3).is_some_and(|drive| drive == ":/");
    let folder = if absolute { "" } else { folder };
    let mut parts: Vec<&str> = Vec::new();
    for part in folder.split('/').chain(path.split('/')) {
        match part {
            "" | "." => {}
            ".." if parts.last().is_some_and(|last| *last != "..") => {
                parts.pop();
            }
            part => parts.push(part),
        }
    }
    let root = if path.starts_with('/') || folder.starts_with('/') {
        "/"
    } else {
        ""
    };
    format!("{root}{}", parts.join("/"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn flattened(files: &[(&str, &str)]) -> Result<Flattened, SourceError> {
        let mut read = |path: &str| {
            let found = files.iter().find(|(name, _)| *name == path);
            found
                .map(|(_, text)| (*text).to_owned())
                .ok_or_else(|| "no such file".to_owned())
        };
        flatten(files[0].0, &mut read)
    }

    fn text(files: &[(&str, &str)]) -> String {
        flattened(files).expect("a complete source").text
    }

    #[test]
    fn includes_are_replaced_and_lines_keep_their_numbers() {
        let found = flattened(&[
            ("k/a.cl", "one\r\n#include \"lib/b.h\"\r\nthree"),
            ("k/lib/b.h", "#include \"../c.h\"\nb\n"),
            ("k/c.h", "c\n"),
        ])
        .expect("complete");
        let expected = "#line 1 \"k/a.cl\"\none\n\
                        #line 1 \"k/lib/b.h\"\n\
                        #line 1 \"k/c.h\"\nc\n\
                        #line 2 \"k/lib/b.h\"\nb\n\
                        #line 3 \"k/a.cl\"\nthree\n";
        assert_eq!(found.text, expected);
        assert_eq!(found.files, ["k/a.cl", "k/lib/b.h", "k/c.h"]);
    }

    #[test]
    fn a_file_without_pragma_once_is_included_each_time() {
        let files = [
            ("a.cl", "#include \"b.h\"\n#include \"./b.h\"\n"),
            ("b.h", "b\n"),
        ];
        assert_eq!(text(&files).matches("b\n").count(), 2);
    }

    #[test]
    fn pragma_once_becomes_a_guard() {
        let files = [
            (
                "a.cl",
                "#pragma once\n#include \"b.h\"\n#include \"b.h\"\nend\n",
            ),
            ("b.h", "#pragma once\nb\n"),
        ];
        let expected = "#line 1 \"a.cl\"\n\n\
                        #ifndef CLTUNE_ONCE_1\n#define CLTUNE_ONCE_1\n\
                        #line 1 \"b.h\"\n\nb\n#endif\n\
                        #line 3 \"a.cl\"\n\nend\n";
        assert_eq!(text(&files), expected);
    }

    #[test]
    fn pragma_once_behind_a_condition_does_not_hide_a_later_include() {
        let files = [
            (
                "a.cl",
                "#ifdef X\n#include \"c.h\"\n#endif\n#include \"b.h\"\n#include \"b.h\"\n",
            ),
            ("b.h", "#pragma once\nb\n"),
            ("c.h", "#include \"b.h\"\n"),
        ];
        let text = text(&files);
        assert_eq!(text.matches("b\n").count(), 2, "{text}");
        assert_eq!(text.matches("#ifndef CLTUNE_ONCE_2").count(), 2, "{text}");
    }

    #[test]
    fn a_cycle_is_an_error_unless_pragma_once_ends_it() {
        let files = [
            ("a.cl", "\n#include \"b.h\"\n"),
            ("b.h", "#include \"a.cl\"\n"),
        ];
        let error = flattened(&files).expect_err("a cycle");
        assert_eq!(
            error.to_string(),
            "kernel source `a.cl`: it includes itself; add `#pragma once` to it, or break the \
             cycle\n  included from b.h:1\n  included from a.cl:2"
        );
        let files = [
            ("a.cl", "#include \"b.h\"\n"),
            ("b.h", "#pragma once\n#include \"b.h\"\nb\n"),
        ];
        assert_eq!(text(&files).matches("b\n").count(), 1);
    }

    #[test]
    fn a_missing_file_says_who_wants_it() {
        let files = [
            ("k/a.cl", "#include \"b.h\"\n"),
            ("k/b.h", "\n\n#include \"../c.h\"\n"),
        ];
        let error = flattened(&files).expect_err("no c.h");
        assert_eq!(error.path, "c.h");
        assert_eq!(
            error.to_string(),
            "kernel source `c.h`: no such file\n  included from k/b.h:3\n  included from k/a.cl:1"
        );
    }

    #[test]
    fn an_include_of_a_macro_is_an_error_that_says_where() {
        let files = [
            ("k/a.cl", "#define HDR \"b.h\"\n#include \"c.h\"\n"),
            ("k/c.h", "\n\n#include HDR\n"),
            ("k/b.h", "b\n"),
        ];
        let error = flattened(&files).expect_err("a macro").to_string();
        assert!(
            error.starts_with("kernel source `k/c.h`: line 3: `#include HDR` takes"),
            "{error}"
        );
        assert!(error.ends_with("included from k/a.cl:2"), "{error}");
    }

    #[test]
    fn comments_around_an_include_stay_closed() {
        let files = [
            ("a.cl", "/* x\n*/ #include \"b.h\" /* y\nz */ end\n"),
            ("b.h", "b\n"),
        ];
        let expected = "#line 1 \"a.cl\"\n/* x\n*/\n\
                        #line 1 \"b.h\"\nb\n#line 3 \"a.cl\"\n/*z */ end\n";
        assert_eq!(text(&files), expected);
        let files = [("a.cl", "/* x\n*/ #pragma once /* y\nz */ end\n")];
        assert_eq!(text(&files), "#line 1 \"a.cl\"\n/* x\n*/\n/*z */ end\n");
    }

    #[test]
    fn includes_that_grow_without_end_are_errors() {
        let doubling = |next: &str| format!("#include \"{next}\"\n#include \"{next}\"\n");
        let mut read = |path: &str| {
            let level: usize = path.parse().map_err(|_| "not a number".to_owned())?;
            Ok(if level == 30 {
                "x".repeat(1 << 17)
            } else {
                doubling(&(level + 1).to_string())
            })
        };
        let error = flatten("0", &mut read).expect_err("too large");
        assert!(
            matches!(error.problem, SourceProblem::TooLarge(_)),
            "{error}"
        );
        let mut read = |path: &str| Ok(format!("#include \"{path}x\"\n"));
        let error = flatten("x", &mut read).expect_err("too deep");
        assert!(
            matches!(error.problem, SourceProblem::TooDeep(_)),
            "{error}"
        );
    }

    #[test]
    fn inline_text_includes_from_its_labels_folder() {
        let mut read = |path: &str| Ok(format!("{path}\n"));
        let found = flatten_text("kernels/saxpy", "#include \"b.h\"\n", &mut read).expect("b.h");
        assert_eq!(found.files, ["kernels/b.h"]);
        let expected = "#line 1 \"kernels/saxpy\"\n#line 1 \"kernels/b.h\"\nkernels/b.h\n\
                        #line 2 \"kernels/saxpy\"\n";
        assert_eq!(found.text, expected);
    }

    #[test]
    fn paths_are_normalised() {
        for (folder, path, expected) in [
            ("", "./a.h", "a.h"),
            ("k", "../a.h", "a.h"),
            ("k", "../../a.h", "../a.h"),
            ("../k", "../../a.h", "../../a.h"),
            ("k/l", ".././/b/a.h", "k/b/a.h"),
            ("k", "/usr/a.h", "/usr/a.h"),
            ("/k", "a.h", "/k/a.h"),
            ("k", "C:/a.h", "C:/a.h"),
        ] {
            assert_eq!(normalised(folder, path), expected, "{path} in {folder}");
        }
    }
}
