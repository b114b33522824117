//! Merge-conflict markers that a version control system leaves in a file.

use std::fmt::Write as _;

/// The two sides of a text with conflict markers: each is the whole file as that side has it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ConflictSides {
    /// The side between `<<<<<<<` and `=======`.
    pub ours: String,
    /// The side between `=======` and `>>>>>>>`.
    pub theirs: String,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Marker {
    Ours,
    /// The common ancestor, which git's `diff3` style shows.
    Base,
    Theirs,
    End,
}

/// The line of the first conflict marker, counted from 1.
pub(super) fn first_marker(text: &str) -> Option<usize> {
    text.lines()
        .position(|line| marker(line).is_some())
        .map(|position| position + 1)
}

/// A marker is seven equal characters at the start of a line, then nothing or a space. None of them
/// can start a line of a lockfile otherwise, since its strings have no line breaks.
fn marker(line: &str) -> Option<Marker> {
    let line = line.trim_end_matches('\r');
    for (symbol, marker) in [
        ("<<<<<<<", Marker::Ours),
        ("|||||||", Marker::Base),
        ("=======", Marker::Theirs),
        (">>>>>>>", Marker::End),
    ] {
        if let Some(rest) = line.strip_prefix(symbol) {
            return (rest.is_empty() || rest.starts_with(' ')).then_some(marker);
        }
    }
    None
}

/// Takes the two sides of a conflict apart; `None` when the text has no conflict markers, or they
/// are not in order.
pub fn split_conflict(text: &str) -> Option<ConflictSides> {
    let mut sides = ConflictSides {
        ours: String::new(),
        theirs: String::new(),
    };
    // Where the current line belongs; `End` is outside of a conflict.
    let mut place = Marker::End;
    let mut conflicts = 0_usize;
    for line in text.lines() {
        if let Some(found) = marker(line) {
            let in_order = match found {
                Marker::Ours => place == Marker::End,
                Marker::Base => place == Marker::Ours,
                Marker::Theirs => matches!(place, Marker::Ours | Marker::Base),
                Marker::End => place == Marker::Theirs,
            };
            if !in_order {
                return None;
            }
            conflicts += 1;
            place = found;
            continue;
        }
        // Writing to a String cannot fail.
        if matches!(place, Marker::Ours | Marker::End) {
            let _ = writeln!(sides.ours, "{line}");
        }
        if matches!(place, Marker::Theirs | Marker::End) {
            let _ = writeln!(sides.theirs, "{line}");
        }
    }
    (conflicts > 0 && place == Marker::End).then_some(sides)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_styles_are_taken_apart() {
        let text = "a\n<<<<<<< HEAD\nb\n||||||| base\nx\n=======\nc\n>>>>>>> other\nd\n";
        let sides = split_conflict(text).expect("has markers");
        assert_eq!(
            sides,
            ConflictSides {
                ours: "a\nb\nd\n".into(),
                theirs: "a\nc\nd\n".into()
            }
        );
        let two_way = text.replace("||||||| base\nx\n", "");
        assert_eq!(split_conflict(&two_way), Some(sides));
        assert_eq!(first_marker(text), Some(2));
    }

    #[test]
    fn text_without_ordered_markers_is_no_conflict() {
        for text in [
            "",
            "a\n",
            "a\n=======\nb\n",
            "<<<<<<< HEAD\nb\n=======\n",
            ">>>>>>> x\n",
        ] {
            assert_eq!(split_conflict(text), None, "{text:?}");
        }
        assert_eq!(first_marker("name = \"<<<<<<< x\"\n"), None);
        assert_eq!(first_marker("========\n"), None);
    }
}
