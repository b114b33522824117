//! The macros that a program mentions, the only ones that can make a difference to it.
//!
//! A parameter that only decides how a kernel is launched, as its work-group's size often does,
//! leaves the program as it is. What a source never names it cannot depend on.

use std::collections::HashSet;

/// The macros that a source can mention: those whose names occur in it, in the options that it is
/// compiled with, or in the value of a macro. All of them where it may make up names (`##`) or
/// includes what is not here.
///
/// Comments and strings count as well, so that one too many may stay, and none too few.
pub fn mentioned(
    source: &str,
    options: &str,
    macros: Vec<(String, String)>,
) -> Vec<(String, String)> {
    // A name may go on after the end of a line that a backslash ends.
    let source = source.replace("\\\r\n", "").replace("\\\n", "");
    // The second and third can stand for a `#`.
    let makes_up = ["##", "%:", "??"].iter().any(|sign| source.contains(sign));
    if makes_up || includes(&source) {
        return macros;
    }
    let values = macros.iter().map(|(_, value)| value.as_str());
    let texts = values.chain([source.as_str(), options]);
    let names: HashSet<String> = texts.flat_map(names).map(str::to_owned).collect();
    let mentioned = macros.into_iter();
    mentioned.filter(|(name, _)| names.contains(name)).collect()
}

/// Whether a line may be an `#include`, which is one that could not be replaced by its file.
fn includes(source: &str) -> bool {
    let mut directives = source.lines().filter_map(|line| line.split_once('#'));
    directives.any(|(_, directive)| directive.contains("include"))
}

/// All that looks like a name.
fn names(text: &str) -> impl Iterator<Item = &str> {
    text.split(|c: char| !(c.is_alphanumeric() || c == '_'))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The names of what stays of A, B, AB and T, which is `float4`.
    fn stays(source: &str, options: &str) -> String {
        let macros = [("A", "1"), ("B", "2"), ("AB", "3"), ("T", "float4")];
        let macros = macros.map(|(name, value)| (name.to_owned(), value.to_owned()));
        let left = mentioned(source, options, macros.to_vec());
        let names = left.into_iter().map(|(name, _)| name);
        names.collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn only_whole_names_that_occur_stay() {
        for (source, left) in [
            ("", ""),
            ("__kernel void a(__global T* x) { x[0] = A_B; }", "T"),
            ("#if A\n#endif", "A"),
            ("x[A+B];", "A B"),
            ("#ifdef AB // B\n#endif", "B AB"),
            ("A\\\nB", "AB"),
            ("A\\\r\nB", "AB"),
            ("x = \"T\";", "T"),
        ] {
            assert_eq!(stays(source, ""), left, "{source}");
        }
    }

    #[test]
    fn options_and_values_mention_macros_too() {
        assert_eq!(stays("x", "-DX=A -cl-fast-relaxed-math"), "A");
        let macros = vec![
            ("A".to_owned(), "B".to_owned()),
            ("B".to_owned(), "1".to_owned()),
        ];
        assert_eq!(mentioned("A", "", macros.clone()), macros);
    }

    #[test]
    fn nothing_is_left_out_where_names_may_come_from_elsewhere() {
        for source in [
            "#define CAT(x, y) x ## y",
            "%:define CAT(x, y) x %:%: y",
            "a ??= b",
            "#include <a.h>",
            " # include \"a.h\"",
            "/* */ # /* */ include <a.h>",
        ] {
            assert_eq!(stays(source, ""), "A B AB T", "{source}");
        }
        assert_eq!(stays("// A is included\n#if B\n#endif", ""), "A B");
    }
}
