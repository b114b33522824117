//! Tables on the terminal.

use std::io::Write;

/// Prints rows with every column as wide as its widest cell.
pub(crate) fn columns<const N: usize>(
    rows: &[[String; N]],
    out: &mut dyn Write,
) -> std::io::Result<()> {
    let mut lines = lines(rows).into_iter();
    lines.try_for_each(|line| writeln!(out, "  {line}"))
}

/// Rows as lines, with every column as wide as its widest cell.
pub(crate) fn lines<const N: usize>(rows: &[[String; N]]) -> Vec<String> {
    let width = |column: usize| {
        rows.iter()
            .map(|row| row[column].chars().count())
            .max()
            .unwrap_or(0)
    };
    let widths: [usize; N] = std::array::from_fn(width);
    let line = |row: &[String; N]| {
        let cells = row.iter().zip(widths);
        let cells = cells.map(|(cell, width)| format!("{cell:width$}"));
        let line = cells.collect::<Vec<_>>().join("  ");
        line.trim_end().to_owned()
    };
    rows.iter().map(line).collect()
}
