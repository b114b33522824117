//! The parts that sections of the page are made of.

use crate::chart::Element;
use cltune_core::model::Model;
use std::fmt::Write as _;

/// A paragraph.
pub(super) fn paragraph(text: impl Into<String>) -> Element {
    Element::new("p").text(text)
}

/// A paragraph about how something was found out.
pub(super) fn note(text: impl Into<String>) -> Element {
    paragraph(text).with("class", "note")
}

/// A section with a heading that names it.
pub(super) fn section(level: &'static str, id: &str, heading: &str) -> Element {
    let heading_id = format!("{id}-heading");
    Element::new("section")
        .with("id", id)
        .with("aria-labelledby", &heading_id)
        .child(Element::new(level).with("id", heading_id).text(heading))
}

/// Details that are shown on demand.
pub(super) fn details(summary: &str, content: impl IntoIterator<Item = Element>) -> Element {
    Element::new("details")
        .child(Element::new("summary").text(summary))
        .children(content)
}

/// A cell.
pub(super) fn cell(text: impl Into<String>) -> Element {
    Element::new("td").text(text)
}

/// A cell with a number.
pub(super) fn number(text: impl Into<String>) -> Element {
    cell(text).with("class", "number")
}

/// The cell that names a row.
pub(super) fn row_name(text: impl Into<String>) -> Element {
    Element::new("th").with("scope", "row").text(text)
}

/// The values of a configuration, a cell for each parameter.
pub(super) fn configuration<'a>(
    codes: &'a [i64],
    model: &'a Model,
) -> impl Iterator<Item = Element> + 'a {
    let codes = codes.iter().enumerate();
    codes.map(|(position, code)| cell(model.describe_value(position, *code)))
}

/// A table in a frame of its own, which scrolls where the screen is narrower than the table.
pub(super) fn table<'a>(
    caption: &str,
    columns: impl IntoIterator<Item = &'a str>,
    rows: impl IntoIterator<Item = Vec<Element>>,
) -> Element {
    let columns = columns.into_iter();
    let columns = columns.map(|name| Element::new("th").with("scope", "col").text(name));
    let rows = rows.into_iter();
    let rows = rows.map(|cells| Element::new("tr").children(cells));
    let table = Element::new("table")
        .child(Element::new("caption").text(caption))
        .child(Element::new("thead").child(Element::new("tr").children(columns)))
        .child(Element::new("tbody").children(rows));
    // Who has no mouse scrolls what has the focus.
    Element::new("div")
        .with("class", "scroll")
        .with("role", "region")
        .with("aria-label", caption)
        .with("tabindex", 0)
        .child(table)
}

/// A part of a whole as a bar with its percentage.
pub(super) fn bar(part: f64, class: &str) -> Element {
    let percent = 100.0 * part;
    let label = match percent {
        percent if percent < 0.5 => "0 %".to_owned(),
        percent => format!("{percent:.0} %"),
    };
    let fill = Element::new("span")
        .with("class", "fill")
        .with("style", format!("width:{percent:.1}%"));
    let bar = Element::new("span").with("class", "bar").child(fill);
    Element::new("div")
        .with("class", format!("share {class}").trim_end())
        .child(bar.with("aria-hidden", "true"))
        .child(Element::new("span").with("class", "number").text(label))
}

/// A count with its noun.
pub(super) fn counted(count: usize, one: &str, several: &str) -> String {
    format!(
        "{} {}",
        grouped(count as u128),
        if count == 1 { one } else { several }
    )
}

/// `10,742`: digits in groups.
pub(super) fn grouped(count: u128) -> String {
    let digits = count.to_string();
    let mut text = String::new();
    for (position, digit) in digits.chars().enumerate() {
        if position > 0 && (digits.len() - position).is_multiple_of(3) {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `1.46x`: how many times as long, or as fast.
pub(super) fn times(factor: f64) -> String {
    let mut text = String::new();
    // Writing to a string does not fail.
    let _ = match factor {
        factor if factor < 10.0 => write!(text, "{factor:.2}"),
        factor if factor < 100.0 => write!(text, "{factor:.1}"),
        factor => write!(text, "{factor:.0}"),
    };
    text + "\u{d7}"
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_are_readable() {
        let counts = [0, 999, 1000, 10_742, 1_234_567].map(grouped);
        assert_eq!(counts, ["0", "999", "1,000", "10,742", "1,234,567"]);
        assert_eq!([1.0, 12.34, 256.7].map(times), ["1.00×", "12.3×", "257×"]);
        assert_eq!(counted(1, "device", "devices"), "1 device");
        assert_eq!(counted(2000, "device", "devices"), "2,000 devices");
    }

    #[test]
    fn bars_are_as_long_as_they_say() {
        let bar = bar(0.257, "weak").to_string();
        assert!(
            bar.contains("width:25.7%") && bar.contains(">26 %<"),
            "{bar}"
        );
    }
}
