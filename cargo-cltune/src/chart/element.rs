//! XML and HTML: elements that are closed, and text that is escaped.
//!
//! The output is valid as both, as long as only elements of HTML and shapes of SVG are used.

use crate::terminal::printable;
use std::fmt::{self, Display, Write as _};

/// Elements that are written without an end when nothing is in them: HTML's void elements, for
/// which it has no end, and shapes of SVG, where it saves space. In HTML any other must be ended.
const WITHOUT_END: [&str; 8] = [
    "circle", "col", "line", "link", "meta", "path", "rect", "use",
];

/// An element with what is in it.
#[derive(Debug)]
pub(crate) struct Element {
    name: &'static str,
    attributes: Vec<(&'static str, String)>,
    children: Vec<Child>,
}

#[derive(Debug)]
enum Child {
    Element(Element),
    Text(String),
}

impl Element {
    pub(crate) fn new(name: &'static str) -> Self {
        Self {
            name,
            attributes: Vec::new(),
            children: Vec::new(),
        }
    }

    /// With an attribute.
    pub(crate) fn with(mut self, name: &'static str, value: impl Display) -> Self {
        self.attributes.push((name, value.to_string()));
        self
    }

    /// With coordinates or lengths as attributes, in pixels.
    pub(crate) fn at<const N: usize>(mut self, lengths: [(&'static str, f64); N]) -> Self {
        let lengths = lengths.map(|(name, length)| (name, pixels(length)));
        self.attributes.extend(lengths);
        self
    }

    /// With an element in it, after what is in it already.
    pub(crate) fn child(mut self, child: Self) -> Self {
        self.children.push(Child::Element(child));
        self
    }

    /// With elements in it, after what is in it already.
    pub(crate) fn children(mut self, children: impl IntoIterator<Item = Self>) -> Self {
        self.children
            .extend(children.into_iter().map(Child::Element));
        self
    }

    /// With text in it, after what is in it already.
    pub(crate) fn text(mut self, text: impl Into<String>) -> Self {
        self.children.push(Child::Text(text.into()));
        self
    }
}

/// A length to a tenth of a pixel, which no eye tells from more.
pub(crate) fn pixels(length: f64) -> String {
    let text = format!("{length:.1}");
    let text = text.strip_suffix(".0").unwrap_or(&text);
    if text == "-0" { "0" } else { text }.to_owned()
}

/// The data of a path through points.
pub(crate) fn through(points: impl IntoIterator<Item = (f64, f64)>) -> String {
    let mut data = String::from("M");
    for (x, y) in points {
        if data.len() > 1 {
            data.push(' ');
        }
        data.push_str(&pixels(x));
        data.push(',');
        data.push_str(&pixels(y));
    }
    data
}

impl Display for Element {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "<{}", self.name)?;
        for (name, value) in &self.attributes {
            write!(f, " {name}=\"")?;
            escape(f, value)?;
            f.write_char('"')?;
        }
        if self.children.is_empty() && WITHOUT_END.contains(&self.name) {
            return f.write_str("/>");
        }
        f.write_char('>')?;
        // A line each, so that a change of the picture is a readable difference; not within text,
        // where white space is seen.
        let is_element = |child: &Child| matches!(child, Child::Element(_));
        let line = if self.children.iter().all(is_element) && !self.children.is_empty() {
            "\n"
        } else {
            ""
        };
        for child in &self.children {
            match child {
                Child::Element(element) => write!(f, "{line}{element}")?,
                Child::Text(text) => escape(f, text)?,
            }
        }
        f.write_str(line)?;
        write!(f, "</{}>", self.name)
    }
}

fn escape(f: &mut fmt::Formatter<'_>, text: &str) -> fmt::Result {
    for c in printable(text).chars() {
        match c {
            '&' => f.write_str("&amp;")?,
            '<' => f.write_str("&lt;")?,
            '>' => f.write_str("&gt;")?,
            '"' => f.write_str("&quot;")?,
            // XML 1.0 (section 2.2) has no way to write these, and file names may have them.
            '\u{fffe}' | '\u{ffff}' => f.write_char(char::REPLACEMENT_CHARACTER)?,
            c => f.write_char(c)?,
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_what_an_xml_parser_reads() {
        let text = "a < b && \"c\" > 'd' é";
        let element = Element::new("g")
            .with("title", text)
            .at([("x", -0.04), ("y", 2.25), ("r", 3.0)])
            .child(Element::new("text").text(text).text("\u{1}\u{ffff}"));
        let xml = element.to_string();
        let document = roxmltree::Document::parse(&xml).unwrap();
        let root = document.root_element();
        assert_eq!(root.attribute("title"), Some(text));
        let lengths = ["x", "y", "r"].map(|name| root.attribute(name).unwrap());
        assert_eq!(lengths, ["0", "2.2", "3"]);
        let inner = root.first_element_child().unwrap();
        assert_eq!(inner.text().unwrap(), format!("{text}\\u{{1}}\u{fffd}"));
    }

    #[test]
    fn html_is_written_as_browsers_read_it() {
        let empty = Element::new("td").to_string() + &Element::new("path").to_string();
        assert_eq!(empty, "<td></td><path/>");
        let text = Element::new("p")
            .text("in ")
            .child(Element::new("b").text("bold"));
        assert_eq!(text.text(".").to_string(), "<p>in <b>bold</b>.</p>");
        let list = Element::new("ul").child(Element::new("li"));
        assert_eq!(list.to_string(), "<ul>\n<li></li>\n</ul>");
    }

    #[test]
    fn a_path_is_short() {
        assert_eq!(through([(0.0, 1.5), (10.04, 2.0)]), "M0,1.5 10,2");
    }
}
