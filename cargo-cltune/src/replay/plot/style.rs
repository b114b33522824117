//! Colours, for light and for dark backgrounds, and how lines and text look.

/// Colours of strategies, told apart with every common colour blindness: Okabe & Ito (Color
/// Universal Design, 2008) without yellow and black, and the same hues for a dark background.
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
";

/// Background, text, weaker text, frames, grid, and the search space's own distribution.
const LIGHT: [&str; 6] = [
    "#ffffff", "#1f2328", "#57606a", "#8c959f", "#e3e7eb", "#8c959f",
];
const DARK: [&str; 6] = [
    "#0d1117", "#e6edf3", "#9aa4af", "#6e7681", "#262c34", "#8b949e",
];

/// The style sheet for so many strategies.
pub(super) fn sheet(strategies: usize) -> String {
    // At least one pattern of dashes, so that a sheet is the same whether or not colours are
    // enough.
    let rounds = strategies.div_ceil(COLOURS.len()).max(2);
    let dashes: String = (1..rounds).map(dashes).collect();
    let light = theme(LIGHT, COLOURS.map(|(light, _)| light));
    let dark = theme(DARK, COLOURS.map(|(_, dark)| dark));
    format!("{SHAPES}{dashes}{light}@media (prefers-color-scheme:dark){{\n{dark}}}\n")
}

/// How the lines look when all colours have come round so many times: a dash, and a dot for each
/// time after the first.
fn dashes(round: usize) -> String {
    let class = dashed(round);
    let line = " 2 5".repeat(round - 1);
    let violin = " 1 2".repeat(round - 1);
    format!(
        ".{class} .line{{stroke-dasharray:7 5{line}}}\n.{class} .violin{{stroke-dasharray:3 2{violin}}}\n"
    )
}

/// The class of what is drawn when all colours have come round so many times.
fn dashed(round: usize) -> String {
    match round {
        1 => "dashed".to_owned(),
        _ => format!("dashed{round}"),
    }
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

/// The classes of a strategy by its position: each time that the colours come round again, lines
/// are dashed in another way.
pub(super) fn class(position: usize) -> String {
    let colour = position % COLOURS.len();
    match position / COLOURS.len() {
        0 => format!("s{colour}"),
        round => format!("s{colour} {}", dashed(round)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::HashSet;

    #[test]
    fn however_many_strategies_there_are_each_looks_different() {
        const COUNT: usize = 100;
        let sheet = sheet(COUNT);
        // What the sheet says of a class is all that a viewer sees of it.
        let look = |class: &str| {
            let rule = |line: &str| line.starts_with(&format!(".{class} .line{{"));
            let rule = sheet.lines().find(|line| rule(line));
            let rule = rule.and_then(|line| line.split_once('{'));
            let is_colour = sheet.contains(&format!(".{class}{{color:"));
            let seen = rule.map(|(_, look)| look).or(is_colour.then_some(class));
            seen.unwrap_or_else(|| panic!("no rule for {class}"))
                .to_owned()
        };
        let looks = (0..COUNT).map(|position| {
            let class = class(position);
            class.split(' ').map(look).collect::<Vec<_>>()
        });
        assert_eq!(looks.collect::<HashSet<_>>().len(), COUNT);
        assert_eq!((class(0), class(6)), ("s0".into(), "s0 dashed".into()));
    }
}
