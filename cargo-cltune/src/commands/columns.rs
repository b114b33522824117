//! Tables on the terminal: numbers in columns, then text, which is wrapped where the terminal is
//! too narrow.

use console::{Term, measure_text_width};
use std::io::Write;

/// The space between two cells.
const GAP: usize = 2;

/// The indentation of most tables.
pub(crate) const INDENT: usize = 2;

/// Less room for text than this beside the numbers, and text goes below them.
const LEAST_ROOM: usize = 24;

/// The indentation of text that goes below the numbers.
const BELOW: usize = 4;

/// A row: cells with numbers, which stay in columns, and cells with text.
pub(crate) type Row<const N: usize, const T: usize> = ([String; N], [String; T]);

/// Prints rows, with so many spaces before each. Where standard output is a terminal, no line is
/// wider than it; elsewhere each row is a line.
pub(crate) fn columns<const N: usize, const T: usize>(
    rows: &[Row<N, T>],
    indent: usize,
    out: &mut dyn Write,
) -> std::io::Result<()> {
    let mut lines = lines(rows, indent, width()).into_iter().flatten();
    lines.try_for_each(|line| writeln!(out, "{line}"))
}

/// The width of the terminal that standard output is, in characters.
pub(crate) fn width() -> Option<usize> {
    let (_, columns) = Term::stdout().size_checked()?;
    Some(usize::from(columns)).filter(|columns| *columns > 0)
}

/// The lines of each row, with so many spaces before each.
pub(crate) fn lines<const N: usize, const T: usize>(
    rows: &[Row<N, T>],
    indent: usize,
    width: Option<usize>,
) -> Vec<Vec<String>> {
    let widest = |cell: &dyn Fn(&Row<N, T>) -> usize| rows.iter().map(cell).max().unwrap_or(0);
    let of_numbers: [usize; N] =
        std::array::from_fn(|column| widest(&|row| measure_text_width(&row.0[column])));
    let of_text: [usize; T] =
        std::array::from_fn(|column| widest(&|row| measure_text_width(&row.1[column])));
    let left = indent + of_numbers.iter().map(|width| width + GAP).sum::<usize>();
    let right = of_text.iter().sum::<usize>() + GAP * T.saturating_sub(1);
    let is_wide = width.is_some_and(|width| left + right > width);
    // Beside the numbers as long as nothing has to be wider than the terminal for it.
    let cells = rows.iter().flat_map(|(_, text)| text);
    let least_room = cells
        .flat_map(|cell| units(cell))
        .map(|unit| measure_text_width(&unit))
        .fold(LEAST_ROOM, usize::max);
    let layout = |(numbers, text): &Row<N, T>| {
        let mut line = " ".repeat(indent);
        for (cell, width) in numbers.iter().zip(of_numbers) {
            line += &" ".repeat(width - measure_text_width(cell));
            line += cell;
            line += &" ".repeat(GAP);
        }
        let Some(width) = width.filter(|_| is_wide) else {
            for (cell, width) in text.iter().zip(of_text) {
                line += cell;
                line += &" ".repeat(width - measure_text_width(cell) + GAP);
            }
            return vec![line.trim_end().to_owned()];
        };
        let cells: Vec<&str> = text.iter().map(|cell| &**cell).collect();
        if width.saturating_sub(left) >= least_room {
            return flow(line, left, &cells, width);
        }
        let mut lines = vec![line.trim_end().to_owned()];
        let below = indent + BELOW;
        lines.extend(flow(" ".repeat(below), below, &cells, width));
        lines
    };
    rows.iter().map(layout).collect()
}

/// Text below a row, indented and wrapped to a width.
pub(crate) fn wrapped(text: &str, indent: usize, width: Option<usize>) -> Vec<String> {
    let width = width.unwrap_or(usize::MAX);
    flow(" ".repeat(indent), indent, &[text], width)
}

/// Lines that begin with `line`, which is so wide, and then with as many spaces. A cell that does
/// not fit into what is left of a line begins the next one; what has no room in a whole line has
/// one to itself.
fn flow(mut line: String, indent: usize, cells: &[&str], width: usize) -> Vec<String> {
    let mut lines = Vec::new();
    let mut used = indent;
    for cell in cells {
        let mut needed = measure_text_width(cell);
        let mut gap = GAP;
        for unit in units(cell) {
            let len = measure_text_width(&unit);
            if used == indent {
                gap = 0;
            } else if used + gap + needed.max(len) > width {
                let full = std::mem::replace(&mut line, " ".repeat(indent));
                lines.push(full.trim_end().to_owned());
                (used, gap) = (indent, 0);
            }
            line += &" ".repeat(gap);
            line += &unit;
            used += gap + len;
            // Only the beginning of a cell asks for room for all of it.
            (needed, gap) = (0, 1);
        }
    }
    lines.push(line.trim_end().to_owned());
    lines
}

/// Parts of a line that are not broken: words, and assignments such as `WG = 64,`.
fn units(cell: &str) -> Vec<String> {
    let mut units: Vec<String> = Vec::new();
    let mut is_assigned = false;
    for word in cell.split(' ').filter(|word| !word.is_empty()) {
        match units.last_mut() {
            Some(last) if word == "=" || is_assigned => {
                last.push(' ');
                last.push_str(word);
            }
            _ => units.push(word.to_owned()),
        }
        is_assigned = word == "=";
    }
    units
}

#[cfg(test)]
#[path = "../../tests/unit/columns.rs"]
mod tests;
