//! Colours, for light and for dark backgrounds, and how lines and text look.

/// Colours of strategies, told apart with every common colour blindness: Okabe & Ito (Color Universal
/// Design, 2008) without yellow and black, and the same hues for a dark background.
const COLOURS: [(&str, &str); 6] = [
    ("#0072b2", "#4a9fe3"),
    ("#d55e00", "#f28245"),
    ("#009e73", "#2fc398"),
    ("#cc79a7", "#e29ac3"),
    ("#e69f00", "#f3bd4a"),
    ("#56b4e9", "#a5dbfa"),
];

/// What is the same on both backgrounds. No CSS variables: not every viewer of SVG knows them.
const SHAPES: &str = "
text{font-family:system-ui,-apple-system,'Segoe UI','DejaVu Sans',Helvetica,Arial,sans-serif;font-size:13px}
.space{font-size:16px;font-weight:600}
.frame,.grid{fill:none;stroke-width:1}
.line{fill:none;stroke:currentColor;stroke-width:2.6;stroke-linejoin:round;stroke-linecap:round}
.run{fill:none;stroke:currentColor;stroke-width:.8;stroke-opacity:.45}
.band{fill:currentColor;fill-opacity:.2}
.violin{fill:currentColor;fill-opacity:.45;stroke:currentColor;stroke-width:1.2;stroke-linejoin:round}
.dashed .line{stroke-dasharray:7 5}
.dashed .violin{stroke-dasharray:3 2}
";

/// Background, text, weaker text, frames, grid, and the search space's own distribution.
const LIGHT: [&str; 6] = [
    "#ffffff", "#1f2328", "#57606a", "#8c959f", "#e3e7eb", "#8c959f",
];
const DARK: [&str; 6] = [
    "#0d1117", "#e6edf3", "#9aa4af", "#6e7681", "#262c34", "#8b949e",
];

/// The style sheet.
pub(super) fn sheet() -> String {
    let light = theme(LIGHT, COLOURS.map(|(light, _)| light));
    let dark = theme(DARK, COLOURS.map(|(_, dark)| dark));
    format!("{SHAPES}{light}@media (prefers-color-scheme:dark){{\n{dark}}}\n")
}

fn theme(colours: [&str; 6], series: [&str; COLOURS.len()]) -> String {
    let [paper, ink, weak, frame, grid, space] = colours;
    let series = series.iter().enumerate();
    let series = series.map(|(number, colour)| format!(".s{number}{{color:{colour}}}"));
    format!(
        ".paper{{fill:{paper}}}.mean{{fill:{paper};stroke:{ink};stroke-width:1.4}}\n\
         text,.spread{{fill:{ink}}}text.weak{{fill:{weak}}}\n\
         .frame{{stroke:{frame}}}.grid{{stroke:{grid}}}.all{{color:{space}}}\n{}\n",
        series.collect::<String>()
    )
}

/// The classes of a strategy by its position: when colours come round again, lines are dashed.
pub(super) fn class(position: usize) -> String {
    let colour = position % COLOURS.len();
    let dashed = if (position / COLOURS.len()).is_multiple_of(2) {
        ""
    } else {
        " dashed"
    };
    format!("s{colour}{dashed}")
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn every_strategy_looks_different() {
        let count = cltune_runtime::search::STRATEGIES.len();
        let classes: HashSet<String> = (0..count).map(class).collect();
        assert_eq!(classes.len(), count);
        assert_eq!(class(0), "s0");
    }
}
