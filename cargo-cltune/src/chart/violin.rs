//! Violins: a density turned on its side and mirrored, with the mean as a circle and the standard
//! deviation as a rectangle, as in CLTune's figures 5 and 7 (Nugteren & Codreanu, 2015).

use super::density::Density;
use super::element::{Element, through};
use super::scale::Scale;
use crate::statistics::moments;

/// A density of values that are all the same is this high on both sides of them, pixels.
const LEAST_BANDWIDTH: f64 = 1.6;

/// The distribution of sorted fractions around `x`, at most `place` wide.
pub(crate) fn violin(x: f64, place: f64, fraction: Scale, sorted: &[f64]) -> Element {
    let half = (0.45 * place).min(26.0);
    let density = Density::of(sorted, fraction.per_pixels(LEAST_BANDWIDTH));
    let side = |sign: f64| {
        let levels = density.levels.iter();
        levels.map(move |(value, width)| (x + sign * half * width, fraction.at(*value)))
    };
    let outline = through(side(-1.0).chain(side(1.0).rev())) + "Z";
    let (mean, deviation) = moments(sorted);
    let top = fraction.at((mean + deviation).min(1.0));
    let bottom = fraction.at((mean - deviation).max(0.0));
    let thickness = (0.2 * place).clamp(2.5, 6.0);
    let spread = Element::new("rect").with("class", "spread").at([
        ("x", x - thickness / 2.0),
        ("y", top),
        ("width", thickness),
        ("height", bottom - top),
    ]);
    let radius = (0.14 * place).clamp(2.0, 4.0);
    let middle = [("cx", x), ("cy", fraction.at(mean)), ("r", radius)];
    Element::new("g")
        .child(
            Element::new("path")
                .with("class", "violin")
                .with("d", outline),
        )
        .child(spread)
        .child(Element::new("circle").with("class", "mean").at(middle))
}
