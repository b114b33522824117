//! Tables on the terminal.

use std::io::Write;

/// Prints rows with every column as wide as its widest cell.
pub(crate) fn columns<const N: usize>(
    rows: &[[String; N]],
    out: &mut dyn Write,
) -> std::io::Result<()> {
    let width = |column: usize| {
        rows.iter()
            .map(|row| row[column].chars().count())
            .max()
            .unwrap_or(0)
    };
    let widths: [usize; N] = std::array::from_fn(width);
    for row in rows {
        let cells: Vec<String> = row
            .iter()
            .zip(widths)
            .map(|(cell, width)| format!("{cell:width$}"))
            .collect();
        writeln!(out, "  {}", cells.join("  ").trim_end())?;
    }
    Ok(())
}
